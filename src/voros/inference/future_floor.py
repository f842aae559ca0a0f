"""How likely the next cases break a precision floor, and at which precision that is so likely.

At a threshold that flags a share u of all cases, right with probability rho, the alarms among the
next cases are binomial, and so are the right ones among them. Everything that is promised of the
next cases is an average over this chance.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr
from scipy.stats import binom, norm

from voros.inputs import AnyArray, FloatArray
from voros.scenario import as_fraction

CHANCES = np.arange(-3.0, 6.1, 0.2)
"""Chances of a broken floor, as normal deviates, high chances first; the grid of all integrals."""

SPREAD = 6.5
"""Standard deviations after which a binomial is cut off: less than 1e-10 lies beyond."""

MOST_COUNTS = 200
"""A binomial that is wider than this is represented by so many of its values."""

PRECISIONS = 48
"""Precisions between which the chance of a broken floor is interpolated."""


def right_below(alarms: AnyArray, min_precision: float) -> AnyArray:
    """Return the most right alarms that break a precision floor; -1 where nothing can.

    Examples
    --------
    >>> right_below(np.array([0, 1, 2, 3, 4]), 0.5).tolist()
    [-1, 0, 0, 1, 1]
    """
    floor = as_fraction(min_precision)
    return np.asarray(-(-floor.numerator * alarms // floor.denominator) - 1)


def likely_counts(n: int, share: float) -> tuple[AnyArray, int]:
    """Return the likely values of a binomial, and the step between them where there are many."""
    spread = SPREAD * np.sqrt(n * share * (1 - share)) + 2
    low, high = max(0, int(n * share - spread)), min(n, int(n * share + spread) + 1)
    step = 1 + (high - low) // MOST_COUNTS
    # An odd step meets the remainders of the usual denominators alike.
    step += step % 2 == 0
    return np.arange(low, high + 1, step), step


def broken_floor_chance(
    share: float, precision: FloatArray, horizon: int, min_precision: float
) -> FloatArray:
    """Probability that the next cases are below the floor at a threshold.

    Parameters
    ----------
    share : float
        Of all cases, that the threshold flags.
    precision : ndarray
        Chance of such an alarm to be right.
    horizon : int
        Number of next cases.
    min_precision : float
        The floor.

    Examples
    --------
    One case, flagged by 1/2, wrong by 1/4:

    >>> broken_floor_chance(0.5, np.array([0.75]), 1, 0.4).round(4).tolist()
    [0.125]
    """
    alarms, step = likely_counts(horizon, share)
    alarms = alarms[alarms > 0]
    worst = right_below(alarms, min_precision).astype(np.float64)
    broken = bdtr(worst[:, None], alarms[:, None], precision)
    return np.asarray(step * binom.pmf(alarms, horizon, share) @ broken)


def risky_precisions(share: float, horizon: int, min_precision: float) -> FloatArray:
    """Return the largest precision for each of `CHANCES`; 0 where no precision is so bad.

    Examples
    --------
    Where the floor is broken in half of all futures, the precision is near the floor:

    >>> middle = int(np.flatnonzero(CHANCES.round(6) == 0)[0])
    >>> round(float(risky_precisions(0.1, 10_000, 0.3)[middle]), 3)
    0.3
    """
    spread = np.sqrt(min_precision * (1 - min_precision) / (horizon * share))
    low = max(min_precision + (CHANCES[0] - 0.7) * spread, 0.0)
    high = min(min_precision + (CHANCES[-1] + 1.0) * spread, 1.0)
    precision = np.linspace(low, high, PRECISIONS)
    # Chances fall ever faster towards a precision of 1, where nothing can break.
    nearer = high - (high - precision[-2]) * 0.5 ** np.arange(1, 25)
    precision = np.insert(precision, -1, nearer)
    chance = broken_floor_chance(share, precision, horizon, min_precision)
    deviate = np.maximum.accumulate(norm.isf(np.clip(chance, 1e-300, 1 - 1e-16)))
    found = np.interp(CHANCES, deviate, precision)
    return np.where(deviate[0] > CHANCES, 0.0, found)
