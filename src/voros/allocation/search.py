r"""Thresholds of least cost where the alarms of a choice are not a plain sum.

That is so where a case with several alarms counts once, and where a capacity holds in each period.
The choice is an integer program, which HiGHS solves through SciPy. A large one is made small first.

Give each alarm of stream i for case c a price :math:`q_{ic} \ge 0`, such that the prices of a case
add up to at most :math:`\lambda_p`, that of its period. Whatever is chosen, its alarms cost at most
:math:`B = \max \sum_p \lambda_p k_p` over all numbers of alarms :math:`k_p` within the limit, so

.. math:: U = B + \sum_i \max_j \Big( s_{ij} - \sum_{c \in A_{ij}} q_{ic} \Big)

bounds what can be saved: :math:`A_{ij}` are the alarms of stream i at option j, and :math:`s_{ij}`
what they save. How far an option lies below the best of its stream is its deficit. A choice saves
at most U less the deficits of its options, so an option with a deficit above U - L cannot improve
on a choice that saves L. The search repeats these steps:

1. The linear program over a sample of the options gives prices, and these give U over all of them.
2. The best options at these prices, moved until the limit holds, give a choice and so L.
3. Options that cannot improve on it are dropped. Cases that all others alarm, or none, are out of
   question, and a period that is above the capacity has fewer alarms at most: the next linear
   program is smaller, and its bound is sharper.
4. Integer programs over options around the best choice, first wide apart and then next to it,
   improve it. Once these are all that are left, their bound is that of the search.

What is certified is the lowest bound, and the answer says how far it may be from it. Every choice
is counted in whole cases before it is taken: no tolerance of the solver decides about a limit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from voros.allocation.search_space import Chosen, PeriodLimit, SearchSpace
from voros.core.arguments import OPEN_INTERVAL, check_number
from voros.core.arrays import LARGEST_FINITE
from voros.core.deficit_search import DEFICIT_ROUNDING
from voros.core.shared_capacity import SharedChoice, Stream, options_of, whole_costs
from voros.progress import Progress, progress_bar
from voros.typing import AnyArray, FloatArray

MOST_ROUNDS = 50
"""Of the steps above."""

MOST_COLUMNS = 8_000
"""Of a program. HiGHS exceeds its time limit by seconds where there are more."""

SAMPLED = (256, 64, 16, 8, 4, 2)
"""Options of each stream in a linear program: as many as its columns allow."""

FEW_OPTIONS = 600
"""Of all streams together: so many are not worth a first integer program over a part of them."""

NEIGHBOURS = 8
"""Options on each side of the best choice in that program."""

FIRST_STRIDE = 1 / 64
"""How far apart these are at first, as a share of the options of a stream."""

SHRUNK = 0.8
"""Prices are computed again where the options, or the gap, are at most this share of before."""

TIME_SLICE = 1 / 4
"""Share of the time that is left for an integer program over a part of the options."""

PRICE_HALVINGS = 30
"""Of an interval of factors, until prices are found at which the limit holds."""

MOST_MOVED = 1_000_000
"""Moves of alarms between streams times bundles, in a round."""

SOLVER_ROUNDING = 1e-6
"""Tolerance of the solver's bounds, as a share of all that could be saved."""

