r"""Thresholds of least cost where a case counts once, or each period has a capacity.

The search is a branch and bound. A node is a part of the choices: an interval of options of each
stream, some periods that may be above the capacity, and some that may not. Its linear program
(`voros.allocation.relaxation`) bounds what these choices save, and may mix options of a stream. The
search repeats these steps:

1. Take the node with the highest bound, and solve its program.
2. Round the mixture down to a choice within the limit, and improve it two streams at a time.
3. Drop options that cannot improve on the best choice so far.
4. Split the node at a period: of those that are above the capacity in part, the one that is
   furthest above. If there is none, split it at the stream whose mixed options differ most.

A long search also drops options that improve by less than the accepted gap, and moves its best
choice at random to improve it. Where alarms add up and few choices remain, it tries all of them.

The gap compares the best choice with the highest bound of what remains or was dropped. The search
counts every choice in whole cases before it takes it.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, count, cycle
from typing import Any

import numpy as np

from voros.allocation.relaxation import SHRUNK, Aim, Node, Relaxed, relax
from voros.allocation.search_space import Chosen, PeriodLimit, SearchSpace
from voros.core.arguments import OPEN_INTERVAL, check_number
from voros.core.arrays import LARGEST_FINITE
from voros.core.deficit_search import DEFICIT_ROUNDING
from voros.core.shared_capacity import SharedChoice, Stream, options_of, whole_costs
from voros.progress import Progress, progress_bar
from voros.typing import AnyArray

TIME_PARTS = 50
"""Steps of the progress bar."""

NEIGHBOURS = 64
"""How many options on each side of a choice are tried to improve it."""

FIRST_NODES, ROUNDED_EVERY, SHAKEN_EVERY = 10, 4, 2
"""Mixtures of the first nodes, and of every fourth later one, are rounded to a choice; halfway
between them the best choice is moved."""

EXACT_NODES = 64
"""A search of more nodes drops what is better than its best choice by less than the accepted gap.
"""

WEIGHED_EVERY = 8
"""How often the search considers trying all remaining choices, in nodes."""

TRIED_IN_A_SECOND, LEAST_PERIODS = 3e8, 64
"""Choices times periods that are tried in a second; fewer periods take as long as the least."""

SHAKEN, FARTHER, FEWEST_OPTIONS = 0.4, 0.2, 6.0
"""Share of the streams that are moved at random, and the standard deviation of the move: a share of
the options in use, and this number of options at least."""

HALVINGS = 12
"""Halvings of the way from few alarms to a choice that may be beyond the limit."""

TOLERANCE = 0.1
"""Share of the accepted gap by which a program may be off."""

WHOLE = 1e-6
"""A solver's answer this near to a whole number is that number."""

OF_ALARMS = 0.5
"""What all alarms together cost, in the unit of savings, which are whole."""

LARGEST_GAP = 1 - 1e-9


