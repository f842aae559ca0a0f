"""Operating points at the ends of bins, and the bounds that they prove on a score.

**Lower bound.** The lower ends of the bins are true operating points. Their score is at most the
score of all cases, which is a mean of maxima over all operating points.

**Upper bound.** The score of these points and of the best case of every bin that may matter (see
`voros.core.candidate_bins`) is at least the score of all cases.

**Undecided bins.** If no bin may matter, the score of the known points is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voros.core.arguments import OPEN_INTERVAL, check_number
from voros.core.candidate_bins import CandidateBins, find_candidate_bins
from voros.core.hull import cost_hull
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.volume import partial_volume
from voros.engines.bins import Bins
from voros.engines.queries import Usage
from voros.exceptions import IncompleteCountsError
from voros.text.numbers import short, threshold_text
from voros.typing import BoolArray, FloatArray

RECOUNT = "count with more bits, or accept an interval by BinnedScores.within(tolerance)"
"""Advice for counts that no engine made."""

CLOSED = 1e-12
"""The ends of an interval no wider than this differ by rounding."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """A certified interval for the partial VOROS of binned cases.

    Attributes
    ----------
    lower, upper : float
        The score lies between them, ends included.
    undecided : ndarray of bool, shape (n_bins,)
        Bins in which the order of the cases could change the score, its feasibility or the
        highest precision within the capacity.
    """

    lower: float
    upper: float
    undecided: BoolArray


@dataclass(frozen=True, eq=False, kw_only=True)
class BinnedScores:
    """Cases counted by ranges of scores, with bounds on the score in every scenario.

    It is the `OperatingPoints.covers` of the points at the lower ends of the ranges. Functions that
    take points refuse a scenario whose score these counts leave open.

    Attributes
    ----------
    bins : Bins
    n_positive, n_negative : int or float
        Cases of each class, or the sum of their weights.
    one_case : float
        The smallest weight; 1 without weights.
    tolerance : float
        Largest width of an interval; the score of the points is its lower end.
    scenarios : tuple of Scenario
        Scenarios for which the cases were counted.
    usage : Usage or None
        Passes, rows and bytes of an engine.

    Examples
    --------
    >>> import voros
    >>> y_true, y_score = [1, 0, 1, 0], [1.3, 1.2, 1.1, 0.4]
    >>> points = voros.engines.BinnedCounts.from_scores(y_true, y_score, bits=12).points
    >>> points.covers.every_score, points.covers.bounds(voros.Scenario(cost_ratio=(0.1, 0.2)))
    (False, (0.98125, 1.0))
    """

    bins: Bins
    n_positive: float
    n_negative: float
    one_case: float
    tolerance: float = 0.0
    scenarios: tuple[Scenario, ...] = ()
    usage: Usage | None = None

    @cached_property
    def points(self) -> OperatingPoints:
        """Operating points at the lower ends of the ranges."""
        tp = np.minimum(np.cumsum(self.bins.positive), self.n_positive)
        fp = np.minimum(np.cumsum(self.bins.negative), self.n_negative)
        sizes = self.n_positive, self.n_negative, self.one_case
        return OperatingPoints.with_never_alarm(self.bins.least, tp, fp, *sizes, covers=self)

    @cached_property
    def every_score(self) -> bool:
        """Whether every distinct score is a threshold."""
        return bool(self.bins.single.all())

    @property
    def whole_curve(self) -> bool:
        """Whether every distinct score is a threshold."""
        return self.every_score

    def within(self, tolerance: float) -> BinnedScores:
        """Return the same counts for uses that accept intervals of this width.

        Examples
        --------
        >>> import voros
        >>> counts = voros.engines.BinnedCounts.from_scores(
        ...     [1, 0, 1, 0], [1.3, 1.2, 1.1, 0.4], bits=12
        ... )
        >>> scenario = voros.Scenario(cost_ratio=(0.1, 0.2))
        >>> low, high = counts.bounds(scenario)
        >>> points = counts.binned.within(high - low).points
        >>> voros.evaluate(points, scenario=scenario).score == low
        True
        """
        return replace(self, tolerance=check_tolerance(tolerance))

    def check_scenario(self, scenario: Scenario) -> None:
        """Raise if the counts leave the score in a scenario open.

        Raises
        ------
        IncompleteCountsError
            With the certified interval.
        """
        if self.every_score:
            return
        low, high = self.bounds(scenario)
        if high - low > max(self.tolerance, CLOSED):
            remedy = RECOUNT if self.usage is None else "count them for this scenario too"
            raise IncompleteCountsError(
                f"the binned counts are too coarse for {scenario!r}: the score lies between "
                f"{short(low, high)} and {short(high, low)}; {remedy}"
            )

    def check_thresholds(self, _: FloatArray, wanted: FloatArray) -> None:
        """Raise if a threshold lies inside a range that was counted as a whole."""
        inside = (self.bins.least < wanted[:, None]) & (wanted[:, None] <= self.bins.greatest)
        unknown = inside.any(axis=1)
        if unknown.any():
            raise IncompleteCountsError(
                "the binned counts are too coarse to say how many alarms the threshold "
                f"{threshold_text(float(wanted[unknown][0]))} raises; count them without a "
                "scenario, or evaluate the policy on the cases in memory"
            )

    def bounds(self, scenario: Scenario) -> tuple[float, float]:
        """Return the lowest and highest partial VOROS that the counts allow in a scenario."""
        bounds = self.score_bounds(scenario)
        return bounds.lower, bounds.upper

    @property
    def interval(self) -> tuple[float, float]:
        """Certified interval of partial VOROS in the first of `scenarios`."""
        if not self.scenarios:
            raise ValueError(
                "these points were counted for no scenario: every distinct score is a threshold, "
                "and bounds(scenario) gives one number twice"
            )
        return self.bounds(self.scenarios[0])

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal in each of `scenarios`."""
        return all(low == high for low, high in map(self.bounds, self.scenarios))

    def score_bounds(self, scenario: Scenario) -> Bounds:
        """Bound the score in a scenario, and mark the bins that keep the bounds apart.

        Returns
        -------
        Bounds
        """
        candidates = find_candidate_bins(self.points, self.bins.single, scenario)
        lower = upper = candidates.decision.partial_voros
        if candidates.improving.any():
            favourable = _favourable(candidates)
            hull = cost_hull(favourable, np.ones(len(favourable), dtype=np.bool_))
            upper = partial_volume(favourable, hull, candidates.decision.region, scenario.costs)
        return Bounds(lower, max(lower, upper), candidates.improving | candidates.informative)


def check_tolerance(tolerance: Any) -> float:
    """Return the accepted width of an interval."""
    return check_number(tolerance, "tolerance", "a number within [0, 1)", 0.0, OPEN_INTERVAL[1])


def _favourable(candidates: CandidateBins) -> OperatingPoints:
    """Return the known feasible points and the best cases that beat them, by rising alarms."""
    ends, best = candidates.decision.points, candidates.best
    feasible = candidates.decision.feasible & (not candidates.decision.scores_nothing)
    tp = np.append(ends.tp[feasible], best.tp[candidates.improving])
    fp = np.append(ends.fp[feasible], best.fp[candidates.improving])
    order = np.lexsort((tp, tp + fp))
    return OperatingPoints(
        np.full(len(order), np.nan), tp[order], fp[order], ends.n_positive, ends.n_negative
    )
