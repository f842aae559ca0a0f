"""How many validation alarms leave a capacity safe: exact, from the scores alone.

Take the strictest threshold that breaks the capacity. It does not depend on the validation cases,
and every threshold that breaks the capacity raises at least its validation alarms. So one tail
probability covers all thresholds at once: no correction for how many are tried, and ties only
make it safer.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import betabinom, binom

from voros.inputs import AnyArray, FloatArray
from voros.scenario import Scenario

PARTS = 33
"""Values tried at once in the search for the most alarms."""


def capacity_risk(
    alarms: AnyArray, n_cases: int, scenario: Scenario, horizon: int | None
) -> FloatArray:
    """Probability that a threshold with at most so many validation alarms breaks the capacity.

    For the population, the strictest threshold that breaks a share kappa flags a validation case
    with probability at least kappa. For the next m cases with room for C, it is the (C+1)-th
    largest future score, and the validation cases above that are beta-binomial.

    Examples
    --------
    >>> scenario = Scenario(capacity=0.1, cost_ratio=0.05)
    >>> capacity_risk(np.array([80, 100]), 1000, scenario, None).round(3).tolist()
    [0.018, 0.527]
    """
    room = scenario.max_alarms(n_cases if horizon is None else horizon)
    if horizon is None:
        share = room / n_cases
        return np.asarray(binom.cdf(alarms, n_cases, share) if share < 1 else np.zeros(len(alarms)))
    whole = int(room)
    if whole >= horizon:
        return np.zeros(len(alarms))
    # SciPy sums its beta-binomial tail anew for every value; one running sum serves them all.
    mass = betabinom.pmf(np.arange(n_cases + 1), n_cases, whole + 1, horizon - whole)
    return np.asarray(np.minimum(np.cumsum(mass), 1.0)[alarms])


def most_alarms(n_cases: int, scenario: Scenario, horizon: int | None, level: float) -> int:
    """Return the most validation alarms at which the capacity is at risk by at most ``level``."""
    low, high = -1, n_cases + 1
    while high - low > 1:
        # The risk rises with the alarms: a few values of it tell where it passes the level.
        tried = np.unique(np.linspace(low + 1, high - 1, PARTS).astype(np.int64))
        safe = int(np.count_nonzero(capacity_risk(tried, n_cases, scenario, horizon) <= level))
        low, high = (
            low if safe == 0 else int(tried[safe - 1]),
            high if safe == len(tried) else int(tried[safe]),
        )
    return low
