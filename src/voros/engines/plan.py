"""Which scores to count next, and how finely, so that every answer stays small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from voros.core.arrays import BoolArray, FloatArray
from voros.engines.bins import Bins
from voros.engines.keys import COARSEST, IntArray, cell_of, cell_start, span_bits

LARGEST_ANSWER = 2**20
"""Rows of aggregates that one pass may bring to the driver: some 50 MB."""

REFINED_ANSWER = 2**17
"""Rows that a refinement for a scenario aims for: a further pass is cheaper than a long answer."""

FIRST_ANSWER = 2**14
"""Rows that the first count aims for: enough to leave little open, few enough to stay in cache."""

SMALLEST_ANSWER = 16
"""Rows that a pass may always bring: with fewer a bin might not be split at all."""

MOST_PARENTS = 2**14
"""Separate bins that one filter names."""

CELLS_PER_PARENT = 4
"""Cells that a plan wants for each bin at least: more bins than that allow wait for a pass."""

MOST_COMPARED = 8
"""Separate ranges of scores that are compared one by one; more are looked up by their cells."""

SPARE_ROWS = 2**16
"""Rows that a filter by one range may let through in vain before bins are named one by one."""

CUT_BITS = 14
"""A first cut falls on one of some 2**14 cell starts between the lowest and the highest score."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """The rows of one model that a pass must count, and how finely.

    Attributes
    ----------
    level : int
        Of the cells that the rows are counted by.
    low, high : float
        Only scores in this range, ends included.
    cells : mapping of int to ndarray of int
        Cells of each level in which rows are wanted.
    ranges : tuple of (float, float)
        Where cells or ranges are given, only scores in one of them.
    """

    level: int
    low: float = -np.inf
    high: float = np.inf
    cells: Mapping[int, IntArray] = field(default_factory=dict)
    ranges: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, eq=False)
class PassPlan:
    """One pass: which rows of each model are counted, and in place of which bins."""

    wanted: Mapping[str, Wanted]
    chosen: Mapping[str, BoolArray] = field(default_factory=dict)


def finest_level(spans: FloatArray, rows: IntArray, at_most: int) -> int:
    """Lowest level at which bins of these spans and rows fall into ``at_most`` cells or fewer."""
    for level in range(COARSEST):
        # A range that is not aligned touches one cell more than its span suggests.
        cells = np.minimum(np.exp2(np.maximum(spans - level, 0.0)) + 1.0, rows)
        if cells.sum() <= at_most:
            return level
    return COARSEST


def next_plan(
    bins: Mapping[str, Bins], undecided: Mapping[str, BoolArray], at_most: int
) -> PassPlan:
    """Choose the finest count of the undecided bins that fits into ``at_most`` rows.

    Every model has its part of the answer, and a level of its own: scales may differ.
    """
    each = max(at_most // len(undecided), SMALLEST_ANSWER)
    wanted, chosen = {}, {}
    for name, mask in undecided.items():
        level, index = _choose(bins[name], np.flatnonzero(mask), each)
        chosen[name] = np.zeros(len(mask), dtype=np.bool_)
        chosen[name][index] = True
        wanted[name] = _wanted(bins[name], chosen[name], level)
    return PassPlan(wanted, chosen)


def _choose(bins: Bins, index: IntArray, at_most: int) -> tuple[int, IntArray]:
    """Find which bins to count together, and the level, so that no cell crosses a bin's end.

    A bin on its own is cut out of the rows exactly, so its cells may be wider than its ends are
    aligned. Every round leaves bins out, so there is an end.
    """
    index = _most_rows(bins, index, min(MOST_PARENTS, at_most // CELLS_PER_PARENT))
    while True:
        group = bins.take(index)
        level = finest_level(span_bits(group.least, group.greatest), group.rows, at_most)
        fits = group.level > level
        if fits.all() or len(index) == 1:
            return level, index
        if not fits.any():
            index = _most_rows(bins, index, len(index) // 2)
        else:
            heavier = 2 * group.rows[fits].sum() >= group.rows.sum()
            index = index[fits if heavier else ~fits]


def _most_rows(bins: Bins, index: IntArray, at_most: int) -> IntArray:
    return index[np.argsort(-bins.rows[index], kind="stable")[: max(at_most, 1)]]


def _wanted(bins: Bins, mask: BoolArray, level: int) -> Wanted:
    parents = bins.take(mask)
    # Where nothing lies beyond, a row need not be compared.
    low = -np.inf if mask[-1] else float(parents.least[-1])
    high = np.inf if mask[0] else float(parents.greatest[0])
    between = (bins.least >= low) & (bins.greatest <= high)
    spare = SPARE_ROWS if len(parents) > 1 else 0
    if bins.rows[between].sum() - parents.rows.sum() <= spare:
        return Wanted(level, low, high)
    ranges = _runs(bins, mask)
    if len(ranges) <= MOST_COMPARED:
        return Wanted(level, low, high, ranges=ranges)
    named = parents.in_one_cell
    mask = mask.copy()
    mask[np.flatnonzero(mask)[named]] = False
    return Wanted(level, low, high, _cells(parents.take(named)), _runs(bins, mask))


def _cells(parents: Bins) -> dict[int, IntArray]:
    return {
        level: np.unique(cell_of(parents.least[parents.level == level], level))
        for level in np.unique(parents.level).tolist()
    }


def _runs(bins: Bins, mask: BoolArray) -> tuple[tuple[float, float], ...]:
    """Ranges of scores that cover the marked bins, neighbours together."""
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return tuple(zip(bins.least[last].tolist(), bins.greatest[first].tolist(), strict=True))


def first_cut(cells: IntArray, weights: FloatArray, level: int, share: float) -> float:
    """Score above which a small sample has at least the given share of its weight.

    Examples
    --------
    >>> cells = cell_of([0.25, 0.5, 1.0, 2.0], 52)
    >>> first_cut(cells, np.ones(4), 52, 0.5)
    1.0
    """
    order = np.argsort(-cells)
    above = np.cumsum(weights[order]) / weights.sum()
    enough = int(np.searchsorted(above, share))
    return float(cell_start(cells[order][min(enough, len(order) - 1)], level))
