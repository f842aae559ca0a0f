r"""Alarms put together that the same thresholds raise, and prices that bound what any choice saves.

A cell is a set of cases of one period that the same options of every stream alarm. Where a case
with several alarms counts once, it is in one cell; where each alarm counts, every alarm that a case
can raise is in a cell of its own, which one stream alone alarms. So the alarms of a choice are the
cells that at least one stream alarms, either way.

Give each case a price in each stream, :math:`q_{ic} \ge 0`, such that the prices of a case add up
to at most :math:`\lambda_p`, that of its period. Whatever is chosen, its alarms cost at most
:math:`B = \max \sum_p \lambda_p k_p` over all numbers of alarms :math:`k_p` within the limit, so

.. math:: B + \sum_i \max_j \Big( s_{ij} - \sum_{c \in A_{ij}} q_{ic} \Big)

bounds what can be saved: :math:`A_{ij}` are the alarms of stream i at option j, and :math:`s_{ij}`
what they save. The best prices are the dual of a linear program.

- *One period.* At a given :math:`\lambda` the program is a closure problem (Picard, 1976): an
  option needs the options before it and a visit to each of its cases. A minimum cut solves it
  exactly, and the flow into a case says how its price is split between the streams. The price
  itself is found where the lines of two solutions cross.
- *Several periods.* The program has one row for each period, and its columns are generated where
  they pay. Periods that may pass the capacity are relaxed to shares of a period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from voros.core.deficit_search import Options
from voros.typing import AnyArray, BoolArray, FloatArray


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
    def from_steps(
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
        distinct, place = np.unique(rows, axis=1, return_inverse=True)
        # numpy 2.0 alone gives the inverse the shape of the rows.
        place = place.reshape(-1)
        sizes = np.bincount(place, weights=self.sizes, minlength=distinct.shape[1])
        cells = Cells(distinct[1:], sizes.astype(np.int64), distinct[0], self.limit)
        return cells, place

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
        columns: list[tuple[AnyArray, ...]] = []
        for step in self.step:
            order = np.lexsort((step, self.periods))
            periods = self.periods[order]
            columns.append((order, periods, np.searchsorted(periods, periods), step[order]))
        return columns


def _apart(step: AnyArray, streams: AnyArray, n_options: Sequence[int]) -> AnyArray:
    """Give every alarm that a case can raise a column of its own."""
    apart = np.repeat(np.array(n_options)[:, None], len(step), axis=1)
    apart[streams, np.arange(len(step))] = step
    return apart


LARGEST_FLOW = 2**30
"""SciPy's flows are whole numbers of 32 bits."""

MOST_CUTS = 40
"""Minimum cuts, or rounds of new columns, before the prices found so far are taken as they are."""

SAME_BOUND = 1e-9
"""Bounds that differ by less, relatively, are not worth another round."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices of cells, and what no choice within the limit can pay more than.

    Attributes
    ----------
    of_stream : ndarray of shape (n_streams, n_cells)
        What a stream pays for all cases of a cell.
    of_cell : ndarray of shape (n_cells,)
        What all streams together pay for it at most.
    of_period : ndarray of shape (n_periods,)
        Price of one alarm.
    budget : float
    """

    of_stream: FloatArray
    of_cell: FloatArray
    of_period: FloatArray
    budget: float


def price_cells(options: Sequence[Options], cells: Cells) -> Prices:
    """Find prices with a low bound."""
    if cells.limit.holds(cells.loads(np.ones(cells.step.shape[1], dtype=np.bool_))):
        return _uniform(options, cells, 0.0)
    if cells.limit.n_periods == 1:
        return _by_cuts(options, cells)
    return _by_columns(options, cells)


def heights_of(option: Options, step: AnyArray, prices: FloatArray) -> FloatArray:
    """Return what each option saves, less the prices of its cells."""
    paid = np.cumsum(np.bincount(step, weights=prices, minlength=len(option.rows) + 1))
    return np.asarray(option.saved - paid[:-1])


def bound_of(options: Sequence[Options], cells: Cells, prices: Prices) -> float:
    """Return what no choice can save more than."""
    parts = zip(options, cells.step, prices.of_stream, strict=True)
    return prices.budget + float(sum(heights_of(*part).max() for part in parts))


def charged(of_stream: FloatArray, of_cell: FloatArray, can: BoolArray) -> FloatArray:
    """Raise the prices of cells to all that they may cost, for the streams that can alarm them.

    Examples
    --------
    Of a price of 6, streams that paid 1 and 2 pay 2 and 4; who cannot alarm a cell pays nothing:

    >>> can = np.array([[True, True], [True, False]])
    >>> charged(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([6.0, 5.0]), can).tolist()
    [[2.0, 5.0], [4.0, 0.0]]
    """
    paid = np.where(can, of_stream, 0.0)
    paid = np.where(paid.sum(axis=0) > 0, paid, can)
    return np.asarray(paid * (of_cell / np.maximum(paid.sum(axis=0), 1e-300)))


