"""Which scores to count next, and how finely, so that every answer stays small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from voros.engines.bins import Bins
from voros.engines.keys import COARSEST, IntArray
from voros.engines.scales import ABOVE, BELOW, BITS, Scale
from voros.typing import BoolArray, FloatArray

LARGEST_ANSWER = 2**20
"""Rows of aggregates that one pass may bring to the driver: some 50 MB."""

REFINED_ANSWER = 2**17
"""Rows that a refinement for a scenario aims for: a further pass is cheaper than a long answer."""

SMALLEST_ANSWER = 16
"""Rows that a pass may always bring: with fewer a bin might not be split at all."""

MOST_PARENTS = 2**14
"""Bins that one pass splits."""

CELLS_PER_PARENT = 4
"""Cells that a plan wants for each bin at least: more bins than that allow wait for a pass."""

MOST_COMPARED = 8
"""Separate ranges of scores that are compared one by one; more are looked up by their cells."""

SPARE_ROWS = 2**16
"""Rows that a filter by one range may let through in vain before bins are named one by one."""

LARGEST_LOOKUP = 2**20
"""Cells between the first and the last one that a filter names."""


@dataclass(frozen=True, eq=False)
class Named:
    """Cells of a level in which rows are wanted, as a table over all cells from the first on."""

    level: int
    first: int
    wanted: BoolArray

    @property
    def cells(self) -> IntArray:
        """Numbers of the wanted cells."""
        return np.flatnonzero(self.wanted) + self.first


@dataclass(frozen=True, eq=False)
class Wanted:
    """The rows of one model that a pass must count, and how finely.

    Attributes
    ----------
    scale : Scale
    level : int
        Of the cells that the rows are counted by.
    first, last : int
        The cells that are expected, both included.
    low, high : float
        Only scores in this range, ends included.
    ranges : tuple of (float, float)
        Where given, only scores in one of them.
    named : Named, optional
        Where given, only scores in one of these cells.
    by_edges : bool
        Whether the edges of a cell are enough, and its lowest and highest score need not be found.
    """

    scale: Scale
    level: int
    first: int = BELOW
    last: int = ABOVE
    low: float = -np.inf
    high: float = np.inf
    ranges: tuple[tuple[float, float], ...] = ()
    named: Named | None = None
    by_edges: bool = False

    @property
    def n_cells(self) -> int:
        """Cells that an answer may have."""
        if self.named is None:
            return self.last - self.first + 1
        return int(np.count_nonzero(self.named.wanted)) << (self.named.level - self.level)


@dataclass(frozen=True, eq=False)
class PassPlan:
    """One pass: which rows of each model are counted, and in place of which bins."""

    wanted: Mapping[str, Wanted]
    chosen: Mapping[str, BoolArray] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Keyed:
    """Bins with the keys of their ends on a scale."""

    bins: Bins
    scale: Scale
    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, bins: Bins, scale: Scale) -> _Keyed:
        return cls(bins, scale, scale.cells(bins.least), scale.cells(bins.greatest))

    @property
    def reached(self) -> BoolArray:
        """Whether the scale reaches both ends of a bin."""
        return (self.low > BELOW) & (self.high < ABOVE)

    @property
    def splits(self) -> BoolArray:
        """Whether the scale tells the ends of a bin apart, and reaches both."""
        return (self.low < self.high) & self.reached

    def apart(self, level: int) -> BoolArray:
        """Whether no cell of a level reaches from a bin into a neighbour."""
        gaps = (self.low[:-1] >> level) != (self.high[1:] >> level)
        return np.asarray(np.append(gaps, True) & np.append(True, gaps))


def next_plan(
    bins: Mapping[str, Bins],
    undecided: Mapping[str, BoolArray],
    scales: Mapping[str, Scale],
    at_most: int,
) -> PassPlan:
    """Choose the finest count of the undecided bins that fits into ``at_most`` rows.

    Every model has its part of the answer, and a scale and level of its own.
    """
    each = max(at_most // len(undecided), SMALLEST_ANSWER)
    wanted, chosen = {}, {}
    for name, mask in undecided.items():
        keyed = _Keyed.of(bins[name], scales[name])
        if not np.any(keyed.splits & mask):
            keyed = _Keyed.of(bins[name], BITS)
        level, index = _choose(keyed, np.flatnonzero(keyed.splits & mask), each)
        chosen[name] = np.zeros(len(mask), dtype=np.bool_)
        chosen[name][index] = True
        wanted[name] = _wanted(keyed, chosen[name], level)
    return PassPlan(wanted, chosen)


def rows_wanted(bins: Bins, chosen: BoolArray, scale: Scale) -> Wanted:
    """Plan to read the rows of the chosen bins as they are, and perhaps some others."""
    keyed = _Keyed.of(bins, scale)
    keyed = keyed if keyed.reached[chosen].all() else _Keyed.of(bins, BITS)
    return _wanted(keyed, chosen, 0, LARGEST_LOOKUP)


def rows_let_through(bins: Bins, want: Wanted) -> float:
    """Rows that a plan's filter is expected to let through, those of other bins too."""
    rows = np.where((bins.greatest >= want.low) & (bins.least <= want.high), bins.rows, 0)
    if want.named is None:
        reached = [(bins.greatest >= low) & (bins.least <= high) for low, high in want.ranges]
        return float(rows[np.logical_or.reduce(reached)].sum() if reached else rows.sum())
    # A bin of which some cells are named lets that share of its rows through.
    before = want.named.first - 1
    wanted = np.cumsum(np.concatenate([[0, 0], want.named.wanted, [0]]))
    low, high = (
        np.clip(want.scale.cells(ends, want.named.level), before, before + len(wanted) - 2) - before
        for ends in (bins.least, bins.greatest)
    )
    return float(np.sum(rows * (wanted[high + 1] - wanted[low]) / (high - low + 1)))


