"""Fix thresholds on development cases and test them on validation cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from voros.core.decision import solve
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError
from voros.policy.allowed import AllowedThresholds, mean_cost_ratio, read_guarantee
from voros.policy.origin import BY_RECALL, PolicyStrategy

if TYPE_CHECKING:
    from voros.guarantee import Guarantee
    from voros.guarantee.development import Plan


def check_same_models(development: Iterable[str], validation: Iterable[str]) -> None:
    """Raise unless development and validation cases have scores of the same models."""
    different = set(development) ^ set(validation)
    if different:
        names = ", ".join(map(repr, sorted(different)))
        raise ArgumentError(
            "development", f" and scores name different models: only one of them has {names}"
        )


def check_development(guarantee: Guarantee | None, scenario: Scenario) -> Guarantee:
    """Return the guarantee to certify; raise where development cases cannot help with it."""
    promise = read_guarantee(guarantee)
    if promise is None:
        raise ArgumentError(
            "development",
            " needs a guarantee: model and thresholds are fixed on development cases so that "
            "validation cases can certify them",
        )
    if scenario.per_period:
        raise ArgumentError(
            "development",
            f" cannot be combined with a capacity per {scenario.per}: leave it out, and thresholds "
            "are fixed on some of the validation periods",
        )
    if promise.ladder is not None or len(promise.steps) > 1:
        raise ArgumentError(
            "development",
            " fixes the thresholds for one confidence, and the guarantee has several; accepted is "
            "one, such as 0.95",
        )
    return promise


def fixed_plan(
    development: Mapping[str, OperatingPoints],
    n_cases: int,
    scenario: Scenario,
    guarantee: Guarantee | None,
    strategy: PolicyStrategy,
    n_models: int = 1,
) -> Plan:
    """Fix a model and its thresholds on development cases.

    Parameters
    ----------
    development : mapping of str to OperatingPoints
    n_cases : int
        Number of validation cases, which are to certify the thresholds.
    scenario : Scenario
    guarantee : Guarantee or None
        The promise to certify; None is refused.
    strategy : str
    n_models : int, default 1
        Number of models from which one is chosen on the validation cases.
    """
    if any(points.stays is not None for points in development.values()):
        raise ArgumentError("development", " over stays chooses a model; pass it to select_model")
    # Imported lazily: scipy.special takes as long to load as the rest of a policy.
    from voros.guarantee.development import Goal, Plan
    from voros.guarantee.promise import check_whole
    from voros.guarantee.recall_tests import recall_shares

    promise = check_development(guarantee, scenario)
    for points in development.values():
        check_whole(points, scenario)
    ratio = points.negatives_per_positive
    cost = 0.0 if strategy in BY_RECALL else mean_cost_ratio(scenario.costs, ratio)
    limits, n_tested = promise.limits(scenario), promise.horizon or n_cases
    alpha, for_recall = recall_shares(promise.split(n_models).alpha, limits, n_tested)
    goal = Goal(
        n_cases=n_cases,
        horizon=promise.horizon,
        alpha=alpha,
        scenario=limits,
        false_alarm_cost=cost,
        recall_alpha=for_recall,
    )
    return Plan.from_development(development, goal)


def certify_plan(
    plan: Plan, points: OperatingPoints, guarantee: Guarantee | None, n_models: int = 1
) -> tuple[AllowedThresholds, str | None]:
    """Test the thresholds of a plan on validation cases of its model.

    Returns
    -------
    AllowedThresholds
    str or None
        Why none that raises an alarm may be deployed, where that is so.
    """
    from voros.guarantee.promise import check_whole

    check_whole(points, plan.goal.scenario)
    if points.grouped is not None and points.grouped.repeated:
        raise ArgumentError(
            "development",
            " of one model cannot be combined with groups of several cases: leave it out, and "
            "thresholds are fixed on some of the groups",
        )
    counts = plan.counts(points)
    decision = solve(counts, plan.goal.scenario, plan.passed(counts))
    developed = {"n_development": plan.n_development, "n_planned": len(plan.thresholds)}
    allowed = AllowedThresholds.from_decision(counts, decision, guarantee, n_models, **developed)
    return allowed, None if allowed.decision.can_alarm else plan.explain(counts)
