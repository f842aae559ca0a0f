"""Order-preserving maps from scores to whole numbers, so that ranges are counted by number.

The *key* of a score is a whole number. A *bucket* of level n holds the scores whose keys agree
except in the last n bits. Buckets are ranges of scores; each lies within one bucket of the next
level.

A `Scale` multiplies scores by a power of two and rounds down. Every engine computes this product
exactly, except for subnormal scores (below 2.3e-308 in size). Where scores lie too unevenly for a
scale, the key consists of the float's bits, which takes longer.

Read as a signed integer, the bits of a positive float rise with the float; those of a negative one
fall, and are mirrored. Floats that compare equal (0.0 and -0.0) have the same key. An octave holds
sixteen buckets of level 48.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voros.core.arrays import LARGEST_FINITE
from voros.typing import BoolArray, FloatArray

IntArray = NDArray[np.int64]

KEY_BITS = 64
COARSEST = KEY_BITS - 2
"""Highest level of a bucket: a shift that every engine supports."""

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

KEY_SIZE = 53
"""Keys of a linear scale are at most two to this power: floats represent them exactly."""

WIDEST = 1e200
"""Spans between its inverse and it are scaled without overflow or underflow."""

TRIAL_BUCKETS = 4096
"""Buckets by which scales are compared on a sample."""

CROWDED = 4.0
"""A linear scale is given up if it leaves more than this many times as much open as the bits."""


@dataclass(frozen=True)
class Scale:
    """A map from scores to keys.

    Attributes
    ----------
    exponent : int or None
        A key is the score times two to this power; None for the bits of the float.
    lowest, highest : float
        Scores beyond them have their keys.

    Examples
    --------
    >>> Scale(4, 0.0, 0.4).buckets([-1.0, 0.0, 0.3, 0.5]).tolist()
    [0, 0, 4, 6]
    """

    exponent: int | None = None
    lowest: float = -np.inf
    highest: float = np.inf

    def buckets(self, scores: Any, level: int = 0) -> IntArray:
        """Return the number of each score's bucket; level 0 is the finest."""
        values = np.asarray(scores, dtype=np.float64)
        if self.exponent is None:
            return bucket_of(values, level)
        inside = np.clip(values, self.lowest, self.highest)
        return np.floor(inside * self.factor(level)).astype(np.int64)

    def factor(self, level: int) -> float:
        """Return the number of buckets of a level between 0 and 1."""
        return float(2.0 ** ((self.exponent or 0) - level))


BITS = Scale()
"""The bits of the float: different scores never share a key."""


def scale_for(sample: FloatArray, positive: BoolArray, low: float, high: float) -> Scale:
    """Choose a scale whose buckets separate scores like those of a sample.

    Examples
    --------
    >>> ill = np.arange(999) % 3 == 0
    >>> [
    ...     scale_for(scores, ill, scores[0], scores[-1]) == BITS
    ...     for scores in (np.linspace(0, 1, 999), np.exp(np.linspace(-90, 0, 999)))
    ... ]
    [False, True]
    """
    if not 1 / WIDEST < high / 2 - low / 2 < WIDEST:
        return BITS
    linear = Scale(KEY_SIZE - int(np.ceil(np.log2(max(-low, high)))), low, high)
    crowded = _left_open(linear, sample, positive) > CROWDED * _left_open(BITS, sample, positive)
    return BITS if crowded else linear


def _left_open(scale: Scale, sample: FloatArray, positive: BoolArray) -> float:
    """Count pairs of a positive and a negative in the same one of a few thousand buckets."""
    keys = scale.buckets(sample)
    span = int(keys.max()) - int(keys.min())
    home = keys >> max(span.bit_length() - TRIAL_BUCKETS.bit_length() + 1, 0)
    cases = np.bincount(home - home.min())
    positives = np.bincount((home - home.min())[positive], minlength=len(cases))
    # A larger bucket leaves more open even if all its cases are of one class.
    return float(np.sum((positives + 0.5) * (cases - positives + 0.5), where=cases > 0))
