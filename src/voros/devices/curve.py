"""What a scenario asks of cases that stay on a device, counted there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from voros.core.costs import LARGEST_RATIO
from voros.core.coverage import SomeThresholds
from voros.core.decision import solve
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.devices import points
from voros.devices.cases import (
    DeviceCases,
    check_unchanged,
    device_counts,
    read_device_cases,
    thresholds_of,
)


@dataclass(frozen=True, eq=False)
class DeviceCurve:
    """Cases on a device as operating points ask about them; see `voros.core.places`.

    Nothing may be written to the arrays in between. `counted` holds what was counted for a
    scenario, by that scenario.
    """

    cases: DeviceCases
    counted: dict[Any, OperatingPoints] = field(default_factory=dict)

    @classmethod
    def from_cases(cls, y_true: Any, y_score: Any, pos_label: Any = None) -> Self:
        """Check labels and scores."""
        return cls(read_device_cases(y_true, y_score, pos_label))

    @property
    def totals(self) -> tuple[float, float, float]:
        """Positives, negatives and the smallest weight."""
        return *self.cases.totals, 1.0

    @property
    def place(self) -> str:
        """Library and device."""
        return repr(self.cases.library)

    @property
    def too_many(self) -> bool:
        """Whether there are more cases than are sorted on the device."""
        return len(self.cases) > points.SORTED

    def every_threshold(self) -> tuple[Any, ...]:
        """Count alarms at every distinct score."""
        check_unchanged(self.cases)
        return device_counts(self.cases)

    def choosable(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count what a scenario can choose.

        At every cost that is the best of as many cases as are sorted; of more, the best threshold
        at the costs of the scenario, and the one of greatest recall.
        """
        key = scenario, every_cost
        if key not in self.counted:
            check_unchanged(self.cases)
            self.counted[key] = _choosable(self.cases, *key)
        return self.counted[key]


def _choosable(cases: DeviceCases, scenario: Scenario, every_cost: bool) -> OperatingPoints:
    counted = [scenario]
    if every_cost:
        # Where false alarms are nearly free the threshold of greatest recall is the best one.
        counted.append(scenario.changed(cost_ratio=1 / LARGEST_RATIO))
    columns = points.choosable_rows(cases, counted)
    chosen = OperatingPoints.with_never_alarm(*columns, *cases.totals)
    if not solve(chosen, scenario).can_alarm:
        columns = points.joined_rows([columns, *_beyond(cases, scenario)])
        chosen = OperatingPoints.with_never_alarm(*columns, *cases.totals)
    return replace(chosen, covers=SomeThresholds(tuple(counted)))


def _beyond(cases: DeviceCases, scenario: Scenario) -> list[points.CountedRows]:
    """Count what messages name where nothing is chosen: other limits, and the highest score."""
    highest = cases.library.comparable(cases.scores) == cases.high
    tp = cases.library.count_true(highest & cases.positive)
    alarms = cases.library.count_true(highest)
    top = thresholds_of(np.array([cases.high])), np.array([tp]), np.array([alarms - tp])
    lifted = [scenario.changed(min_precision=0.0), scenario.without_capacity()]
    if scenario.min_recall is not None:
        # Messages name the highest recall within the other limits.
        lifted.append(scenario.changed(min_recall=None, cost_ratio=1 / LARGEST_RATIO))
    return [top, points.choosable_rows(cases, lifted)]
