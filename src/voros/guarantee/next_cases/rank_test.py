"""The test of the one threshold at a fixed rank, for the next cases.

A fixed-sequence test chooses its threshold by the labels, and needs more true positives for that.
A threshold at a rank that is fixed beforehand breaks its floor only if validation passes and the
next cases break it: the probability is a product of two chances. The proof is in the documentation
(guarantees.md).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import bdtrc, ndtri

from voros.guarantee.next_cases.fixed_sequence import FixedSequence
from voros.guarantee.next_cases.one_threshold import normal_margin
from voros.guarantee.tuning import TUNING
from voros.typing import FloatArray


@lru_cache(maxsize=256)
def needed_above(plan: FixedSequence) -> int:
    """Return the fewest true positives, of the cases above the start, that may pass.

    It is the start itself, which cannot be reached, where not even all of them are enough.
    """
    bound, low, high = RankRisk(plan), 0, plan.start
    # As if all counts were normal.
    margin = normal_margin(plan.alpha, plan.horizon / plan.n_cases)
    spread = np.sqrt(plan.min_precision * (1 - plan.min_precision) * plan.start)
    tried = min(int(plan.min_precision * plan.start + margin * spread), plan.start - 1)
    # As normal deviates, risks differ by about 1 in a standard deviation of true positives.
    deviation, step = plan.deviation(plan.start), 1
    while high - low > 1:
        risk = bound.risk(tried)
        low, high = (low, tried) if risk <= plan.alpha else (tried, high)
        apart = abs(ndtri(min(risk, 0.5)) - ndtri(plan.alpha)) * deviation
        away, step = max(int(np.rint(apart)), step), 2 * step
        tried = tried - away if tried == high else tried + away
        tried = tried if low < tried < high else (low + high) // 2
    return high


class RankRisk:
    """Bound on the risk of the threshold at a rank, for any true positives that it needs.

    Parameters
    ----------
    plan : FixedSequence
        Of which the start is the rank.
    """

    def __init__(self, plan: FixedSequence) -> None:
        places, weights = plan.places, plan.risky.weights
        self._start, self._place_weights = plan.start, plan.place_weights
        # How many cases to expect, with ties, between the rank and its threshold.
        last = -np.log(TUNING.far_off * plan.alpha)
        step = max(TUNING.gap_step, TUNING.gap_part * plan.start)
        near = np.arange(0.0, TUNING.near_gaps, min(step, TUNING.near_gaps))
        gaps = np.append(near, np.geomspace(TUNING.near_gaps, last, TUNING.far_gaps))
        shares = places + gaps[1:, None] / (plan.n_cases - plan.start) * (1 - places)
        taken = np.linspace(0, len(weights) - 1, TUNING.rank_chances).astype(np.int64)
        # Of the chances of a broken floor these are enough.
        self._precision = precision_above(plan, shares)[..., taken]
        # The largest chance of a broken floor at precisions above the one before, times the chance
        # that no case lies between.
        chances = 1 - np.append(0.0, np.cumsum(weights)[taken[:-1]])
        self._weights = np.exp(-gaps[:-1])[:, None, None] * chances
        self._far = float(np.exp(-gaps[-1])) + plan.set_aside

    def risk(self, needed: int) -> float:
        """Bound the probability that the threshold passes and the next cases break the floor.

        ``needed`` true positives, at least 1, must be reached among the cases above the rank.
        """
        passing = bdtrc(needed - 1, self._start - 1, self._precision)
        worst = (passing * self._weights).max(axis=(0, 2))
        return float(self._place_weights @ worst) + self._far


def precision_above(plan: FixedSequence, shares: FloatArray) -> FloatArray:
    """Precision above each place of the rank, where the threshold at a share is a risky one.

    All its positives lie above the place of the rank, at worst. Where no risky precision is known,
    everything passes.
    """
    precision = np.minimum(plan.risky.at(shares) * (shares / plan.places)[..., None], 1.0)
    return np.where(shares[..., None] < plan.risky.shares[-1], precision, 1.0)