@dataclass(frozen=True)
class Effort:
    """How long a search may take, how near to the best its answer must be, and its progress bar.

    Attributes
    ----------
    max_seconds : float
    max_gap : float
        How far the least cost may lie below the answer, as a share of the answer's cost.
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


class Search:
    """A branch and bound: the best choice so far, and a bound on what any choice can save.

    Parameters
    ----------
    space : SearchSpace
    nothing : float
        What raising no alarm costs, in the unit of savings.
    effort : Effort
    """

    def __init__(self, space: SearchSpace, nothing: float, effort: Effort) -> None:
        self.space, self.nothing, self.effort = space, nothing, effort
        self.began = time.monotonic()
        # Of equals, fewer alarms are worth more: all together half of the unit of savings.
        self.per_alarm = OF_ALARMS / max(1, space.steps.size)
        self.best = space.chosen([0] * len(space.saved))
        everything = float(sum(int(saved[-1]) for saved in space.saved))
        self.margin = DEFICIT_ROUNDING * max(1.0, everything)
        self.bound = self.relaxed = everything
        self.case_shares = np.ones(space.steps.shape if space.once else (0, 0))
        self.random = np.random.default_rng(0)
        self.price, self.n_nodes, self.numbers = 0.0, 0, count()
        self.nodes = [(-np.inf, next(self.numbers), Node.whole(space))]

    def run(self) -> Search:
        """Split nodes until the gap is small enough, no node remains, or time is over."""
        for part in progress_bar(range(TIME_PARTS), "searching", self.effort.progress):
            end = self.began + (part + 1) / TIME_PARTS * self.effort.max_seconds
            while not self.ended and (self.n_nodes == 0 or time.monotonic() < end):
                self.step()
        return self

    @property
    def value(self) -> float:
        """What the best choice saves, less a small price of its alarms."""
        return self.best.saved - self.per_alarm * self.best.alarms

    @property
    def accepted(self) -> float:
        """How far a bound may lie above the best choice."""
        return self.effort.max_gap * (self.nothing - self.best.saved)

    @property
    def worthwhile(self) -> float:
        """Choices worth no more are dropped; in a long search also those in the accepted gap."""
        share = (1 - TOLERANCE) * (self.n_nodes >= EXACT_NODES)
        return self.value + share * self.accepted

    @property
    def gap(self) -> float:
        """How far the least cost may lie below the cost of the best choice, as a share of it."""
        beyond = self.bound - self.best.saved
        # Savings are whole numbers.
        if beyond < max(1.0, self.margin):
            return 0.0
        return float(beyond / max(self.nothing - self.best.saved, 1.0))

    @property
    def ended(self) -> bool:
        """Whether no node remains, or the gap is accepted."""
        return not self.nodes or self.gap <= self.effort.max_gap > 0 < self.n_nodes

    def step(self) -> None:
        """Split the most promising node, or try all remaining choices."""
        weighed = self.n_nodes % WEIGHED_EVERY == 0 < self.n_nodes and not self.space.once
        if not (weighed and self._all_tried()):
            self._branch()
        self.n_nodes += 1
        highest = max([self.worthwhile, *(-node[0] for node in self.nodes[:1])])
        bound = highest + self.margin + OF_ALARMS
        self.bound = min(self.bound, max(bound, float(self.best.saved)))

    def _all_tried(self) -> bool:
        """Try all remaining choices, if that takes at most a second or the time spent so far."""
        low = np.min([node.low for *_, node in self.nodes], axis=0)
        high = np.max([node.high for *_, node in self.nodes], axis=0)
        n_tried = np.sort(high - low + 1.0)[:-1].prod()
        seconds = n_tried * max(self.space.limit.n_periods, LEAST_PERIODS) / TRIED_IN_A_SECOND
        spent = time.monotonic() - self.began
        worthwhile = bool(seconds <= min(max(spent, 1.0), self.effort.max_seconds - spent))
        if worthwhile:
            self.best, self.nodes = self.space.best_between(low, high, self.best), []
        return worthwhile

    def _branch(self) -> None:
        """Bound the most promising node, round its mixture to a choice, and split it."""
        node = heapq.heappop(self.nodes)[-1]
        aim = Aim(
            value=self.worthwhile,
            enough=self.value + (1 - TOLERANCE) * self.accepted,
            per_alarm=self.per_alarm,
            least=TOLERANCE * self.accepted,
        )
        relaxed = relax(self.space, node, self.case_shares, aim)
        if relaxed is not None:
            self.case_shares = relaxed.case_shares
            if self.n_nodes < FIRST_NODES or self.n_nodes % ROUNDED_EVERY == 0:
                mixed = np.floor(relaxed.mean + WHOLE)
                self._take(self._within(relaxed.node.low, mixed))
            elif self.n_nodes % SHAKEN_EVERY == 0:
                self._take(self._shaken())
            if self.n_nodes <= self.space.once:
                bound = relaxed.node.bound + self.margin + OF_ALARMS
                self.relaxed = max(bound, float(self.best.saved))
                self.price = float(relaxed.prices.mean())
            narrowed = relaxed.narrowed(aim.value - self.margin)
            if narrowed is not None and narrowed.bound + self.margin > aim.value:
                self._take(narrowed.low.tolist())
                # With a better choice or fewer options, other shares of the cases bound better.
                fewer = 0 < narrowed.bound - aim.value < SHRUNK * (node.bound - aim.value)
                again = self.space.once and fewer
                for part in [narrowed] if again else _split(self.space, narrowed, relaxed):
                    heapq.heappush(self.nodes, (-part.bound, next(self.numbers), part))

    def _shaken(self) -> Sequence[int] | None:
        """Move some streams of the best choice at random, and improve it again."""
        at = np.array(self.best.options)
        moves = self.random.normal(0.0, np.maximum(FARTHER * at, FEWEST_OPTIONS))
        moved = at + moves * (self.random.random(len(at)) < SHAKEN)
        last = [len(saved) - 1 for saved in self.space.saved]
        return self._within(0 * at, np.clip(moved, 0, last))

    def _within(self, low: AnyArray, high: AnyArray) -> Sequence[int] | None:
        """Improve the last choice between two that is within the limit; None where none is."""
        within = None
        least, most, share = 0.0, 1.0, 1.0
        for _ in range(HALVINGS):
            positions = (low + share * (high - low)).astype(np.intp).tolist()
            if self.space.chosen(positions).within:
                least, within = share, positions
            else:
                most = share
            share = (least + most) / 2
        return None if within is None else self._improved(within)

    def _improved(self, positions: list[int]) -> tuple[int, ...]:
        """Choose two streams again until no pair saves more."""
        best, unchanged = self.space.chosen(positions), 0
        pairs = list(combinations(range(len(positions)), 2))
        for pair in cycle(pairs):
            moved = self._best_pair(best, pair)
            chosen = best if moved == best.options else self.space.chosen(moved)
            unchanged = 0 if chosen.rank < best.rank else unchanged + 1
            best = min(best, chosen, key=lambda one: one.rank)
            if unchanged == len(pairs):
                break
        return best.options

    def _best_pair(self, at: Chosen, pair: tuple[int, int]) -> tuple[int, ...]:
        """Choose two streams again: for each option of one the last possible of the other."""
        space, limit = self.space, self.space.limit
        own = [(at.options[i], len(space.saved[i])) for i in pair]
        rows = [slice(max(o - NEIGHBOURS, 0), min(o + NEIGHBOURS + 1, n)) for o, n in own]
        rest, first, second = space.pair_tables(at, pair, (rows[0], rows[1]))
        beside = rest + first
        # Positions below `low` keep the limit, those from `high` on break it.
        low, high = np.full(len(first), -1), np.full(len(first), len(second))
        while np.any(high - low > 1):
            middle = (low + high) // 2
            holds = limit.holds(beside + second[middle])
            low, high = np.where(holds, middle, low), np.where(holds, high, middle)
        saved = [space.saved[i][part] for i, part in zip(pair, rows, strict=True)]
        i = int(np.argmax(np.where(low >= 0, saved[0] + saved[1][low], -1)))
        positions = list(at.options)
        if low[i] >= 0:
            positions[pair[0]], positions[pair[1]] = rows[0].start + i, rows[1].start + int(low[i])
        return tuple(positions)

    def _take(self, positions: Sequence[int] | None) -> None:
        """Take a choice if it is better."""
        if positions is not None:
            self.best = min(self.best, self.space.chosen(positions), key=lambda one: one.rank)


def _split(space: SearchSpace, node: Node, relaxed: Relaxed) -> list[Node]:
    """Split a node at a period that is above the capacity in part, or else at a stream."""
    partly = np.abs(relaxed.exceeding - 0.5) < 0.5 - WHOLE
    excess = partly * relaxed.exceeding * space.limit.beyond(node.most)
    if excess.any() and not (node.above | node.within).all():
        period = np.arange(len(excess)) == np.argmax(excess)
        return [
            replace(node, above=node.above | period),
            replace(node, within=node.within | period),
        ]
    width = node.high - node.low
    if not width.any():
        return []
    spread = np.where(width > 0, relaxed.spread, 0.0)
    stream = np.argmax(spread if spread.max() > WHOLE else width)
    ends, starts = node.high.copy(), node.low.copy()
    middle = np.floor(relaxed.mean[stream] + WHOLE).astype(np.intp)
    middle = np.clip(middle, starts[stream], ends[stream] - 1)
    ends[stream], starts[stream] = middle, middle + 1
    return [replace(node, high=ends), replace(node, low=starts)]


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
        streams, rows, units, bound=search.relaxed, price=search.price, n_states=search.n_nodes
    )
    return replace(choice, certificate=replace(choice.certificate, gap=search.gap))
