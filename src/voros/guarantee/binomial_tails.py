"""Binomial tails and their inverse from SciPy's special functions.

`scipy.stats` has the same numbers, but takes longer to load than a guarantee takes to compute.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtrik, betainc, betaln

from voros.core.arrays import AnyArray, FloatArray


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
