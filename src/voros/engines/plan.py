"""Which rows to look at next, and by how fine buckets, so that every answer stays small."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from voros.engines.bins import Bins
from voros.engines.keys import BITS, COARSEST, IntArray, Scale
from voros.typing import BoolArray, FloatArray

LARGEST_ANSWER = 2**20
"""Rows of counts that one pass may bring to this process: some 50 MB."""

BUCKETS_PER_BIN = 4
"""Buckets that a count wants for each bin at least; more bins than that allow wait for a pass."""

SPARE_ROWS = 2**16
"""Rows that a filter by one range may let through in vain before bins are named one by one."""

LARGEST_LOOKUP, MOST_NAMED = 2**20, 2**15
"""Buckets between the first and the last one that a filter names, and those that it names."""


@dataclass(frozen=True, eq=False)
class Named:
    """Buckets of a level in which rows are wanted, as a table from the first bucket on."""

    level: int
    first: int
    wanted: BoolArray

    @property
    def buckets(self) -> IntArray:
        """Numbers of the wanted buckets."""
        return np.flatnonzero(self.wanted) + self.first


@dataclass(frozen=True, eq=False)
class Wanted:
    """The rows that a pass looks at, and how finely it counts them.

    Attributes
    ----------
    scale : Scale
    level : int
        Of the buckets that the rows are counted by.
    low, high : float
        Only scores in this range, ends included.
    named : Named, optional
        Where given, only scores in one of these buckets.
    """

    scale: Scale
    level: int = 0
    low: float = -np.inf
    high: float = np.inf
    named: Named | None = None


class Plan(NamedTuple):
    """A count, and the bins that it splits."""

    want: Wanted
    chosen: BoolArray


@dataclass(frozen=True, eq=False)
class _Keyed:
    """Bins with the keys of their ends on a scale."""

    bins: Bins
    low: IntArray
    high: IntArray

    @classmethod
    def on(cls, scale: Scale, bins: Bins) -> _Keyed:
        return cls(bins, scale.buckets(bins.least), scale.buckets(bins.greatest))

    def level(self, chosen: BoolArray, at_most: int) -> int:
        """Lowest level at which the chosen bins fall into ``at_most`` buckets or fewer."""
        # Unsigned: the whole range of keys does not fit into 63 bits.
        with np.errstate(over="ignore"):
            width = self.high[chosen].astype(np.uint64) - self.low[chosen].astype(np.uint64)
        return finest_level(np.log2(width + 1.0), self.bins.rows[chosen], at_most)

    def split_by(self, level: int) -> BoolArray:
        """Whether buckets of a level split a bin, and none reaches from it into a neighbour."""
        first, last = self.low >> level, self.high >> level
        apart = first[:-1] != last[1:]
        return np.asarray((first < last) & np.append(apart, True) & np.append(True, apart))


def finest_level(spans: FloatArray, rows: IntArray, at_most: int) -> int:
    """Lowest level at which bins of these spans and rows fall into ``at_most`` buckets or fewer."""
    for level in range(COARSEST):
        # A range that is not aligned touches one bucket more than its span suggests.
        buckets = np.minimum(np.exp2(np.maximum(spans - level, 0.0)) + 1.0, rows)
        if buckets.sum() <= at_most:
            return level
    return COARSEST


def first_buckets(all_rows: Bins, scale: Scale, at_most: int) -> Wanted:
    """Count everything, one bin so far, by the finest buckets that fit into ``at_most``."""
    return Wanted(scale, _Keyed.on(scale, all_rows).level(np.array([True]), at_most))


def buckets_to_count(bins: Bins, mask: BoolArray, scale: Scale, at_most: int) -> Plan | None:
    """Choose the finest count of marked bins that fits into ``at_most`` buckets, and those bins.

    None where so many are marked that it would hardly split them.
    """
    if BUCKETS_PER_BIN * np.count_nonzero(mask) > at_most and np.count_nonzero(mask) > 1:
        return None
    keyed = _Keyed.on(scale, bins)
    level = keyed.level(mask, at_most)
    chosen = mask & keyed.split_by(level)
    if not chosen.any():
        # A bin on its own is cut out of the rows exactly, so that no bucket can reach beyond it.
        chosen[np.argmax(np.where(mask, bins.rows, 0))] = True
        scale = scale if np.all(keyed.low[chosen] < keyed.high[chosen]) else BITS
        level = _Keyed.on(scale, bins).level(chosen, at_most)
    return Plan(rows_in(bins, chosen, scale, level), chosen)


def rows_in(bins: Bins, chosen: BoolArray, scale: Scale, level: int = 0) -> Wanted:
    """Say how to find the rows of the chosen bins; a few others may come along."""
    parents = bins.take(chosen)
    # Where nothing lies beyond, a row need not be compared.
    low = -np.inf if chosen[-1] else float(parents.least[-1])
    high = np.inf if chosen[0] else float(parents.greatest[0])
    want = Wanted(scale, level, low, high)
    between = (bins.least >= low) & (bins.greatest <= high)
    edges = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    if len(first) == 1 or bins.rows[between & ~chosen].sum() <= SPARE_ROWS:
        return want
    return replace(
        want,
        named=_named(scale.buckets(bins.least[last]), scale.buckets(bins.greatest[first]), level),
    )


def _named(low: IntArray, high: IntArray, level: int) -> Named:
    """Name buckets that cover ranges of keys, as fine as a table of bounded size allows."""
    span = int(high.max()) - int(low.min())
    level = max(level, (span // (LARGEST_LOOKUP - 1)).bit_length())
    while ((high >> level) - (low >> level) + 1).sum() > MOST_NAMED:
        level += 1
    first, last = low >> level, high >> level
    steps = np.zeros(int(last.max() - first.min()) + 2, dtype=np.int64)
    np.add.at(steps, first - first.min(), 1)
    np.add.at(steps, last - first.min() + 1, -1)
    return Named(level, int(first.min()), np.cumsum(steps[:-1]) > 0)
