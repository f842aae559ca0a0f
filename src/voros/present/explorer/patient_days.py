"""Alarms over stays as a page counts them: in patient-days.

With a floor or a capacity the score does not depend on the number of negatives, so a page may take
patient-days as its cases: a share of them is then a rate per patient-day, and what happens to a
hundred of them is what a ward asks. Only above a rate of 1 less the events per patient-day, with
next to no floor, is the region cut off, and the score another one.
"""

from __future__ import annotations

from collections.abc import Mapping

from voros.core.coverage import GIVEN_POINTS
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.exceptions import ArgumentError

CASES, OUTCOME = "patient-days", "an event"
"""What a page over stays counts, and what its alarms warn of, unless other words are given."""


def in_patient_days(
    points_by_model: Mapping[str, OperatingPoints], scenario: Scenario
) -> tuple[dict[str, OperatingPoints], Scenario]:
    """Return points and scenario with patient-days for cases.

    Thresholds of more than one alarm per patient-day are left out.

    Examples
    --------
    >>> import voros
    >>> points = voros.alarm_points(
    ...     stay=[1, 1, 2],
    ...     time=[0, 48, 0],
    ...     score=[0.2, 0.9, 0.4],
    ...     events=([1], [54]),
    ...     rule=voros.AlarmRule(snooze=2, horizon=12),
    ... )
    >>> scenario = voros.Scenario(0.1, 0.5, cost_ratio=0.1, per="patient-day")
    >>> shown, opening = in_patient_days({"risk": points}, scenario)
    >>> shown["risk"].n_cases, opening
    (6.0, Scenario(min_precision=0.1, capacity=0.5, cost_ratio=known(0.1)))
    """
    _check(points_by_model, scenario)
    limits = scenario if scenario.per is None else scenario.changed(per=None)
    return {name: _counted(points) for name, points in points_by_model.items()}, limits


def _counted(points: OperatingPoints) -> OperatingPoints:
    assert points.stays is not None
    days = points.stays.patient_days
    shown = points.take(points.alarms <= days)
    return OperatingPoints(
        shown.thresholds,
        shown.tp,
        shown.fp,
        points.n_positive,
        days - points.n_positive,
        one_case=points.one_case,
        covers=GIVEN_POINTS,
    )


def _check(points_by_model: Mapping[str, OperatingPoints], scenario: Scenario) -> None:
    if scenario.per not in (None, PATIENT_DAY):
        raise ArgumentError("per", f"={scenario.per!r}; a page over stays accepts {PATIENT_DAY!r}")
    if not scenario.capacity_is_count and scenario.capacity > 1:
        raise ArgumentError(
            "capacity", f"={scenario.capacity!r}; a page shows at most 1 alarm per patient-day"
        )
    if scenario.prevalence is not None:
        raise ArgumentError("prevalence", " is of stays, and a page shows them as observed")
    for points in points_by_model.values():
        if points.capacity_alarms is not None:
            raise ArgumentError(
                "y_true",
                " counts alarms for the capacity only, which a page does not; accepted is "
                "repeats='false_alarm' and unfinished='false_alarm' in the rule",
            )
