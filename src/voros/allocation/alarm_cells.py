"""Alarms put together that the same thresholds raise, and how far a limit lets a stream go.

A cell is a set of cases of one period that the same options of every stream alarm. Where a case
with several alarms counts once, it is in one cell; where each alarm counts, every alarm that a case
can raise is in a cell of its own, which one stream alone alarms. So the alarms of a choice are the
cells that at least one stream alarms, either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from voros.core.arrays import AnyArray, BoolArray


@dataclass(frozen=True)
class PeriodLimit:
    """At most ``capacity`` alarms in each period but ``n_above``, and ``total`` in all.

    Examples
    --------
    >>> limit = PeriodLimit(20, 1, 3, total=60)
    >>> limit.holds(np.array([20, 25, 3])), limit.holds(np.array([20, 25, 16]))
    (True, False)
    """

    capacity: int
    n_above: int
    n_periods: int
    total: float = np.inf

    def holds(self, alarms: AnyArray) -> bool:
        """Say whether these alarms of each period are within the limit."""
        few_above = int(np.count_nonzero(alarms > self.capacity)) <= self.n_above
        return few_above and float(alarms.sum()) <= self.total


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells, the options that alarm them, and the limit on their cases.

    Attributes
    ----------
    step : ndarray of int, shape (n_streams, n_cells)
        The first option of each stream that alarms the cell; the number of options where none does.
    sizes : ndarray of int, shape (n_cells,)
        Cases of each.
    periods : ndarray of int, shape (n_cells,)
    limit : PeriodLimit
    """

    step: AnyArray
    sizes: AnyArray
    periods: AnyArray
    limit: PeriodLimit

    @classmethod
    def of(
        cls,
        steps: Sequence[AnyArray],
        n_options: Sequence[int],
        periods: AnyArray,
        limit: PeriodLimit,
        *,
        once: bool,
    ) -> Cells:
        """Make cells of the first option that alarms each case, stream by stream."""
        step = np.minimum(np.stack(steps), np.array(n_options)[:, None])
        raised = step < np.array(n_options)[:, None]
        if once:
            cases = np.flatnonzero(raised.any(axis=0))
            step = step[:, cases]
        else:
            streams, cases = np.nonzero(raised)
            step = _apart(step[streams, cases], streams, n_options)
        single = np.ones(len(cases), dtype=np.int64)
        return cls(step, single, periods[cases], limit).merged()[0]

    def merged(self) -> tuple[Cells, AnyArray]:
        """Put equal cells together; return also where each of the old ones went."""
        rows = np.vstack([self.periods[None], self.step])
        found, place = np.unique(rows, axis=1, return_inverse=True)
        # numpy 2.0 alone gives the inverse the shape of the rows.
        place = place.reshape(-1)
        sizes = np.bincount(place, weights=self.sizes, minlength=found.shape[1])
        made = Cells(found[1:], sizes.astype(np.int64), found[0], self.limit)
        return made, place

    def with_options(self, kept: Sequence[AnyArray]) -> Cells:
        """Return the cells where some options of each stream are left, not yet merged."""
        step = [np.searchsorted(rows, own) for rows, own in zip(kept, self.step, strict=True)]
        return replace(self, step=np.stack(step))

    def alarmed(self, stream: int, position: int) -> BoolArray:
        """Mark the cells that an option alarms."""
        return np.asarray(self.step[stream] <= position)

    def can_raise(self, n_options: Sequence[int]) -> BoolArray:
        """Mark which streams can alarm which cells, with as many options each."""
        return np.asarray(self.step < np.array(n_options)[:, None])

    def loads(self, marked: BoolArray) -> AnyArray:
        """Count the cases of marked cells in each period."""
        sizes = np.where(marked, self.sizes, 0)
        return np.bincount(self.periods, weights=sizes, minlength=self.limit.n_periods)

    def furthest(self, stream: int, n_options: int, marked: BoolArray) -> int:
        """Return the last option of a stream that the limit allows beside marked cells, or -1.

        More alarms only ever take more periods above the capacity, one after the other.
        """
        loads, limit = self.loads(marked), self.limit
        left = limit.n_above - int(np.count_nonzero(loads > limit.capacity))
        if left < 0:
            return -1
        new = np.bincount(self.step[stream], np.where(marked, 0, self.sizes), n_options + 1)
        within = int(np.count_nonzero(loads.sum() + np.cumsum(new[:n_options]) <= limit.total))
        breaks = np.sort(self._breaks(stream, marked, loads))
        # What no option alarms stands behind the last one.
        return min(within, int(breaks[left])) - 1 if len(breaks) > left else within - 1

    def _breaks(self, stream: int, marked: BoolArray, loads: AnyArray) -> AnyArray:
        """Return the option at which each period that is still within the capacity passes it."""
        order, periods, first, step = self._sorted[stream]
        sums = np.cumsum(np.where(marked, 0, self.sizes)[order])
        before = np.append(0, sums)[first]
        capacity = np.where(loads > self.limit.capacity, np.inf, self.limit.capacity)
        above = np.flatnonzero((loads[periods] + sums - before) > capacity[periods])
        passing = periods[above]
        earliest = np.append(True, passing[1:] != passing[:-1])[: len(above)]
        return np.asarray(step[above[earliest]])

    @cached_property
    def _sorted(self) -> list[tuple[AnyArray, ...]]:
        """By stream: the cells by period and option, with the first cell of each one's period."""
        found: list[tuple[AnyArray, ...]] = []
        for step in self.step:
            order = np.lexsort((step, self.periods))
            periods = self.periods[order]
            found.append((order, periods, np.searchsorted(periods, periods), step[order]))
        return found


def _apart(step: AnyArray, streams: AnyArray, n_options: Sequence[int]) -> AnyArray:
    """Give every alarm that a case can raise a column of its own."""
    apart = np.repeat(np.array(n_options)[:, None], len(step), axis=1)
    apart[streams, np.arange(len(step))] = step
    return apart