def _uniform(options: Sequence[Options], cells: Cells, price: float) -> Prices:
    of_cell, can = price * cells.sizes, cells.can_raise([len(stream.rows) for stream in options])
    of_period = np.full(cells.limit.n_periods, price)
    of_stream = charged(np.zeros(can.shape), of_cell, can)
    return Prices(of_stream, of_cell, of_period, _budget(cells, of_period))


def _budget(cells: Cells, of_period: FloatArray) -> float:
    """Return what the alarms within the limit can cost at most."""
    limit = cells.limit
    most = cells.loads(np.ones(len(cells.sizes), dtype=np.bool_))
    beyond = np.sort(of_period * np.maximum(most - limit.capacity, 0))[::-1]
    return float(of_period @ np.minimum(most, limit.capacity) + beyond[: limit.n_above].sum())


def _by_cuts(options: Sequence[Options], cells: Cells) -> Prices:
    """Find the price at which the lines of two closures cross and nothing lies above."""
    graph = _Closure.from_options(options, cells)
    few, many = (0, 0), graph.everything
    best, lowest = _uniform(options, cells, 0.0), np.inf
    for _ in range(MOST_CUTS):
        crossing = (many[0] - few[0]) / (many[1] - few[1])
        prices, (saved, visits) = graph.solved(crossing)
        bound = bound_of(options, cells, prices)
        if bound < lowest:
            best, lowest = prices, bound
        if (saved, visits) in (few, many) or visits in (few[1], many[1]):
            break
        if visits <= cells.limit.capacity:
            few = (saved, visits)
        else:
            many = (saved, visits)
    return best


