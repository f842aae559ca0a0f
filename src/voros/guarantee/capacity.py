"""How many validation alarms leave a capacity safe: exact, from the scores alone.

Take the strictest threshold that breaks the capacity. It does not depend on the validation cases,
and every threshold that breaks the capacity raises at least its validation alarms. So one tail
probability covers all thresholds at once: no correction for how many are tried, and ties only
make it safer.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import betabinom, binom

from voros.core.arrays import AnyArray, FloatArray
from voros.core.scenario import Scenario
from voros.guarantee.tuning import TUNING


def shared_alpha(
    n_cases: int, scenario: Scenario, horizon: int | None, alpha: float
) -> tuple[float, float]:
    """Share alpha between the precision floor and the capacity; all of it where one binds alone.

    Examples
    --------
    >>> both = Scenario(min_precision=0.5, capacity=0.1, cost_ratio=0.05)
    >>> [round(share, 6) for share in shared_alpha(1000, both, None, 0.05)]
    [0.045, 0.005]
    """
    cases = n_cases if horizon is None else horizon
    most = scenario.max_alarms(cases)
    if scenario.min_precision == 0:
        return 0.0, alpha
    if most >= cases:
        return alpha, 0.0
    # Few alarms vary much: then a small share would leave little of the capacity.
    share = min(max(most**-0.5, TUNING.least_capacity_share), TUNING.largest_capacity_share)
    return (1 - share) * alpha, share * alpha


def capacity_risk(
    alarms: AnyArray, n_cases: int, scenario: Scenario, horizon: int | None
) -> FloatArray:
    """Probability that a threshold with at most these validation alarms breaks the capacity.

    For the population, the strictest threshold that breaks a share kappa flags a validation case
    with probability at least kappa. For the next cases and a capacity of C alarms, it is the
    (C+1)-th largest future score, and the validation cases above that are beta-binomial.

    Examples
    --------
    >>> scenario = Scenario(capacity=0.1, cost_ratio=0.05)
    >>> capacity_risk(np.array([80, 100]), 1000, scenario, None).round(3).tolist()
    [0.018, 0.527]
    """
    most = scenario.max_alarms(n_cases if horizon is None else horizon)
    if horizon is None:
        share = most / n_cases
        return np.asarray(binom.cdf(alarms, n_cases, share) if share < 1 else np.zeros(len(alarms)))
    whole = int(most)
    if whole >= horizon:
        return np.zeros(len(alarms))
    return beta_binomial_cdf(alarms, n_cases, whole + 1, horizon - whole)


def beta_binomial_cdf(count: AnyArray, trials: int, a: int, b: int) -> FloatArray:
    """Probability of at most ``count`` of ``trials``, by one running sum for all values.

    SciPy sums anew for every value. Far from the mean, where the sum is within rounding, nothing
    is computed.

    Examples
    --------
    >>> beta_binomial_cdf(np.array([0, 1, 2]), 2, 1, 1).round(6).tolist()
    [0.333333, 0.666667, 1.0]
    """
    mean, spread = betabinom.mean(trials, a, b), TUNING.far * betabinom.std(trials, a, b) + 1
    low, high = max(0, int(mean - spread)), min(trials, int(mean + spread) + 1)
    mass = np.append(0.0, betabinom.pmf(np.arange(low, high + 1), trials, a, b))
    return np.asarray(np.minimum(np.cumsum(mass), 1.0)[np.clip(count - low + 1, 0, len(mass) - 1)])


def most_alarms(n_cases: int, scenario: Scenario, horizon: int | None, alpha: float) -> int:
    """Return the most validation alarms at which the capacity is at risk by at most ``alpha``."""
    low, high = -1, n_cases + 1
    while high - low > 1:
        # The risk rises with the alarms: a few values of it tell where it passes alpha.
        tried = np.unique(np.linspace(low + 1, high - 1, TUNING.tried_at_once).astype(np.int64))
        safe = int(np.count_nonzero(capacity_risk(tried, n_cases, scenario, horizon) <= alpha))
        low, high = (
            low if safe == 0 else int(tried[safe - 1]),
            high if safe == len(tried) else int(tried[safe]),
        )
    return low
