"""Operating points at the ends of bins, and what they prove: the score lies between two numbers.

**Below.** The lower ends of the bins are true operating points. The score of them alone is at most
the true one, which is a mean of maxima over all operating points.

**Above.** The score with the best case of every bin that may matter added to them (see
`voros.core.contenders`) is at least the true one.

**Undecided.** When no bin may matter, the score of the known points is the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from voros.core.arrays import OPEN_INTERVAL, BoolArray, FloatArray, check_number
from voros.core.contenders import Contenders, find_contenders, shown_rows
from voros.core.decision import Decision
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.volume import partial_volume
from voros.engines.bins import Bins
from voros.exceptions import UnsettledError

CLOSED = 1e-12
"""An interval no wider than this is one number: its ends differ by rounding."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """A certified interval for the partial VOROS of binned cases.

    Attributes
    ----------
    lower, upper : float
        The score lies between them, both included.
    undecided : ndarray of bool, shape (n_bins,)
        Bins whose inner order could still change the score, its feasibility or the highest
        precision within the capacity.
    shown : ndarray of bool, shape (n_bins,)
        Bins whose lower end is a threshold that is shown: chosen at some cost, or the most precise.
    """

    lower: float
    upper: float
    undecided: BoolArray
    shown: BoolArray


@dataclass(frozen=True, eq=False, repr=False)
class BinnedPoints(OperatingPoints):
    """Operating points at the lower ends of bins, with what the bins prove about a score.

    They go wherever operating points go. Functions that take points ask `check_settles` first and
    refuse a scenario whose score these counts leave open; `bounds` gives the interval.

    Attributes
    ----------
    bins : Bins
        What is known of each range of scores.
    tolerance : float
        How wide an interval may be; the score of these points is its lower end.

    Examples
    --------
    >>> import voros
    >>> y_true, y_score = [1, 0, 1, 0], [1.3, 1.2, 1.1, 0.4]
    >>> points = voros.engines.BinnedCounts.from_scores(y_true, y_score, bits=12).points
    >>> points.complete, points.bounds(voros.Scenario(cost_ratio=(0.1, 0.2)))
    (False, (0.98125, 1.0))
    """

    remedy: ClassVar[str] = "count with more bits, or accept an interval by within(tolerance)"

    bins: Bins = field(kw_only=True)
    tolerance: float = field(kw_only=True, default=0.0)

    @classmethod
    def of(cls, bins: Bins, n_positive: float, n_negative: float, one_case: float) -> Self:
        """Make points of the bins of all cases."""
        tp = np.minimum(np.cumsum(bins.positive), n_positive)
        fp = np.minimum(np.cumsum(bins.negative), n_negative)
        return cls.below(bins.least, tp, fp, n_positive, n_negative, one_case, bins=bins)

    def __post_init__(self) -> None:
        """Points are complete where every distinct score is a threshold."""
        super().__post_init__()
        object.__setattr__(self, "complete", bool(self.bins.single.all()))

    def within(self, tolerance: float) -> Self:
        """Return the same points for uses that accept an interval of this width.

        Examples
        --------
        >>> import voros
        >>> counts = voros.engines.BinnedCounts.from_scores(
        ...     [1, 0, 1, 0], [1.3, 1.2, 1.1, 0.4], bits=12
        ... )
        >>> scenario = voros.Scenario(cost_ratio=(0.1, 0.2))
        >>> low, high = counts.bounds(scenario)
        >>> voros.evaluate_points(counts.points.within(high - low), scenario).score == low
        True
        """
        return replace(self, tolerance=check_tolerance(tolerance))

    def check_settles(self, scenario: Scenario) -> None:
        """Raise where the counts leave the score in a scenario open.

        Raises
        ------
        UnsettledError
            With the certified interval.
        """
        low, high = self.bounds(scenario)
        if high - low > max(self.tolerance, CLOSED):
            raise UnsettledError(
                f"these counts of ranges of scores do not settle {scenario!r}: the score is only "
                f"known to lie between {low:.6g} and {high:.6g}; {self.remedy}"
            )

    def check_thresholds(self, thresholds: FloatArray) -> None:
        """Raise where a threshold lies inside a range that was counted as a whole."""
        inside = (self.bins.least < thresholds[:, None]) & (
            thresholds[:, None] <= self.bins.greatest
        )
        unknown = inside.any(axis=1)
        if unknown.any():
            raise UnsettledError(
                "these counts of ranges of scores leave open how many alarms the threshold "
                f"{thresholds[unknown][0]:g} raises; count them without a scenario, or evaluate "
                "the policy on the cases in memory"
            )

    def bounds(self, scenario: Scenario) -> tuple[float, float]:
        """Return the lowest and highest partial VOROS that the counts allow in a scenario."""
        found = self.score_bounds(scenario)
        return found.lower, found.upper

    def score_bounds(self, scenario: Scenario) -> Bounds:
        """Bound the score in a scenario, and mark the bins that keep the bounds apart."""
        found = find_contenders(self, self.bins.single, scenario)
        lower = upper = found.decision.partial_voros
        if found.improving.any():
            favourable = _favourable(found)
            everything = np.ones(len(favourable), dtype=np.bool_)
            outer = Decision(favourable, scenario, everything, np.inf)
            upper = partial_volume(favourable, outer.hull, found.decision.region, scenario.costs)
        shown = np.zeros(len(self), dtype=np.bool_)
        shown[shown_rows(found.decision)] = True
        undecided = found.improving | found.informative
        return Bounds(lower, max(lower, upper), undecided, shown[1:])


def check_tolerance(tolerance: Any) -> float:
    """Return the accepted width of an interval."""
    return check_number(tolerance, "tolerance", "a number within [0, 1)", 0.0, OPEN_INTERVAL[1])


def _favourable(found: Contenders) -> OperatingPoints:
    """Known feasible points and the best cases that beat them as one curve, by rising alarms."""
    ends, best, feasible = found.decision.points, found.best, found.decision.feasible
    tp = np.append(ends.tp[feasible], best.tp[found.improving])
    fp = np.append(ends.fp[feasible], best.fp[found.improving])
    order = np.lexsort((tp, tp + fp))
    return OperatingPoints(
        np.full(len(order), np.nan), tp[order], fp[order], ends.n_positive, ends.n_negative
    )
