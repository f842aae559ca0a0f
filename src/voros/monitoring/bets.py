r"""Bets against a limit: the log of the factor by which each unit multiplies the evidence.

A unit is an alarm, a patient's alarms, or a period. Each column of a result is one alternative, and
each factor has mean at most 1, given the units before, while the limit is kept:

- precision: :math:`1 + \lambda (f n - s)` for a unit of :math:`n \le b` alarms of which
  :math:`s` are true, :math:`0 \le \lambda < 1/((1-f) b)`. The floor says
  :math:`E[s - f n] \ge 0`. With one alarm it is the likelihood ratio of the precision
  :math:`q = f (1 - \lambda (1-f))` against the floor :math:`f`.
- a mean: :math:`1 + \lambda (X/m - 1)`, :math:`0 \le \lambda \le 1`, for :math:`X \ge 0` whose mean
  is at most :math:`m`. Nothing else is asked of :math:`X`.
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
"""Alternatives of a mean: the part of the evidence that is put on the next unit.

Below 1/3, so that four times the mean ruins no bet that the mean is lower.
"""

STAKE_WEIGHTS = np.full(4, 0.25)

HIGHEST_FLOOR = 1.0 - 1e-9
"""A floor of 1 is read as this: one false alarm is then decisive, and the logarithm finite."""


def precision_bets(alarms: FloatArray, true: FloatArray, floor: float, most: int = 1) -> FloatArray:
    """Return the log factors for units of alarms, true ones of them, and at most `most` each.

    Examples
    --------
    >>> factors = np.exp(precision_bets(np.ones(2), np.array([1.0, 0.0]), 0.25))
    >>> factors.round(3).tolist()
    [[0.4, 0.6, 0.8], [1.2, 1.133, 1.067]]
    """
    floor = min(floor, HIGHEST_FLOOR)
    stakes = (1.0 - PRECISION_RATIOS) / ((1.0 - floor) * most)
    return np.asarray(np.log1p((floor * alarms - true)[:, None] * stakes))


def mean_bets(values: FloatArray, most: float) -> FloatArray:
    """Return the log factors for values of at least 0 whose mean should be at most `most`.

    Examples
    --------
    >>> np.exp(mean_bets(np.array([20.0, 40.0]), 20.0)).round(2).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.01, 1.03, 1.1, 1.3]]
    """
    return np.asarray(np.log1p((values / most - 1.0)[:, None] * STAKES))
