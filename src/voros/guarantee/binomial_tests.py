"""Binomial tests: tails, the counts that pass, and how many alarms a test needs.

From SciPy's special functions: `scipy.stats` has the same numbers, but takes longer to load than a
guarantee takes to compute.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import bdtrik, betainc, betaln

from voros.core.arrays import AnyArray, FloatArray
from voros.guarantee.tuning import TUNING

MOST_ALARMS = 1_000_000
"""Where the search for enough alarms ends."""

SAW_TOOTH = 0.2
"""How far the power can fall when one alarm is added; most with few alarms."""


def at_least(
    count: AnyArray | int, trials: AnyArray | int, chance: FloatArray | float
) -> FloatArray:
    """Probability of at least ``count`` of ``trials``, whatever the count.

    Examples
    --------
    >>> at_least(np.array([-1, 0, 9, 11]), 10, 0.5).round(4).tolist()
    [1.0, 1.0, 0.0107, 0.0]
    """
    inside = np.clip(count, 1, np.maximum(trials, 1))
    found = betainc(inside, np.maximum(trials - inside + 1.0, 1.0), chance)
    return np.asarray(
        np.where(np.less(count, 1), 1.0, np.where(np.greater(count, trials), 0.0, found))
    )


def fewest_at(alpha: float, trials: AnyArray, chance: float) -> AnyArray:
    """Return the least counts with a probability of at most ``alpha`` to be reached.

    Examples
    --------
    >>> fewest_at(0.05, np.array([4, 10, 100]), 0.5).tolist()
    [5, 9, 59]
    """
    about = bdtrik(1.0 - alpha, trials, chance)
    found = np.clip(np.nan_to_num(about, nan=0.0), 0, trials).astype(np.int64)
    while (high := at_least(found, trials, chance) > alpha).any():
        found = np.where(high, found + 1, found)
    while (low := (at_least(found - 1, trials, chance) <= alpha) & (found > 1)).any():
        found = np.where(low, found - 1, found)
    return np.asarray(found)


def passing(
    alarms: AnyArray, floor: float, true_precision: float, alpha: float
) -> tuple[AnyArray, FloatArray]:
    """Right alarms that pass, and the probability of as many at the true precision."""
    right = fewest_at(alpha, alarms, floor)
    return right, at_least(right, alarms, true_precision)


@lru_cache(maxsize=1024)
def fewest_alarms(floor: float, true_precision: float, alpha: float, power: float) -> int:
    """Return the least number of alarms with which the test passes as often as it should.

    Examples
    --------
    >>> fewest_alarms(0.5, 0.75, alpha=0.05, power=0.8)
    23
    """

    def power_at(alarms: AnyArray) -> FloatArray:
        return passing(alarms, floor, true_precision, alpha)[1]

    low = 1
    while low < MOST_ALARMS:
        # The power is a saw-tooth: nearly enough at one end may be enough somewhere before.
        if power_at(np.array([2 * low]))[0] >= power - SAW_TOOTH:
            alarms = np.arange(low, 2 * low)
            enough = power_at(alarms) >= power
            if enough.any():
                return int(alarms[np.argmax(enough)])
        low *= 2
    raise ValueError(
        f"true_precision={true_precision!r} is too close to min_precision={floor!r}: more than "
        f"{MOST_ALARMS:,} alarms would be needed"
    )


def beta_binomial_mass(count: AnyArray, trials: int, a: int, b: int) -> FloatArray:
    """Probabilities of counts whose chance is beta distributed.

    Examples
    --------
    >>> beta_binomial_mass(np.arange(3), 2, 1, 1).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    ways = -np.log(trials + 1) - betaln(trials - count + 1, count + 1)
    return np.asarray(np.exp(ways + betaln(count + a, trials - count + b) - betaln(a, b)))


def beta_binomial_moments(trials: int, a: int, b: int) -> tuple[float, float]:
    """Mean and standard deviation of the same.

    Examples
    --------
    >>> beta_binomial_moments(2, 1, 1)
    (1.0, 0.816496580927726)
    """
    share, total = a / (a + b), a + b
    variance = trials * share * (1 - share) * (total + trials) / (total + 1)
    return trials * share, float(np.sqrt(variance))


def beta_binomial_cdf(count: AnyArray, trials: int, a: int, b: int) -> FloatArray:
    """Probability of at most ``count`` of ``trials``, by one running sum for all values.

    SciPy sums anew for every value. Far from the mean, where the sum is within rounding, nothing
    is computed.

    Examples
    --------
    >>> beta_binomial_cdf(np.array([0, 1, 2]), 2, 1, 1).round(6).tolist()
    [0.333333, 0.666667, 1.0]
    """
    mean, deviation = beta_binomial_moments(trials, a, b)
    spread = TUNING.far * deviation + 1
    low, high = max(0, int(mean - spread)), min(trials, int(mean + spread) + 1)
    mass = np.append(0.0, beta_binomial_mass(np.arange(low, high + 1), trials, a, b))
    return np.asarray(np.minimum(np.cumsum(mass), 1.0)[np.clip(count - low + 1, 0, len(mass) - 1)])
