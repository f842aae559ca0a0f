r"""The linear program that bounds what the choices in a part of a search space save.

The program mixes options of each stream. Let :math:`k_{ijp}` be what option j of stream i counts in
period p, where the sum over the streams is never above the alarms of a choice. For any prices
:math:`\lambda_p \ge 0` of an alarm a choice saves at most

.. math:: U = \sum_p \lambda_p K + \sum_{p \in F} \lambda_p (m_p - K)
    + \sum_i \max_j \Big( s_{ij} - \sum_p \lambda_p k_{ijp} \Big),

where F are the costliest periods that may exceed the capacity K, each with at most :math:`m_p`
alarms. The program starts with few options. Those that are best at its prices join it, until no
other option is better than the ones it has (column generation). The bound is computed from the
prices, so it holds whatever the tolerance of the solver.

Where a case counts once it is split: each stream counts a share of it, and the shares add up to 1.
Any shares give a bound. A subgradient step of Polyak's length moves them towards the streams whose
mixed options alarm the case most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from voros.allocation.search_space import PeriodLimit, SearchSpace
from voros.core.deficit_search import DEFICIT_ROUNDING, Options
from voros.core.shared_capacity import merged_steps
from voros.typing import AnyArray, BoolArray, FloatArray

FIRST_COLUMNS = 9
"""Options of each stream in the first program."""

ADDED_COLUMNS = 2
"""Options of each stream that join a program at once."""

MOST_PROGRAMS = 40
"""Programs solved for a node at most."""

KEPT_COLUMNS = 1 / 4
"""Options at most this share of the gap below the best start in the programs of the children."""

SHRUNK = 0.8
"""A program is solved again where the alarms above the capacity fell to this share or less."""

FIRST_STEP, LAST_STEP, SHORTER = 1.0, 0.05, 0.7
"""First and last step of the shares of cases, relative to the gap, and the factor that shortens a
step after one that lowered the bound by no more than `LEAST_FALL`."""

LEAST_FALL = 0.001
"""Least fall of the bound for which a step keeps its length, as a share of what is left."""

MEMORY = 0.7
"""Weight of the earlier mixtures in the direction of a step."""

INFEASIBLE = 2
"""SciPy's status of a program without a solution."""

ALARM_PRICES, DEFICIT_PRICE = (0.0, 1.0), 0.1
"""Prices of an alarm of any period and of a deficit, in alarms of the period that is bounded."""


