"""Thresholds with their counts, before anything is decided about them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from voros.core.arrays import AnyArray

WEIGHT_SUMS = "sum(sample_weight of positives)", "sum(sample_weight of negatives)"
"""What the sizes of the classes are, where cases carry weights."""


class Counts(NamedTuple):
    """Thresholds with their counts, and the sizes of the classes."""

    thresholds: AnyArray
    tp: AnyArray
    fp: AnyArray
    n_positive: float
    n_negative: float
    one_case: float = 1.0

    @classmethod
    def below(cls, thresholds: AnyArray, tp: AnyArray, fp: AnyArray, *sizes: float) -> Counts:
        """Put never alarm before falling thresholds."""
        finest = np.result_type(thresholds.dtype, np.float64)
        # -0.0 equals 0.0, and which of them a sort or an engine leaves first is chance.
        unsigned_zero = thresholds + 0.0
        return cls(_led(np.inf, unsigned_zero, finest), _led(0, tp), _led(0, fp), *sizes)


def _led(first: float, rest: AnyArray, dtype: Any = None) -> AnyArray:
    # A third of the time that `append` takes, which shows where cases are few.
    column = np.empty(len(rest) + 1, dtype or rest.dtype)
    column[0], column[1:] = first, rest
    return column
