"""Buckets merged until none holds fewer than k rows, at boundaries that sites tend to share.

The more trailing zero bits the number of a boundary has, the coarser it is.
Merging removes the finest boundary beside a small bucket first, so the coarse ones stay. Those are
the same at every site: counts of two sites keep the boundaries that both have, and with boundaries
at random places few would be left.

The merged ranges tile all scores. Where within a range its cases lie is not shown.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voros.engines.keys import IntArray
from voros.typing import AnyArray

SIGN = 63
"""Coarseness of the boundary at a score of 0: above that of every other."""


class Ranges(NamedTuple):
    """Disjoint ranges of buckets, by rising scores.

    Attributes
    ----------
    first, last : ndarray of int
        The lowest and the highest bucket of each range.
    """

    first: IntArray
    last: IntArray


def overlapping(ranges: Ranges) -> IntArray:
    """Number the groups of ranges that overlap, directly or through others; by rising `first`.

    Examples
    --------
    >>> overlapping(Ranges(np.array([0, 2, 3, 7]), np.array([1, 4, 5, 7]))).tolist()
    [0, 1, 1, 2]
    """
    reach = np.maximum.accumulate(ranges.last)
    return np.cumsum(np.append(0, ranges.first[1:] > reach[:-1])[: len(reach)])


def boundaries(ranges: Ranges) -> tuple[IntArray, IntArray]:
    """Return the coarsest boundary between neighbouring ranges, and its coarseness.

    A boundary is named by the bucket that begins there.

    Examples
    --------
    >>> buckets = np.array([-3, 2, 3, 9])
    >>> starts, coarseness = boundaries(Ranges(buckets, buckets))
    >>> starts.tolist(), coarseness.tolist()
    ([0, 3, 8], [63, 0, 3])
    """
    below, above = ranges.last[:-1], ranges.first[1:]
    # Buckets have far fewer than 53 bits, so a float holds them exactly.
    differ = np.maximum(below ^ above, 1).astype(np.float64)
    coarseness = np.frexp(differ)[1].astype(np.int64) - 1
    crossing = (below < 0) & (above >= 0)
    starts = np.where(crossing, 0, (above >> coarseness) << coarseness)
    return starts, np.where(crossing, SIGN, coarseness)


def without_small(ranges: Ranges, rows: AnyArray, min_rows: int) -> IntArray:
    """Return the boundaries to keep so that every range holds at least ``min_rows`` rows.

    Parameters
    ----------
    ranges : Ranges
        Those that hold rows.
    rows : ndarray of int
    min_rows : int
        At most the sum of the rows.

    Examples
    --------
    >>> buckets = np.array([4, 5, 6, 7, 8])
    >>> without_small(Ranges(buckets, buckets), np.array([1, 9, 2, 3, 6]), min_rows=5).tolist()
    [6, 8]
    """
    starts, coarseness = boundaries(ranges)
    held = rows.tolist()
    # Ranges are linked by the position of their last bucket; the sum is kept at both ends.
    other_end = list(range(len(held)))
    kept = np.ones(len(starts), dtype=np.bool_)
    for position in np.lexsort((starts, coarseness)).tolist():
        below, above = position, position + 1
        if min(held[below], held[above]) >= min_rows:
            continue
        kept[position] = False
        low, high = other_end[below], other_end[above]
        held[low] = held[high] = held[below] + held[above]
        other_end[low], other_end[high] = high, low
    return np.asarray(starts[kept])
