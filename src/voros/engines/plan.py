"""Which rows the next pass counts, and how finely, so that every answer stays small."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from voros.engines.bins import Bins
from voros.engines.keys import BITS, COARSEST, IntArray, Scale
from voros.typing import BoolArray

LARGEST_ANSWER = 2**20
"""Rows of counts that one pass may bring into this process: about 50 MB."""

BUCKETS_PER_BIN = 4
"""A count has at least this many buckets per bin; bins beyond that wait for a later pass."""

SPARE_ROWS = 2**16
"""Unneeded rows that a filter by one range may let through, but no more than needed ones."""

LARGEST_LOOKUP, MOST_NAMED = 2**20, 2**15
"""Most buckets from the first to the last that a filter lists, and most that it lists."""


@dataclass(frozen=True, eq=False)
class BucketSet:
    """A set of buckets of a level: whether each bucket from the first on is a member."""

    level: int
    first: int
    members: BoolArray

    @property
    def numbers(self) -> IntArray:
        """Numbers of the members."""
        return np.flatnonzero(self.members) + self.first


@dataclass(frozen=True, eq=False)
class RowQuery:
    """The rows that a pass reads, and how finely it counts them.

    Attributes
    ----------
    scale : Scale
    level : int
        Level of the buckets by which the rows are counted.
    low, high : float
        Only scores in this range are read, ends included.
    inside : BucketSet, optional
        Only scores in one of these buckets are read.
    """

    scale: Scale
    level: int = 0
    low: float = -np.inf
    high: float = np.inf
    inside: BucketSet | None = None


class Plan(NamedTuple):
    """A count, and the bins that it splits."""

    query: RowQuery
    chosen: BoolArray


def finest_level(bins: Bins, scale: Scale, at_most: int) -> int:
    """Return the lowest level at which bins fall into at most this many buckets."""
    low, high = scale.buckets(bins.least), scale.buckets(bins.greatest)
    # Unsigned, because the span of all keys does not fit into 63 bits.
    with np.errstate(over="ignore"):
        spans = np.log2(high.astype(np.uint64) - low.astype(np.uint64) + 1.0)
    for level in range(COARSEST):
        # A range that is not aligned touches one more bucket than its span suggests.
        buckets = np.minimum(np.exp2(np.maximum(spans - level, 0.0)) + 1.0, bins.rows)
        if buckets.sum() <= at_most:
            return level
    return COARSEST


def buckets_to_count(bins: Bins, mask: BoolArray, scale: Scale, at_most: int) -> Plan | None:
    """Plan the finest count of marked bins that fits into ``at_most`` buckets.

    None where so many are marked that the count would hardly split them.
    """
    if BUCKETS_PER_BIN * np.count_nonzero(mask) > at_most and np.count_nonzero(mask) > 1:
        return None
    level = finest_level(bins.take(mask), scale, at_most)
    chosen = mask & _are_split(bins, scale, level)
    if not chosen.any():
        # A filter by range selects exactly the rows of a single bin, however coarse the buckets.
        chosen[np.argmax(np.where(mask, bins.rows, 0))] = True
        scale = scale if _are_split(bins.take(chosen), scale).all() else BITS
        level = finest_level(bins.take(chosen), scale, at_most)
    return Plan(rows_in(bins, chosen, scale, level), chosen)


def _are_split(bins: Bins, scale: Scale, level: int = 0) -> BoolArray:
    """Whether buckets of a level split each bin, and no bucket extends into a neighbour."""
    first, last = scale.buckets(bins.least, level), scale.buckets(bins.greatest, level)
    apart = first[:-1] != last[1:]
    return np.asarray((first < last) & np.append(apart, True) & np.append(True, apart))


def rows_in(bins: Bins, chosen: BoolArray, scale: Scale, level: int = 0) -> RowQuery:
    """Return a query for the rows of the chosen bins; it may let a few others through."""
    parents = bins.take(chosen)
    # Without bins beyond, rows need no comparison.
    low = -np.inf if chosen[-1] else float(parents.least[-1])
    high = np.inf if chosen[0] else float(parents.greatest[0])
    query = RowQuery(scale, level, low, high)
    between = (bins.least >= low) & (bins.greatest <= high)
    edges = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    spare = min(SPARE_ROWS, parents.rows.sum())
    if len(first) == 1 or bins.rows[between & ~chosen].sum() <= spare:
        return query
    ends = scale.buckets(bins.least[last]), scale.buckets(bins.greatest[first])
    return replace(query, inside=_covering_buckets(*ends, level))


def _covering_buckets(low: IntArray, high: IntArray, level: int) -> BucketSet:
    """Return the finest buckets that cover ranges of keys and fit into a table."""
    span = int(high.max()) - int(low.min())
    level = max(level, (span // (LARGEST_LOOKUP - 1)).bit_length())
    while ((high >> level) - (low >> level) + 1).sum() > MOST_NAMED:
        level += 1
    first, last = low >> level, high >> level
    steps = np.zeros(int(last.max() - first.min()) + 2, dtype=np.int64)
    np.add.at(steps, first - first.min(), 1)
    np.add.at(steps, last - first.min() + 1, -1)
    return BucketSet(level, int(first.min()), np.cumsum(steps[:-1]) > 0)
