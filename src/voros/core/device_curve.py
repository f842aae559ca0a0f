"""Operating points of cases that stay on a device, read as far as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from voros.core import device_points
from voros.core.decision import solve
from voros.core.device_cases import (
    DeviceCases,
    check_unchanged,
    device_counts,
    read_device_cases,
)
from voros.core.device_points import CountedRows, ScenarioPoints, choosable_rows, joined_rows
from voros.core.device_sweep import sweep
from voros.core.limits import lifted_limits
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario

POINT_COLUMNS = ("thresholds", "tp", "fp", "alarms")
"""What holds a row for every distinct score."""


class DevicePoints(OperatingPoints):
    """Operating points at every distinct score of cases without weights on a device.

    Functions that decide in a scenario ask `settling` for the few thresholds that matter there.
    Whoever asks for the columns themselves has every threshold counted and brought to the host,
    once. The arrays must not be written to in between.

    Parameters
    ----------
    cases : DeviceCases
    """

    counted = False

    def __init__(self, cases: DeviceCases) -> None:
        sizes = {"n_positive": cases.n_positive, "n_negative": cases.n_negative}
        vars(self).update(
            sizes, cases=cases, n_cases=len(cases), whole=True, settled=((None, False), None)
        )

    def __getattr__(self, name: str) -> Any:
        """Count every threshold when the first of the columns is asked for."""
        if name not in POINT_COLUMNS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        check_unchanged(self.cases)
        read = OperatingPoints.below(*device_counts(self.cases))
        vars(self).update({column: getattr(read, column) for column in POINT_COLUMNS})
        return vars(self)[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as points in memory."""
        return OperatingPoints.in_memory, (self.in_memory(),)

    def __repr__(self) -> str:
        """Summarise the cases, without counting them."""
        return (
            f"OperatingPoints(thresholds on {self.cases.library!r}, n_positive={self.n_positive:g},"
            f" n_negative={self.n_negative:g})"
        )

    def in_memory(self) -> OperatingPoints:
        """Return every threshold, counted and brought to the host."""
        columns = (self.thresholds, self.tp, self.fp)
        return OperatingPoints(*columns, self.n_positive, self.n_negative)

    def settling(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count what a scenario can choose at its costs, or at any, and without either limit."""
        key = scenario, every_cost
        if self.settled[0] != key:
            check_unchanged(self.cases)
            with self.cases.library.wide():
                vars(self)["settled"] = key, settled_points(self.cases, *key)
        found: OperatingPoints = self.settled[1]
        return found

    def partial_auroc(self, scenario: Scenario) -> float:
        """Area of the trapezoids under all thresholds that meet a scenario's limits."""
        (settled, _), points = self.settled
        if settled == scenario and points.partial_auroc is not None:
            return float(points.partial_auroc)
        check_unchanged(self.cases)
        with self.cases.library.wide():
            return sweep(self.cases, scenario, hull=False).partial_auroc


def settled_points(cases: DeviceCases, scenario: Scenario, every_cost: bool) -> ScenarioPoints:
    """Count what a scenario can choose, and what messages about it name."""
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
    columns = joined_rows(parts)
    return ScenarioPoints.below(*columns, *cases.totals, scenarios=counted, partial_auroc=area)


def _can_alarm(parts: Sequence[CountedRows], totals: tuple[int, int], scenario: Scenario) -> bool:
    points = OperatingPoints.below(*joined_rows(parts), *totals)
    return solve(points, scenario).can_alarm


def _beyond(cases: DeviceCases, scenario: Scenario) -> Iterator[CountedRows]:
    """Count what else may be feasible, a negative's score, and what other limits could be met."""
    yield choosable_rows(cases, lifted_limits(scenario))
    for each in (scenario, scenario.without_capacity()):
        yield sweep(cases, each, hull=False).columns


def curve_of(cases: DeviceCases) -> OperatingPoints:
    """Return the operating points of cases: counted when asked for, weights added up at once."""
    if cases.weights is None:
        return DevicePoints(cases)
    return OperatingPoints.below(*device_counts(cases))


def read_curve(
    y_true: Any, y_score: Any, pos_label: Any = None, sample_weight: Any = None
) -> OperatingPoints:
    """Check cases on a device, and return their operating points."""
    return curve_of(read_device_cases(y_true, y_score, pos_label, sample_weight))
