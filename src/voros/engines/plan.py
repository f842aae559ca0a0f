"""Which scores to count next, and how finely, so that every answer stays small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from voros.engines.bins import Bins
from voros.engines.keys import KEY_BITS, IntArray, cell_of, cell_start, span_bits
from voros.inputs import BoolArray, FloatArray

LARGEST_ANSWER = 2**20
"""Rows of aggregates that one pass may bring to the driver: some 50 MB."""

REFINED_ANSWER = 2**17
"""Rows that a refinement for a scenario aims for: a further pass is cheaper than a long answer."""

FIRST_ANSWER = 2**14
"""Rows that the first count aims for: enough to leave little open, few enough to stay in cache."""

MOST_PARENTS = 2**12
"""Separate bins that one filter names."""

MOST_RANGES = 8
"""Separate ranges of scores that are compared one by one; more are looked up by their cells."""

SPARE_ROWS = 2**16
"""Rows that a filter by one range may let through in vain before bins are named one by one."""

CUT_BITS = 14
"""A first cut falls on one of some 2**14 cell starts between the lowest and the highest score."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """The rows of one model that a pass must count.

    Attributes
    ----------
    low, high : float
        Only scores in this range, ends included.
    level : int
        Of the cells named in `cells`.
    cells : ndarray of int, or None
    ranges : tuple of (float, float)
        Where cells or ranges are given, only scores in one of them.
    """

    low: float = -np.inf
    high: float = np.inf
    level: int = KEY_BITS
    cells: IntArray | None = None
    ranges: tuple[tuple[float, float], ...] = ()

    @property
    def apart(self) -> bool:
        """Whether some scores between `low` and `high` are not wanted."""
        return self.cells is not None or bool(self.ranges)


@dataclass(frozen=True, eq=False)
class Plan:
    """One pass: count these rows of each model by cells of one level."""

    level: int
    wanted: Mapping[str, Wanted]
    chosen: Mapping[str, BoolArray]


def finest_level(spans: FloatArray, rows: IntArray, at_most: int) -> int:
    """Lowest level at which bins of these spans and rows fall into at most so many cells."""
    for level in range(KEY_BITS):
        # A range that is not aligned touches one cell more than its span suggests.
        cells = np.minimum(np.exp2(np.maximum(spans - level, 0.0)) + 1.0, rows)
        if cells.sum() <= at_most:
            return level
    return KEY_BITS - 1


def next_plan(bins: Mapping[str, Bins], undecided: Mapping[str, BoolArray], at_most: int) -> Plan:
    """Choose the finest count of the undecided bins that fits into an answer of so many rows.

    Where they do not all fit, the bins with most rows come first.
    """
    chosen = {name: _most_rows(bins[name], mask) for name, mask in undecided.items()}
    while True:
        picked = [bins[name].take(mask) for name, mask in chosen.items() if mask.any()]
        spans = np.concatenate([span_bits(part.least, part.greatest) for part in picked])
        rows = np.concatenate([part.rows for part in picked])
        level = finest_level(spans, rows, at_most)
        if all(part.level.min() > level for part in picked):
            break
        fewer = len(rows) // 2
        chosen = {name: _most_rows(bins[name], mask, fewer) for name, mask in chosen.items()}
    wanted = {name: _wanted(bins[name], mask) for name, mask in chosen.items() if mask.any()}
    return Plan(level, wanted, chosen)


def _most_rows(bins: Bins, mask: BoolArray, at_most: int = MOST_PARENTS) -> BoolArray:
    index = np.flatnonzero(mask)
    kept = np.zeros(len(mask), dtype=np.bool_)
    kept[index[np.argsort(-bins.rows[index], kind="stable")[: max(at_most, 1)]]] = True
    return kept


def _wanted(bins: Bins, mask: BoolArray) -> Wanted:
    parents = bins.take(mask)
    # Where nothing lies beyond, a row need not be compared.
    low = -np.inf if mask[-1] else float(parents.least[-1])
    high = np.inf if mask[0] else float(parents.greatest[0])
    between = (bins.least >= low) & (bins.greatest <= high)
    if bins.rows[between].sum() - parents.rows.sum() <= SPARE_ROWS:
        return Wanted(low, high)
    ranges = _runs(bins, mask)
    if len(ranges) <= MOST_RANGES:
        return Wanted(low, high, ranges=ranges)
    level = int(parents.level.min())
    named = parents.in_one_cell & (parents.level == level)
    cells = np.unique(cell_of(parents.least[named], level))
    mask = mask.copy()
    mask[np.flatnonzero(mask)[named]] = False
    return Wanted(low, high, level, cells, _runs(bins, mask))


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
