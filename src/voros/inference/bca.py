r"""Where a statistic's true value lies, from its resamples: percentile and BCa intervals.

The best threshold is chosen on the cases that score it, so a score is slightly optimistic, and the
score of a resample is optimistic twice. A percentile interval has both biases. BCa (Efron, 1987)
reads the bias off the resamples, as the share of them below the estimate,
:math:`z_0 = \Phi^{-1}(F(\hat\theta))`, and the skewness off a jackknife,
:math:`a = \sum d^3 / 6 (\sum d^2)^{3/2}`, and takes the resamples' quantiles at

.. math:: \Phi\left(z_0 + \frac{z_0 + z}{1 - a (z_0 + z)}\right)

instead of :math:`\Phi(z)`. Both intervals end at values that some resample had, so a score's
interval never leaves [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from voros.text.numbers import short
from voros.typing import FloatArray

Method: TypeAlias = Literal["curve", "bca", "percentile"]

LEAST_TAIL = 1e-12
"""Tails are cut no smaller than this, where their ends are still finite."""


def interval(
    confidence_level: float,
    estimate: float,
    distribution: FloatArray,
    left_out: FloatArray | None = None,
    n_units: float = np.inf,
) -> tuple[float, float]:
    """Return the ends of an interval.

    It is a BCa interval where values with blocks of cases ``left_out`` are given, and otherwise a
    percentile interval. ``n_units`` is the number of independent cases or groups; with few of them
    the resamples vary too little (`expanded_tail`).
    """
    low = expanded_tail((1 - confidence_level) / 2, n_units)
    high = 1 - low
    if left_out is not None:
        z0, a = ndtri(share_below(distribution, estimate)), acceleration(left_out)
        low, high = bca_quantile(low, z0, a), bca_quantile(high, z0, a)
    return order_statistic(distribution, low), order_statistic(distribution, high)


def expanded_tail(tail: float, n_units: float) -> float:
    """Return the tail of the resamples to cut off for a tail of the interval.

    Resamples of n units vary less than new samples would, by the root of (n - 1) / n, and with few
    units the spread itself is unsure, as Student's t allows for (Hesterberg, 2015).

    Examples
    --------
    >>> round(expanded_tail(0.025, 5), 5), round(expanded_tail(0.025, 1000), 4)
    (0.00095, 0.0248)
    """
    if not np.isfinite(n_units):
        return tail
    expanded = ndtr(stdtrit(n_units - 1, tail) * np.sqrt(n_units / (n_units - 1)))
    return max(float(expanded), LEAST_TAIL)


def share_below(distribution: FloatArray, value: float) -> float:
    """Share of the resamples below a value, ties counted half; never quite 0 or 1.

    Examples
    --------
    >>> share_below(np.array([1.0, 2.0, 2.0, 3.0]), 2.0)
    0.5
    """
    count = len(distribution)
    below = np.count_nonzero(distribution < value) + np.count_nonzero(distribution == value) / 2
    return float(min(max(below, 0.5), count - 0.5) / count)


def acceleration(left_out: FloatArray) -> float:
    """BCa's a: a sixth of the skewness, from values with one block of cases left out.

    Examples
    --------
    Of a mean, it is the skewness of the values over 6 times the root of their number:

    >>> values = np.random.default_rng(0).exponential(size=400)
    >>> left_out = (values.sum() - values) / 399
    >>> skewness = np.mean((values - values.mean()) ** 3) / np.std(values) ** 3
    >>> a = acceleration(left_out)
    >>> bool(np.isclose(a, skewness / 6 / np.sqrt(400)))
    True
    """
    if len(left_out) == 0:
        # Too few cases for any to be left out.
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = left_out.mean() - left_out
        a = np.sum(moved**3) / (6 * np.sum(moved**2) ** 1.5)
    # Nothing moved, or something moved endlessly far: no skewness to speak of.
    return float(a) if np.isfinite(a) else 0.0


def bca_quantile(nominal: float, z0: float, a: float) -> float:
    """Return the quantile of the resamples that BCa takes for a nominal one.

    Examples
    --------
    >>> round(bca_quantile(0.025, 0.0, 0.0), 6)
    0.025
    """
    shifted = z0 + ndtri(nominal)
    return float(ndtr(z0 + shifted / (1 - a * shifted)))


def order_statistic(distribution: FloatArray, share: float) -> float:
    """Return the resampled value at a quantile.

    Of R resamples the one of rank (R + 1) times the quantile is taken, the nearest whole number: a
    new value drawn like them would lie below it with that probability (Davison and Hinkley, 1997).
    No interpolation, because a threshold can be infinite.

    Examples
    --------
    >>> resampled = np.arange(1.0, 100.0)[::-1]
    >>> order_statistic(resampled, 0.05), order_statistic(resampled, 0.95)
    (5.0, 95.0)
    """
    count = len(distribution)
    rank = int(np.clip(np.rint(share * (count + 1)), 1, count))
    return float(np.sort(distribution)[rank - 1])


def interval_in_words(low: float, high: float, write: Callable[..., str] = short) -> str:
    """Write an interval, with as many digits as keep its ends apart.

    Examples
    --------
    >>> from voros.text.numbers import signed
    >>> interval_in_words(0.25, 0.5), interval_in_words(-0.01, 0.02, signed)
    ('0.250 to 0.500', '-0.0100 to +0.0200')
    >>> interval_in_words(1.0, 1.0)
    'none: no resample differs'
    """
    if low == high:
        return "none: no resample differs"
    return f"{write(low, high)} to {write(high, low)}"


def p_value(distribution: FloatArray, n_units: float = np.inf) -> float:
    """Two-sided p-value of no difference: twice the share of resamples on the other side of 0.

    The data count as one more resample, so that it is never 0. With few units the share is read
    as `expanded_tail` does, so that the p-value agrees with the interval.

    Examples
    --------
    >>> p_value(np.arange(-1.0, 98.0))
    0.05
    """
    count = len(distribution)
    below = np.count_nonzero(distribution < 0) + 0.5 * np.count_nonzero(distribution == 0)
    share = min(0.5, (1 + min(below, count - below)) / (1 + count))
    if not np.isfinite(n_units):
        return float(2 * share)
    return float(2 * stdtr(n_units - 1, ndtri(share) * np.sqrt((n_units - 1) / n_units)))
