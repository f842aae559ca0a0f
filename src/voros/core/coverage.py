"""What operating points cover: every threshold, those that matter within given limits, or bounds.

A score in a scenario is the best over the thresholds there are, a guarantee tests every distinct
score in turn, and a policy looks its thresholds up. Each of these is refused where the points do
not hold what it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from voros.exceptions import IncompleteCountsError
from voros.text.numbers import threshold_text
from voros.typing import FloatArray

if TYPE_CHECKING:
    from voros.core.scenario import Scenario


class Coverage(Protocol):
    """What a set of operating points says about the thresholds that it leaves out."""

    @property
    def every_score(self) -> bool:
        """Whether every distinct score of the cases is a threshold, as a guarantee needs."""

    @property
    def whole_curve(self) -> bool:
        """Whether no point of the curve is left out."""

    def check_scenario(self, scenario: Scenario) -> None:
        """Raise IncompleteCountsError where the score in a scenario is not known."""

    def check_thresholds(self, counted: FloatArray, wanted: FloatArray, /) -> None:
        """Raise IncompleteCountsError where the alarms at a wanted threshold are not known."""


@dataclass(frozen=True)
class WholeCurve:
    """All points of a curve: every distinct score, or the points that were given."""

    every_score: bool
    whole_curve: bool = True

    def check_scenario(self, scenario: Scenario) -> None:
        """Pass: whatever can be chosen is there."""

    def check_thresholds(self, counted: FloatArray, wanted: FloatArray) -> None:
        """Raise for thresholds between given points; distinct scores have nothing between them."""
        if not self.every_score:
            _check_counted(counted, wanted)


EVERY_SCORE = WholeCurve(every_score=True)
"""Every distinct score is a threshold."""

GIVEN_POINTS = WholeCurve(every_score=False)
"""The points are the curve, as published ones are; which scores lie between them is not known."""


@dataclass(frozen=True)
class SomeThresholds:
    """The thresholds that can be chosen in some scenarios, at every cost in their range.

    Attributes
    ----------
    scenarios : tuple of Scenario
        None of them where points were picked for another purpose.
    """

    scenarios: tuple[Scenario, ...] = ()
    every_score: bool = False
    whole_curve: bool = False

    def check_scenario(self, scenario: Scenario) -> None:
        """Raise unless the points were counted for a scenario."""
        if scenario not in self.scenarios:
            raise IncompleteCountsError(
                "these points do not hold every threshold, and were not counted for "
                f"{scenario!r}; count every threshold with OperatingPoints.from_scores, or "
                "evaluate the scores in this scenario"
            )

    def check_thresholds(self, counted: FloatArray, wanted: FloatArray) -> None:
        """Raise unless the alarms at each threshold were counted."""
        _check_counted(counted, wanted)


SOME_THRESHOLDS = SomeThresholds()
"""Points that were picked, and say nothing about the others."""


def _check_counted(counted: FloatArray, wanted: FloatArray) -> None:
    unknown = wanted[~np.isin(wanted, counted)]
    if len(unknown):
        raise IncompleteCountsError(
            f"the alarms at threshold {threshold_text(float(unknown[0]))} were not counted; count "
            "every threshold with OperatingPoints.from_scores"
        )
