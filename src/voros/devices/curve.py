"""What a scenario asks of cases that stay on a device, counted there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from voros.core.coverage import SomeThresholds
from voros.core.decision import solve
from voros.core.limits import lifted_limits
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.devices import points
from voros.devices.cases import DeviceCases, check_unchanged, device_counts, read_device_cases
from voros.devices.points import CountedRows, choosable_rows, joined_rows
from voros.devices.sweep import sweep


@dataclass(frozen=True, eq=False)
class DeviceCurve:
    """Cases on a device as operating points ask about them; see `voros.core.places`.

    Nothing may be written to the arrays in between. `counted` holds what was counted last for a
    scenario, by that scenario.
    """

    cases: DeviceCases
    counted: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def from_cases(cls, y_true: Any, y_score: Any, pos_label: Any, sample_weight: Any) -> Self:
        """Check labels, scores and weights."""
        return cls(read_device_cases(y_true, y_score, pos_label, sample_weight))

    @property
    def totals(self) -> tuple[int, int]:
        """Positives and negatives."""
        return self.cases.totals

    @property
    def weighted(self) -> bool:
        """Whether cases carry weights."""
        return self.cases.weights is not None

    @property
    def place(self) -> str:
        """Library and device."""
        return repr(self.cases.library)

    def every_threshold(self) -> tuple[Any, ...]:
        """Count alarms at every distinct score."""
        check_unchanged(self.cases)
        return device_counts(self.cases)

    def choosable(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count what a scenario can choose at its costs, or at any, and without either limit."""
        key = scenario, every_cost
        if key not in self.counted:
            check_unchanged(self.cases)
            self.counted.clear()
            with self.cases.library.wide():
                self.counted[key] = _choosable(self.cases, *key)
        choosable: OperatingPoints = self.counted[key][0]
        return choosable

    def area(self, scenario: Scenario) -> float:
        """Area of the trapezoids under all thresholds that meet a scenario's limits."""
        _, area = self.counted.get((scenario, True), (None, None))
        if area is not None:
            return float(area)
        check_unchanged(self.cases)
        with self.cases.library.wide():
            return sweep(self.cases, scenario, hull=False).partial_auroc


def _choosable(
    cases: DeviceCases, scenario: Scenario, every_cost: bool
) -> tuple[OperatingPoints, float | None]:
    """Count what a scenario can choose, and what messages about it name; the area where known."""
    limits = lifted_limits(scenario)
    counted, area = (limits[:1] + limits[-1:] if every_cost else limits), None
    # Few cases are all sorted, and show their whole hull.
    if every_cost and len(cases) > points.SORTED:
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
    counted = OperatingPoints.with_never_alarm(*joined_rows(parts), *totals)
    return solve(counted, scenario).can_alarm


def _beyond(cases: DeviceCases, scenario: Scenario) -> Iterator[CountedRows]:
    """Count what else may be feasible, a negative's score, and what other limits could be met."""
    yield choosable_rows(cases, lifted_limits(scenario))
    for limits in (scenario, scenario.without_capacity()):
        yield sweep(cases, limits, hull=False).columns
