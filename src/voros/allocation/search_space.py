"""The search space: options of several streams under a limit on the alarms of each period."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from voros.core.counting import blocks_of
from voros.typing import AnyArray, BoolArray, FloatArray

LEAST_SHARE = 2.0**-20
"""Unit of the shares of a case: sums of its multiples over all cases have no rounding."""

TRIED_AT_ONCE = 2**13
"""Choices that are tried together, so that their alarms stay in the processor's cache."""

FULLEST = 4
"""Periods that are checked first: this number for each period that may be above, and once more."""


@dataclass(frozen=True)
class PeriodLimit:
    """At most ``capacity`` alarms in each period but ``n_above``, and ``total`` in all.

    Examples
    --------
    >>> limit = PeriodLimit(20, 1, 3, total=60)
    >>> limit.holds(np.array([[20, 25, 3], [20, 25, 16]])).tolist()
    [True, False]
    """

    capacity: int
    n_above: int
    n_periods: int
    total: float = np.inf

    def beyond(self, alarms: AnyArray) -> AnyArray:
        """Return by how much the alarms of each period exceed the capacity."""
        return np.asarray(np.maximum(alarms - self.capacity, 0))

    def holds(self, alarms: AnyArray) -> AnyArray:
        """Return whether alarms of each period, along the last axis, are within the limit."""
        few_above = np.count_nonzero(alarms > self.capacity, axis=-1) <= self.n_above
        return np.asarray(few_above & (alarms.sum(axis=-1) <= self.total))


