r"""Bets against a limit: the log of the factor by which each unit multiplies the evidence.

A unit is an alarm, a patient's alarms, or a period. Each column of a result is one alternative, and
each factor has mean at most 1, given the units before, while the limit is kept:

- precision: :math:`1 + \lambda (f n - s)` for a unit of :math:`n` alarms of which :math:`s` are
  true. The floor says :math:`E[s - f n] \ge 0`. With b alarms in the largest unit before, a unit of
  more than :math:`1.5 b` counts as one of that size, so :math:`\lambda \le 0.6/((1-f) b)` keeps the
  factor positive. With one alarm it is the likelihood ratio of the precision
  :math:`q = f (1 - \lambda (1-f))` against the floor :math:`f`.
- a ratio of sums: :math:`1 + \lambda (a/m - n) / b` for a period of size :math:`n` with the sum
  :math:`a \ge 0`, where the sums are at most :math:`m` times the sizes. The limit is on
  :math:`\sum a / \sum n`, not on the mean of :math:`a/n`. The scale :math:`b` is the largest size
  before this period, and a period of more than :math:`3b` counts as one of :math:`3b`, so
  :math:`0 \le \lambda < 1/3` keeps the factor positive. With :math:`n = 1` throughout it is a bet
  on a mean.
"""

from __future__ import annotations

import numpy as np

from voros.core.arrays import FloatArray

PRECISION_RATIOS = np.array([0.4, 0.6, 0.8])
"""Alternatives: the precision has fallen to these parts of the floor."""

PRECISION_WEIGHTS = np.array([0.6, 0.3, 0.1])

START_WEIGHTS = np.array([0.75, 0.2, 0.05])
"""Of the evidence from the start for single alarms, whose bound is exact."""

STAKES = np.array([0.01, 0.03, 0.1, 0.3])
"""Alternatives of a ratio: the part of the evidence that is put on the next period.

Below 1 / `LARGEST_STEP`, so that no period ruins a bet.
"""

STAKE_WEIGHTS = np.full(4, 0.25)

LARGEST_STEP = 3.0
"""A period of more than this multiple of the largest before it counts as one of that size."""

LARGEST_EPISODE = 1.5
"""An episode of more than this multiple of the largest before it counts as one of that size."""

HIGHEST_FLOOR = 1.0 - 1e-9
"""A floor of 1 is read as this: one false alarm is then decisive, and the logarithm finite."""


def precision_bets(
    alarms: FloatArray, true: FloatArray, floor: float, most: float | FloatArray = 1
) -> FloatArray:
    """Return the log factors for units of alarms, true ones of them.

    ``most`` is the largest number of alarms that a unit had before, or is known to have.

    Examples
    --------
    >>> factors = np.exp(precision_bets(np.ones(2), np.array([1.0, 0.0]), 0.25))
    >>> factors.round(3).tolist()
    [[0.4, 0.6, 0.8], [1.2, 1.133, 1.067]]
    """
    floor = min(floor, HIGHEST_FLOOR)
    parts = np.minimum(1.0 / np.asarray(most), LARGEST_EPISODE / alarms)
    stakes = (1.0 - PRECISION_RATIOS) / (1.0 - floor)
    return np.asarray(np.log1p(((floor * alarms - true) * parts)[:, None] * stakes))


def ratio_bets(sums: FloatArray, most: float, sizes: FloatArray | None = None) -> FloatArray:
    """Return the log factors for sums of at least 0 that should be at most `most` times the sizes.

    Without sizes each is 1: the mean of the sums should be at most `most`.

    Examples
    --------
    >>> np.exp(ratio_bets(np.array([20.0, 40.0]), 20.0)).round(2).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.01, 1.03, 1.1, 1.3]]
    """
    return np.asarray(np.log1p(relative_excess(sums, most, sizes)[:, None] * STAKES))


def relative_excess(sums: FloatArray, most: float, sizes: FloatArray | None) -> FloatArray:
    """Return what each period has above its limit, in limits of the largest period before it.

    The first period of a size that was not known beforehand only sets the scale.

    Examples
    --------
    >>> relative_excess(np.array([9.0, 12.0, 2.0]), 0.1, np.array([100.0, 100.0, 10.0])).round(3)
    array([0. , 0.2, 0.1])
    """
    if sizes is None:
        return np.asarray(sums / most - 1.0)
    return np.asarray((sums / most - sizes) * size_factors(sizes))


def size_factors(sizes: FloatArray) -> FloatArray:
    """Return one over the scale of each period, known before its size is."""
    largest = np.maximum.accumulate(sizes)
    factors = np.zeros(len(sizes))
    factors[1:] = np.minimum(1.0 / largest[:-1], LARGEST_STEP / sizes[1:])
    return factors
