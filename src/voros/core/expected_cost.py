r"""The expected normalised cost of a threshold, or of one threshold per interval of the cost ratio.

A threshold at the ROC point (h, k) has the normalised cost

.. math:: \text{cost} = t\,h + (1 - t)\,(1 - k), \qquad t = \frac{cN}{cN + P},

total cost divided by the worst possible one. It is linear in t, so all that is needed of a
distribution of costs is the probability of each interval and the mean of t on it. In every unit of
cost t is a quotient of linear functions, whose mean over an interval is elementary.
"""

from __future__ import annotations

import numpy as np

from voros.core.arrays import FloatArray
from voros.core.costs import CostDistribution, Uniform
from voros.core.operating_points import OperatingPoints
from voros.core.volume import mean_quotient

NO_SWITCH: FloatArray = np.empty(0)


def cost_moments(
    costs: CostDistribution, switches: FloatArray, negatives_per_positive: float
) -> tuple[FloatArray, FloatArray]:
    """Integrate 1 and t over the intervals that rising cost ratios ``switches`` make.

    Parameters
    ----------
    costs : CostDistribution
    switches : ndarray of shape (n_intervals - 1,)
        Rising cost ratios; each belongs to the interval above it.
    negatives_per_positive : float
        N / P of the cases whose cost is meant.

    Returns
    -------
    probability, t_integral : ndarray of shape (n_intervals,)
        Probability of each interval, and the integral of t over it; the mean of t on an interval
        is their quotient.

    Examples
    --------
    With t uniform on [0, 1], half of it lies below c = P/N and has the mean 1/4:

    >>> from voros.core.costs import uniform_t
    >>> cost_moments(uniform_t(0, 1), np.array([1 / 9]), negatives_per_positive=9.0)
    (array([0.5, 0.5]), array([0.125, 0.375]))
    """
    if isinstance(costs, Uniform):
        return _uniform_moments(costs, switches, negatives_per_positive)
    values, weights = costs.nodes(costs.from_ratio(switches, negatives_per_positive))
    ratios = costs.to_ratio(values, negatives_per_positive)
    interval = np.searchsorted(switches, ratios, side="right")
    on_tpr, on_fpr = costs.line_weights(values, negatives_per_positive)
    probability, t_integral = np.zeros((2, len(switches) + 1))
    np.add.at(probability, interval, weights)
    np.add.at(t_integral, interval, weights * on_fpr / (on_tpr + on_fpr))
    return probability, t_integral


def _uniform_moments(
    costs: Uniform, switches: FloatArray, negatives_per_positive: float
) -> tuple[FloatArray, FloatArray]:
    ratios = np.concatenate([[0.0], switches, [np.inf]])
    ends = np.clip(costs.from_ratio(ratios, negatives_per_positive), costs.low, costs.high)
    on_tpr, on_fpr = costs.line_weights(ends, negatives_per_positive)
    total = on_tpr + on_fpr
    probability = np.abs(np.diff(ends)) / (costs.high - costs.low)
    return probability, probability * mean_quotient(on_fpr[:-1], on_fpr[1:], total[:-1], total[1:])


def ratio_moments(
    costs: CostDistribution, switches: FloatArray, negatives_per_positive: float
) -> FloatArray:
    """Integrate the cost ratio over the intervals that ``switches`` make; see `cost_moments`.

    Infinite on an interval that reaches an infinite ratio, as t does at 1.

    Examples
    --------
    >>> from voros.core.costs import uniform
    >>> ratio_moments(uniform(0.2, 0.4), np.array([0.3]), negatives_per_positive=9.0)
    array([0.125, 0.175])
    """
    if isinstance(costs, Uniform):
        ratios = np.concatenate([[0.0], switches, [np.inf]])
        ends = np.clip(costs.from_ratio(ratios, negatives_per_positive), costs.low, costs.high)
        on_tpr, on_fpr = costs.line_weights(ends, negatives_per_positive)
        probability = np.abs(np.diff(ends)) / (costs.high - costs.low)
        finite = (probability > 0) & (on_tpr[:-1] > 0) & (on_tpr[1:] > 0)
        low, high = np.flatnonzero(finite), np.flatnonzero(finite) + 1
        means = np.where(probability > 0, np.inf, 0.0)
        means[finite] = probability[finite] * mean_quotient(
            on_fpr[low], on_fpr[high], on_tpr[low], on_tpr[high]
        )
        return np.asarray(means / negatives_per_positive)
    values, weights = costs.nodes(costs.from_ratio(switches, negatives_per_positive))
    ratios = costs.to_ratio(values, negatives_per_positive)
    integral = np.zeros(len(switches) + 1)
    np.add.at(integral, np.searchsorted(switches, ratios, side="right"), weights * ratios)
    return integral


def mean_t(costs: CostDistribution, negatives_per_positive: float) -> float:
    """Mean of the fractional cost t = cN/(cN + P).

    Examples
    --------
    >>> from voros.core.costs import known
    >>> mean_t(known(1 / 9), negatives_per_positive=9.0)
    0.5
    """
    return float(cost_moments(costs, NO_SWITCH, negatives_per_positive)[1][0])


def expected_costs(points: OperatingPoints, costs: CostDistribution) -> FloatArray:
    """Expected normalised cost of deploying each threshold whatever the cost turns out to be.

    Examples
    --------
    >>> from voros.core.costs import known
    >>> points = OperatingPoints.from_counts([8], [9], n_positive=10, n_negative=90)
    >>> expected_costs(points, known(1 / 9)).round(6).tolist()
    [0.5, 0.15]
    """
    t = mean_t(costs, points.negatives_per_positive)
    return t * points.fpr + (1.0 - t) * (1.0 - points.tpr)