@dataclass(frozen=True, eq=False)
class Chosen:
    """An option of each stream, what they save, their alarms, and whether the limit holds.

    ``counted`` holds the alarms of each case where a case counts once, otherwise of each period.
    """

    options: tuple[int, ...]
    saved: int
    alarms: int
    within: bool
    counted: AnyArray

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Smaller is better: within the limit, more saved, then fewer alarms."""
        return not self.within, -self.saved, self.alarms


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchSpace:
    """Options of each stream, and the cases that they alarm.

    A later option of a stream alarms all cases of the one before, and saves more.

    Attributes
    ----------
    saved : list of ndarray of int
        What the options of each stream save.
    steps : ndarray of int, shape (n_streams, n_cases)
        The first option of each stream that alarms the case; their number where none does.
    periods : ndarray of int, shape (n_cases,)
    limit : PeriodLimit
    once : bool
        Whether a case with several alarms counts once.
    """

    saved: list[AnyArray]
    steps: AnyArray
    periods: AnyArray
    limit: PeriodLimit
    once: bool

    @classmethod
    def from_steps(
        cls,
        saved: Sequence[AnyArray],
        steps: Sequence[AnyArray],
        periods: AnyArray,
        limit: PeriodLimit,
        *,
        once: bool,
    ) -> SearchSpace:
        """Leave out options that break the limit alone, and cases that no other option alarms."""
        space = cls(
            saved=list(saved), steps=np.stack(steps), periods=periods, limit=limit, once=once
        )
        tables = (space.table(i, 0, len(own) - 1) for i, own in enumerate(saved))
        sizes = [int(np.count_nonzero(limit.holds(table))) for table in tables]
        first = np.minimum(space.steps, np.array(sizes)[:, None])
        cases = np.flatnonzero((first < np.array(sizes)[:, None]).any(axis=0))
        first = first.astype(np.int32)
        kept = [own[:size] for own, size in zip(saved, sizes, strict=True)]
        return replace(space, saved=kept, steps=first[:, cases], periods=periods[cases])

    def table(
        self,
        stream: int,
        low: int,
        high: int,
        cases: AnyArray | slice = slice(None),
        shares: FloatArray | None = None,
    ) -> AnyArray:
        """Count alarms by period, at the options of a stream from ``low`` to ``high``."""
        n_periods = self.limit.n_periods
        row = np.clip(self.steps[stream, cases], low, high + 1) - low
        size = (high - low + 2) * n_periods
        alarms = np.bincount(row * n_periods + self.periods[cases], shares, minlength=size)
        dtype = np.int32 if shares is None else np.float64
        return np.cumsum(alarms.reshape(-1, n_periods)[:-1], axis=0, dtype=dtype)

    @cached_property
    def tables(self) -> list[AnyArray]:
        """Alarms by option and period, of each stream by itself."""
        return [self.table(i, 0, len(own) - 1) for i, own in enumerate(self.saved)]

    def part(self, cases: BoolArray) -> SearchSpace:
        """Return the space of some of the cases."""
        return replace(self, steps=self.steps[:, cases], periods=self.periods[cases])

    def open_cases(self, low: AnyArray, high: AnyArray) -> BoolArray:
        """Mark cases that several streams can alarm within these options, and none must."""
        several = np.count_nonzero(self.steps <= high[:, None], axis=0) > 1
        return np.asarray(several & (self.steps > low[:, None]).all(axis=0))

    def shares_within(self, low: AnyArray, high: AnyArray, shares: FloatArray) -> FloatArray:
        """Make the shares of a case add up to at most 1, over the streams that can alarm it.

        Streams that alarm it at every option get all of it. Shares are rounded down to multiples
        of a power of 2, so that their sums are exact.
        """
        sure = self.steps <= low[:, None]
        shares = np.where(self.steps <= high[:, None], shares + LEAST_SHARE, 0.0)
        shares = np.where(sure.any(axis=0), sure, shares)
        shares = shares / np.maximum(shares.sum(axis=0), LEAST_SHARE)
        return np.asarray(np.floor(shares / LEAST_SHARE) * LEAST_SHARE)

    def shared_tables(self, low: AnyArray, high: AnyArray, shares: FloatArray) -> list[AnyArray]:
        """Count alarms of each stream from option ``low`` to ``high``.

        Where a case counts once, a stream counts its share of the case. Shares add up to at most 1,
        so their sum is at most the number of cases with an alarm.
        """
        ends = list(zip(low.tolist(), high.tolist(), strict=True))
        if self.once:
            return [self.table(i, *both, shares=shares[i]) for i, both in enumerate(ends)]
        return [own[start : end + 1] for own, (start, end) in zip(self.tables, ends, strict=True)]

    def pair_tables(
        self, at: Chosen, pair: tuple[int, int], rows: tuple[slice, slice]
    ) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Count alarms of all streams but two, and what options of the two add to them.

        The sum is never too small: cases that both streams add may count twice.
        """
        if not self.once:
            own = [self.tables[i][part] for i, part in zip(pair, rows, strict=True)]
            rest = at.counted - sum(self.tables[i][at.options[i]] for i in pair)
            return rest, own[0], own[1]
        others = at.counted > sum(self._alarmed(i, at.options[i]) for i in pair)
        near = [self._alarmed(i, part.stop - 1) for i, part in zip(pair, rows, strict=True)]
        cases = np.flatnonzero(~others & (near[0] | near[1]))
        sure = [self.steps[i, cases] <= part.start for i, part in zip(pair, rows, strict=True)]
        counted = cases[sure[0] | ~sure[1]], cases[~sure[0]]
        own = [
            self.table(i, part.start, part.stop - 1, marked)
            for i, part, marked in zip(pair, rows, counted, strict=True)
        ]
        rest = np.bincount(self.periods[others], minlength=self.limit.n_periods)
        return rest, own[0], own[1]

    def _alarmed(self, stream: int, at: int) -> AnyArray:
        """Return 1 for the cases that an option of a stream alarms, and 0 for others."""
        return np.asarray(self.steps[stream] <= at).view(np.int8)

    def chosen(self, positions: Sequence[int]) -> Chosen:
        """Count what options of each stream save and alarm."""
        pairs = list(enumerate(map(int, positions)))
        if self.once:
            none = np.zeros(len(self.periods), dtype=np.int32)
            counted = sum((self._alarmed(*pair) for pair in pairs), none)
            loads = np.bincount(self.periods[counted > 0], minlength=self.limit.n_periods)
        else:
            counted = loads = np.sum([self.tables[i][at] for i, at in pairs], axis=0)
        return Chosen(
            options=tuple(at for _, at in pairs),
            saved=sum(int(self.saved[i][at]) for i, at in pairs),
            alarms=int(loads.sum()),
            within=bool(self.limit.holds(loads)),
            counted=counted,
        )

    def best_between(self, low: AnyArray, high: AnyArray, best: Chosen) -> Chosen:
        """Try all choices of options from ``low`` to ``high``; return ``best`` if none is better.

        In the stream with most options only the first one that makes a choice better is tried.
        Alarms must add up, so a case must not count once.
        """
        sizes, last = high - low + 1, int(np.argmax(high - low))
        sizes[last] = 1
        small = np.min_scalar_type(sum(int(table[-1].max()) for table in self.tables))
        tables = [table.astype(small) for table in self.tables]
        alarms = [table.sum(axis=1) for table in self.tables]
        # Most choices already break the limit in the periods where the best one has most alarms.
        fullest = np.argsort(-best.counted)[: FULLEST * (self.limit.n_above + 1)]
        parts = [table[:, fullest] for table in tables]
        own, start, end = self.saved[last], low[last], high[last]

        def total(columns: list[AnyArray], rows: AnyArray) -> AnyArray:
            pairs = zip(columns, rows, strict=True)
            first, *others = (np.take(column, row, axis=0) for column, row in pairs)
            return np.asarray(sum(others, first))

        for block in blocks_of(math.prod(sizes.tolist()), TRIED_AT_ONCE):
            numbers = np.arange(block.start, block.stop)
            rows = low[:, None] + np.stack(np.unravel_index(numbers, sizes))
            while rows.size:
                rows[last] = start
                missing = best.saved - total(self.saved, rows) + own[start]
                rows[last] = np.searchsorted(own, missing).clip(min=start)
                rows = rows[:, rows[last] <= end]
                equal = total(self.saved, rows) == best.saved
                rows[last] += equal & (total(alarms, rows) >= best.alarms)
                rows = rows[:, rows[last] <= end]
                for columns in (parts, tables):
                    rows = rows[:, self.limit.holds(total(columns, rows))]
                if rows.size:
                    best = self.chosen(rows[:, np.argmax(total(self.saved, rows))].tolist())
        return best
