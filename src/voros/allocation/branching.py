r"""Thresholds of least cost where the alarms of a choice are no plain sum: branch and bound.

That is so where a case with several alarms counts once, and where a capacity holds in each period.
Prices of cases (`voros.allocation.prices`) bound what any choice saves. How far an option lies
below the best of its stream is its deficit: a choice saves at most the bound less the deficits of
its options. So the search looks for all choices within a deficit d, and d rises until one is found:

1. Options with a deficit above d are dropped, and cases that the others alarm alike are put
   together.
2. Streams are chosen one after the other. Once the cases u are alarmed, the others can save at most

   .. math:: B - \sum_{c \in u} \lambda_c + \sum_i \max_j \Big( s_{ij} - \sum_{c \in A_{ij}
      \setminus u} q_{ic} \Big),

   over the options that the limit still allows. The last stream goes as far as it may.

A choice within d is the best of all, for every choice outside of the search has a larger deficit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voros.allocation.prices import (
    Cells,
    PeriodLimit,
    Prices,
    bound_of,
    charged,
    heights_of,
    price_cells,
)
from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.core.deficit_search import DEEPER, DEFICIT_ROUNDING, Options
from voros.core.shared_capacity import SharedChoice, Stream, options_of, whole_costs

MOST_BRANCHES = 1_000_000
"""Partial choices looked at before the search gives up."""

FIRST_DEFICIT = 1 / 64
"""Where the deficit begins, as a share of that of the choice that is known from the start."""

PRICE_FACTORS = np.array([0.7, 0.85, 1.0, 1.15, 1.3])
"""Prices times each of these are prices too; further down the best ones are others."""


@dataclass(frozen=True)
class Chosen:
    """An option of each stream, what they save, and the cases they alarm."""

    positions: tuple[int, ...]
    saved: int
    alarms: int

    @property
    def key(self) -> tuple[int, int]:
        """Smaller is better: more saved, then fewer alarms."""
        return -self.saved, self.alarms


def share_within(
    streams: Sequence[Stream],
    scores: Sequence[AnyArray],
    limit: PeriodLimit,
    periods: AnyArray,
    *,
    once: bool,
) -> SharedChoice:
    """Choose one point for each stream: least cost within a limit on the alarms of each period.

    Parameters
    ----------
    streams : sequence of Stream
    scores : sequence of ndarray of shape (n_cases,)
        Of each stream; -inf where a case can raise no alarm of the stream.
    limit : PeriodLimit
    periods : ndarray of int, shape (n_cases,)
    once : bool
        Whether a case with several alarms counts once.

    Raises
    ------
    ValueError
        When the search would take too long.

    Examples
    --------
    Alarms of both streams for the same two cases are two visits:

    >>> from voros.core.operating_points import OperatingPoints
    >>> y, s = [1, 1, 0, 0], np.array([0.9, 0.8, 0.2, 0.1])
    >>> stream = Stream.within(OperatingPoints.from_scores(y, s), false_alarm=0.1)
    >>> day = np.zeros(4, dtype=int)
    >>> share_within([stream, stream], [s, s], PeriodLimit(2, 0, 1), day, once=True).alarms
    (2, 2)
    """
    units = whole_costs(streams)
    costs = zip(streams, units.costs, strict=True)
    options = [options_of(stream, *cost, np.inf) for stream, cost in costs]
    # The first option of a stream that alarms each case; their number where none does.
    steps = [
        np.searchsorted(-s.points.thresholds[o.rows], -np.asarray(column, dtype=np.float64))
        for s, o, column in zip(streams, options, scores, strict=True)
    ]
    pairs = zip(options, steps, strict=True)
    within = [_allowed(option, step, periods, limit) for option, step in pairs]
    cells = Cells.of(steps, [len(o.rows) for o in within], periods, limit, once=once)
    problem = _Problem(within, cells, price_cells(within, cells))
    found, n_branches = problem.best()
    rows = tuple(int(o.rows[i]) for o, i in zip(within, found.positions, strict=True))
    price = float(problem.prices.of_period.mean())
    return SharedChoice.of(
        streams, rows, units, bound=problem.bound, price=price, n_states=n_branches
    )


def _allowed(option: Options, step: AnyArray, periods: AnyArray, limit: PeriodLimit) -> Options:
    """Return the options that the limit allows a stream by itself."""
    alone = Cells.of([step], [len(option.rows)], periods, limit, once=True)
    nothing = np.zeros(len(alone.sizes), dtype=np.bool_)
    stop = alone.furthest(0, len(option.rows), nothing) + 1
    return Options(option.alarms[:stop], option.saved[:stop], option.rows[:stop])


@dataclass(frozen=True, eq=False)
class _Problem:
    """Options of each stream, the cells they alarm, and prices."""

    options: Sequence[Options]
    cells: Cells
    prices: Prices

    @property
    def bound(self) -> float:
        """What no choice can save more than."""
        return bound_of(self.options, self.cells, self.prices)

    @property
    def margin(self) -> float:
        """How far bounds may be off by rounding."""
        return DEFICIT_ROUNDING * max(
            1.0, abs(self.bound), sum(float(o.saved[-1]) for o in self.options)
        )

    def best(self) -> tuple[Chosen, int]:
        """Look for choices within a deficit that rises until one is found."""
        known, bound, margin, n_branches = self._greedy(), self.bound, self.margin, 0
        enough = max(bound - known.saved, 0.0)
        depth = enough * FIRST_DEFICIT
        while True:
            search = self._within(depth + margin, known, n_branches)
            search.descend((), np.zeros(len(search.cells.sizes), dtype=np.bool_), 0)
            n_branches = search.n_branches
            if search.best is not None:
                return search.best, n_branches
            depth = min(DEEPER * depth, enough) if depth > 0 else enough

    def _greedy(self) -> Chosen:
        """Take the best option of each stream, then the furthest, while the limit allows it."""
        n_streams, cells = len(self.options), self.cells
        chosen = [0] * n_streams
        for i in [*range(n_streams), *range(n_streams)]:
            others = self._marked(chosen, i)
            last = cells.furthest(i, len(self.options[i].rows), others)
            first_time = chosen[i] == 0
            chosen[i] = min(last, int(np.argmax(self._heights(i)))) if first_time else last
        return self._chosen(tuple(chosen))

    def _heights(self, stream: int) -> FloatArray:
        parts = self.options[stream], self.cells.step[stream], self.prices.of_stream[stream]
        return heights_of(*parts)

    def _marked(self, chosen: Sequence[int], but: int | None = None) -> BoolArray:
        """Mark the cells that options alarm, of all streams or of all but one."""
        marked = np.zeros(len(self.cells.sizes), dtype=np.bool_)
        for i, position in enumerate(chosen):
            if i != but:
                marked |= self.cells.alarmed(i, position)
        return marked

    def _chosen(self, positions: tuple[int, ...]) -> Chosen:
        saved = sum(int(o.saved[i]) for o, i in zip(self.options, positions, strict=True))
        return Chosen(positions, saved, int(self.cells.sizes[self._marked(positions)].sum()))

    def _within(self, depth: float, known: Chosen, n_branches: int) -> _Search:
        """Keep the options within a deficit, and merge the cells that they alarm alike."""
        heights = [self._heights(i) for i in range(len(self.options))]
        near = [np.flatnonzero(height.max() - height <= depth) for height in heights]
        cells, place = self.cells.with_options(near).merged()
        n_cells = len(cells.sizes)
        summed = [np.bincount(place, row, n_cells) for row in self.prices.of_stream]
        of_cell = np.asarray(np.bincount(place, self.prices.of_cell, n_cells), dtype=np.float64)
        saved = [o.saved[kept] for o, kept in zip(self.options, near, strict=True)]
        reached = known.saved >= self.bound - depth
        # The stream with most options comes last: it is settled without a search.
        order = sorted(range(len(near)), key=lambda i: len(near[i]))
        can_raise = cells.can_raise([len(each) for each in saved])
        streams = np.arange(len(near))[:, None]
        of_stream = [
            charged(np.stack(summed), of_cell, can_raise & np.isin(streams, order[n_chosen:]))
            for n_chosen in range(len(order))
        ]
        return _Search(
            cells,
            saved,
            of_stream,
            of_cell,
            self.prices,
            near,
            order,
            self.bound - depth,
            self.margin,
            known if reached else None,
            n_branches,
        )


@dataclass(eq=False)
class _Search:
    """Options within a deficit, and the best choice so far."""

    cells: Cells
    saved: list[AnyArray]
    of_stream: list[FloatArray]
    of_cell: FloatArray
    prices: Prices
    near: list[AnyArray]
    order: list[int]
    target: float
    margin: float
    best: Chosen | None
    n_branches: int

    def descend(self, chosen: tuple[int, ...], marked: BoolArray, saved: int) -> None:
        """Try the options of the next stream, the most promising first."""
        self._count()
        if len(chosen) == len(self.order) - 1:
            self._finish(chosen, marked, saved)
            return
        open_streams = self.order[len(chosen) :]
        heights = [self._heights(len(chosen), stream, marked) for stream in open_streams]
        if any(height.shape[1] == 0 for height in heights):
            return
        left = self.prices.budget - float(self.of_cell[marked].sum())
        rest = saved + PRICE_FACTORS * left + sum(height.max(axis=1) for height in heights[1:])
        bounds = heights[0] + rest[:, None]
        for position in np.argsort(-bounds.min(axis=0), kind="stable").tolist():
            if self._hopeless(bounds[:, position]):
                break
            union = marked | self.cells.alarmed(open_streams[0], position)
            total = saved + int(self.saved[open_streams[0]][position])
            self.descend((*chosen, position), union, total)

    def _count(self) -> None:
        self.n_branches += 1
        if self.n_branches > MOST_BRANCHES:
            raise ValueError(
                f"the exact search looked at {MOST_BRANCHES:,} partial choices of thresholds, and "
                "more are left; use fewer streams, fewer distinct scores (round them), or a "
                "capacity that is a mean with overlap='each'"
            )

    def _heights(self, n_chosen: int, stream: int, marked: BoolArray) -> FloatArray:
        """Return what each option still allowed saves, less prices of new cells times factors."""
        n_options = len(self.saved[stream])
        stop = self.cells.furthest(stream, n_options, marked) + 1
        new = np.where(marked, 0.0, self.of_stream[n_chosen][stream])
        paid = np.cumsum(np.bincount(self.cells.step[stream], new, n_options + 1))
        return np.asarray(self.saved[stream][:stop] - PRICE_FACTORS[:, None] * paid[:stop])

    def _hopeless(self, bounds: FloatArray) -> bool:
        """Say whether nothing better can come: neither more saved, nor as much by fewer alarms."""
        bound = float(bounds.min()) + self.margin
        if bound < self.target:
            return True
        if self.best is None or bound >= self.best.saved + 1:
            return False
        fewer = bounds - PRICE_FACTORS * self._unused(self.best.alarms - 1)
        return float(fewer.min()) + self.margin < self.best.saved

    def _unused(self, alarms: int) -> float:
        """Return what is not paid of the budget by a choice with at most n alarms."""
        if self.cells.limit.n_periods > 1:
            return 0.0
        return max(self.prices.budget - float(self.prices.of_period[0]) * alarms, 0.0)

    def _finish(self, chosen: tuple[int, ...], marked: BoolArray, saved: int) -> None:
        """Take the last stream as far as the limit allows."""
        stream = self.order[-1]
        position = self.cells.furthest(stream, len(self.saved[stream]), marked)
        if position < 0:
            return
        total = saved + int(self.saved[stream][position])
        if total < self.target:
            return
        union = marked | self.cells.alarmed(stream, position)
        near = dict(zip(self.order, (*chosen, position), strict=True))
        positions = tuple(int(self.near[i][near[i]]) for i in range(len(near)))
        found = Chosen(positions, total, int(self.cells.sizes[union].sum()))
        if self.best is None or found.key < self.best.key:
            self.best = found
