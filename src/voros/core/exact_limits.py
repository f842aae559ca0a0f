"""Compare counts with floors of precision and recall, and with a capacity.

Whole counts are compared exactly with the fraction for a decimal number.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from voros.typing import AnyArray, BoolArray

WEIGHT_ROUNDING = 1e-12
"""Relative slack when limits are compared with sums of weights, which are rounded; whole counts are
compared exactly."""

LARGEST_PRODUCT = 2.0**62
"""Larger products are computed with Python's unbounded integers."""

LARGEST_DENOMINATOR = 10**9
"""Limits become the nearest fraction with at most this denominator: 0.15 is 3/20."""


@lru_cache(maxsize=1024)
def as_fraction(limit: float) -> Fraction:
    """Return the simple fraction nearest to a decimal number.

    One true positive in ten alarms meets a floor of 0.1, although the float 0.1 is slightly above
    1/10.

    Examples
    --------
    >>> as_fraction(0.15), as_fraction(5 / 6)
    (Fraction(3, 20), Fraction(5, 6))
    """
    return Fraction(limit).limit_denominator(LARGEST_DENOMINATOR)


def keeps_floor(tp: AnyArray, of: AnyArray | float, floor: float | Fraction) -> BoolArray:
    """Mark the true positives that are at least a share, the floor, of other counts.

    The share of the alarms is the precision, that of all positives the recall.

    Examples
    --------
    >>> keeps_floor(np.array([3, 2]), np.array([20, 20]), 0.15).tolist()
    [True, False]
    >>> keeps_floor(np.array([9, 8]), 10, 0.9).tolist()
    [True, False]
    """
    if floor == 0:
        return np.ones(len(tp), dtype=np.bool_)
    of, share = np.asarray(of), floor if isinstance(floor, Fraction) else as_fraction(floor)
    if not is_whole(tp):
        needed = of * share.numerator * (1.0 - WEIGHT_ROUNDING)
        return np.asarray(tp * share.denominator >= needed)
    if float(of.max()) * share.denominator >= LARGEST_PRODUCT:
        tp, of = tp.astype(object), of.astype(object)
    return np.asarray(tp * share.denominator >= of * share.numerator, dtype=np.bool_)


def within_capacity(alarms: AnyArray, max_alarms: float) -> BoolArray:
    """Mark the counts of at most ``max_alarms``.

    Examples
    --------
    >>> within_capacity(np.array([3, 4]), 3.5).tolist()
    [True, False]
    """
    slack = 0.0 if is_whole(alarms) else WEIGHT_ROUNDING * max_alarms
    return np.asarray(alarms <= max_alarms + slack)


def is_whole(counts: AnyArray) -> bool:
    """Whether counts are whole numbers, which are compared exactly."""
    return counts.dtype.kind in "iu"
