"""The test of the one threshold at a fixed rank, for the next cases.

A fixed-sequence test deploys the last threshold that passes, and pays for having looked for it. A
threshold at a rank that is fixed beforehand is not looked for: its floor is broken only if
validation passes and the next cases break it, which is a product of two chances. The argument is
in the documentation (guarantees.md).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from voros.guarantee.binomial_tests import at_least
from voros.guarantee.tuning import TUNING
from voros.guarantee.walk_risk import Walk
from voros.typing import FloatArray


@lru_cache(maxsize=256)
def needed_above(plan: Walk) -> int:
    """Return the fewest true positives, of the cases above the start, that may pass.

    It is the start itself, which cannot be reached, where not even all of them would do.
    """
    low, high = 0, plan.start
    step, tried = 1, min(rough_needed_above(plan), plan.start - 1)
    # From a guess in doubling steps, then by halves.
    while high - low > 1:
        safe = rank_risk(plan, tried) <= plan.alpha
        low, high = (low, tried) if safe else (tried, high)
        step *= 2
        far = high - low > step
        tried = (high - step if safe else low + step) if far else (low + high) // 2
    return high


def rough_needed_above(plan: Walk) -> int:
    """Return about the same at once, by the normal distribution: good enough to plan by."""
    spread = np.sqrt(plan.n_cases / plan.horizon)
    excess = np.linspace(-1.0, TUNING.rough_excess, TUNING.rough_steps) * max(spread, 1.0)
    breaking = ndtr(-excess / spread)
    margins = np.linspace(0.0, excess[-1], TUNING.rough_steps)
    risks = (ndtr(excess - margins[:, None]) * breaking).max(axis=1)
    margin = margins[int(np.argmax(risks <= plan.alpha))]
    unit = np.sqrt(plan.min_precision * (1 - plan.min_precision) * plan.start)
    return int(min(np.ceil(plan.min_precision * plan.start + margin * unit), plan.start))


def rank_risk(plan: Walk, needed: int) -> float:
    """Bound the probability that the threshold at the start passes and the next cases break it.

    Parameters
    ----------
    plan : Walk
        Of which the start is the rank.
    needed : int
        True positives that must be reached among the cases above the rank.
    """
    risky, places = plan.risky, plan.places
    # What the chance of a broken floor is at most, where the precision is above the one before.
    chances = 1 - np.append(0.0, np.cumsum(risky.weights)[:-1])
    gaps = _gaps(plan)
    worst = np.zeros(len(places))
    for gap, wider in pairwise(gaps.tolist()):
        shares = places + wider / (plan.n_cases - plan.start) * (1 - places)
        passing = _passing(plan, shares, needed)
        worst = np.maximum(worst, np.exp(-gap) * (passing * chances).max(axis=1))
    return float(plan.place_weights @ worst + np.exp(-gaps[-1])) + plan.set_aside


def _gaps(plan: Walk) -> FloatArray:
    """Return how many cases to expect, with ties, between the rank and its threshold."""
    last = -np.log(TUNING.far_off * plan.alpha)
    near = np.arange(0.0, TUNING.near_gaps, TUNING.gap_step)
    return np.append(near, np.geomspace(TUNING.near_gaps, last, TUNING.far_gaps))


def _passing(plan: Walk, shares: FloatArray, needed: int) -> FloatArray:
    """Chance to pass where the threshold at each share is as good as the risky precision there.

    All its positives lie above the place of the rank, at worst.
    """
    risky = plan.risky
    some = risky.index[risky.rows(shares)] > 0
    precision = np.minimum(risky.at(shares) * (shares / plan.places)[:, None], 1.0)
    passing = np.where(some, at_least(needed, plan.start - 1, precision), 0.0)
    return np.where(shares[:, None] < risky.shares[-1], passing, 1.0)
