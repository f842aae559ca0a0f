"""Alarms over stays as a page counts them: in patient-days.

With a floor or a capacity the score does not depend on the number of negatives, so a page may take
patient-days as its cases: a share of them is then a rate per patient-day, which may be above 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from voros.core.coverage import GIVEN_POINTS
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.exceptions import ArgumentError

OVER_STAYS = {"outcome": "an event", "cases": "patient-days"}
"""Words of a page over stays, unless others are given."""


def in_patient_days(
    points_by_model: Mapping[str, OperatingPoints], scenario: Scenario
) -> tuple[dict[str, OperatingPoints], Scenario]:
    """Return points with patient-days for cases, and a scenario of such cases.

    The scenario has no rate for its capacity; `with_rates` adds it.

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
    >>> shown, _ = in_patient_days({"risk": points}, scenario)
    >>> shown["risk"].n_cases
    6.0
    """
    _check(scenario)
    of_cases = scenario if scenario.per is None else scenario.changed(per=None, capacity=1.0)
    return {name: _counted(points) for name, points in points_by_model.items()}, of_cases


def with_rates(
    payload: dict[str, Any], points_by_model: Mapping[str, OperatingPoints], scenario: Scenario
) -> dict[str, Any]:
    """Add to what a page holds the patient-days, and the rate at which its capacity ends.

    That is the rate of an alarm that always sounds, rounded up, or the capacity of the scenario if
    that is higher. Without a capacity the page opens with this rate.
    """
    stays = next(iter(points_by_model.values())).stays
    assert stays is not None
    most = max(points.counted_alarms.max() for points in points_by_model.values())
    rates, setting = [most / stays.patient_days, 1.0], payload["setting"]
    if scenario.per == PATIENT_DAY:
        rates.append(scenario.capacity)
        setting = setting | {"capacity": {"share": float(scenario.capacity)}}
    ends = math.ceil(max(rates))
    if setting["capacity"] == {"share": 1.0} and scenario.per is None:
        setting = setting | {"capacity": {"share": ends}}
    cases = payload["cases"] | {"patientDays": stays.patient_days, "mostRate": ends}
    return payload | {"stays": True, "cases": cases, "setting": setting}


def _counted(points: OperatingPoints) -> OperatingPoints:
    assert points.stays is not None
    rest = points.stays.patient_days - points.n_positive
    return replace(points, n_negative=rest, covers=GIVEN_POINTS, stays=None)


def _check(scenario: Scenario) -> None:
    if scenario.per not in (None, PATIENT_DAY):
        raise ArgumentError("per", f"={scenario.per!r}; a page over stays accepts {PATIENT_DAY!r}")
    if scenario.prevalence is not None:
        raise ArgumentError("prevalence", " is of stays, and a page shows them as observed")
