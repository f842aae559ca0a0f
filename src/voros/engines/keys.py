"""The fixed buckets of `BinnedCounts`: the leading bits of a float.

The *key* of a score is the bits of the float as a whole number, in the order of the scores. A
*bucket* of level n holds the scores whose keys agree except in the last n bits. Buckets do not
depend on the data. An octave holds sixteen buckets of level 48.

Read as a signed integer, the bits of a positive float rise with the float; those of a negative one
fall, and are mirrored. Floats that compare equal (0.0 and -0.0) have the same key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voros.core.arrays import LARGEST_FINITE
from voros.typing import FloatArray

IntArray = NDArray[np.int64]

KEY_BITS = 64

MAGNITUDE = np.int64(2**63 - 1)
"""Masks the sign bit away."""


def to_key(scores: Any) -> IntArray:
    """Map floats to integers in the same order.

    Examples
    --------
    >>> to_key([-np.inf, -1.5, -0.0, 0.0, 5e-324, 1.0]).tolist()
    [-9218868437227405312, -4609434218613702656, 0, 0, 1, 4607182418800017408]
    """
    bits = np.asarray(scores, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & MAGNITUDE))


def from_key(keys: Any) -> FloatArray:
    """Map keys back to floats.

    Examples
    --------
    >>> from_key(to_key([-2.5, 0.0, 1e-300])).tolist()
    [-2.5, 0.0, 1e-300]
    """
    array = np.asarray(keys, dtype=np.int64)
    bits = np.where(array >= 0, array, -array | ~MAGNITUDE)
    return np.asarray(bits.view(np.float64))


def bucket_of(scores: Any, level: int) -> IntArray:
    """Return the number of each score's bucket; neighbouring buckets differ by one."""
    return np.asarray(to_key(scores) >> level)


def bucket_start(buckets: Any, level: int) -> FloatArray:
    """Return the lowest score that each bucket can hold.

    Examples
    --------
    >>> bucket_start(bucket_of([0.3, 1.9, -np.inf], 48), 48).tolist()
    [0.296875, 1.875, -inf]
    """
    return from_key(np.maximum(np.asarray(buckets, dtype=np.int64) << level, LOWEST_KEY))


def bucket_end(buckets: Any, level: int) -> FloatArray:
    """Return the highest finite score that each bucket can hold."""
    last = (np.asarray(buckets, dtype=np.int64) << level) | np.int64((1 << level) - 1)
    return from_key(np.minimum(last, HIGHEST_KEY))


LOWEST_KEY, HIGHEST_KEY = to_key([-np.inf, LARGEST_FINITE])
"""Keys of the lowest and highest score; a score of +inf counts as the highest finite one."""
