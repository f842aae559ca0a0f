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

The search is limited, and where it does not end SciPy's integer program (HiGHS) goes on, with the
columns of the options and the best choice so far as a lower limit. What is certified in the end is
the lowest bound of both; the answer says how far it may be from it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, permutations
from typing import Any

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
from voros.core.arguments import OPEN_INTERVAL, check_number
from voros.core.arrays import LARGEST_FINITE
from voros.core.deficit_search import DEEPER, DEFICIT_ROUNDING, Options
from voros.core.shared_capacity import SharedChoice, Stream, options_of, whole_costs
from voros.progress import Progress, progress_bar
from voros.typing import AnyArray, BoolArray, FloatArray

MOST_WORK = 5_000_000
"""Choices times cells that are looked at in each of the first two steps of a search."""

PRICE_HALVINGS = 30
"""Of an interval of factors, until prices are found at which the limit holds."""

MOST_SHARED = 1_000
"""Pairs of a stream and a cell that others alarm too, in an integer program: with more of them
HiGHS does not mind its time limit."""

FIRST_DEFICIT = 1 / 64
"""Where the deficit begins, as a share of that of the choice that is known from the start."""

LARGEST_GAP = 1 - 1e-9

INFEASIBLE = 2
"""What SciPy's solver calls a program without a solution."""

SOLVER_ROUNDING = 1e-6
"""Relative tolerance of the solver's bounds."""

PRICE_FACTORS = np.array([0.7, 0.85, 1.0, 1.15, 1.3])
"""Prices times each of these are prices too; further down the best ones are others."""


@dataclass(frozen=True)
class Effort:
    """How long a search may take, how near to the best its answer must be, and who watches.

    Attributes
    ----------
    max_seconds : float
    max_gap : float
        The share of the cost that the least cost may lie below the answer.
    progress : bool or callable
    """

    max_seconds: float = 60.0
    max_gap: float = 0.0
    progress: Progress = False

    @classmethod
    def from_arguments(cls, max_seconds: Any, max_gap: Any, progress: Progress) -> Effort:
        """Check what a user stated."""
        accepted = "a number of seconds above 0"
        check_number(max_seconds, "max_seconds", accepted, OPEN_INTERVAL[0], LARGEST_FINITE)
        check_number(max_gap, "max_gap", "a share of the cost from 0 to below 1", 0.0, LARGEST_GAP)
        return cls(float(max_seconds), float(max_gap), progress)


@dataclass(frozen=True)
class Chosen:
    """An option of each stream, what they save, and the cases they alarm."""

    positions: tuple[int, ...]
    saved: int
    alarms: int


def _worse(chosen: Chosen) -> tuple[int, int]:
    """Smaller is better: more saved, then fewer alarms."""
    return -chosen.saved, chosen.alarms


