"""What operating points cover: every threshold, those that matter within given limits, or bounds.

A score is the best over all thresholds, a guarantee tests every distinct score in turn, and a
policy looks up its own thresholds. Each of these is refused where the points lack what it needs.
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
    """Which results a set of operating points is sufficient for."""

    @property
    def every_score(self) -> bool:
        """Whether every distinct score of the cases is a threshold, as a guarantee needs."""

    @property
    def whole_curve(self) -> bool:
        """Whether all points of the curve are there."""

    def check_scenario(self, scenario: Scenario) -> None:
        """Raise IncompleteCountsError where the score in a scenario is not known."""

    def check_thresholds(self, counted: FloatArray, wanted: FloatArray, /) -> None:
        """Raise IncompleteCountsError where the alarms at a wanted threshold are not known."""


@dataclass(frozen=True)
class ExactCoverage:
    """The thresholds that exact counts include.

    Attributes
    ----------
    every_score : bool
        Every distinct score of the cases.
    whole_curve : bool
        All points of the curve: every distinct score, or the points of a published curve.
    scenarios : tuple of Scenario
        Scenarios in which no other threshold can be chosen.
    """

    every_score: bool = False
    whole_curve: bool = False
    scenarios: tuple[Scenario, ...] = ()

    def check_scenario(self, scenario: Scenario) -> None:
        """Raise unless the points hold every threshold that a scenario can choose."""
        if not self.whole_curve and scenario not in self.scenarios:
            raise IncompleteCountsError(
                "these points do not hold every threshold, and were not counted for "
                f"{scenario!r}; count every threshold with OperatingPoints.from_scores, or "
                "evaluate the scores in this scenario"
            )

    def check_thresholds(self, counted: FloatArray, wanted: FloatArray) -> None:
        """Raise unless the alarms at each threshold were counted."""
        if self.every_score:
            # No case lies between two neighbouring scores.
            return
        unknown = wanted[~np.isin(wanted, counted)]
        if len(unknown):
            raise IncompleteCountsError(
                f"the alarms at threshold {threshold_text(float(unknown[0]))} were not counted; "
                "count every threshold with OperatingPoints.from_scores"
            )


EVERY_SCORE = ExactCoverage(every_score=True, whole_curve=True)
"""Every distinct score is a threshold."""

GIVEN_POINTS = ExactCoverage(whole_curve=True)
"""Published points, which are the curve; the scores between them are not known."""

SOME_THRESHOLDS = ExactCoverage()
"""A selection of points, without information about the others."""
