"""Results of a model selection: the ranking, and the policy of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.decision import RANKED_BY, STRATEGIES, STRATEGY_TITLES, Decision, Strategy
from voros.core.scenario import Scenario
from voros.core.worth import ThresholdOn
from voros.exceptions import (
    IncompleteCountsError,
    NeverAlarmWarning,
    UndefinedScoreError,
    warn_caller,
)
from voros.io.frames import make_frame
from voros.policy.allowed import AllowedThresholds, kept_decision, warn_if_dependent
from voros.policy.confidence_curve import ConfidenceStep
from voros.policy.origin import PolicyStrategy
from voros.policy.threshold_policy import ThresholdPolicy
from voros.text.numbers import count, positives_in_words, short, typed
from voros.text.table import ReprMixin, Table

if TYPE_CHECKING:
    from voros.guarantee import Guarantee


def _score(strategy: Strategy) -> cached_property[float]:
    """Return a property of `ModelScores`: NaN where a decision does not determine the score."""

    def score(row: ModelScores) -> float:
        try:
            return row.decision.score(strategy)
        except (IncompleteCountsError, UndefinedScoreError):
            return np.nan

    return cached_property(score)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelScores:
    """Scores of one model on the validation data; higher is better, except for the expected cost.

    With many cases, scores other than the one that ranked the models are computed on first use,
    from a copy of the cases. On a device nothing may be written to the arrays before that.

    Attributes
    ----------
    model : str
    partial_voros : float
        Partial VOROS: within the limits, over the costs.
    voros : float
        VOROS: without limits, over the costs.
    partial_auroc : float
        Trapezoid area under the thresholds within the limits and the threshold +inf, over their
        range of FPR. Trapezoids bridge gaps between the thresholds.
    recall : float
        Greatest recall within the limits.
    expected_cost : float
        Expected normalised cost of the best threshold within the limits at each cost.
    feasible : bool
        Whether any threshold that raises an alarm meets the limits.
    decision : Decision
        The decision that the scores are computed from. Scores that its points do not determine are
        NaN, and so is partial VOROS where cases have values and there are limits.

    Examples
    --------
    >>> import voros
    >>> y, scores = [1, 0, 1, 0], {"old": [0.9, 0.8, 0.3, 0.1], "new": [0.7, 0.2, 0.6, 0.4]}
    >>> best = voros.select_model(y, scores, voros.Scenario(0.6, 0.5, 0.1)).ranking[0]
    >>> best.model, best.partial_voros, best.recall, best.feasible
    ('new', 1.0, 1.0, True)
    """

    model: str
    feasible: bool
    decision: Decision

    partial_voros = _score("partial_voros")
    voros = _score("voros")
    partial_auroc = _score("partial_auroc")
    recall = _score("recall")
    expected_cost = _score("expected_cost")

    def merit(self, strategy: Strategy) -> float:
        """Return a score that is higher for better models: minus the cost, or the score itself."""
        value: float = getattr(self, strategy)
        return -value if strategy == "expected_cost" else value

    def record(self) -> dict[str, Any]:
        """Return name, all scores and feasibility by name."""
        scores: dict[str, float] = {name: getattr(self, name) for name in STRATEGIES}
        return {"model": self.model, **scores, "feasible": self.feasible}

    def __eq__(self, other: object) -> bool:
        """Whether name, scores and feasibility are the same."""
        return isinstance(other, ModelScores) and self.record() == other.record()

    def __hash__(self) -> int:
        """Hash the name alone."""
        return hash(self.model)

    def __repr__(self) -> str:
        """Show every score."""
        shown = ", ".join(f"{name}={value!r}" for name, value in self.record().items())
        return f"ModelScores({shown})"

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the scores without the cases."""
        self.record()
        return vars(self) | {"decision": kept_decision(self.decision)}