def share_within(
    streams: Sequence[Stream],
    scores: Sequence[AnyArray],
    limit: PeriodLimit,
    periods: AnyArray,
    *,
    once: bool,
    effort: Effort | None = None,
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
    effort : Effort, optional
        When to stop; the certificate of the choice says how far it may be from the best.

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
    cells = Cells.from_steps(steps, [len(o.rows) for o in within], periods, limit, once=once)
    problem = _Problem(within, cells, price_cells(within, cells))
    nothing = float(sum(stream.cost(0) for stream in streams)) * units.per_cost
    best = _Best(problem, nothing, effort or Effort()).found()
    rows = tuple(int(o.rows[i]) for o, i in zip(within, best.chosen.positions, strict=True))
    price = float(problem.prices.of_period.mean())
    choice = SharedChoice.from_rows(
        streams, rows, units, bound=problem.bound, price=price, n_states=best.n_branches
    )
    return replace(choice, certificate=replace(choice.certificate, gap=best.gap))


def _allowed(option: Options, step: AnyArray, periods: AnyArray, limit: PeriodLimit) -> Options:
    """Return the options that the limit allows a stream by itself."""
    alone = Cells.from_steps([step], [len(option.rows)], periods, limit, once=True)
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

    def greedy(self) -> Chosen:
        """Take the best option of each stream, then the furthest, while the limit allows it."""
        n_streams, cells = len(self.options), self.cells
        chosen = [0] * n_streams
        for i in [*range(n_streams), *range(n_streams)]:
            others = self._marked(chosen, i)
            last = cells.furthest(i, len(self.options[i].rows), others)
            first_time = chosen[i] == 0
            chosen[i] = min(last, int(np.argmax(self._heights(i)))) if first_time else last
        return self.chosen(tuple(chosen))

    def priced(self) -> Chosen:
        """Take the best options at prices just high enough for the limit, then the furthest."""
        heights = [self._heights(i) for i in range(len(self.options))]
        low, high, known = 0.0, 2.0**6, (0,) * len(self.options)
        for _ in range(PRICE_HALVINGS):
            factor = (low + high) / 2
            pairs = zip(self.options, heights, strict=True)
            chosen = tuple(int(np.argmax(o.saved - factor * (o.saved - h))) for o, h in pairs)
            if self.cells.limit.holds(self.cells.loads(self._marked(chosen))):
                known, high = chosen, factor
            else:
                low = factor
        return self._furthest(known, range(len(known)))

    def _furthest(self, positions: Sequence[int], streams: Sequence[int]) -> Chosen:
        """Take streams, one after the other, as far as the limit allows beside the others."""
        chosen = list(positions)
        for stream in streams:
            others = self._marked(chosen, stream)
            chosen[stream] = self.cells.furthest(stream, len(self.options[stream].rows), others)
        return self.chosen(tuple(chosen))

    def improved(self, best: Chosen) -> Chosen:
        """Give alarms of one stream to another for as long as that saves more."""
        moves = MOST_WORK // max(len(self.cells.sizes), 1)
        known = None
        while known != best and moves > 0:
            known = best
            for i, j in permutations(range(len(self.options)), 2):
                back = 1
                while back <= best.positions[i] and moves > 0:
                    moved = self._moved(best.positions, i, j, back)
                    best = min(best, moved, key=_worse)
                    back, moves = 2 * back, moves - 1
        return best

    def _moved(self, positions: tuple[int, ...], i: int, j: int, back: int) -> Chosen:
        """Take one stream some options back, and then the other and itself as far as they may."""
        chosen = list(positions)
        chosen[i] -= back
        return self._furthest(chosen, (j, i))

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

    def chosen(self, positions: tuple[int, ...]) -> Chosen:
        saved = sum(int(o.saved[i]) for o, i in zip(self.options, positions, strict=True))
        return Chosen(positions, saved, int(self.cells.sizes[self._marked(positions)].sum()))

    def within(self, depth: float, known: Chosen, n_branches: int) -> _Search:
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
        can_raise = cells.can_raise([len(steps) for steps in saved])
        streams = np.arange(len(near))[:, None]
        of_stream = [
            charged(np.stack(summed), of_cell, can_raise & np.isin(streams, order[n_chosen:]))
            for n_chosen in range(len(order))
        ]
        return _Search(
            cells=cells,
            saved=saved,
            of_stream=of_stream,
            of_cell=of_cell,
            prices=self.prices,
            near=near,
            order=order,
            target=self.bound - depth,
            margin=self.margin,
            best=known if reached else None,
            n_branches=n_branches,
        )


class _TooManyError(Exception):
    """The search was given up."""


@dataclass(eq=False)
class _Best:
    """The best choice so far, and what no choice can save more than."""

    problem: _Problem
    nothing: float
    effort: Effort
    n_branches: int = 0

    def __post_init__(self) -> None:
        """Begin with a choice that is made quickly, and the bound of the prices."""
        self.deadline = time.monotonic() + self.effort.max_seconds
        self.chosen = min(self.problem.greedy(), self.problem.priced(), key=_worse)
        self.bound = self.problem.bound

    def found(self) -> _Best:
        """Improve the choice in three steps, until it is good enough or the time is over."""
        steps = (self._improve, self._search, self._solve)
        for step in progress_bar(steps, "searching", self.effort.progress):
            if not self._enough:
                step()
        return self

    @property
    def gap(self) -> float:
        """How far the cost may be above the least, as a share of it; rounding is no gap."""
        beyond = self.bound - self.chosen.saved
        if beyond <= self.problem.margin:
            return 0.0
        return float(beyond / max(self.nothing - self.chosen.saved, self.problem.margin))

    @property
    def _enough(self) -> bool:
        exact = self.effort.max_gap == 0
        late = time.monotonic() > self.deadline
        return late or (self.gap <= self.effort.max_gap and not (exact and self.n_branches == 0))

    def _improve(self) -> None:
        self.chosen = self.problem.improved(self.chosen)

    def _search(self) -> None:
        """Look for choices within a deficit that rises until one is found, or too much is tried."""
        bound, margin = self.problem.bound, self.problem.margin
        enough = max(bound - self.chosen.saved, 0.0)
        depth = enough * FIRST_DEFICIT
        most = MOST_WORK // max(len(self.problem.cells.sizes), 1)
        while True:
            search = self.problem.within(depth + margin, self.chosen, self.n_branches)
            ended = search.run(most, self.deadline)
            self.n_branches = search.n_branches
            if search.best is not None:
                self.chosen = min(self.chosen, search.best, key=_worse)
            if not ended:
                return
            self.bound = bound - depth
            if search.best is not None:
                self.bound = float(self.chosen.saved)
                return
            depth = min(DEEPER * depth, enough) if depth > 0 else enough

    def _solve(self) -> None:
        """Let SciPy's integer program go on from the best choice so far."""
        seconds = self.deadline - time.monotonic()
        least = self.effort.max_gap * (self.nothing - self.chosen.saved)
        solution = integer_program(
            self.problem.options, self.problem.cells, self.chosen.saved, least, seconds
        )
        if solution is None:
            return
        positions, bound = solution
        if positions is not None:
            better = self.problem.chosen(positions)
            self.chosen = min(self.chosen, better, key=_worse)
        self.bound = max(min(self.bound, bound), float(self.chosen.saved))


def integer_program(
    options: Sequence[Options], cells: Cells, known: int, least: float, seconds: float
) -> tuple[tuple[int, ...] | None, float] | None:
    """Solve the choice as an integer program; return a better choice, if any, and a bound.

    A variable for each step of a stream from an option to the next, in their order; a visit for
    each cell that several streams can alarm; and one for each period that may pass the capacity.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    program = _Program.from_options(options, cells)
    if seconds <= 0 or program.n_shared > MOST_SHARED:
        return None
    scale = max(1.0, float(known))
    limits = [LinearConstraint(rows, -np.inf, most) for rows, most in program.limits]
    limits.append(LinearConstraint(-program.worth[None] / scale, -np.inf, -known / scale))
    solution = milp(
        -program.worth / scale,
        constraints=limits,
        integrality=program.whole,
        bounds=Bounds(0, 1),
        options={"time_limit": seconds, "mip_rel_gap": least / scale},
    )
    # Without a better choice what is known is the best; HiGHS says infeasible then.
    bound = float(known) if solution.status == INFEASIBLE else np.inf
    if solution.mip_dual_bound is not None and np.isfinite(solution.mip_dual_bound):
        bound = -float(solution.mip_dual_bound) * scale * (1 + SOLVER_ROUNDING)
    return (None if solution.x is None else program.positions(solution.x)), bound


@dataclass(frozen=True, eq=False)
class _Program:
    """The columns and rows of the integer program.

    Attributes
    ----------
    worth : ndarray
        What each column saves.
    limits : list of pairs
        Rows, and what they are at most.
    whole : ndarray of int
        1 for columns that are whole numbers; visits are so by themselves.
    first : ndarray of int
        The first column of each stream.
    n_shared : int
        Pairs of a stream and a cell that others alarm too.
    """

    worth: FloatArray
    limits: list[tuple[Any, AnyArray | float]]
    whole: AnyArray
    first: AnyArray
    n_shared: int

    @classmethod
    def from_options(cls, options: Sequence[Options], cells: Cells) -> _Program:
        """Write down the steps of the streams, the visits and the limit."""
        sizes, limit = np.array([len(stream.rows) - 1 for stream in options]), cells.limit
        first = np.cumsum([0, *sizes])
        can = (cells.step > 0) & (cells.step <= sizes[:, None])
        shared = np.flatnonzero(can.sum(axis=0) > 1)
        n_above = limit.n_periods if limit.n_above else 0
        visit = first[-1] + np.arange(len(shared))
        above = first[-1] + len(shared) + np.arange(n_above)
        n_columns = int(first[-1]) + len(shared) + n_above
        worth = np.zeros(n_columns)
        worth[: first[-1]] = np.concatenate([np.diff(stream.saved) for stream in options])
        # A later step needs the one before, and a shared cell that a step alarms needs a visit.
        later = np.concatenate([np.arange(a + 1, b) for a, b in pairwise(first)])
        stream, place = np.nonzero(can[:, shared])
        step = first[stream] + cells.step[stream, shared[place]] - 1
        needing, needed = np.append(later, step), np.append(later - 1, visit[place])
        row = np.arange(len(needing))
        # An alarm of one stream alone is that of its step, and a shared one that of its visit.
        owner, own = np.nonzero(can & (can.sum(axis=0) == 1))
        column = np.append(first[owner] + cells.step[owner, own] - 1, visit)
        cell = np.append(own, shared)
        most = cells.loads(np.ones(len(cells.sizes), dtype=np.bool_))
        beyond = np.maximum(most - limit.capacity, 0)[:n_above]
        always = cells.loads(np.any(cells.step == 0, axis=0))
        one, nothing = np.ones(len(row)), np.zeros(len(cell), dtype=np.intp)
        sparse = partial(_sparse, n_columns)
        limits: list[tuple[Any, AnyArray | float]] = [
            (sparse(len(row), (row, needing, one), (row, needed, -one)), 0.0),
            (
                sparse(
                    limit.n_periods,
                    (cells.periods[cell], column, cells.sizes[cell]),
                    (np.arange(n_above), above, -beyond),
                ),
                limit.capacity - always,
            ),
        ]
        if n_above:
            once = np.zeros(n_above, dtype=np.intp), above, np.ones(n_above)
            limits.append((sparse(1, once), float(limit.n_above)))
        if np.isfinite(limit.total):
            loads = sparse(1, (nothing, column, cells.sizes[cell]))
            limits.append((loads, limit.total - always.sum()))
        whole = np.ones(n_columns, dtype=np.int64)
        whole[visit] = 0
        return cls(worth, limits, whole, first, len(place))

    def positions(self, values: FloatArray) -> tuple[int, ...]:
        """Return the option of each stream: how many of its steps are taken."""
        return tuple(
            int(np.count_nonzero(values[low:high] > 1 / 2)) for low, high in pairwise(self.first)
        )


def _sparse(n_columns: int, n_rows: int, *entries: tuple[AnyArray, AnyArray, AnyArray]) -> Any:
    """Make a sparse matrix of rows, columns and values."""
    from scipy.sparse import coo_array

    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    return coo_array((value.astype(float), (row, column)), shape=(n_rows, n_columns)).tocsr()


@dataclass(eq=False, kw_only=True)
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

    def run(self, most: int, deadline: float) -> bool:
        """Look at all choices; False where that would be more than ``most``, or take too long."""
        self.most, self.deadline = most, deadline
        try:
            self.descend((), np.zeros(len(self.cells.sizes), dtype=np.bool_), 0)
        except _TooManyError:
            return False
        return True

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
        if self.n_branches > self.most or time.monotonic() > self.deadline:
            raise _TooManyError

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
        complete = Chosen(positions, total, int(self.cells.sizes[union].sum()))
        if self.best is None or _worse(complete) < _worse(self.best):
            self.best = complete
