"""One split of one data set: every strategy chooses a model on validation and is tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from voros import Scenario
from voros.core.decision import STRATEGIES
from voros.policy import ThresholdPolicy
from voros.policy.allowed import allowed_thresholds
from voros.policy.origin import PolicyStrategy
from voros.selection.ranking import rank_points
from voros.typing import BoolArray, FloatArray
from voros_studies.evidence.fits import Fitted
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
from voros_studies.paper.cells import ScenarioName

FITTED = 3
"""Number of the scenario whose limits are fitted to the data set."""

COMPARED: tuple[str, ...] = (*STRATEGIES, *BY_RISK, WITH_MARGIN, GUARANTEED)
"""Strategies; the last two tighten the limits, or certify them."""

FLOOR, CAPACITY, PAYS_UP_TO = 1.5, 2.0, 2.0
"""Limits of the fitted scenario, and risks above which alarms pay, in prevalences."""

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
    """Return the cost ratio of every case: extra cost of a false alarm over that of a miss."""
    adds = prices["C_FN"] - prices["C_TP"]
    return np.asarray((prices["C_FP"] - prices["C_TN"]) / adds)


def run_split(fitted: Fitted, scenarios: Mapping[ScenarioName, Scenario]) -> list[SplitCost]:
    """Return the result of every strategy on test in each scenario."""
    costs = []
    for number, scenario in scenarios.items():
        for strategy, policy in choose(scenario, fitted).items():
            one = deploy(number, strategy, policy, fitted.valid, fitted.test)
            costs.append(SplitCost.from_deployed(one, GUARANTEED_BY))
    return costs


def choose(scenario: Scenario, fitted: Fitted) -> dict[str, ThresholdPolicy]:
    """Return the policy of every strategy."""
    valid, winners = fitted.valid, choose_models(scenario, fitted.valid)
    policies = {}
    for strategy, model in winners.items():
        # Neither fixes a threshold; like the other strategies without costs they take the last one.
        rule = cast("PolicyStrategy", "recall" if strategy in BY_RISK else strategy)
        policies[strategy] = _policy(scenario, valid, model, rule)
    tight = _policy(tightened(scenario), valid, winners[GUARANTEED_BY], GUARANTEED_BY)
    return {
        **policies,
        WITH_MARGIN: replace(tight, scenario=scenario),
        GUARANTEED: _certified(scenario, fitted),
    }


def choose_models(scenario: Scenario, scored: Scored) -> dict[str, str]:
    """Return the model that each strategy chooses; of equals, the first of the grid."""
    ranked = rank_points(scored.points, scenario).ranking
    places = list(scored.scores)
    in_order = sorted(ranked, key=lambda row: places.index(row.model))
    return {
        **{by: max(in_order, key=lambda row: float(getattr(row, by))).model for by in STRATEGIES},
        **{by: best_by_risk(scored, by) for by in BY_RISK},
    }


def _policy(scenario: Scenario, valid: Scored, model: str, rule: PolicyStrategy) -> ThresholdPolicy:
    allowed = allowed_thresholds(valid.points[model], scenario)
    return ThresholdPolicy.from_allowed(allowed, strategy=rule, model=model)


def _certified(scenario: Scenario, fitted: Fitted) -> ThresholdPolicy:
    horizon = len(fitted.test)
    if not fitted.valid.can_certify:
        return nothing_certified(scenario, fitted.valid, horizon)
    model, allowed = guaranteed(scenario, fitted.valid, horizon, fitted.development)
    policy = ThresholdPolicy.from_allowed(allowed, strategy=GUARANTEED_BY, model=model)
    return replace(policy, scenario=scenario)