def finest_level(spans: FloatArray, rows: IntArray, at_most: int) -> int:
    """Lowest level at which bins of these spans and rows fall into ``at_most`` cells or fewer."""
    for level in range(COARSEST):
        # A range that is not aligned touches one cell more than its span suggests.
        cells = np.minimum(np.exp2(np.maximum(spans - level, 0.0)) + 1.0, rows)
        if cells.sum() <= at_most:
            return level
    return COARSEST


def _choose(keyed: _Keyed, index: IntArray, at_most: int) -> tuple[int, IntArray]:
    """Find which bins to count together, and the level, so that no cell crosses a bin's end.

    A bin on its own is cut out of the rows exactly, so its cells may be wider than its ends are
    aligned. Every round leaves bins out, so there is an end.
    """
    rows = keyed.bins.rows
    # Unsigned: the whole range of keys does not fit into 63 bits.
    with np.errstate(over="ignore"):
        width = keyed.high.astype(np.uint64) - keyed.low.astype(np.uint64)
    spans = np.log2(width.astype(np.float64) + 1.0)
    index = _most_rows(rows, index, min(MOST_PARENTS, at_most // CELLS_PER_PARENT))
    while True:
        level = finest_level(spans[index], rows[index], at_most)
        fits = keyed.apart(level)[index]
        if fits.all() or len(index) == 1:
            return level, index
        if not fits.any():
            index = _most_rows(rows, index, len(index) // 2)
        else:
            heavier = 2 * rows[index][fits].sum() >= rows[index].sum()
            index = index[fits if heavier else ~fits]


def _most_rows(rows: IntArray, index: IntArray, at_most: int) -> IntArray:
    return index[np.argsort(-rows[index], kind="stable")[: max(at_most, 1)]]


def _wanted(
    keyed: _Keyed, mask: BoolArray, level: int, most_named: int = 2 * MOST_PARENTS
) -> Wanted:
    bins, parents = keyed.bins, keyed.bins.take(mask)
    first, last = int(keyed.low[mask].min()) >> level, int(keyed.high[mask].max()) >> level
    # Where nothing lies beyond, a row need not be compared.
    low = -np.inf if mask[-1] else float(parents.least[-1])
    high = np.inf if mask[0] else float(parents.greatest[0])
    want = Wanted(keyed.scale, level, first, last, low, high)
    between = (bins.least >= low) & (bins.greatest <= high)
    spare = SPARE_ROWS if len(parents) > 1 else 0
    if bins.rows[between].sum() - parents.rows.sum() <= spare:
        return want
    upper, lower = _runs(mask)
    if len(upper) <= MOST_COMPARED:
        ranges = zip(bins.least[lower].tolist(), bins.greatest[upper].tolist(), strict=True)
        return replace(want, ranges=tuple(ranges))
    return replace(want, named=_named(keyed.low[lower], keyed.high[upper], level, most_named))


def _named(low: IntArray, high: IntArray, level: int, at_most: int) -> Named:
    """Name cells that cover ranges of keys, as fine as a table of bounded size allows.

    Cells may cover more than was asked for; what they let through in vain is passed over.
    """
    span = int(high.max()) - int(low.min())
    level = max(level, (span // (LARGEST_LOOKUP - 1)).bit_length())
    while True:
        first, last = low >> level, high >> level
        if (last - first + 1).sum() <= at_most:
            break
        level += 1
    size = int(last.max() - first.min()) + 1
    steps = np.zeros(size + 1, dtype=np.int64)
    np.add.at(steps, first - first.min(), 1)
    np.add.at(steps, last - first.min() + 1, -1)
    return Named(level, int(first.min()), np.cumsum(steps[:-1]) > 0)


def _runs(mask: BoolArray) -> tuple[IntArray, IntArray]:
    """First and last bin of every run of marked ones."""
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
