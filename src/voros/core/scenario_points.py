"""Operating points counted for some scenarios only."""

from __future__ import annotations

from dataclasses import dataclass, field

from voros.core.arrays import FloatArray
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import UnsettledError


@dataclass(frozen=True, eq=False, repr=False)
class ScenarioPoints(OperatingPoints):
    """Operating points at the thresholds that can be chosen in some scenarios.

    Functions that take points ask `check_settles` first, and refuse any other scenario.

    Attributes
    ----------
    scenarios : tuple of Scenario
        Those the points were counted for.
    """

    scenarios: tuple[Scenario, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        """Points are never complete: nobody knows what lies between them."""
        super().__post_init__()
        object.__setattr__(self, "complete", False)

    def check_settles(self, scenario: Scenario) -> None:
        """Raise unless the points were counted for a scenario."""
        if scenario not in self.scenarios:
            raise UnsettledError(
                f"these points were counted on a device for other scenarios than {scenario!r}; "
                "count every threshold with OperatingPoints.from_scores, or evaluate the scores "
                "in this scenario"
            )

    def check_thresholds(self, thresholds: FloatArray) -> None:
        """Raise unless the alarms at each threshold were counted."""
        unknown = thresholds[[each not in self.thresholds for each in thresholds]]
        if len(unknown):
            raise UnsettledError(
                f"how many alarms the threshold {unknown[0]:g} raises was not counted; count every "
                "threshold with OperatingPoints.from_scores"
            )
