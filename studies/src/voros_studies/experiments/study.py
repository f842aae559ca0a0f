"""Select on validation, fix the thresholds, test: every strategy in every scenario."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from voros import Guarantee, OperatingPoints, Scenario, ThresholdPolicy, bootstrap
from voros.core.decision import Strategy
from voros.policy import PolicyEvaluation
from voros.policy.allowed import AllowedThresholds, allowed_thresholds
from voros.selection.ranking import rank_developed, rank_points
from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.experiments.folder import Part, RunFolder, digest, file_name, read_scores, save
from voros_studies.paper.cells import SCENARIOS, STRATEGY_ORDER, ScenarioName

STUDY_CONFIDENCE = 0.95
"""Confidence of the guaranteed strategy and of all intervals."""

GUARANTEED = "guaranteed"
GUARANTEED_BY: Strategy = "partial_voros"
"""The guaranteed strategy ranks by this, among thresholds that are certified."""

WITH_MARGIN = "margin"
MARGIN = 0.1
"""The paper advises limits "slightly" tighter than needed: floor up and capacity down by 10 %."""

AUROC, LOG_LOSS = "auroc", "log_loss"
BY_RISK: Mapping[str, Callable[[BoolArray, FloatArray], float]] = {
    AUROC: roc_auc_score,
    LOG_LOSS: lambda y_true, risk: -log_loss(y_true, risk),
}
"""Strategies without limits or costs; each score is higher for better models."""

STUDIED: tuple[str, ...] = (*STRATEGY_ORDER, *BY_RISK, WITH_MARGIN, GUARANTEED)
"""The paper's four strategies, the usual two, the paper's advice for broken limits, and ours."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Patient and outcome of the cases of one part of the data, and every model's scores."""

    patient: AnyArray
    y_true: BoolArray
    scores: Mapping[str, FloatArray]

    @classmethod
    def read(cls, folder: RunFolder, names: Sequence[str], part: Part) -> Scored:
        """Read the prediction files of a run."""
        columns = {name: read_scores(folder.prediction(name, part)) for name in names}
        patient, y_true, _ = next(iter(columns.values()))
        return cls(patient, y_true, {name: score for name, (_, _, score) in columns.items()})

    def __len__(self) -> int:
        """Count the cases."""
        return len(self.y_true)

    @cached_property
    def points(self) -> dict[str, OperatingPoints]:
        """Operating points of every model, counted once."""
        return {n: OperatingPoints.from_scores(self.y_true, s) for n, s in self.scores.items()}

    @cached_property
    def once(self) -> Scored:
        """One case of each patient, drawn at random: exact tests need independent cases."""
        shuffled = np.random.default_rng(0).permutation(len(self.patient))
        _, first = np.unique(self.patient[shuffled], return_index=True)
        return self.take(np.sort(shuffled[first]))

    @property
    def can_certify(self) -> bool:
        """Whether `once` has cases with and without the outcome."""
        return bool(self.once.y_true.any() and not self.once.y_true.all())

    def take(self, rows: AnyArray) -> Scored:
        """Keep the cases at these positions, for every model."""
        scores = {name: score[rows] for name, score in self.scores.items()}
        return Scored(self.patient[rows], self.y_true[rows], scores)


@dataclass(frozen=True, eq=False, kw_only=True)
class Deployed:
    """A strategy's model and thresholds in a scenario, chosen on validation, and its test results.

    ``ranking_only`` is the expected test cost of the model with thresholds set on the test cases
    within the limits: the quality of its ranking, without luck from broken limits.
    """

    scenario: ScenarioName
    strategy: str
    model: str
    policy: ThresholdPolicy
    valid: PolicyEvaluation
    test: PolicyEvaluation
    ranking_only: float

    @property
    def limits(self) -> Scenario:
        """The scenario whose limits were to be kept."""
        return self.policy.scenario

    @property
    def excess(self) -> float:
        """Share by which the deployed thresholds break the limit that they break most, on test."""
        return max((one.missed_by / one.bound for one in self.test.violations), default=0.0)


