"""One split of one data set: fit, choose on validation, test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from voros import Scenario
from voros.core.decision import STRATEGIES
from voros.policy import ThresholdPolicy
from voros.policy.allowed import allowed_thresholds
from voros.policy.origin import PolicyStrategy
from voros.selection.ranking import rank_points
from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.evidence.sources import DataSet
from voros_studies.experiments.cases import LabelledCases, fill_and_scale, split_patients
from voros_studies.experiments.grid import Candidate, combinations
from voros_studies.experiments.splits import SplitCost
from voros_studies.experiments.study import (
    BY_RISK,
    GUARANTEED,
    GUARANTEED_BY,
    WITH_MARGIN,
    Scored,
    best_by_risk,
    deploy,
    guaranteed,
    nothing_certified,
    tightened,
)
from voros_studies.paper.cells import SCENARIOS, ScenarioName

FITTED = 3
"""Number of the scenario whose limits are fitted to the data set."""

COMPARED: tuple[str, ...] = (*STRATEGIES, *BY_RISK, WITH_MARGIN, GUARANTEED)
"""Ways to choose a model; the last two keep their distance from the limits, or certify them."""

FOLDS = 3
"""Folds of the training cases whose scores fix what is certified."""

FLOOR, CAPACITY, PAYS_UP_TO = 1.5, 2.0, 2.0
"""Limits of the fitted scenario, and the risk from which alarms pay, in prevalences."""

PRICE_RANGE = (0.1, 0.9)
"""Quantiles of the cost ratios by case that are the cost range of a set with prices."""


def evidence_grid() -> tuple[Candidate, ...]:
    """Return 12 cheap candidates: logistic regressions, random forests and boosted trees.

    Examples
    --------
    >>> from collections import Counter
    >>> dict(Counter(candidate.family for candidate in evidence_grid()))
    {'LR': 6, 'RF': 4, 'HGB': 2}
    """
    return (
        *combinations("LR", rare_class_weight=(1, 9), max_iter=(200,), C=(0.01, 1, 100)),
        *combinations(
            "RF",
            rare_class_weight=(1, 9),
            n_estimators=(50,),
            max_depth=(4, 16),
            min_samples_leaf=(8,),
        ),
        *combinations("HGB", max_iter=(50,), max_leaf_nodes=(4, 15)),
    )


def fitted_scenario(y_true: BoolArray, prices: Mapping[str, FloatArray] | None = None) -> Scenario:
    """Return limits and costs that fit a data set of prevalence p.

    The floor is 1.5 p and the capacity 2 p. Costs are such that an alarm pays from a risk between p
    and 2 p, or, where cases have prices, the middle 80 % of their own cost ratios.

    Examples
    --------
    >>> result = fitted_scenario(np.arange(100) < 10)
    >>> round(result.min_precision, 3), result.capacity, result.costs.support
    (0.15, 0.2, (0.1111111111111111, 0.25))
    """
    p = float(np.mean(y_true))
    pays = np.array([p, PAYS_UP_TO * p])
    low, high = pays / (1 - pays)
    if prices is not None:
        low, high = np.quantile(own_ratios(prices), PRICE_RANGE)
    return Scenario(
        min_precision=FLOOR * p, capacity=CAPACITY * p, cost_ratio=(float(low), float(high))
    )


def own_ratios(prices: Mapping[str, FloatArray]) -> FloatArray:
    """Return the cost ratio of every case: what a false alarm adds over what a miss adds."""
    adds = prices["C_FN"] - prices["C_TP"]
    return np.asarray((prices["C_FP"] - prices["C_TN"]) / adds)


def run_split(
    data: DataSet, seed: int, candidates: Sequence[Candidate]
) -> tuple[list[SplitCost], dict[str, float]]:
    """Return what every strategy did on test in each scenario, and in money where priced."""
    development, valid, test, rows = _fit(data.cases, seed, candidates)
    scenarios = {**SCENARIOS, FITTED: fitted_scenario(data.cases.y, data.prices)}
    chosen: dict[tuple[ScenarioName, str], ThresholdPolicy] = {}
    costs = []
    for number, scenario in scenarios.items():
        for strategy, policy, same_rule in _choose(scenario, valid, len(test), development):
            chosen[number, strategy] = policy
            one = deploy(number, strategy, policy, valid, test, same_rule)
            costs.append(SplitCost.from_deployed(one, GUARANTEED_BY))
    if data.prices is None:
        return costs, {}
    prices = {name: values[rows] for name, values in data.prices.items()}
    policies = {name: policy for (number, name), policy in chosen.items() if number == FITTED}
    return costs, money(policies, test, prices)


def _fit(
    cases: LabelledCases, seed: int, candidates: Sequence[Candidate]
) -> tuple[Scored, Scored, Scored, AnyArray]:
    """Return out-of-fold scores of the training cases, those of both other parts, and test rows."""
    from threadpoolctl import threadpool_limits

    split = split_patients(cases, seed)
    parts = (split.train, split.valid, split.test)
    train, *others = fill_and_scale(*(cases.X[rows] for rows in parts))
    y, patient = cases.y[split.train], cases.patient[split.train]
    folds = list(
        StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed).split(train, y, patient)
    )
    scores: list[dict[str, FloatArray]] = [{}, {}, {}]
    with threadpool_limits(1):
        for candidate in candidates:
            held_out = np.empty(len(train))
            for rest, fold in folds:
                model = candidate.estimator(seed).fit(train[rest], y[rest])
                held_out[fold] = model.predict_proba(train[fold])[:, 1]
            model = candidate.estimator(seed).fit(train, y)
            fresh = (model.predict_proba(X)[:, 1] for X in others)
            for held, column in zip(scores, (held_out, *fresh), strict=True):
                held[candidate.name] = column
    development, valid, test = (
        Scored(cases.patient[rows], cases.y[rows], held)
        for rows, held in zip(parts, scores, strict=True)
    )
    return development, valid, test, split.test


ChosenPolicies = tuple[str, ThresholdPolicy, ThresholdPolicy]


def _choose(
    scenario: Scenario, valid: Scored, horizon: int, development: Scored
) -> list[ChosenPolicies]:
    """Return, by strategy, the policy and the one of the same model with partial VOROS's rule."""
    winners = choose_models(scenario, valid)
    policies = []
    for strategy, model in winners.items():
        # Those say nothing of thresholds; like the others without costs they take the last one.
        rule = cast("PolicyStrategy", "recall" if strategy in BY_RISK else strategy)
        policies.append((strategy, *_policies(scenario, valid, model, rule)))
    model = winners[GUARANTEED_BY]
    tight, _ = _policies(tightened(scenario), valid, model, GUARANTEED_BY)
    _, same = _policies(scenario, valid, model, GUARANTEED_BY)
    policies.append((WITH_MARGIN, replace(tight, scenario=scenario), same))
    return [*policies, (GUARANTEED, *_certified(scenario, valid, horizon, development))]