@dataclass(frozen=True, kw_only=True)
class Aim:
    """The value of the best choice so far, and how low a bound has to be.

    Attributes
    ----------
    value : float
    enough : float
        A bound that needs no improvement.
    per_alarm : float
        What an alarm costs, so that of choices that save the same the one with fewer alarms wins.
    least : float
        Options that add less than this to a bound stay out of the program.
    """

    value: float
    enough: float
    per_alarm: float
    least: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Node:
    """A part of a search space: options from ``low`` to ``high``, and decisions on periods.

    Attributes
    ----------
    low, high : ndarray of int, shape (n_streams,)
    above, within : ndarray of bool, shape (n_periods,)
        Periods that may exceed the capacity, and periods that may not; others are undecided.
    most : ndarray of shape (n_periods,)
        The most alarms that a choice worth considering can have in the period.
    columns : list of ndarray of int
        Options that the program starts with.
    bound : float
        No choice is worth more.
    """

    low: AnyArray
    high: AnyArray
    above: BoolArray
    within: BoolArray
    most: FloatArray
    columns: list[AnyArray]
    bound: float

    @classmethod
    def whole(cls, space: SearchSpace) -> Node:
        """Return the node that holds all options."""
        high = np.array([len(saved) - 1 for saved in space.saved])
        n_periods = space.limit.n_periods
        return cls(
            low=np.zeros_like(high),
            high=high,
            above=np.zeros(n_periods, dtype=np.bool_),
            within=np.full(n_periods, space.limit.n_above == 0),
            most=np.sum([table[-1] for table in space.tables], axis=0, dtype=np.float64),
            columns=[np.linspace(0, end, FIRST_COLUMNS).astype(np.intp) for end in high],
            bound=np.inf,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Relaxed:
    """The solution of the linear program of a node.

    Attributes
    ----------
    node : Node
        With the columns of the last program, and the bound.
    level : float
        The bound at the last prices.
    gain : float
        How much other options could add to the value of the program at most.
    tables : list of ndarray, shape (n_options, n_periods)
        Alarms of the options of each stream.
    heights : list of ndarray
        What the options are worth, less the prices of their alarms.
    shares : list of ndarray
        The mixture: the share of each column.
    exceeding : ndarray of shape (n_periods,)
        How far each period is above the capacity, as a share of how far it can be.
    prices : ndarray of shape (n_periods,)
    case_shares : ndarray of shape (n_streams, n_cases)
        The share of each case that each stream counts, where a case counts once.
    """

    node: Node
    level: float
    gain: float
    tables: list[AnyArray]
    heights: list[FloatArray]
    shares: list[FloatArray]
    exceeding: FloatArray
    prices: FloatArray
    case_shares: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean position of the mixture in each stream."""
        pairs = zip(self.shares, self.node.columns, strict=True)
        return np.array([share @ columns for share, columns in pairs])

    @property
    def spread(self) -> FloatArray:
        """By how many alarms the mixed options of each stream differ."""
        rows = zip(self.tables, self.node.columns, self.node.low, strict=True)
        alarms = [table[columns - low] for table, columns, low in rows]
        pairs = zip(self.shares, alarms, strict=True)
        return np.array([(share @ np.abs(own - share @ own)).sum() for share, own in pairs])

    def narrowed(self, value: float) -> Node | None:
        """Drop options with which no choice is worth more than ``value``; None drops the node."""
        node, room = self.node, self.level - value
        deficits = [height.max() - height for height in self.heights]
        left = [np.flatnonzero(deficit <= room) for deficit in deficits]
        if any(len(places) == 0 for places in left):
            return None
        low = node.low + [places[0] for places in left]
        high = node.low + [places[-1] for places in left]
        mixed = zip(node.columns, self.shares, deficits, node.low, strict=True)
        columns = [
            own[(share > 0) | (deficit[own - start] <= KEPT_COLUMNS * room)]
            for own, share, deficit, start in mixed
        ]
        return replace(node, low=low, high=high, columns=columns)


def relax(space: SearchSpace, node: Node, case_shares: FloatArray, aim: Aim) -> Relaxed | None:
    """Solve the linear program of a node; None where none of its choices is within the limit.

    Where a case counts once, the search for shares of the cases starts from ``case_shares``.
    """
    relaxed = (_share_cases if space.once else _generate)(space, node, case_shares, aim)
    while relaxed is not None and relaxed.node.bound > aim.value:
        most, beyond = _most(space, relaxed, relaxed.level - aim.value), space.limit.beyond
        if beyond(most).sum() >= SHRUNK * beyond(relaxed.node.most).sum():
            break
        node = replace(relaxed.node, most=most)
        relaxed = _generate(space, node, relaxed.case_shares, aim, relaxed.tables)
    return relaxed


def _share_cases(
    space: SearchSpace, node: Node, case_shares: FloatArray, aim: Aim
) -> Relaxed | None:
    """Move the shares of the cases until the bound no longer falls."""
    low, high = node.low, node.high
    shares, is_open = space.shares_within(low, high, case_shares), space.open_cases(low, high)
    fixed = space.part(~is_open).shared_tables(low, high, shares[:, ~is_open])
    part, own, alarmed, step = space.part(is_open), shares[:, is_open], np.zeros(1), FIRST_STEP
    best: Relaxed | None = None
    # The most alarms of a period depend on the shares.
    start = replace(node, most=np.full(space.limit.n_periods, np.inf))
    while step > LAST_STEP:
        pairs = zip(fixed, part.shared_tables(low, high, own), strict=True)
        relaxed = _generate(space, start, own, aim, [one + other for one, other in pairs])
        if relaxed is None:
            return None
        fall = np.inf if best is None else best.level - relaxed.level
        best = relaxed if best is None or fall > 0 else best
        if fall <= LEAST_FALL * (relaxed.level - aim.value):
            step *= SHORTER
        # The length of a step needs a choice to compare with, which the first node does not have.
        if relaxed.node.bound <= max(aim.value, aim.enough) or np.isinf(node.bound):
            break
        start = replace(start, columns=relaxed.node.columns, bound=relaxed.node.bound)
        alarmed = MEMORY * alarmed + (1 - MEMORY) * _alarmed(part, relaxed)
        own = _moved(part, relaxed, alarmed, step * (relaxed.level - aim.value))
    if best is None:
        return None
    shares[:, is_open] = best.case_shares
    bound = min(start.bound, best.node.bound)
    return replace(best, case_shares=shares, node=replace(best.node, bound=bound))


def _alarmed(space: SearchSpace, relaxed: Relaxed) -> FloatArray:
    """Return the share of each stream's mixture that alarms each case."""
    alarmed = np.zeros(space.steps.shape)
    for i, (own, share) in enumerate(zip(relaxed.node.columns, relaxed.shares, strict=True)):
        for j in np.flatnonzero(share):
            alarmed[i] += share[j] * (space.steps[i] <= own[j])
    return alarmed


def _moved(space: SearchSpace, relaxed: Relaxed, alarmed: FloatArray, length: float) -> FloatArray:
    """Move the shares of cases towards the streams that alarm them most."""
    low, high = relaxed.node.low, relaxed.node.high
    can = space.steps <= high[:, None]
    slope = np.where(can, alarmed - alarmed.sum(axis=0) / can.sum(axis=0), 0.0)
    slope *= relaxed.prices[space.periods]
    moved = relaxed.case_shares + length / max(float((slope**2).sum()), 1.0) * slope
    return space.shares_within(low, high, np.maximum(moved, 0.0))


def _generate(
    space: SearchSpace,
    node: Node,
    case_shares: FloatArray,
    aim: Aim,
    tables: list[AnyArray] | None = None,
) -> Relaxed | None:
    """Solve the program of a node, and add options to it until no other is better."""
    tables = tables or space.shared_tables(node.low, node.high, case_shares)
    node = _bounded(node, tables)
    worth = [
        saved[low : high + 1] - aim.per_alarm * table.sum(axis=1)
        for saved, low, high, table in zip(space.saved, node.low, node.high, tables, strict=True)
    ]
    for _ in range(MOST_PROGRAMS):
        relaxed = _relaxed(space, node, tables, worth)
        if relaxed is None or relaxed.node.bound <= aim.value or relaxed.gain <= aim.least:
            break
        highest = [
            np.argpartition(h, -min(ADDED_COLUMNS, len(h)))[-ADDED_COLUMNS:]
            for h in relaxed.heights
        ]
        added = zip(node.columns, node.low, highest, strict=True)
        columns = [np.union1d(own, low + rows) for own, low, rows in added]
        node = replace(relaxed.node, columns=columns)
    return relaxed and replace(relaxed, case_shares=case_shares)


def _bounded(node: Node, tables: list[AnyArray]) -> Node:
    """Bound the alarms of periods by those of the last options; the program has both ends."""
    highest = np.asarray(np.sum([table[-1] for table in tables], axis=0, dtype=np.float64))
    ends = zip(node.columns, node.low, node.high, strict=True)
    columns = [np.union1d(c[(c >= low) & (c <= high)], [low, high]) for c, low, high in ends]
    return replace(node, most=np.minimum(node.most, highest), columns=columns)


def _relaxed(
    space: SearchSpace, node: Node, tables: list[AnyArray], worth: list[FloatArray]
) -> Relaxed | None:
    """Solve the program over the columns of a node, and price all of its options."""
    rows = [own - low for own, low in zip(node.columns, node.low, strict=True)]
    mixed = [(w[r], t[r]) for w, t, r in zip(worth, tables, rows, strict=True)]
    one_sum = space.limit.n_periods == 1 and space.limit.n_above == 0
    solution = fill(space.limit, mixed) if one_sum else _solve(space, node, mixed)
    if solution is None:
        return None
    shares, exceeding, of_period, of_total = solution
    prices = of_period + of_total
    heights = [own - table @ prices for own, table in zip(worth, tables, strict=True)]
    level = _budget(space, node, of_period, of_total) + sum(float(h.max()) for h in heights)
    return Relaxed(
        node=replace(node, bound=min(node.bound, level)),
        level=level,
        gain=sum(float(h.max() - h[r].max()) for h, r in zip(heights, rows, strict=True)),
        tables=tables,
        heights=heights,
        shares=shares,
        exceeding=exceeding,
        prices=prices,
        case_shares=np.zeros((0, 0)),
    )


def _most(space: SearchSpace, relaxed: Relaxed, room: float) -> FloatArray:
    r"""Bound the alarms of each period in choices whose deficits add up to at most ``room``.

    The deficit :math:`d_{ij}` of an option is how far it lies below the best of its stream. All
    alarms together are at most T, all deficits at most R. So for any prices a and b of an alarm and
    of a deficit, period p has at most this number of alarms:

    .. math:: a T + b R + \sum_i \max_j (k_{ijp} - a \sum_q k_{ijq} - b d_{ij}).
    """
    limit, most = space.limit, relaxed.node.most
    if limit.n_above == 0:
        return most
    beyond = np.sort(limit.beyond(most))[::-1][: limit.n_above].sum()
    total = min(limit.total, limit.n_periods * limit.capacity + beyond)
    deficits = [height.max() - height for height in relaxed.heights]
    left = [np.flatnonzero(deficit <= room) for deficit in deficits]
    deficits, tables = (
        [own[rows] for own, rows in zip(part, left, strict=True)]
        for part in (deficits, relaxed.tables)
    )
    of_deficit = DEFICIT_PRICE * limit.capacity / max(room, 1.0)
    for of_alarm in np.array(ALARM_PRICES) / limit.n_periods:
        pairs = zip(tables, deficits, strict=True)
        paid = [(table, of_alarm * table.sum(axis=1) + of_deficit * own) for table, own in pairs]
        highest = [np.max(table - price[:, None], axis=0) for table, price in paid]
        bound = of_alarm * total + of_deficit * room + np.sum(highest, axis=0)
        most = np.minimum(most, np.floor(bound * (1 + DEFICIT_ROUNDING)))
    return most


def _budget(space: SearchSpace, node: Node, of_period: FloatArray, of_total: float) -> float:
    """Return the highest price of alarms that are within the limit."""
    limit = space.limit
    beyond = of_period * limit.beyond(node.most)
    n_left = limit.n_above - int(np.count_nonzero(node.above))
    open_periods = np.sort(beyond[~node.above & ~node.within])[::-1]
    paid = of_period.sum() * limit.capacity + beyond[node.above].sum() + open_periods[:n_left].sum()
    return float(paid + (of_total * limit.total if of_total > 0 else 0.0))


Mixture: TypeAlias = tuple[list[FloatArray], FloatArray, FloatArray, float]
"""Shares of options, `Relaxed.exceeding`, and prices of an alarm of each period and of any."""


def fill(limit: PeriodLimit, mixed: list[tuple[FloatArray, AnyArray]]) -> Mixture | None:
    """Mix options of one period along the steps of all hulls, in the order of `merged_steps`."""
    columns = [(worth, alarms[:, 0]) for worth, alarms in mixed]
    left = min(limit.capacity, limit.total) - sum(float(alarms[0]) for _, alarms in columns)
    if left < 0:
        return None
    rows = [np.flatnonzero(np.append(np.diff(alarms) > 0, True)) for _, alarms in columns]
    pairs = zip(columns, rows, strict=True)
    options = [Options(alarms[own], worth[own], own) for (worth, alarms), own in pairs]
    owner, alarms, saved = merged_steps(options)
    filled = np.append(0.0, np.cumsum(alarms))
    n = int(np.searchsorted(filled, left, side="right")) - 1
    part, price = 0.0, 0.0
    if n < len(alarms):
        part, price = (left - filled[n]) / alarms[n], saved[n] / alarms[n]
    shares = [np.zeros(len(worth)) for worth, _ in columns]
    for share, n_steps in ((1 - part, n), (part, n + 1)):
        more = np.bincount(owner[:n_steps], alarms[:n_steps], minlength=len(shares))
        for own, (_, alarms_of), added in zip(shares, columns, more, strict=True):
            own[np.searchsorted(alarms_of, alarms_of[0] + added, side="right") - 1] += share
    return shares, np.zeros(1), np.array([price]), 0.0


def _solve(
    space: SearchSpace, node: Node, mixed: list[tuple[FloatArray, AnyArray]]
) -> Mixture | None:
    """Find the best mixture of options within the limit by a linear program."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    limit, n_periods = space.limit, space.limit.n_periods
    worth, alarms = (np.concatenate(parts) for parts in zip(*mixed, strict=True))
    sizes = [len(own) for own, _ in mixed]
    free = np.flatnonzero(~node.within)
    n_columns, n_free, n_streams = len(worth), len(free), len(mixed)
    # Alarms of each period, of all of them, and the number of periods above the capacity.
    rows = np.zeros((n_periods + 2, n_columns + n_free))
    rows[:n_periods, :n_columns], rows[n_periods, :n_columns] = alarms.T, alarms.sum(axis=1)
    rows[free, n_columns + np.arange(n_free)] = -limit.beyond(node.most)[free]
    rows[-1, n_columns:] = 1.0
    total = min(limit.total, float(alarms.sum()))
    at_most = np.append(np.full(n_periods, float(limit.capacity)), [total, limit.n_above])
    owner = np.repeat(np.arange(n_streams), sizes)
    place = owner.astype(np.int32), np.arange(n_columns, dtype=np.int32)
    one_each = csr_array((np.ones(n_columns), place), shape=(n_streams, n_columns + n_free))
    lowest = np.append(np.zeros(n_columns), node.above[free])
    scale = max(1.0, float(np.abs(worth).max()))
    program: Any = linprog
    solution = program(
        np.append(-worth / scale, np.zeros(n_free)),
        rows,
        at_most,
        one_each,
        np.ones(n_streams),
        bounds=np.column_stack([lowest, np.ones(len(lowest))]),
        method="highs-ds",
        options={"presolve": False},
    )
    if solution.status == INFEASIBLE:
        return None
    if solution.status != 0:
        # At prices of 0 the bound is the sum of what each stream can save.
        only = [np.eye(1, size)[0] for size in sizes]
        return only, np.zeros(n_periods), np.zeros(n_periods), 0.0
    shares = np.split(solution.x[:n_columns], np.cumsum(sizes)[:-1])
    exceeding = np.zeros(n_periods)
    exceeding[free] = solution.x[n_columns:]
    prices = np.maximum(-np.asarray(solution.ineqlin.marginals), 0.0) * scale
    return shares, exceeding, prices[:n_periods], float(prices[n_periods])