def check_scenarios(scenarios: Mapping[ScenarioName, Scenario]) -> None:
    """Raise if a study cannot use these scenarios.

    Examples
    --------
    >>> check_scenarios({"ward": Scenario(capacity=40, cost_ratio=0.1)})
    Traceback (most recent call last):
    ValueError: scenario 'ward' has a capacity of 40 alarms; accepted is a share of the cases, since
    validation and test cases differ in number
    """
    if not scenarios:
        raise ValueError("scenarios is empty; accepted is at least one scenario by name")
    for name, scenario in scenarios.items():
        if not re.fullmatch(r"[\w-]+", str(name)):
            raise ValueError(
                f"scenario {name!r}: accepted are names of letters, digits, _ and -, since files "
                "are named after them"
            )
        if scenario.per is not None:
            raise ValueError(
                f"scenario {name!r} has a capacity per {scenario.per}, and the cases of a study "
                "have no times; accepted is a share of the cases"
            )
        if scenario.capacity_is_count:
            raise ValueError(
                f"scenario {name!r} has a capacity of {scenario.capacity} alarms; accepted is a "
                "share of the cases, since validation and test cases differ in number"
            )


def run_study(
    valid: Scored, test: Scored, scenarios: Mapping[ScenarioName, Scenario] | None = None
) -> list[Deployed]:
    """Deploy every strategy in each scenario; the same models are on both parts.

    The scenarios are the paper's unless others are given.
    """
    return [
        _select_and_test(name, scenario, strategy, valid, test)
        for name, scenario in (scenarios or SCENARIOS).items()
        for strategy in STUDIED
    ]


def _select_and_test(
    name: ScenarioName, scenario: Scenario, strategy: str, valid: Scored, test: Scored
) -> Deployed:
    # Without warnings: a strategy that ends without alarms is a result, and the tables show it.
    by: Any = strategy if strategy in STRATEGY_ORDER else GUARANTEED_BY
    if strategy == GUARANTEED and not valid.can_certify:
        return deploy(name, strategy, nothing_certified(scenario, valid, len(test)), valid, test)
    if strategy == GUARANTEED:
        model, allowed = guaranteed(scenario, valid, len(test))
    elif strategy in BY_RISK:
        # Neither fixes a threshold: like recall, they take the last one within the limits.
        by, model = "recall", best_by_risk(valid, strategy)
        allowed = allowed_thresholds(valid.points[model], scenario)
    else:
        limits = tightened(scenario) if strategy == WITH_MARGIN else scenario
        model, allowed = _selected(limits, valid, by)
    policy = ThresholdPolicy.from_allowed(allowed, strategy=by, model=model)
    # Limits are kept or broken by those of the scenario, whatever limits chose the thresholds.
    return deploy(name, strategy, replace(policy, scenario=scenario), valid, test)


def best_by_risk(scored: Scored, strategy: str) -> str:
    """Return the model of highest AUROC or lowest log loss; of equals, the first."""
    quality = {name: BY_RISK[strategy](scored.y_true, s) for name, s in scored.scores.items()}
    return max(quality, key=quality.__getitem__)


def tightened(scenario: Scenario) -> Scenario:
    """Return the scenario with its floor raised and its capacity lowered by `MARGIN`.

    Examples
    --------
    >>> result = tightened(SCENARIOS[2])
    >>> round(result.min_precision, 3), round(float(result.capacity), 3)
    (0.55, 0.09)
    """
    return replace(
        scenario,
        min_precision=min(1.0, scenario.min_precision * (1 + MARGIN)),
        capacity=float(scenario.capacity) * (1 - MARGIN),
    )


def _selected(
    scenario: Scenario, scored: Scored, strategy: Strategy
) -> tuple[str, AllowedThresholds]:
    ranked = rank_points(scored.points, scenario, strategy)
    return ranked.winner, ranked.allowed[ranked.winner]


def guaranteed(
    scenario: Scenario, valid: Scored, horizon: int, development: Scored | None = None
) -> tuple[str, AllowedThresholds]:
    """Return a model and its thresholds that keep the limits on the next cases.

    All validation patients certify. Without development cases the error is split over the models;
    with them, model and thresholds are fixed there.
    """
    points, guarantee = valid.once.points, Guarantee(STUDY_CONFIDENCE, horizon=horizon)
    how: Any = {"strategy": GUARANTEED_BY, "guarantee": guarantee}
    if development is not None:
        ranked = rank_developed(points, scenario, development.points, **how)
        return ranked.winner, ranked.allowed[ranked.winner]
    ranked = rank_points(points, scenario, **how)
    # Where no model is certified, all are equal: name the one that would be chosen without.
    model = (
        ranked.winner
        if ranked.ranking[0].feasible
        else _selected(scenario, valid, GUARANTEED_BY)[0]
    )
    return model, ranked.allowed[model]


