"""How sure the test costs are: patients resampled, thresholds fixed, strategies paired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voros.inference import Bootstrap, bootstrap
from voros.studies.experiments.study import GUARANTEED_BY, Deployed, Scored

RESAMPLES = 2000
LEVEL = 0.95
SAME_CHOICE = "the same choice"


@dataclass(frozen=True)
class Interval:
    """A number and where 95 % of its resamples lie."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        """Show the number, then its interval."""
        return f"{self.estimate:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class CostIntervals:
    """The test cost of one strategy, and by how much it exceeds that of another.

    Attributes
    ----------
    cost : Interval
    excess : Interval
        Cost less that of the other on the same resamples; above 0 means dearer.
    """

    cost: Interval
    excess: Interval

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
            test.sample.y_true,
            test.predictions[one.model].score,
            one.policy.scenario,
            metric=one.policy,
            n_resamples=n_resamples,
            confidence=LEVEL,
            method="percentile",
            groups=test.sample.patient,
            # The same seed for all: they are paired, resample by resample.
            random_state=random_state,
        )
        for one in deployed
    }
    return {
        strategy: CostIntervals(
            Interval(found.estimate, found.low, found.high),
            _difference(found, draws[beside]),
        )
        for strategy, found in draws.items()
    }


def _difference(found: Bootstrap, other: Bootstrap) -> Interval:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(found.distribution - other.distribution, [tail, 1 - tail])
    return Interval(found.estimate - other.estimate, float(low), float(high))
