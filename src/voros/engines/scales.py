"""Order-preserving maps from scores to whole numbers, so that an engine counts ranges by number.

The *key* of a score is the score, or where scores lie unevenly a root of it, times a power of two,
rounded down. A *bucket* of level n holds the keys that agree except in the last n bits. Products
with powers of two and square roots are the same to the last bit in every engine and in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from voros.engines.backends import LazyFrame
from voros.engines.keys import IntArray
from voros.typing import BoolArray, FloatArray

KEY_SIZE = 54
"""The largest score has a key of this number of bits: it and its neighbours have keys of their
own."""

KEY_LIMIT = 2.0**KEY_SIZE
"""Size of the keys of scores beyond the largest, such as infinite ones."""

COARSEST = KEY_SIZE + 1
"""At this level no two keys of one sign are apart."""

ROOTS = 4
"""Square roots of scores that lie unevenly: forty octaves become two and a half."""

TRIAL_BUCKETS = 4096
"""Buckets by which scales are compared on a sample."""

CROWDED = 4.0
"""Scores are taken as they are unless that leaves more than this many times as much open."""


@dataclass(frozen=True)
class Scale:
    """A map from scores to keys.

    Attributes
    ----------
    exponent : int
        A key is a score, or a root, times two to this power.
    roots : int
        Number of square roots taken.

    Examples
    --------
    >>> Scale(4).buckets([-1.0, 0.0, 0.3, 0.5]).tolist()
    [-16, 0, 4, 8]
    """

    exponent: int
    roots: int = 0

    @classmethod
    def up_to(cls, largest: float, roots: int = 0) -> Scale:
        """Return the finest scale for scores up to a size."""
        return cls(KEY_SIZE - int(np.frexp(largest ** (0.5**roots))[1]), roots)

    def buckets(self, scores: Any, level: int = 0) -> IntArray:
        """Return the number of each score's bucket; level 0 is the finest."""
        values = np.asarray(scores, dtype=np.float64)
        size = np.abs(values)
        for _ in range(self.roots):
            size = np.sqrt(size)
        with np.errstate(over="ignore"):
            keys = self._scaled(np.copysign(size, values))
        return np.asarray(np.floor(keys.clip(-KEY_LIMIT, KEY_LIMIT)).astype(np.int64) >> level)

    def _scaled(self, values: Any) -> Any:
        # By halves, because the factor for subnormal scores is beyond the largest float.
        half = self.exponent // 2
        return values * 2.0**half * 2.0 ** (self.exponent - half)

    def with_buckets(self, frame: LazyFrame, score: str, bucket: str, level: int) -> LazyFrame:
        """Add the number of each score's bucket in an engine; it equals `buckets`."""
        value = nw.col(score)
        if self.roots:
            frame = frame.with_columns(value.abs().alias(bucket))
            # One by one: an engine may write out a nested root many times.
            for _ in range(self.roots):
                frame = frame.with_columns(nw.col(bucket).sqrt())
            root = nw.col(bucket)
            value = nw.when(value < 0).then(-root).otherwise(root)
        keys = self._scaled(value).clip(-KEY_LIMIT, KEY_LIMIT).floor()
        # Of whole numbers, so that buckets nest even where the product was rounded.
        number = (keys * 2.0**-level).floor() if level else keys
        return frame.with_columns(number.cast(nw.Int64).alias(bucket))


def scale_for(sample: FloatArray, positive: BoolArray, low: float, high: float) -> Scale:
    """Choose a scale whose buckets separate scores like those of a sample.

    Examples
    --------
    >>> ill = np.arange(999) % 3 == 0
    >>> [
    ...     scale_for(scores, ill, scores[0], scores[-1]).roots
    ...     for scores in (np.linspace(0, 1, 999), np.exp(np.linspace(-90, 0, 999)))
    ... ]
    [0, 4]
    """
    plain, root = (Scale.up_to(max(-low, high), roots) for roots in (0, ROOTS))
    crowded = _left_open(plain, sample, positive) > CROWDED * _left_open(root, sample, positive)
    return root if crowded else plain


def _left_open(scale: Scale, sample: FloatArray, positive: BoolArray) -> float:
    """Count pairs of a positive and a negative in the same one of a few thousand buckets."""
    keys = scale.buckets(sample)
    span = int(keys.max()) - int(keys.min())
    home = keys >> max(span.bit_length() - TRIAL_BUCKETS.bit_length() + 1, 0)
    cases = np.bincount(home - home.min())
    positives = np.bincount((home - home.min())[positive], minlength=len(cases))
    # A larger bucket leaves more open even if all its cases are of one class.
    return float(np.sum((positives + 0.5) * (cases - positives + 0.5), where=cases > 0))
