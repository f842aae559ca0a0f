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

LEAST_SHARE, LARGEST_SHARE = 0.02, 0.5
"""Bounds on the share of alpha spent on the capacity where a precision floor needs the rest."""

PARTS = 33
"""Values tried at once in the search for the most alarms."""


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
    share = min(max(most**-0.5, LEAST_SHARE), LARGEST_SHARE)
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
    # SciPy sums its beta-binomial tail anew for every value; one running sum serves them all.
    mass = betabinom.pmf(np.arange(n_cases + 1), n_cases, whole + 1, horizon - whole)
    return np.asarray(np.minimum(np.cumsum(mass), 1.0)[alarms])


def most_alarms(n_cases: int, scenario: Scenario, horizon: int | None, alpha: float) -> int:
    """Return the most validation alarms at which the capacity is at risk by at most ``alpha``."""
    low, high = -1, n_cases + 1
    while high - low > 1:
        # The risk rises with the alarms: a few values of it tell where it passes alpha.
        tried = np.unique(np.linspace(low + 1, high - 1, PARTS).astype(np.int64))
        safe = int(np.count_nonzero(capacity_risk(tried, n_cases, scenario, horizon) <= alpha))
        low, high = (
            low if safe == 0 else int(tried[safe - 1]),
            high if safe == len(tried) else int(tried[safe]),
        )
    return low
