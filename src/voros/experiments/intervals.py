"""How sure the test costs are: patients resampled, thresholds fixed, strategies paired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from voros.expected_cost import cost_moments
from voros.experiments.folder import Predictions
from voros.experiments.study import GUARANTEED_BY, Deployed, Scored
from voros.inputs import FloatArray
from voros.policy import ThresholdPolicy

RESAMPLES = 2000
LEVEL = 0.95
BATCH = 200
"""Resamples drawn at a time, so that the counts fit in memory whatever the cohort."""


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
            return "the same choice"
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
    resampled: dict[str, list[FloatArray]] = {one.strategy: [] for one in deployed}
    for weights in _patient_weights(test.sample, n_resamples, random_state):
        for one in deployed:
            costs = policy_costs(one.policy, test.predictions[one.model], weights)
            resampled[one.strategy].append(costs)
    draws = {strategy: np.concatenate(costs) for strategy, costs in resampled.items()}
    point = {one.strategy: one.test.expected_cost for one in deployed}
    return {
        strategy: CostIntervals(
            _interval(point[strategy], draws[strategy]),
            _interval(
                point[strategy] - point[beside],
                draws[strategy] - draws[beside],
            ),
        )
        for strategy in draws
    }


def _interval(estimate: float, draws: FloatArray) -> Interval:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(estimate, float(low), float(high))


def _patient_weights(
    sample: Predictions, n_resamples: int, random_state: int
) -> Iterator[FloatArray]:
    """Yield how often each case is in each resample, a batch of resamples at a time."""
    patients, codes = np.unique(sample.patient, return_inverse=True)
    rng = np.random.default_rng(random_state)
    share = np.full(len(patients), 1 / len(patients))
    for start in range(0, n_resamples, BATCH):
        drawn = rng.multinomial(len(patients), share, size=min(BATCH, n_resamples - start))
        yield drawn[:, codes].astype(np.float64)


def policy_costs(
    policy: ThresholdPolicy, predictions: Predictions, weights: FloatArray
) -> FloatArray:
    """Return the expected cost of fixed thresholds on each weighting of the cases.

    Parameters
    ----------
    policy : ThresholdPolicy
    predictions : Predictions
        Of the policy's model.
    weights : ndarray of shape (n_resamples, n_cases)
    """
    alarm = (predictions.score[:, None] >= policy.thresholds).astype(np.float64)
    positive = predictions.y_true
    n_positive = weights[:, positive].sum(axis=1)
    n_negative = weights[:, ~positive].sum(axis=1)
    tpr = weights[:, positive] @ alarm[positive] / n_positive[:, None]
    fpr = weights[:, ~positive] @ alarm[~positive] / n_negative[:, None]
    moments = [
        cost_moments(policy.scenario.costs, policy.switches, odds)
        for odds in (n_negative / n_positive).tolist()
    ]
    probability, t_integral = (np.array(part) for part in zip(*moments, strict=True))
    return np.asarray((t_integral * fpr + (probability - t_integral) * (1 - tpr)).sum(axis=1))
