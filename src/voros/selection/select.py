"""Rank models by how well they serve a scenario, and pick one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voros.core.alignment import check_aligned
from voros.core.decision import Strategy, solve
from voros.core.limits import reversal_note
from voros.core.operating_points import OperatingPoints
from voros.core.periods import read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.core.worth import ThresholdOn, refuse_values
from voros.exceptions import NeverAlarmWarning, warn_caller
from voros.models import ModelCases, points_by_name, read_development
from voros.notices import warn_about_costs
from voros.policy.development import check_development
from voros.selection.ranking import PAPER_TOLERANCE, rank_models
from voros.selection.result import Selection

if TYPE_CHECKING:
    from voros.guarantee import Guarantee


def select_model(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    *,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    pos_label: Any = None,
    sample_weight: Any = None,
    guarantee: Guarantee | None = None,
    development: Any = None,
    groups: Any = None,
    periods: Any = None,
    times: Any = None,
    miss_value: Any = None,
    false_alarm_cost: Any = None,
    threshold_on: ThresholdOn = "score",
) -> Selection:
    """Rank models by their scores on the same validation cases, and pick one.

    Arrays on a device (torch, CuPy) stay there, unless a guarantee is given: the device counts the
    thresholds that can be chosen and those for the partial AUROC.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), or mapping of str to OperatingPoints
        Labels, the same for all models. Operating points of each model take the place of labels
        and scores; those of `development` are then a mapping of the same models.
    scores : mapping of str to array-like, data frame, or array-like of shape (n_cases,)
        The scores of each model, a data frame with a column for each, or those of one model.
    scenario : Scenario
        Limits and costs.
    strategy : {"partial_voros", "voros", "partial_auroc", "recall", "expected_cost"}
        Criterion for the ranking: "partial_voros" and "expected_cost" depend on limits and costs,
        "voros" on costs only, "partial_auroc" and "recall" on limits only. Every model is scored by
        the first four. Where cases have values and there are limits, use "expected_cost":
        "partial_voros" is not defined.
    tolerance : float, default 0.01
        Scores are marked as close to the best if they differ from it by less than this share of the
        highest possible score within the limits; see `Selection.tolerance_of`.
    pos_label, sample_weight, periods, times
        As in `voros.partial_voros_score`.
    guarantee : Guarantee or confidence, optional
        Allow only thresholds that also keep the limits on future data, with confidence; 0.95 is
        ``Guarantee(0.95)``. Each model has its part of the allowed error (`Guarantee.split`), so
        the guarantee holds for every policy from `Selection.policy`. Of several confidences, the
        highest at which a model can alarm is used.
    development : tuple of (y_dev, scores_dev), optional
        Labels and scores of the same models on cases that are not among the validation cases, such
        as out-of-fold scores of the training cases, or cases of last year. Model and thresholds are
        fixed on them, and the validation cases certify them with the whole error. Only with a
        guarantee, and not with a capacity per period. Where groups have several cases, development
        cases choose only the model.
    groups : array-like of shape (n_cases,), optional
        The patient of each case. A guarantee needs it where patients have several cases: without
        `groups` all cases are taken as independent, which cannot be checked.
    miss_value, false_alarm_cost : array-like of shape (n_cases,) or number, optional
        As in `voros.evaluate`.
    threshold_on : {"score", "value"}, default "score"
        As in `ThresholdPolicy.from_validation`, for all models.

    Returns
    -------
    Selection
        The ranking, the winner, and the policy of each model.

    Warns
    -----
    NeverAlarmWarning
        When the winner has no threshold that raises an alarm within the limits.

    Examples
    --------
    >>> import voros
    >>> y_valid = [0, 0, 0, 0, 0, 1, 0, 1, 0, 1]
    >>> scores = {
    ...     "steady": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.55, 0.7, 0.8, 0.9],
    ...     "sharp": [0.7, 0.2, 0.6, 0.4, 0.5, 0.1, 0.3, 0.8, 0.35, 0.9],
    ... }
    >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.2, cost_ratio=(0.1, 0.2))
    >>> select_model(y_valid, scores, scenario)
    winner by partial VOROS: sharp
    precision: at least 0.6; capacity: at most 20 % of the cases; 10 cases, 3 positive
    model   partial VOROS   VOROS  partial AUROC  recall
    sharp              1*  0.859              0*  0.667*
    steady         0.463   0.996*             0*  0.333
    * within 0.01 of the best, partial AUROC within 0.000762, recall within 0.00667

    Two published curves:

    >>> sizes = {"n_positive": 1000, "n_negative": 9000}
    >>> points = {
    ...     "a": voros.OperatingPoints.from_points([0.02, 0.3], [0.4, 0.9], **sizes),
    ...     "b": voros.OperatingPoints.from_points([0.05, 0.2], [0.5, 0.8], **sizes),
    ... }
    >>> scenario = voros.Scenario(min_precision=0.3, capacity=0.3, cost_ratio=1 / 30)
    >>> voros.select_model(points, scenario=scenario).winner
    'b'
    """
    scenario = check_scenario(scenario)
    per_case = {"sample_weight": sample_weight, "groups": groups, "periods": periods}
    values = {"miss_value": miss_value, "false_alarm_cost": false_alarm_cost}
    per_case |= {"times": times, **values}
    points: Mapping[str, OperatingPoints] | None = points_by_name(
        y_true, scores=scores, pos_label=pos_label, **per_case, worth=True
    )
    if points is None:
        check_aligned(y_true=y_true, scores=scores, **per_case)
        cases = ModelCases.read(y_true, scores).compared(miss_value, threshold_on)
        points = cases.counted(
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            periods=read_periods(scenario, cases.y_true, periods, times),
            **values,
        )
    developed = None
    if development is not None:
        check_development(guarantee, scenario)
        refuse_values("development", values)
        developed = points_by_name(development) or read_development(development, pos_label)
    how: Any = {"strategy": strategy, "tolerance": tolerance, "guarantee": guarantee}
    selection = rank_models(points, scenario, developed, **how)
    _warn_about(selection, points)
    return replace(selection, pos_label=pos_label, threshold_on=threshold_on)


def _warn_about(selection: Selection, points_by_model: Mapping[str, OperatingPoints]) -> None:
    warn_about_costs(next(iter(selection.allowed.values())).decision)
    ranking = selection.ranking
    if ranking[0].feasible:
        return
    if selection.n_development is not None:
        warn_caller(f"model {ranking[0].model!r}: {selection.reason}", NeverAlarmWarning)
        return
    others = [row.model for row in ranking if row.feasible]
    hint = f"; these have some: {', '.join(others)}" if others else ", nor has any other model"
    # The selection holds only the thresholds that can be deployed.
    counted = solve(points_by_model[ranking[0].model], selection.scenario)
    inverted = "" if others else reversal_note(counted)
    warn_caller(
        f"the winner {ranking[0].model!r} has no threshold within the limits{hint}{inverted}",
        NeverAlarmWarning,
    )