@dataclass(frozen=True, repr=False, kw_only=True)
class Selection(ReprMixin):
    """Models ranked by a strategy, best first; `policy` deploys the winner.

    Attributes
    ----------
    strategy : str
    tolerance : float
        Scores are close if they differ by less than this share of the highest possible score within
        the limits; see `tolerance_of`.
    ranking : tuple of ModelScores
        Models by `strategy`, best first; models with equal scores keep their order. With
        development cases, the scores are those on them, and the model fixed there comes first.
    scenario : Scenario
    guarantee : Guarantee or None
        The guarantee, which holds for every model: its error is split over them. With development
        cases it holds for the winner, which has the whole error.
    reason : str or None
        Why the winner can raise no alarm, or None if it can.
    allowed : mapping of str to AllowedThresholds
        Thresholds that may be deployed: of each model, or with development cases of the winner.
    pos_label : label or None
        The positive label, if stated.
    n_development : int or None
        Number of development cases on which the model was chosen.
    curve : tuple of ConfidenceStep
        The winner at each confidence, where several were given.
    threshold_on : {"score", "value"}
        What thresholds apply to; see `ThresholdPolicy.from_validation`.

    Examples
    --------
    >>> import voros
    >>> patients = voros.datasets.load_support2().with_all_prognoses()
    >>> died = patients.outcome("hospital_death_within_7_days")
    >>> scenario = voros.Scenario(0.2, 0.1, cost_ratio=voros.costs.miss_costs(9, 40))
    >>> selection = voros.select_model(died, patients.prognoses, scenario)
    >>> selection.winner, selection.close_to_winner, round(selection.policy().threshold(), 4)
    ('SUPPORT model', (), 0.747)
    """

    strategy: Strategy
    tolerance: float
    ranking: tuple[ModelScores, ...]
    scenario: Scenario
    guarantee: Guarantee | None = None
    reason: str | None = None
    allowed: Mapping[str, AllowedThresholds] = field(
        default_factory=dict, repr=False, compare=False
    )
    pos_label: Any = None
    n_development: int | None = None
    curve: tuple[ConfidenceStep, ...] = ()
    threshold_on: ThresholdOn = "score"

    @property
    def winner(self) -> str:
        """Name of the best model."""
        return self.ranking[0].model

    def policy(
        self, *, model: str | None = None, strategy: PolicyStrategy | None = None
    ) -> ThresholdPolicy:
        """Return the thresholds to deploy, decided on the cases that ranked the models.

        A guarantee in `select_model` tests every model with its part of the error, so it holds for
        each of these policies.

        Parameters
        ----------
        model : str, optional
            One of the ranked models; by default the winner.
        strategy : str, optional
            Strategy for the thresholds, as in `ThresholdPolicy.from_validation`; by default the one
            that ranked the models.

        Warns
        -----
        NeverAlarmWarning
            When no threshold of the model that raises an alarm is allowed; the policy then never
            alarms.

        Examples
        --------
        >>> import voros
        >>> y, scores = [1, 0, 1, 0], {"old": [0.9, 0.8, 0.3, 0.1], "new": [0.7, 0.2, 0.6, 0.4]}
        >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.5, cost_ratio=(0.1, 0.2))
        >>> policy = voros.select_model(y, scores, scenario).policy()
        >>> policy.model, policy.threshold()
        ('new', 0.6)
        """
        name = self.winner if model is None else model
        if name not in self.allowed:
            raise ValueError(f"model={model!r}; accepted are {', '.join(map(repr, self.allowed))}")
        allowed = self.allowed[name]
        policy = ThresholdPolicy.from_allowed(
            allowed,
            strategy=strategy or self.strategy,
            model=name,
            pos_label=self.pos_label,
            curve=self.curve,
        )
        warn_if_dependent(allowed)
        if not allowed.decision.can_alarm:
            why = self.reason if name == self.winner else "no threshold is allowed"
            warn_caller(f"model {name!r}: {why}", NeverAlarmWarning)
        return policy.comparing(self.threshold_on)

    @property
    def close_to_winner(self) -> tuple[str, ...]:
        """Names of the other models whose score is within the tolerance of the winner's."""
        return tuple(row.model for row in self.ranking[1:] if self.is_close(row))

    def is_close(self, row: ModelScores, strategy: Strategy | None = None) -> bool:
        """Whether a model's score is within the tolerance of the best one, by any strategy."""
        return self.behind(row, strategy) < self.tolerance_of(strategy)

    def tolerance_of(self, strategy: Strategy | None = None) -> float:
        """Return the difference below which two scores of a strategy are close.

        It is relative to the highest possible score: 1 for partial VOROS and VOROS, the recall that
        the capacity allows, and for partial AUROC the product of the greatest recall and the
        greatest false alarm rate. For a partial AUROC of at most 0.05, a tolerance of 0.01 is
        0.0005.
        """
        return self.tolerance * self._scales[strategy or self.strategy]

    @cached_property
    def _scales(self) -> dict[Strategy, float]:
        region = next(iter(self.allowed.values())).decision.region
        fpr, tpr = region.ring.max(axis=1).tolist()
        # With a precision floor of 1 there is no area under the curve.
        area = fpr * tpr or 1.0
        return {**dict.fromkeys(RANKED_BY, 1.0), "partial_auroc": area, "recall": tpr}

    @cached_property
    def compared(self) -> tuple[Strategy, ...]:
        """The scores in a table: those that are defined, and the cost where it ranks models."""
        points = next(iter(self.allowed.values())).decision.points
        limited = self.scenario != self.scenario.without_limits()
        defined = STRATEGIES if points.worth is None or not limited else STRATEGIES[1:]
        return ("expected_cost", *defined) if self.strategy == "expected_cost" else defined

    def behind(self, row: ModelScores, strategy: Strategy | None = None) -> float:
        """Return the difference between the best score and that of a model, by any strategy.

        Returns
        -------
        float
        """
        name = strategy or self.strategy
        return max(other.merit(name) for other in self.ranking) - row.merit(name)

    def frame(self, backend: str | None = None) -> Any:
        """Return the ranking as a data frame, with each score and whether it is close to the best.

        See `tolerance_of` for what is close.
        """
        columns: dict[str, list[Any]] = {"model": [row.model for row in self.ranking]}
        for name in self.compared:
            columns[name] = [getattr(row, name) for row in self.ranking]
            columns[f"{name}_close"] = [self.is_close(row, name) for row in self.ranking]
        columns["feasible"] = [row.feasible for row in self.ranking]
        return make_frame(columns, backend)

    def _parts(self) -> tuple[str, str, Table, str]:
        """Return limits, cases and ranking."""
        by = f"by {STRATEGY_TITLES[self.strategy]}"
        if self.n_development is not None:
            by = f"fixed on {self.n_development:,} development cases, {by}"
        return f"winner {by}: {self.winner}", self._limits_and_cases, self.table(), self.legend

    def table(self) -> Table:
        """Return the ranking as a table; a star marks scores close to the best."""
        titles = (STRATEGY_TITLES[name] for name in self.compared)
        return Table.from_rows([("model", *titles), *map(self.cells, self.ranking)])

    @property
    def _limits_and_cases(self) -> str:
        """The limits, and the number of cases."""
        allowed = next(iter(self.allowed.values()))
        points, origin = allowed.decision.points, allowed.origin
        limits = "; ".join(f"{name}: {text}" for name, text in self.scenario.summary()[:-2])
        if origin.n_stays is not None:
            days = count(origin.patient_days or 0.0)
            events = count(points.n_positive)
            return f"{limits}; {origin.n_stays:,} stays, {events} events, {days} patient-days"
        positive = positives_in_words(points.n_positive, self.scenario.prevalence)
        return f"{limits}; {count(points.n_cases)} cases, {positive}"

    @property
    def legend(self) -> str:
        """The meaning of the stars in a table."""
        finer = {
            STRATEGY_TITLES[name]: self.tolerance_of(name)
            for name in self.compared
            if 0 < self.tolerance_of(name) < self.tolerance
        }
        rest = "".join(f", {name} within {typed(value)}" for name, value in finer.items())
        return f"* within {self.tolerance:g} of the best{rest}"

    def cells(self, row: ModelScores) -> tuple[str, ...]:
        """Return a model's name and its scores as text, with a star where they are close."""

        def cell(strategy: Strategy) -> str:
            value = getattr(row, strategy)
            text = "open" if np.isnan(value) else short(value)
            return text + ("*" if self.is_close(row, strategy) else " ")

        return (row.model, *map(cell, self.compared))
