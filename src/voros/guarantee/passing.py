"""How likely a fixed-sequence test passes a threshold, bounded from above.

Given where the sequence starts, the validation alarms at a threshold are the start plus a binomial
count. Over that count the chance of enough true positives is averaged: exactly with few alarms
(`voros.guarantee.binomial_bounds`), in closed form with many (`voros.guarantee.closed_bounds`).
What does not depend on the needed true positives is computed once.
"""

from __future__ import annotations

import numpy as np

from voros.guarantee.binomial_bounds import BinomialCounts, TailTable, windows
from voros.guarantee.closed_bounds import ManyCounts, tail_bound
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, FloatArray


class Passing:
    """Chances to pass, for each part of the thresholds and each precision.

    Parameters
    ----------
    start, below : int
        The rank at which the sequence starts, and the validation cases below it.
    few, many : ndarray
        Rising chances of a case below the start to lie above a threshold: parts are between
        neighbours, `TUNING.parts` of them with few alarms and one with many. Many begin where few
        end.
    edges : ndarray
        Where parts begin, and the end of the last.
    precision : ndarray
        Rising, the first of them 0.
    columns : ndarray of int
        How many of the precisions matter, from each part on; it does not rise. The chance to pass
        at all others is said to be 1.
    """

    def __init__(
        self,
        start: int,
        below: int,
        chances: tuple[FloatArray, FloatArray],
        edges: FloatArray,
        precision: FloatArray,
        columns: AnyArray,
    ) -> None:
        few, many = chances
        self.start, self.below, self.edges = start, below, edges
        self.precision = precision
        # A line from one chance to the next is of the part before.
        self._columns_few = np.append(
            columns[0], columns[: TUNING.parts * (len(few) - 1) : TUNING.parts]
        )
        self._columns_many = int(columns[-len(many) + 1]) if len(many) > 1 else 0
        self._few = BinomialCounts(below, few)
        self._many = ManyCounts(below, many, start) if len(many) > 1 else None

    def bounds(self, needed: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Bound the chance to pass within each part, and how much it drops, for each precision.

        The drop is to the precision before, along a line. It is 0 where the chance might lie above
        that line: where it is not known to be convex.
        """
        table = TailTable(self.start, needed, self.precision)
        few = self._few.means(table, self.start, self._columns_few).within_parts()
        found = np.concatenate([few, self._with_many(needed)])
        passing = np.maximum.accumulate(found, axis=1, out=found)
        passing[:, 0] = 0.0
        convex = self.precision <= self._convex_up_to(needed)[:, None]
        return passing, np.where(convex, np.diff(passing, axis=1, prepend=0.0), 0.0)

    def _with_many(self, needed: AnyArray) -> FloatArray:
        """One less than the needed, as a share of the alarms, is all that matters."""
        if self._many is None:
            return np.ones((0, len(self.precision)))
        begins, ends = self._many.begins - self.start, self._many.ends
        tails = np.zeros((len(begins), self._columns_many))
        inside = begins < len(needed)
        shares = (needed - 1) / np.arange(self.start, self.start + len(needed))
        share = np.minimum.reduceat(shares, begins[inside])
        alarms = (self._many.begins[inside], ends[inside])
        tails[inside] = tail_bound(alarms, share, self.precision[: self._columns_many])
        bounds = np.ones((len(self._many), len(self.precision)))
        bounds[:, : self._columns_many] = self._many.mean_bounds(tails)
        return bounds

    def _convex_up_to(self, needed: AnyArray) -> FloatArray:
        """Return, for each part, the precision up to which the chance to pass is convex in it.

        With *a* alarms it is, where (a - 1) times the precision is at most one less than needed.
        """
        low, high = windows(self.below, self.edges)
        alarms = np.arange(self.start, self.start + len(needed))
        up_to = (needed - 1) / np.maximum(alarms - 1, 1)
        last = len(needed) - 1
        ends = np.minimum([low[:-1], high[1:] + 1], [[last], [last + 1]])
        # Of each second pair the minimum is not of interest; the last end may be the end of all.
        return np.asarray(np.minimum.reduceat(np.append(up_to, np.inf), ends.T.ravel())[::2])
