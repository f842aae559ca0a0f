"""Intervals of test costs: patients resampled, thresholds fixed, strategies paired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voros import Bootstrap, bootstrap
from voros.studies.experiments.study import CONFIDENCE, GUARANTEED_BY, Deployed, Scored

RESAMPLES = 2000
SAME_CHOICE = "the same choice"


@dataclass(frozen=True)
class CostInterval:
    """A number and where 95 % of its resamples lie."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class CostIntervals:
    """The test cost of one strategy, and by how much it exceeds that of another.

    Attributes
    ----------
    cost : CostInterval
    excess : CostInterval
        Cost less that of the other on the same resamples; above 0 means dearer.
    """

    cost: CostInterval
    excess: CostInterval

    @property
    def verdict(self) -> str:
        """What the paired interval says."""
        if self.excess.low == self.excess.high == 0:
            return SAME_CHOICE
        if self.excess.low > 0:
            return "dearer"
        return "cheaper" if self.excess.high < 0 else "no clear difference"


def cost_intervals(
    deployed: Sequence[Deployed],
    test: Scored,
    random_state: int = 0,
    n_resamples: int = RESAMPLES,
    beside: str = GUARANTEED_BY,
) -> dict[str, CostIntervals]:
    """Return intervals for the strategies of one scenario, by strategy.

    Whole patients are drawn with replacement, outcome and all, so prevalence varies as it would in
    another year; the thresholds stay as validation fixed them.

    Parameters
    ----------
    deployed : sequence of Deployed
        Of one scenario.
    test : Scored
    random_state : int, default 0
    n_resamples : int, default 2000
    beside : str, default "partial_voros"
        The strategy that the others are compared with.
    """
    draws = {
        one.strategy: bootstrap(
            test.y_true,
            test.scores[one.model],
            one.policy.scenario,
            metric=one.policy,
            n_resamples=n_resamples,
            confidence=CONFIDENCE,
            method="percentile",
            groups=test.patient,
            # The same seed for all: they are paired, resample by resample.
            random_state=random_state,
        )
        for one in deployed
    }
    return {
        strategy: CostIntervals(
            CostInterval(found.estimate, found.low, found.high),
            _difference(found, draws[beside]),
        )
        for strategy, found in draws.items()
    }


def _difference(found: Bootstrap, other: Bootstrap) -> CostInterval:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found.distribution - other.distribution, [tail, 1 - tail])
    return CostInterval(found.estimate - other.estimate, float(low), float(high))