LARGEST_GAP = 1 - 1e-9


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


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices of bundles in each stream, the mean price of an alarm, and what a choice pays at most.

    Attributes
    ----------
    of_stream : ndarray of shape (n_streams, n_bundles)
        What a stream pays for all cases of a bundle.
    mean : float
    budget : float
    """

    of_stream: FloatArray
    mean: float
    budget: float

    @classmethod
    def from_shares(
        cls, space: SearchSpace, shares: FloatArray, of_period: FloatArray, of_total: float
    ) -> Prices:
        """Take prices of an alarm in each period and in all, and split them between streams.

        The streams that can alarm a bundle pay for it in proportion to their shares.
        """
        paid = np.where(space.can_raise, shares, 0.0)
        paid = np.where(paid.sum(axis=0) > 0, paid, space.can_raise)
        price = of_period + of_total
        paid *= price[space.periods] * space.sizes / paid.sum(axis=0)
        # What alarms beyond those of every choice cost at most, within the limit.
        limit, most = space.limit, space.most - space.always
        left = limit.capacity - space.always
        within = np.where(left < 0, most, np.minimum(most, left))
        beyond = np.sort(of_period * (most - within))[::-1]
        budget = of_period @ within + beyond[: limit.n_above - np.count_nonzero(left < 0)].sum()
        budget += of_total * min(limit.total - space.always.sum(), most.sum())
        return cls(paid, float(price.mean()), float(budget))

    def heights(self, space: SearchSpace) -> list[FloatArray]:
        """Return what each option saves, less the prices of its bundles."""
        return [
            saved - np.cumsum(np.bincount(step, paid, len(saved) + 1))[:-1]
            for saved, step, paid in zip(space.saved, space.step, self.of_stream, strict=True)
        ]


@dataclass(frozen=True, eq=False, kw_only=True)
class Program:
    """The integer program of a choice.

    Its columns are the steps of each stream from an option to the next, the bundles that several
    streams can alarm, and the periods that may be above the capacity.

    Attributes
    ----------
    space : SearchSpace
    scale : float
        What is saved in all, so that the program is about shares of it.
    worth : ndarray of shape (n_columns,)
        What each column saves; of equals, fewer alarms are worth more.
    rows : sparse array of shape (n_rows, n_columns)
        The first are needs, of a step and a shared bundle; the last are the total, the number of
        periods above, and the periods.
    at_most : ndarray of shape (n_rows,)
    whole : ndarray of int, shape (n_columns,)
        1 for columns that are whole numbers; bundles are so by themselves.
    first : ndarray of int, shape (n_streams + 1,)
        The first column of each stream.
    shared : pair of ndarray of int
        Stream and bundle of the first rows.
    """

    space: SearchSpace
    scale: float
    worth: FloatArray
    rows: Any
    at_most: FloatArray
    whole: AnyArray
    first: AnyArray
    shared: tuple[AnyArray, AnyArray]

    @classmethod
    def from_space(cls, space: SearchSpace) -> Program:
        """Write down the steps, the shared bundles and the limit."""
        limit, can = space.limit, space.can_raise
        first = np.cumsum([0, *(len(saved) - 1 for saved in space.saved)])
        shared = np.flatnonzero(can.sum(axis=0) > 1)
        visit = first[-1] + np.arange(len(shared))
        n_above = limit.n_periods if limit.n_above else 0
        above = first[-1] + len(shared) + np.arange(n_above)
        # A step that alarms a shared bundle needs a visit to it, and a later step the one before.
        stream, place = np.nonzero(can[:, shared])
        step = first[stream] + space.step[stream, shared[place]] - 1
        later = np.concatenate([np.arange(low + 1, high) for low, high in pairwise(first)])
        needing, needed = np.append(step, later), np.append(visit[place], later - 1)
        n_needs, one = len(needing), np.ones(len(needing))
        # An alarm of one stream alone is that of its step, and a shared one that of its visit.
        owner, own = np.nonzero(can & (can.sum(axis=0) == 1))
        raising = np.append(first[owner] + space.step[owner, own] - 1, visit)
        bundle = np.append(own, shared)
        size = space.sizes[bundle]
        beyond = np.maximum(space.most - limit.capacity, 0)[:n_above]
        period = n_needs + 2 + np.arange(limit.n_periods)
        rows = _sparse(
            (n_needs + 2 + limit.n_periods, int(first[-1]) + len(shared) + n_above),
            (np.arange(n_needs), needing, one),
            (np.arange(n_needs), needed, -one),
            (np.full(len(size), n_needs), raising, size),
            (np.full(n_above, n_needs + 1), above, np.ones(n_above)),
            (period[space.periods[bundle]], raising, size),
            (period[:n_above], above, -beyond),
        )
        total = min(limit.total, float(space.most.sum())) - space.always.sum()
        ends = [total, limit.n_above, *(limit.capacity - space.always)]
        saved = np.concatenate([np.diff(saved) for saved in space.saved])
        scale = max(1.0, float(saved.sum()))
        worth = -np.bincount(raising, size, rows.shape[1]) / (2 * max(size.sum(), 1))
        worth[: first[-1]] += saved
        whole = np.ones(rows.shape[1], dtype=np.int64)
        whole[visit] = 0
        return cls(
            space=space,
            scale=scale,
            worth=worth / scale,
            rows=rows,
            at_most=np.append(np.zeros(n_needs), ends),
            whole=whole,
            first=first,
            shared=(stream, shared[place]),
        )

    def prices(self, space: SearchSpace, place: AnyArray, seconds: float) -> Prices | None:
        """Solve the linear program, and price a space whose bundles lie in those of the program."""
        from scipy.optimize import linprog

        solution = linprog(
            -self.worth,
            self.rows,
            self.at_most,
            bounds=(0, 1),
            method="highs",
            options={"time_limit": max(seconds, 0.0)},
        )
        if solution.status != 0:
            return None
        duals = np.maximum(-np.asarray(solution.ineqlin.marginals), 0.0) * self.scale
        shares = np.zeros(self.space.step.shape)
        shares[self.shared] = duals[: len(self.shared[0])]
        n_periods = self.space.limit.n_periods
        of_total, of_period = float(duals[-2 - n_periods]), duals[-n_periods:]
        return Prices.from_shares(space, shares[:, place], of_period, of_total)

    def solve(self, seconds: float, least: float) -> tuple[Chosen, float] | None:
        """Return a choice, and what no choice of the space saves more than; None without one.

        The solver ends where better choices save at most ``least`` more.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        solution = milp(
            -self.worth,
            constraints=LinearConstraint(self.rows, -np.inf, self.at_most),
            integrality=self.whole,
            bounds=Bounds(0, 1),
            options={"time_limit": max(seconds, 0.0), "mip_rel_gap": least / self.scale},
        )
        if solution.x is None:
            return None
        parts = (solution.x[low:high] for low, high in pairwise(self.first))
        chosen = self.space.chosen([int(np.count_nonzero(part > 1 / 2)) for part in parts])
        # Alarms are worth half a unit at most, all together.
        beyond = (SOLVER_ROUNDING - float(solution.mip_dual_bound)) * self.scale + 1 / 2
        return chosen, sum(int(saved[0]) for saved in self.space.saved) + beyond