@dataclass(frozen=True, eq=False, kw_only=True)
class _Closure:
    """The network in which a minimum cut separates what is worth its visits."""

    options: Sequence[Options]
    cells: Cells
    scale: float
    first: AnyArray
    rows: AnyArray
    columns: AnyArray
    capacities: AnyArray

    @classmethod
    def from_options(cls, options: Sequence[Options], cells: Cells) -> _Closure:
        """Join the source to options by what they add, and options to what they need."""
        sizes = [len(option.rows) for option in options]
        first = 1 + np.cumsum([0, *sizes])
        scale = LARGEST_FLOW / max(1.0, float(sum(int(o.saved[-1]) for o in options)))
        edges = []
        for i, option in enumerate(options):
            nodes = first[i] + np.arange(1, sizes[i])
            adds = np.rint(np.diff(option.saved) * scale).astype(np.int64)
            edges.append((np.zeros_like(nodes), nodes, adds))
            edges.append((nodes[1:], nodes[:-1], np.full(max(len(nodes) - 1, 0), LARGEST_FLOW)))
            raised = np.flatnonzero((cells.step[i] < sizes[i]) & (cells.step[i] > 0))
            ends = first[i] + cells.step[i][raised], first[-1] + raised
            edges.append((*ends, np.full(len(raised), LARGEST_FLOW)))
        rows, columns, capacities = (np.concatenate(part) for part in zip(*edges, strict=True))
        return cls(
            options=options,
            cells=cells,
            scale=scale,
            first=first,
            rows=rows,
            columns=columns,
            capacities=capacities,
        )

    @property
    def everything(self) -> tuple[int, int]:
        """What all options save, and the cases that they alarm."""
        return sum(int(o.saved[-1]) for o in self.options), int(self.cells.sizes.sum())

    def solved(self, price: float) -> tuple[Prices, tuple[int, int]]:
        """Return prices of cells, and savings and visits of the smallest closure worth most."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow

        cells, sink = self.cells, int(self.first[-1]) + len(self.cells.sizes)
        unit = max(1, round(price * self.scale))
        nodes = np.arange(self.first[-1], sink)
        visits = np.minimum(unit * cells.sizes, LARGEST_FLOW)
        # SciPy's searches take 32-bit positions, and its older arrays keep what they are given.
        rows = np.append(self.rows, nodes).astype(np.int32)
        columns = np.append(self.columns, np.full(len(nodes), sink)).astype(np.int32)
        capacities = np.append(self.capacities, visits).astype(np.int32)
        network = csr_array((capacities, (rows, columns)), shape=(sink + 1, sink + 1))
        flow = maximum_flow(network, 0, sink).flow
        left = csr_array(network - flow)
        left.data = np.maximum(left.data, 0)
        left.eliminate_zeros()
        reached = np.zeros(sink + 1, dtype=np.bool_)
        reached[breadth_first_order(left, 0, return_predecessors=False)] = True
        return self._prices(flow.tocoo(), unit), self._chosen(reached)

    def _prices(self, flow: object, unit: int) -> Prices:
        cells, start = self.cells, int(self.first[-1])
        row, column, data = (np.asarray(getattr(flow, name)) for name in ("row", "col", "data"))
        into = (row > 0) & (row < start) & (column >= start) & (data > 0)
        into &= column < start + len(cells.sizes)
        stream = np.searchsorted(self.first, row[into], side="right") - 1
        of_stream = np.zeros(cells.step.shape)
        of_stream[stream, column[into] - start] = data[into] / self.scale
        of_period = np.array([unit / self.scale])
        of_cell = of_period[0] * cells.sizes
        can_raise = cells.can_raise([len(options.rows) for options in self.options])
        of_stream = charged(of_stream, of_cell, can_raise)
        return Prices(of_stream, of_cell, of_period, _budget(cells, of_period))

    def _chosen(self, reached: BoolArray) -> tuple[int, int]:
        saved, alarmed = 0, np.zeros(len(self.cells.sizes), dtype=np.bool_)
        for i, option in enumerate(self.options):
            position = int(np.count_nonzero(reached[self.first[i] : self.first[i + 1]]))
            saved += int(option.saved[position])
            alarmed |= self.cells.alarmed(i, position)
        return saved, int(self.cells.sizes[alarmed].sum())


def _by_columns(options: Sequence[Options], cells: Cells) -> Prices:
    """Solve the linear program with more and more of its columns."""
    program = _Program(cells.limit, cells.loads(np.ones(len(cells.sizes), dtype=np.bool_)))
    for i, option in enumerate(options):
        program.add(i, 0, np.zeros(cells.limit.n_periods))
        alone = cells.furthest(i, len(option.rows), np.zeros(len(cells.sizes), dtype=np.bool_))
        program.add(i, int(option.saved[alone]), cells.loads(cells.alarmed(i, alone)))
    best, lowest = _uniform(options, cells, 0.0), np.inf
    for _ in range(MOST_CUTS):
        of_period, value = program.duals()
        plain, price = _uniform(options, cells, 1.0), of_period[cells.periods]
        budget = _budget(cells, of_period)
        prices = Prices(plain.of_stream * price, plain.of_cell * price, of_period, budget)
        bound = bound_of(options, cells, prices)
        if bound < lowest:
            best, lowest = prices, bound
        if lowest <= value + SAME_BOUND * max(1.0, abs(value)):
            break
        for i, option in enumerate(options):
            height = heights_of(option, cells.step[i], prices.of_stream[i])
            position = int(np.argmax(height))
            program.add(i, int(option.saved[position]), cells.loads(cells.alarmed(i, position)))
    return best


class _Program:
    """The linear program with the columns that were added so far."""

    def __init__(self, limit: PeriodLimit, most: AnyArray) -> None:
        self.limit, self.beyond = limit, np.maximum(most - limit.capacity, 0)
        self.streams: list[int] = []
        self.saved: list[int] = []
        self.loads: list[AnyArray] = []

    def add(self, stream: int, saved: int, loads: AnyArray) -> None:
        """Add what one option of a stream saves, and its alarms in each period."""
        self.streams.append(stream)
        self.saved.append(saved)
        self.loads.append(loads)

    def duals(self) -> tuple[FloatArray, float]:
        """Return the price of an alarm in each period, and what the program saves."""
        from scipy.optimize import linprog

        n, n_periods = len(self.saved), self.limit.n_periods
        scale = max(1.0, float(max(self.saved)))
        above = np.diag(-self.beyond)
        counted = np.append(np.zeros(n), np.ones(n_periods))
        rows = np.vstack([np.hstack([np.array(self.loads).T, above]), counted])
        most = np.append(np.full(n_periods, self.limit.capacity), self.limit.n_above)
        streams = np.array(self.streams)
        one = (streams == np.unique(streams)[:, None]).astype(float)
        one = np.hstack([one, np.zeros((len(one), n_periods))])
        worth = np.append(-np.array(self.saved) / scale, np.zeros(n_periods))
        bounds = [(0, None)] * n + [(0, 1)] * n_periods
        solution = linprog(worth, rows, most, one, np.ones(len(one)), bounds, method="highs")
        prices = np.maximum(-np.asarray(solution.ineqlin.marginals)[:n_periods], 0.0)
        return prices * scale, -float(np.asarray(solution.fun)) * scale
