"""Rank models by what a scenario decides about their operating points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from voros.core.arguments import check_choice, check_number
from voros.core.decision import RANKED_BY, Decision, Strategy
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import kept_points
from voros.core.scenario import Scenario
from voros.exceptions import IncompleteCountsError, InfeasibleError, Message
from voros.notices import warn_about_costs
from voros.policy.allowed import (
    AllowedThresholds,
    allowed_thresholds,
    deployable,
    limits_under,
    read_guarantee,
    why_never_alarm,
)
from voros.policy.confidence_curve import ConfidenceStep
from voros.policy.development import (
    certify_plan,
    check_development,
    check_same_models,
    fixed_plan,
)
from voros.policy.threshold_policy import ThresholdPolicy
from voros.selection.result import ModelScores, Selection

if TYPE_CHECKING:
    from voros.guarantee import Guarantee

BY_SAVING: tuple[Strategy, ...] = ("partial_voros", "recall", "expected_cost")
"""With development cases, these strategies choose the model that saves most with the guarantee."""

PAPER_TOLERANCE = 0.01
"""The difference in score below which the paper calls two models equally good."""


def rank_models(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    development: Mapping[str, OperatingPoints] | None,
    **how: Any,
) -> Selection:
    """Rank models on their validation cases, or on development cases if there are any."""
    if development is None:
        return rank_points(points_by_model, scenario, **how)
    check_same_models(development, points_by_model)
    return rank_developed(points_by_model, scenario, development, **how)


def rank_points(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    guarantee: Guarantee | None = None,
) -> Selection:
    """Rank models as `select_model` does, one after another and without a warning."""
    check_choice(strategy, "strategy", RANKED_BY)
    check_number(tolerance, "tolerance")
    n_models = len(points_by_model)
    if n_models == 0:
        raise ValueError("scores hold no model; at least one is needed to choose from")
    guarantee = read_guarantee(guarantee)
    if guarantee is not None and isinstance(guarantee.confidence, tuple):
        return _climbed(dict(points_by_model), scenario, strategy, tolerance, guarantee)
    scenario = limits_under(guarantee, scenario)
    scored, kept = [], {}
    # Points are counted one model at a time. Only the thresholds that can be deployed are kept, and
    # copies of uncounted cases.
    for model, counted in points_by_model.items():
        points = kept_points(counted)
        decision = deployable(points, scenario, guarantee, n_models)
        row = _score(model, decision, strategy)
        kept[model] = AllowedThresholds.from_decision(points, decision, guarantee, n_models)
        if decision.uncounted is None:
            row = replace(row, decision=kept[model].decision)
        scored.append(row)
    # The sort is stable, also in reverse: models with equal scores keep their order.
    higher_is_better = strategy != "expected_cost"
    ranking = tuple(sorted(scored, key=attrgetter(strategy), reverse=higher_is_better))
    winner, reason = ranking[0], None
    if not winner.feasible:
        counted = points_by_model[winner.model]
        reason = why_never_alarm(counted, scenario, guarantee, n_models)
    return Selection(
        strategy=strategy,
        tolerance=tolerance,
        ranking=ranking,
        scenario=scenario,
        guarantee=guarantee,
        reason=reason,
        allowed=kept,
    )


def _climbed(
    models: Mapping[str, OperatingPoints],
    scenario: Scenario,
    strategy: Strategy,
    tolerance: float,
    ladder: Guarantee,
) -> Selection:
    """Rank at every confidence of a ladder, and keep the highest at which a model can alarm."""

    def ranked(step: Guarantee | None) -> Selection:
        return rank_points(models, scenario, strategy, tolerance, step)

    scenario = limits_under(ladder, scenario)
    tried = [ranked(step) for step in (*ladder.steps, None)]
    curve = tuple(
        ConfidenceStep.from_policy(
            ThresholdPolicy.from_allowed(
                selection.allowed[selection.winner], strategy=strategy, model=selection.winner
            )
        )
        for selection in tried
    )
    chosen = next(
        (selection for selection in tried[:-1] if selection.ranking[0].feasible), tried[0]
    )
    reason = None if chosen.reason is None else tried[-2].reason
    return replace(chosen, reason=reason, curve=curve)


def rank_developed(
    validation: Mapping[str, OperatingPoints],
    scenario: Scenario,
    development: Mapping[str, OperatingPoints],
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    guarantee: Guarantee | None = None,
) -> Selection:
    """Fix a model and its thresholds on development cases, and certify them on validation cases.

    Parameters
    ----------
    validation, development : mapping of str to OperatingPoints
        Points of each model on the validation and on the development cases.
    scenario, strategy, tolerance, guarantee
        As in `select_model`.
    """
    guarantee = check_development(guarantee, scenario)
    limits, n_cases = (
        limits_under(guarantee, scenario),
        int(next(iter(validation.values())).n_cases),
    )
    if limits.capacity_is_count:
        # On the development cases the same capacity is a share.
        limits = replace(limits, capacity=min(limits.capacity / n_cases, 1.0))
    ranked = rank_points(development, limits, strategy, tolerance)
    first = validation[ranked.winner]
    if first.stays is not None or (first.grouped is not None and first.grouped.repeated):
        winner, allowed = ranked.winner, allowed_thresholds(first, scenario, guarantee)
        reason = None if allowed.decision.can_alarm else why_never_alarm(first, scenario, guarantee)
    else:
        # The other strategies choose the model by a score that is not the savings.
        models = (
            development if strategy in BY_SAVING else {ranked.winner: development[ranked.winner]}
        )
        plan = fixed_plan(models, n_cases, scenario, guarantee, strategy)
        winner = plan.model
        points = first if winner == ranked.winner else validation[winner]
        allowed, reason = certify_plan(plan, points, guarantee)
    can_alarm = allowed.decision.can_alarm
    rows = sorted(ranked.ranking, key=lambda row: row.model != winner)
    return replace(
        ranked,
        ranking=tuple(replace(r, feasible=r.model == winner and can_alarm) for r in rows),
        scenario=allowed.decision.scenario,
        guarantee=guarantee,
        reason=reason,
        allowed={winner: allowed},
        n_development=int(development[winner].n_cases),
    )


def _score(model: str, decision: Decision, strategy: Strategy) -> ModelScores:
    """Score a model by the strategy, and by all strategies if its cases are counted."""
    try:
        decision.score(strategy)
    except IncompleteCountsError as error:
        raise IncompleteCountsError(f"model {model!r}, by {strategy!r}: {error}") from None
    row = ModelScores(model=model, feasible=decision.can_alarm, decision=decision)
    if decision.uncounted is None:
        row.record()
    return row


def rank_deployable(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    development: Mapping[str, OperatingPoints] | None = None,
    **how: Any,
) -> Selection:
    """Rank models as `select_model` does, and refuse a winner that can raise no alarm.

    Raises
    ------
    InfeasibleError
        Names the limits that the winner could meet.
    """
    selection = rank_models(points_by_model, scenario, development, **how)
    winner = selection.ranking[0].model
    warn_about_costs(selection.allowed[winner].decision)
    if selection.reason is not None:
        raise InfeasibleError(Message(f"model {winner!r}: ", selection.reason))
    return selection