def choose_models(scenario: Scenario, scored: Scored) -> dict[str, str]:
    """Return the model that each strategy chooses; of equals, the first of the grid."""
    ranked = rank_points(scored.points.items(), len(scored.points), scenario).ranking
    places = list(scored.scores)
    in_order = sorted(ranked, key=lambda row: places.index(row.model))
    return {
        **{by: max(in_order, key=lambda row: float(getattr(row, by))).model for by in STRATEGIES},
        **{by: best_by_risk(scored, by) for by in BY_RISK},
    }


def _policies(
    scenario: Scenario, valid: Scored, model: str, rule: PolicyStrategy
) -> tuple[ThresholdPolicy, ThresholdPolicy]:
    allowed = allowed_thresholds(valid.points[model], scenario)
    own, same = (
        ThresholdPolicy.from_allowed(allowed, strategy=strategy, model=model)
        for strategy in (rule, GUARANTEED_BY)
    )
    return own, same


def _certified(
    scenario: Scenario, valid: Scored, horizon: int, development: Scored
) -> tuple[ThresholdPolicy, ThresholdPolicy]:
    """Return the guaranteed policy, and the one that its model would have without."""
    if valid.can_certify:
        model, allowed = guaranteed(scenario, valid, horizon, development)
        policy = ThresholdPolicy.from_allowed(allowed, strategy=GUARANTEED_BY, model=model)
    else:
        policy = nothing_certified(scenario, valid, horizon)
    _, same = _policies(scenario, valid, policy.model or "", GUARANTEED_BY)
    return replace(policy, scenario=scenario), same


def money(
    policies: Mapping[str, ThresholdPolicy], test: Scored, prices: Mapping[str, FloatArray]
) -> dict[str, float]:
    """Return the mean price of a test case under each policy, in two ways, and under none.

    ``one`` deploys the default threshold for all; ``own`` the threshold of each case's own ratio.
    """
    ratios, n = own_ratios(prices), len(test)
    prices_by_way = {
        "never alarm": mean_price(test.y_true, np.zeros(n, bool), prices),
        "always alarm": mean_price(test.y_true, np.ones(n, bool), prices),
    }
    for name, policy in policies.items():
        scores = test.scores[policy.model or ""]
        for way, threshold in {"one": policy.threshold(), "own": policy.threshold(ratios)}.items():
            prices_by_way[f"{name}, {way}"] = mean_price(test.y_true, scores >= threshold, prices)
    return prices_by_way


def mean_price(y_true: BoolArray, alarms: BoolArray, prices: Mapping[str, Any]) -> float:
    """Return what a case costs on average.

    Examples
    --------
    >>> prices = {"C_FP": 1.0, "C_FN": 10.0, "C_TP": 2.0, "C_TN": 0.0}
    >>> mean_price(np.array([True, True, False, False]), np.array([1, 0, 1, 0], bool), prices)
    3.25
    """
    if_alarm = np.where(y_true, prices["C_TP"], prices["C_FP"])
    if_none = np.where(y_true, prices["C_FN"], prices["C_TN"])
    return float(np.where(alarms, if_alarm, if_none).mean())
