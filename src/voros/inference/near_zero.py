"""Intervals of scores that may be 0: where it is open whether the limits leave any threshold.

A score is 0 where nothing but never alarm is within the limits. It is the best of many
thresholds, and near 0 resamples say too little about it: whatever threshold was lucky stays lucky
in them, so that too few of them score 0. There the interval begins at 0.

It ends at the upper percentile, and where many resamples score 0 not before an exact bound: the
score of the curve whose every threshold has the upper Clopper-Pearson limit of its precision. The
threshold that is best in the population is fixed, so the limit at that one holds as often as it
says, and the best of all such limits is no lower. The bound is for one cost; over a range of costs
it holds for each of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voros.core.exact_intervals import binomial_limits
from voros.core.grouped_cases import seen_before
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.promise import Guarantee
from voros.inference.resampling import Ranked, Statistic
from voros.policy.allowed import deployable
from voros.typing import AnyArray

CLOSE_TO_ZERO = 0.25
"""A low end below this share of the estimate is close enough to 0 to ask whether it should be 0."""


def may_be_zero(
    ranked: Ranked,
    scenario: Scenario,
    *,
    zeros: float,
    low_share: float,
    tail: float,
    grouped: bool,
) -> bool:
    """Whether a score of 0 cannot be excluded.

    It cannot where the share ``zeros`` of the resamples that score 0 is more than a tail; nor
    where some do, or the low end is a small share ``low_share`` of the estimate, and no threshold
    is certified to be within the limits. Grouped or reweighted cases have no sharp test for that:
    there one resample that scores 0 is enough.
    """
    if zeros > tail:
        return True
    if zeros == 0 and low_share >= CLOSE_TO_ZERO:
        return False
    if grouped or scenario.prevalence is not None:
        return zeros > 0
    ranks = np.arange(len(ranked.positive), 0, -1)
    points = OperatingPoints.from_scores(ranked.positive, ranks)
    return not deployable(points, scenario, Guarantee(1 - tail)).can_alarm


def upper_bound(ranked: Ranked, units: AnyArray, compute: Statistic, error: float) -> float:
    """Return the score of the curve that has every precision's upper limit, at this error."""
    return float(compute([optimistic_points(ranked, units, error)])[0])


def optimistic_points(ranked: Ranked, units: AnyArray, error: float) -> OperatingPoints:
    """Count alarms as if every threshold had the upper Clopper-Pearson limit of its precision.

    Where cases of one group are flagged together they count as one: of alarms a_g of the groups,
    as many as (sum of a_g)^2 / sum of a_g^2 are independent at the worst.

    Examples
    --------
    No true positive in 10 alarms, and 3.1 of them might have been:

    >>> ranked = Ranked.of(np.arange(20) >= 10, np.arange(20.0, 0, -1))
    >>> points = optimistic_points(ranked, np.arange(20), 0.025)
    >>> round(float(points.tp[10]), 2)
    3.08
    """
    # Every rank, tied or not: a threshold that happens not to be there can only raise the bound.
    alarms = np.arange(1.0, len(ranked.positive) + 1)
    caught = np.cumsum(ranked.positive).astype(np.float64)
    squares = np.cumsum(2 * seen_before(units[ranked.order]) + 1)
    kept = alarms / squares
    # The upper of two limits, each of which is missed with this error.
    share = binomial_limits(caught * kept, alarms * kept, 1 - 2 * error)[1]
    n_positive = int(np.count_nonzero(ranked.positive))
    n_negative = len(ranked.positive) - n_positive
    tp = np.maximum.accumulate(np.minimum(alarms * share, n_positive))
    fp = np.clip(alarms - tp, 0, n_negative)
    fp = np.minimum.accumulate(fp[::-1])[::-1]
    points = OperatingPoints.from_counts(tp, fp, n_positive, n_negative)
    # Its thresholds have no score, so that no rule on periods forbids one: the bound stays above.
    return points if ranked.by_period is None else replace(points, by_period=ranked.by_period)