def nothing_certified(scenario: Scenario, valid: Scored, horizon: int) -> ThresholdPolicy:
    """Return the policy without alarms, for validation parts that cannot certify."""
    model, _ = _selected(scenario, valid, GUARANTEED_BY)
    guarantee = Guarantee(STUDY_CONFIDENCE, horizon=horizon)
    policy = ThresholdPolicy.never_alarm(valid.points[model], scenario, guarantee=guarantee)
    return replace(policy, model=model)


def deploy(
    scenario: ScenarioName,
    strategy: str,
    policy: ThresholdPolicy,
    valid: Scored,
    test: Scored,
) -> Deployed:
    """Evaluate a policy on both parts, and its model on test with thresholds that are set there."""
    model = policy.model or ""
    on_valid, on_test = (
        policy.evaluate(part.points[model], by_cost=True) for part in (valid, test)
    )
    return Deployed(
        scenario=scenario,
        strategy=strategy,
        model=model,
        policy=policy,
        valid=on_valid,
        test=on_test,
        ranking_only=ranking_cost(test.points[model], policy.scenario),
    )


def ranking_cost(points: OperatingPoints, scenario: Scenario) -> float:
    """Return the expected cost with thresholds set on the same cases, within the limits."""
    policy = ThresholdPolicy.from_allowed(allowed_thresholds(points, scenario))
    return policy.evaluate(points, by_cost=True).expected_cost


COST_RESAMPLES = 2000
SAME_CHOICE = "the same choice"


@dataclass(frozen=True)
class CostInterval:
    """A number with the interval of 95 % of its resamples."""

    estimate: float
    low: float
    high: float

    @classmethod
    def from_draws(cls, draws: FloatArray) -> CostInterval:
        """Return an estimate, which comes first, with the percentiles of its resamples."""
        tail = (1 - STUDY_CONFIDENCE) / 2
        low, high = np.quantile(draws[1:], [tail, 1 - tail])
        return cls(float(draws[0]), float(low), float(high))


@dataclass(frozen=True)
class CostIntervals:
    """The test cost of one strategy, and its excess over that of another.

    Above 0 means more costly; both costs are of the same resamples. ``draws`` are the cost, then
    that of every resample.
    """

    cost: CostInterval
    excess: CostInterval
    draws: FloatArray = field(repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """The verdict of the paired interval."""
        if self.excess.low == self.excess.high == 0:
            return SAME_CHOICE
        if self.excess.low > 0:
            return "more costly"
        return "less costly" if self.excess.high < 0 else "no clear difference"


def cost_intervals(
    deployed: Sequence[Deployed],
    test: Scored,
    random_state: int = 0,
    n_resamples: int = COST_RESAMPLES,
    beside: str = GUARANTEED_BY,
    kept: Path | None = None,
) -> dict[str, CostIntervals]:
    """Return intervals for the strategies of one scenario, by strategy, each compared with one.

    Patients are drawn with replacement, so prevalence varies too; the thresholds stay as validation
    fixed them. Where a folder is named, resamples are saved in it as soon as they are computed, and
    read from it if nothing has changed.
    """
    draws = {
        # One seed for all, because the resamples are paired.
        one.strategy: _resampled(one, test, random_state, n_resamples, kept)
        for one in deployed
    }
    return {
        strategy: CostIntervals(
            CostInterval.from_draws(costs), CostInterval.from_draws(costs - draws[beside]), costs
        )
        for strategy, costs in draws.items()
    }


def _resampled(
    one: Deployed, test: Scored, random_state: int, n_resamples: int, kept: Path | None
) -> FloatArray:
    """Return the test cost of one strategy, followed by those of the resamples."""
    cases = test.y_true, test.scores[one.model]
    key = digest(one.policy.to_json(), f"{random_state} {n_resamples}", test.patient, *cases)
    name = file_name(f"scenario_{one.scenario}_{one.strategy}_{key[:12]}.npy")
    if kept is not None and (kept / name).exists():
        return np.asarray(np.load(kept / name))
    resampled = bootstrap(
        *cases,
        one.policy.scenario,
        metric=one.policy,
        n_resamples=n_resamples,
        confidence_level=STUDY_CONFIDENCE,
        method="percentile",
        groups=test.patient,
        random_state=random_state,
    )
    draws = np.array([resampled.estimate, *resampled.distribution])
    if kept is not None:
        packed = io.BytesIO()
        np.save(packed, draws)
        save(kept / name, packed.getvalue())
    return draws