def _sparse(shape: tuple[int, int], *entries: tuple[AnyArray, AnyArray, AnyArray]) -> Any:
    """Make a sparse matrix of rows, columns and values."""
    from scipy.sparse import coo_array

    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    # Older releases of SciPy's solver accept no other indices.
    at = row.astype(np.int32), column.astype(np.int32)
    return coo_array((value.astype(float), at), shape=shape).tocsr()


class Search:
    """The best choice so far, and what no choice can save more than.

    Parameters
    ----------
    space : SearchSpace
    nothing : float
        What never alarm costs, in the unit of savings.
    effort : Effort
    """

    def __init__(self, space: SearchSpace, nothing: float, effort: Effort) -> None:
        self.space, self.nothing, self.effort = space, nothing, effort
        self.deadline = time.monotonic() + effort.max_seconds
        self.best = space.chosen([0] * len(space.saved))
        everything = float(sum(int(saved[-1]) for saved in space.saved))
        self.margin = DEFICIT_ROUNDING * max(1.0, everything)
        self.bound = self.relaxed = everything
        self.price, self.dropped, self.n_programs = 0.0, 0.0, 0
        self.neighbours, self.ended, self.gap_before = NEIGHBOURS, False, np.inf
        self.stride = int(max(map(len, space.saved)) * FIRST_STRIDE) + 1

    def run(self) -> Search:
        """Repeat the steps until the choice is good enough, nothing is left, or time is over."""
        for i in progress_bar(range(MOST_ROUNDS), "searching", self.effort.progress):
            late = i > 0 and self.seconds_left <= 0
            if self.ended or late or (self.gap <= self.effort.max_gap and i > 0):
                continue
            if i == 0 or (self.stride == 1 and self.gap <= SHRUNK * self.gap_before):
                self.narrow()
            if not self.ended and self.gap > self.effort.max_gap:
                self.improve()
        return self

    @property
    def seconds_left(self) -> float:
        """Until the search must end."""
        return self.deadline - time.monotonic()

    @property
    def gap(self) -> float:
        """How far the cost may be above the least, as a share of it; savings are whole numbers."""
        beyond = self.bound - self.best.saved
        if beyond < max(1.0, self.margin):
            return 0.0
        return float(beyond / max(self.nothing - self.best.saved, 1.0))

    @property
    def least(self) -> float:
        """What a better choice must save more to be looked for."""
        return self.effort.max_gap * (self.nothing - self.best.saved)

    def narrow(self) -> None:
        """Price the cases, take the best choice at these prices, and drop options."""
        if self._take_only():
            return
        program, place = self._program()
        prices = program.prices(self.space, place, self.seconds_left) if program else None
        if prices is None:
            self.gap_before = 0.0
            return
        self.n_programs += 1
        heights = prices.heights(self.space)
        bound = prices.budget + sum(float(height.max()) for height in heights) + self.margin
        if self.n_programs == 1:
            self.relaxed, self.price = bound, prices.mean
        self._take_priced(heights)
        self._lower(bound)
        self.gap_before = self.gap
        self._drop(heights, bound)

    def _take_only(self) -> bool:
        """Take the choice that is left where there is one only; say whether there is."""
        n_streams = len(self.space.saved)
        if self.space.n_options > n_streams:
            return False
        self._take(self.space.chosen([0] * n_streams))
        self._lower(float(self.best.saved))
        self.ended = True
        return True

    def _program(self) -> tuple[Program | None, AnyArray]:
        """Return the linear program over a sample of the options, as large as it may be."""
        for n_sampled in SAMPLED:
            pairs = zip(self._at, self.space.saved, strict=True)
            rows = [_sampled(at, len(saved), n_sampled) for at, saved in pairs]
            sample, place = self.space.among(rows).merged()
            program = Program.from_space(sample)
            if len(program.worth) <= MOST_COLUMNS:
                return program, place
        return None, place

    @property
    def _at(self) -> list[int]:
        """Where the best choice is among the options that are left."""
        pairs = zip(self.space.options, self.best.options, strict=True)
        return [min(int(np.searchsorted(own, best)), len(own) - 1) for own, best in pairs]

    def _take_priced(self, heights: list[FloatArray]) -> None:
        """Take the best options at prices just high enough for the limit, then the furthest."""
        low, high, within = 0.0, 2.0**6, None
        columns = list(zip(self.space.saved, heights, strict=True))
        for _ in range(PRICE_HALVINGS):
            factor = (low + high) / 2
            positions = [int(np.argmax(s - factor * (s - height))) for s, height in columns]
            if self.space.chosen(positions).within:
                within, high = positions, factor
            else:
                low = factor
        if within is not None:
            self._take_moved(self.space.furthest(within, range(len(within))))

    def _take_moved(self, positions: list[int]) -> None:
        """Give alarms of one stream to another for as long as that saves more, and take that."""
        space, moves = self.space, MOST_MOVED // max(len(self.space.sizes), 1)
        best, again = space.chosen(positions), True
        while again and moves > 0:
            again = False
            for i, j in permutations(range(len(positions)), 2):
                back = 1
                while back <= positions[i] and moves > 0:
                    fewer = [*positions[:i], positions[i] - back, *positions[i + 1 :]]
                    moved = space.furthest(fewer, (j, i))
                    chosen = space.chosen(moved)
                    if chosen.rank < best.rank:
                        best, positions, again = chosen, moved, True
                    back, moves = 2 * back, moves - 1
        self._take(best)

    def _take(self, chosen: Chosen) -> bool:
        """Take a choice if it is better; say whether it is."""
        better = chosen.rank < self.best.rank
        self.best = chosen if better else self.best
        return better

    def _lower(self, bound: float) -> None:
        """Take a bound on what is left; what was dropped has its own."""
        self.bound = max(min(self.bound, max(bound, self.dropped)), float(self.best.saved))

    def _drop(self, heights: list[FloatArray], bound: float) -> None:
        """Drop the options that cannot improve on the best choice by enough."""
        wanted = self.best.saved + self.least
        deficits = [height.max() - height for height in heights]
        rows = [np.flatnonzero(bound - deficit >= wanted) for deficit in deficits]
        self.dropped = max(self.dropped, wanted)
        if any(len(own) == 0 for own in rows):
            self._lower(self.dropped)
            self.ended = True
            return
        n_before = self.space.n_options
        deficits = [deficit[own] for deficit, own in zip(deficits, rows, strict=True)]
        self.space = self.space.among(rows).bounded(deficits, bound - wanted)
        if self.space.n_options <= SHRUNK * n_before:
            self.gap_before = np.inf

    def improve(self) -> None:
        """Solve the integer program over the options next to the best choice."""
        if self._take_only():
            return
        if self.space.n_options <= FEW_OPTIONS:
            self.stride, self.neighbours = 1, FEW_OPTIONS
        steps = self.stride * np.arange(-self.neighbours, self.neighbours + 1)
        places = [at + steps for at in self._at]
        sizes = [len(saved) for saved in self.space.saved]
        rows = [own[(own >= 0) & (own < size)] for own, size in zip(places, sizes, strict=True)]
        nearby = self.space.among(rows).merged()[0]
        everything = nearby.n_options == self.space.n_options
        program = Program.from_space(nearby)
        if len(program.worth) > MOST_COLUMNS:
            self.ended = True
            return
        seconds = self.seconds_left * (1.0 if everything else TIME_SLICE)
        self.n_programs += 1
        solution = program.solve(seconds, self.least)
        if solution is not None:
            self._take(solution[0])
        if everything:
            self._lower(np.inf if solution is None else solution[1])
            self.ended = True
        self.neighbours *= 1 if self.stride > 1 else 2
        self.stride = max(self.stride // 2, 1)


def _sampled(best: int, size: int, n_sampled: int) -> AnyArray:
    """Return places of a list: the ends, and others at growing distances from the best.

    Examples
    --------
    >>> _sampled(4, 100, 8).tolist(), _sampled(1, 3, 8).tolist()
    ([0, 1, 3, 4, 5, 7, 14, 36, 99], [0, 1, 2])
    """
    if size <= n_sampled:
        return np.arange(size)
    steps = np.geomspace(1, size, n_sampled // 2 + 1).round().astype(np.intp)
    places = np.concatenate([best - steps, [0, best, size - 1], best + steps])
    return np.unique(places[(places >= 0) & (places < size)])


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
    saved = [option.saved for option in options]
    space = SearchSpace.from_steps(saved, steps, periods, limit, once=once)
    nothing = float(sum(stream.cost(0) for stream in streams)) * units.per_cost
    search = Search(space, nothing, effort or Effort()).run()
    rows = tuple(int(o.rows[i]) for o, i in zip(options, search.best.options, strict=True))
    choice = SharedChoice.from_rows(
        streams, rows, units, bound=search.relaxed, price=search.price, n_states=search.n_programs
    )
    return replace(choice, certificate=replace(choice.certificate, gap=search.gap))
