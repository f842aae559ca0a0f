"""Buckets merged until each holds enough rows, at boundaries that sites tend to share.

The number of trailing zero bits of a boundary is its coarseness. Merging removes the finest
boundary next to a small bucket first, so that coarse boundaries remain. These are the same at every
site. The sum of two counts keeps the boundaries that both have, and would keep few if they lay at
random places.

The merged ranges cover all scores and do not show where within a range the cases lie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voros.engines.keys import IntArray
from voros.typing import AnyArray

SIGN = 63
"""Coarseness of the boundary at a score of 0, above that of every other boundary."""


class Ranges(NamedTuple):
    """Ranges of buckets, by rising scores.

    Attributes
    ----------
    first, last : ndarray of int
        The lowest and the highest bucket of each range.
    """

    first: IntArray
    last: IntArray


def overlapping(ranges: Ranges) -> IntArray:
    """Number the connected groups of overlapping ranges, by rising `first`.

    Examples
    --------
    >>> overlapping(Ranges(np.array([0, 2, 3, 7]), np.array([1, 4, 5, 7]))).tolist()
    [0, 1, 1, 2]
    """
    reach = np.maximum.accumulate(ranges.last)
    return np.cumsum(np.append(0, ranges.first[1:] > reach[:-1])[: len(reach)])


def boundaries(ranges: Ranges) -> tuple[IntArray, IntArray]:
    """Return the coarsest boundary between neighbouring ranges, and its coarseness.

    The number of a boundary is that of the bucket above it.

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
        Ranges that hold rows.
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
    # The first and the last bucket of a merged range know each other, and the sum of its rows.
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
