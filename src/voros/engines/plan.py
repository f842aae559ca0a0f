"""Which rows the next pass counts, and how finely, so that every answer stays small."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.engines.bins import Bins
from voros.engines.keys import IntArray
from voros.engines.scales import COARSEST, Scale
from voros.typing import BoolArray

LARGEST_ANSWER = 2**20
"""Rows of counts that one pass may bring into this process: about 50 MB."""

BUCKETS_PER_BIN = 4
"""A count has at least this many buckets per bin; bins beyond that wait for a later pass."""

SPARE_ROWS = 2**16
"""Unneeded rows that a filter by one range may let through, but no more than needed ones."""

MOST_LISTED = 2**12
"""Most buckets that a filter lists."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RowQuery:
    """The rows that a pass reads, and how finely it counts them.

    Attributes
    ----------
    scale : Scale
    level : int
        Level of the buckets by which the rows are counted.
    low, high : float
        Only scores in this range are read, ends included.
    inside : ndarray of int, optional
        Only scores in one of these buckets are read.
    inside_level : int
        Level of these buckets.
    """

    scale: Scale
    level: int = 0
    low: float = -np.inf
    high: float = np.inf
    inside: IntArray | None = None
    inside_level: int = 0


class Plan(NamedTuple):
    """A count, and the bins that it splits."""

    query: RowQuery
    chosen: BoolArray


def finest_level(bins: Bins, scale: Scale, at_most: int) -> int:
    """Return the lowest level at which bins fall into at most this many buckets."""
    spans = np.log2(scale.buckets(bins.greatest) - scale.buckets(bins.least) + 1.0)
    for level in range(COARSEST):
        # A range that is not aligned touches one more bucket than its span suggests.
        buckets = np.minimum(np.exp2(np.maximum(spans - level, 0.0)) + 1.0, bins.rows)
        if buckets.sum() <= at_most:
            return level
    return COARSEST


def buckets_to_count(bins: Bins, mask: BoolArray, scale: Scale, at_most: int) -> Plan:
    """Plan the finest count of marked bins that fits into ``at_most`` buckets.

    Of very many bins only those with the most rows are counted.
    """
    largest = np.argsort(np.where(mask, -bins.rows, 0), kind="stable")
    candidates = np.zeros(len(bins), dtype=np.bool_)
    candidates[largest[: max(at_most // BUCKETS_PER_BIN, 1)]] = True
    candidates &= mask
    level = finest_level(bins.take(candidates), scale, at_most)
    chosen = candidates & _are_split(bins, scale, level)
    if not chosen.any():
        # A filter by range selects exactly the rows of a single bin, however coarse the buckets.
        chosen[largest[0]] = True
        (low,), (high,) = bins.least[chosen], bins.greatest[chosen]
        # On this scale the two ends are apart, even if one is infinite.
        scale = Scale.up_to(min(max(-low, high), LARGEST_FINITE))
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
    query = RowQuery(scale=scale, level=level, low=low, high=high)
    between = (bins.least >= low) & (bins.greatest <= high)
    edges = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    spare = min(SPARE_ROWS, parents.rows.sum())
    if len(first) == 1 or bins.rows[between & ~chosen].sum() <= spare:
        return query
    ends = scale.buckets(bins.least[last]), scale.buckets(bins.greatest[first])
    inside, inside_level = _covering_buckets(*ends, level)
    return replace(query, inside=inside, inside_level=inside_level)


def _covering_buckets(low: IntArray, high: IntArray, level: int) -> tuple[IntArray, int]:
    """Return the finest buckets, at this level or above, that cover ranges of keys and are few."""
    while ((high >> level) - (low >> level) + 1).sum() > len(low) + MOST_LISTED:
        level += 1
    ranges = zip((low >> level).tolist(), (high >> level).tolist(), strict=True)
    buckets = np.unique(np.concatenate([np.arange(first, last + 1) for first, last in ranges]))
    while len(buckets) > MOST_LISTED:
        buckets, level = np.unique(buckets >> 1), level + 1
    return buckets, level
