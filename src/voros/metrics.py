"""The score functions, in scikit-learn's form."""

from __future__ import annotations

from typing import Any

from voros.core.costs import CostLike
from voros.core.decision import decide
from voros.core.scenario import Scenario, check_scenario
from voros.models import read_points
from voros.notices import warn_about


def partial_voros_score(
    y_true: Any,
    y_score: Any = None,
    scenario: Scenario | None = None,
    *,
    min_precision: float | None = None,
    min_recall: float | None = None,
    capacity: float | None = None,
    cost_ratio: CostLike | None = None,
    prevalence: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    periods: Any = None,
    times: Any = None,
) -> float:
    """Partial volume over the ROC surface: how good a classifier is within its limits.

    The score is the mean over the costs of the share of the feasible region of ROC space that is
    costlier than the best feasible threshold. It is computed exactly, and higher is better. 1 is
    the score of a classifier that no other could improve within the limits. 0 is the score of
    raising no alarm, if cost ratios stay below ``min_precision / (1 - min_precision)``. With a
    recall floor, 0 is the costliest choice within the limits, or means that no threshold meets
    them.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,), or OperatingPoints
        Labels: bool, {0, 1}, {-1, 1}, or any two with `pos_label`. Operating points, such as those
        of a published curve, take the place of labels and scores.
    y_score : array-like of shape (n_cases,)
        Higher means more likely positive. Only the order matters.
    scenario : Scenario, optional
        Limits and costs. Give a scenario or its parts below, not both.
    min_precision : float in [0, 1], default 0.0
        At least this share of the alarms must be correct.
    min_recall : float in [0, 1], optional
        At least this share of the positives must raise an alarm.
    capacity : float in (0, 1] or int, default 1.0
        Maximum number of alarms: a float is a share of the cases, an int a number of cases.
    cost_ratio : float, pair of floats, or distribution from `voros.costs`
        C_FP / C_FN: known, uniform between two values, or any distribution.
    prevalence : float in (0, 1), optional
        Prevalence at deployment, if it differs from that of the data.
    pos_label : label, optional
        The positive class; needed unless the labels are bool, {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_cases,), optional
        Number of cases that each row stands for.
    periods, times : array-like of shape (n_cases,), optional
        The period or the time of each case, for a scenario with a capacity per period.

    Returns
    -------
    float
        Between 0 and 1.

    Warns
    -----
    NeverAlarmWarning
        When no threshold that raises an alarm meets the limits; with a recall floor the score is
        then 0.
    CostRangeWarning
        When cost ratios above ``min_precision / (1 - min_precision)`` make raising no alarm score
        0.01 or more.
    InvertedCostsWarning, FewAlarmsWarning
        As in `Scenario`.

    Raises
    ------
    InfeasibleError
        When no classifier could meet the limits: a capacity below one case, or below the true
        positives that `min_recall` asks for.

    See Also
    --------
    voros.evaluate : The same score with thresholds, limits and region.

    Examples
    --------
    >>> from voros import Scenario, partial_voros_score
    >>> y_true = [0, 0, 0, 1, 0, 1, 0, 1]
    >>> y_score = [0.1, 0.2, 0.3, 0.35, 0.4, 0.6, 0.7, 0.9]
    >>> score = partial_voros_score(
    ...     y_true, y_score, min_precision=0.5, capacity=0.5, cost_ratio=(1 / 10, 1 / 5)
    ... )
    >>> round(score, 4)
    0.5686
    >>> ward = Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(1 / 10, 1 / 5))
    >>> partial_voros_score(y_true, y_score, ward) == score
    True
    """
    parts = {
        "min_precision": min_precision,
        "min_recall": min_recall,
        "capacity": capacity,
        "cost_ratio": cost_ratio,
        "prevalence": prevalence,
    }
    how = {"pos_label": pos_label, "sample_weight": sample_weight}
    limits = read_scenario(scenario, parts)
    return _score(y_true, y_score, limits, **how, periods=periods, times=times)


def read_scenario(scenario: Scenario | None, parts: dict[str, Any]) -> Scenario:
    """Return a scenario, or make one from its parts; the two are mutually exclusive."""
    stated = {name: value for name, value in parts.items() if value is not None}
    if scenario is None:
        return Scenario(**stated)
    check_scenario(scenario)
    if stated:
        raise TypeError(
            f"{' and '.join(stated)} and a scenario were given; accepted are a scenario or its "
            "parts, not both"
        )
    return scenario


def _score(y_true: Any, y_score: Any, scenario: Scenario, **how: Any) -> float:
    points = read_points(y_true, y_score, scenario, **how)
    decision = decide(points, scenario, every_cost=False)
    warn_about(decision)
    return decision.partial_voros


def voros_score(
    y_true: Any,
    y_score: Any = None,
    scenario: Scenario | None = None,
    *,
    cost_ratio: CostLike | None = None,
    prevalence: float | None = None,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> float:
    """Volume over the ROC surface: partial VOROS without limits.

    Parameters are those of `partial_voros_score`; the limits of a scenario are ignored. Higher is
    better; 1 is a perfect classifier.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    Examples
    --------
    >>> import voros
    >>> coin = [0, 1], [0.5, 0.5]
    >>> round(voros.voros_score(*coin, cost_ratio=voros.costs.uniform_t(0, 1)), 9)  # 3/2 - ln 2
    0.806852819
    """
    how = {"pos_label": pos_label, "sample_weight": sample_weight}
    costs = read_scenario(scenario, {"cost_ratio": cost_ratio, "prevalence": prevalence})
    return _score(y_true, y_score, costs.without_limits(), **how)
