"""Select a model and decide its thresholds in one go."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from voros.exceptions import InfeasibleError, NeverAlarmWarning
from voros.limits import limits_message
from voros.policy import ThresholdPolicy
from voros.roc import OperatingPoints
from voros.scenario import Scenario
from voros.selection import PAPER_TOLERANCE, Selection, Strategy, select_points, shared

if TYPE_CHECKING:
    from voros.inference import Guarantee


def choose(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    *,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    guarantee: Guarantee | None = None,
) -> tuple[Selection, ThresholdPolicy]:
    """Rank models on validation points and decide the winner's thresholds.

    Parameters are those of `voros.select_points`.

    Returns
    -------
    selection : Selection
    policy : ThresholdPolicy
        The winner's, with its name.

    Raises
    ------
    InfeasibleError
        When the winner could only stay silent; the message says what could be met instead.

    Examples
    --------
    >>> sizes = {"n_positive": 100, "n_negative": 900, "thresholds": [0.7, 0.4]}
    >>> points = {
    ...     "early": OperatingPoints.from_points([0.01, 0.3], [0.4, 0.7], **sizes),
    ...     "late": OperatingPoints.from_points([0.03, 0.2], [0.3, 0.9], **sizes),
    ... }
    >>> selection, policy = choose(points, Scenario(0.5, 0.1, cost_ratio=(1 / 40, 1 / 20)))
    >>> policy.model, policy.threshold()
    ('early', 0.7)
    """
    with warnings.catch_warnings():
        # Silence is refused below, with what could be met.
        warnings.simplefilter("ignore", NeverAlarmWarning)
        selection = select_points(
            points_by_model, scenario, strategy=strategy, tolerance=tolerance, guarantee=guarantee
        )
    winner = selection.winner
    if not selection.ranking[0].feasible:
        raise InfeasibleError(_refusal(winner, points_by_model[winner], scenario))
    policy = ThresholdPolicy.from_points(
        points_by_model[winner],
        scenario,
        strategy=selection.strategy,
        guarantee=shared(guarantee, len(points_by_model)),
    )
    return selection, replace(policy, model=winner)


def _refusal(winner: str, points: OperatingPoints, scenario: Scenario) -> str:
    cases = points.at_prevalence(scenario.prevalence)
    if cases.feasible(scenario)[1:].any():
        return (
            f"model {winner!r}: no threshold keeps the limits with the confidence asked for; ask "
            "for less confidence, or validate on more cases"
        )
    return f"model {winner!r}: {limits_message(cases, scenario)}"
