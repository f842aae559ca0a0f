"""How likely the next cases break a precision floor, and at which precision that is so likely.

At a threshold that flags a share u of all cases, right with probability rho, the alarms among the
next cases are binomial, and so are the right ones among them. The chance f(u, rho) that the next
cases are below the floor falls with rho, but neither rises nor falls with u throughout. Its
falling majorant, the largest over this and all greater shares, is what the bound on a walk needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from voros.core.arrays import AnyArray, FloatArray
from voros.core.scenario import as_fraction
from voros.guarantee.binomial_bounds import (
    CUT_OFF,
    Means,
    TailTable,
    means,
    parts_between,
    rising_chances,
    window,
)

LOWEST_DEVIATE = -3.0
"""The normal deviate of the largest chance of a broken floor that is looked at."""

DEVIATE_STEP = 0.02
"""Chances of a broken floor are so far apart, as normal deviates."""

IGNORED_CHANCE = 1e-3
"""Part of alpha below which chances of a broken floor are counted in full instead."""

PRECISION_STEP, MANY_ALARMS = 0.02, 3000.0
"""Precisions are apart by this part of their distance to the floor, by more with many alarms."""

STEP_NEAR_ONE = 0.125
"""Near 1 they are apart by this part of their distance to 1."""

NEAREST = 0.03
"""The precision next to the floor is this many standard deviations away."""

BELOW = np.array([0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0])
"""Precisions below the floor, in standard deviations."""


def needed_to_keep(alarms: AnyArray, min_precision: float) -> AnyArray:
    """Return the fewest right alarms that keep a precision floor.

    Examples
    --------
    >>> needed_to_keep(np.array([0, 1, 2, 3, 4]), 0.5).tolist()
    [0, 1, 1, 2, 2]
    """
    floor = as_fraction(min_precision)
    return np.asarray(-(-floor.numerator * alarms // floor.denominator))


def precision_grid(min_precision: float, deviation: float) -> FloatArray:
    """Return precisions from 0 to 1, ever closer towards the floor and towards 1.

    Parameters
    ----------
    min_precision : float
        The floor.
    deviation : float
        The smallest standard deviation of an observed precision that matters.
    """
    half = (1 - min_precision) / 2
    nearest = min(NEAREST * deviation, half)
    alarms = min_precision * (1 - min_precision) / deviation**2
    step = PRECISION_STEP * max(1.0, alarms / MANY_ALARMS) ** 0.25
    steps = int(np.ceil(np.log(half / nearest) / step)) + 1
    above = min_precision + np.geomspace(nearest, half, steps)
    near_one = 1 - half * np.exp(-np.arange(1, 140) * STEP_NEAR_ONE)
    below = min_precision - deviation * BELOW
    low = min_precision * np.arange(10) / 10
    ends = [min_precision, 1.0]
    return np.unique(np.concatenate([low, below[below > 0], above, near_one, ends]))


def broken_floor_chance(
    shares: FloatArray, precision: FloatArray, horizon: int, min_precision: float
) -> FloatArray:
    """Probability that the next cases are below the floor at a threshold.

    Parameters
    ----------
    shares : ndarray
        Of all cases, that the threshold flags; rising.
    precision : ndarray
        Chance of such an alarm to be right.
    horizon : int
        Number of next cases.
    min_precision : float
        The floor.

    Returns
    -------
    ndarray of shape (n_shares, n_precisions)

    Examples
    --------
    One case, flagged by 1/2, wrong by 1/4:

    >>> broken_floor_chance(np.array([0.5]), np.array([0.75]), 1, 0.4).round(4).tolist()
    [[0.125]]
    """
    table = _keeping(float(shares[-1]), precision, horizon, min_precision)
    return 1.0 - means(table, 0, horizon, shares).values


def _keeping(share: float, precision: FloatArray, horizon: int, min_precision: float) -> TailTable:
    most = window(horizon, share)[1]
    return TailTable(0, needed_to_keep(np.arange(most + 1), min_precision), precision)


@dataclass(frozen=True)
class RiskyPrecisions:
    """The precision at which the next cases break the floor with a given chance, or more.

    Attributes
    ----------
    precision : ndarray
        A grid of precisions.
    shares : ndarray
        Rising shares of alarms.
    weights : ndarray of shape (n_chances,)
        How much of all chances each stands for; the largest chance first.
    ignored : float
        Chances below all of them.
    index : ndarray of int, shape (n_shares, n_chances)
        Where in `precision` the risky one is, rounded up; 0 where no precision is so bad. It falls
        with the share, and holds up to the next share.
    """

    precision: FloatArray
    shares: FloatArray
    weights: FloatArray
    ignored: float
    index: AnyArray

    def at(self, shares: FloatArray) -> AnyArray:
        """Return the index at any shares within the range, one row of chances for each."""
        row = np.searchsorted(self.shares, shares, side="right") - 1
        return self.index[np.clip(row, 0, len(self.index) - 1)]


def risky_precisions(
    shares: tuple[float, float], n_cases: int, horizon: int, min_precision: float, alpha: float
) -> RiskyPrecisions:
    """Bound the risky precisions from above, over a range of shares of alarms."""
    coarse = rising_chances(*shares, horizon)
    variance = min_precision * (1 - min_precision) / (shares[1] * max(n_cases, horizon))
    precision = precision_grid(min_precision, float(np.sqrt(variance)))
    chance = _falling_chance(coarse, precision, horizon, min_precision)
    deviates = np.arange(
        LOWEST_DEVIATE, float(norm.isf(IGNORED_CHANCE * alpha)) + DEVIATE_STEP, DEVIATE_STEP
    )
    levels = norm.sf(deviates)
    above = [np.searchsorted(-row, -levels, side="left") for row in chance]
    index = np.minimum(above, len(precision) - 1)
    weights = -np.diff(levels, prepend=1.0)
    return RiskyPrecisions(precision, parts_between(coarse), weights, float(levels[-1]), index)


def _falling_chance(
    shares: FloatArray, precision: FloatArray, horizon: int, min_precision: float
) -> FloatArray:
    """Bound, from each part between the shares on, the chance at this and all greater shares."""
    table = _keeping(float(shares[-1]), precision, horizon, min_precision)
    keeping = means(table, 0, horizon, shares)
    within = Means(1.0 - keeping.values, keeping.slack).within_parts()
    falling = np.maximum.accumulate(within[::-1], axis=0)[::-1]
    return np.minimum.accumulate(falling + CUT_OFF, axis=1)
