"""What a scenario asks of cases that stay on a device, counted there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voros.core import device_points
from voros.core.coverage import SomeThresholds
from voros.core.decision import solve
from voros.core.device_cases import DeviceCases, check_unchanged
from voros.core.device_points import CountedRows, choosable_rows, joined_rows
from voros.core.device_sweep import sweep
from voros.core.limits import lifted_limits
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario


def count_choosable(cases: DeviceCases, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
    """Count what a scenario can choose at its costs, or at any, and without either limit.

    What was counted last is kept with the cases, which must not be written to in between.
    """
    key = scenario, every_cost
    if key not in cases.chosen:
        check_unchanged(cases)
        cases.chosen.clear()
        with cases.library.wide():
            cases.chosen[key] = _choosable(cases, *key)
    points: OperatingPoints = cases.chosen[key][0]
    return points


def count_area(cases: DeviceCases, scenario: Scenario) -> float:
    """Area of the trapezoids under all thresholds that meet a scenario's limits."""
    _, area = cases.chosen.get((scenario, True), (None, None))
    if area is not None:
        return float(area)
    check_unchanged(cases)
    with cases.library.wide():
        return sweep(cases, scenario, hull=False).partial_auroc


def _choosable(
    cases: DeviceCases, scenario: Scenario, every_cost: bool
) -> tuple[OperatingPoints, float | None]:
    """Count what a scenario can choose, and what messages about it name; the area where known."""
    limits = lifted_limits(scenario)
    counted, area = (limits[:1] + limits[-1:] if every_cost else limits), None
    # Few cases are all sorted, and show their whole hull.
    if every_cost and len(cases) > device_points.SORTED:
        swept = sweep(cases, scenario)
        parts, area = [swept.columns], swept.partial_auroc
        if scenario != limits[-1]:
            parts.append(choosable_rows(cases, limits[-1:]))
    else:
        parts = [choosable_rows(cases, counted)]
    if not _can_alarm(parts, cases.totals, scenario):
        parts += _beyond(cases, scenario)
    covers = SomeThresholds(counted)
    columns = joined_rows(parts)
    return OperatingPoints.with_never_alarm(*columns, *cases.totals, covers=covers), area


def _can_alarm(parts: Sequence[CountedRows], totals: tuple[int, int], scenario: Scenario) -> bool:
    points = OperatingPoints.with_never_alarm(*joined_rows(parts), *totals)
    return solve(points, scenario).can_alarm


def _beyond(cases: DeviceCases, scenario: Scenario) -> Iterator[CountedRows]:
    """Count what else may be feasible, a negative's score, and what other limits could be met."""
    yield choosable_rows(cases, lifted_limits(scenario))
    for each in (scenario, scenario.without_capacity()):
        yield sweep(cases, each, hull=False).columns
