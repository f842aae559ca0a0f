r"""Intervals for precision, recall, alarms and cost at thresholds, from exact binomial limits.

At one threshold, precision, recall and the share of alarms are binomial shares. The limits of
Clopper and Pearson (1934) hold with at least the stated confidence for every sample size, also
where a count is 0 or includes all cases. Where the threshold depends on the cost, the limits of a
mean over the costs are the means of the limits: exact if the counts at the thresholds rise and fall
together, and wider than needed otherwise.

A cost is a weighted sum of two shares, :math:`a\,p + b\,q`. Its limits recover the variance from
those of the shares (MOVER; Zou and Donner, 2008):

.. math:: L = a\hat p + b\hat q - \sqrt{a^2(\hat p - l_p)^2 + b^2(\hat q - l_q)^2}.

Where a group, such as a patient, has several cases, the limits are those of Korn and Graubard
(`voros.core.clusters`), and the term :math:`2 r\,a(\hat p - l_p)\,b(\hat q - l_q)` is added under
the root, with r the correlation of the two shares over groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from voros.core.clusters import GroupedCounts, GroupedShare, allowance
from voros.core.exact_limits import is_whole
from voros.typing import AnyArray, FloatArray

Interval: TypeAlias = tuple[float, float]
UNKNOWN: Interval = (float("nan"), float("nan"))
PER_CASES = 1000
"""Costs are stated per this number of cases."""


def binomial_limits(
    counts: AnyArray, n_cases: AnyArray | float, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of a share by Clopper and Pearson; 0 and 1 where there is no case.

    Examples
    --------
    >>> low, high = binomial_limits(np.array([0, 5]), 10, confidence_level=0.95)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871], [0.3085, 0.8129])
    """
    # SciPy takes longer to load than most commands take to run.
    from scipy.special import betaincinv

    hits, of = np.broadcast_arrays(np.asarray(counts, float), np.asarray(n_cases, float))
    tail, rest = (1.0 - confidence_level) / 2, of - hits
    low, high = np.zeros(hits.shape), np.ones(hits.shape)
    some, not_all = hits > 0, rest > 0
    low[some] = betaincinv(hits[some], rest[some] + 1, tail)
    high[not_all] = betaincinv(hits[not_all] + 1, rest[not_all], 1 - tail)
    return low, high


def mean_limits(
    total: float, squares: float, n_cases: float, confidence_level: float
) -> tuple[float, float]:
    """Return limits of the mean of numbers within [0, 1], from their sum and sum of squares.

    The lower limit is a quantile of the randomly weighted mean of the values and one more value, 0
    (Gaffke, 2005), computed from the beta distribution of the same mean and variance. For zeros and
    ones it is the limit of Clopper and Pearson. The upper limit is its mirror image.

    Examples
    --------
    >>> [round(end, 4) for end in mean_limits(5.0, 5.0, 10, confidence_level=0.95)]
    [0.1871, 0.8129]
    >>> [round(end, 4) for end in mean_limits(5.0, 2.5, 10, confidence_level=0.95)]
    [0.3739, 0.6261]
    """
    tail = (1.0 - confidence_level) / 2
    mirrored = n_cases - total, n_cases - 2 * total + squares
    return _beta_limit(total, squares, n_cases, tail), 1.0 - _beta_limit(*mirrored, n_cases, tail)


def _beta_limit(total: float, squares: float, n_cases: float, tail: float) -> float:
    from scipy.special import betaincinv

    mean = total / (n_cases + 1)
    variance = (squares / (n_cases + 1) - mean**2) / (n_cases + 2)
    if mean <= 0 or variance <= 0:
        return max(mean, 0.0)
    size = mean * (1 - mean) / variance - 1
    return float(betaincinv(mean * size, (1 - mean) * size, tail))


@dataclass(frozen=True, kw_only=True)
class EvaluationIntervals:
    """Intervals of precision, recall, alarms and cost in the population of the cases.

    Attributes
    ----------
    confidence_level : float
    precision, recall, alarms, cost, cost_per_1000 : tuple of two floats
        Intervals of the means of the same names in `PolicyEvaluation`. Without groups, the interval
        of the normalised cost takes the class sizes as fixed. The intervals of costs are NaN where
        costs add up values of cases; use `voros.bootstrap` there.
    """

    confidence_level: float
    precision: Interval
    recall: Interval
    alarms: Interval
    cost: Interval
    cost_per_1000: Interval


Counts: TypeAlias = "ThresholdCounts | GroupedCounts"
Part: TypeAlias = Callable[[Counts], tuple[Any, Any]]
"""Returns two counts: the numerator and the denominator of a share."""


def recall_of(counts: Counts) -> tuple[Any, Any]:
    """True positives among the positives."""
    return counts.tp, counts.n_positive


def fpr_of(counts: Counts) -> tuple[Any, Any]:
    """False positives among the negatives."""
    return counts.fp, counts.n_negative


def precision_of(counts: Counts) -> tuple[Any, Any]:
    """True positives among the alarms."""
    return counts.tp, counts.tp + counts.fp


def mean_precision(tp: AnyArray, fp: AnyArray, probability: FloatArray) -> float:
    """Average precision over the thresholds with alarms, weighted by their probability.

    Examples
    --------
    >>> mean_precision(np.array([3, 0]), np.array([1, 0]), np.array([0.2, 0.8]))
    0.75
    """
    raising = tp + fp > 0
    if not raising.any():
        return float("nan")
    precision = tp[raising] / (tp + fp)[raising]
    return float(np.average(precision, weights=probability[raising]))


@dataclass(frozen=True, eq=False, kw_only=True)
class ThresholdCounts:
    """Counts of cases at the deployed thresholds, and the weight of each threshold.

    Attributes
    ----------
    tp, fp : ndarray of shape (n_thresholds,)
    n_positive, n_negative : float
        As observed.
    prevalence : float or None
        Share of positives at deployment, where it differs from that of the cases.
    probability, t_integral, ratio_integral : ndarray of shape (n_thresholds,)
        Integrals of 1, t and the cost ratio over the costs at which each threshold is deployed.
    grouped : GroupedCounts or None
        The same counts in each group, where the cases of a group are not independent.
    of_values : bool
        Whether costs add up values of cases, so that counts do not determine them.
    """

    tp: AnyArray
    fp: AnyArray
    n_positive: float
    n_negative: float
    prevalence: float | None
    probability: FloatArray
    t_integral: FloatArray
    ratio_integral: FloatArray
    grouped: GroupedCounts | None = None
    of_values: bool = False

    def intervals(self, confidence_level: float) -> EvaluationIntervals:
        """Return the interval of every mean."""
        recall = self.share(recall_of, confidence_level)
        cost = cost_per_1000 = UNKNOWN
        if not self.of_values:
            errors = self.ratio_integral, self.probability
            cost = _clip(self._cost(recall, confidence_level), 1.0)
            cost_per_1000 = self.cost_interval(*errors, confidence_level)
        return EvaluationIntervals(
            confidence_level=confidence_level,
            precision=self._precision(confidence_level),
            recall=recall.mean(self.probability).limits,
            alarms=self._alarms(confidence_level),
            cost=cost,
            cost_per_1000=cost_per_1000,
        )

    def share(self, part: Part, confidence_level: float) -> Share:
        """Return a share of the cases at each threshold, with its limits."""
        hits, of = np.broadcast_arrays(*(np.asarray(counts, np.float64) for counts in part(self)))
        estimate = np.divide(hits, of, out=np.full(of.shape, 0.5), where=of > 0)
        residuals = np.empty((0, *of.shape))
        if self.grouped is not None:
            grouped = GroupedShare.from_counts(*part(self.grouped))
            kept = allowance(self.grouped.n_sure, (1 - confidence_level) / 2) / grouped.design
            hits, of, residuals = hits * kept, of * kept, grouped.residuals
        return Share(estimate, *binomial_limits(hits, of, confidence_level), residuals)

    def cost_interval(
        self, on_false: FloatArray, on_missed: FloatArray, confidence_level: float
    ) -> Interval:
        """Return the interval of the cost of 1,000 cases, from the cost of errors by threshold."""
        per_case = self._cost_per_case(on_false, on_missed, confidence_level)
        return _clip(per_case.times(PER_CASES).limits)

    @property
    def whole(self) -> bool:
        """Whether no case is weighted."""
        return is_whole(self.tp)

    @property
    def n_cases(self) -> float:
        """Number of cases."""
        return self.n_positive + self.n_negative

    @property
    def mean_precision(self) -> float:
        """Expected precision over the costs with alarms; NaN where there are none."""
        return mean_precision(self.tp, self.fp, self.probability)

    @property
    def cost_per_1000(self) -> float:
        """Expected cost of 1,000 cases as observed, where a miss costs 1."""
        return self.cost_per_1000_of(self.tp, self.fp, self.n_positive, self.n_cases)

    def cost_per_1000_of(
        self, tp: AnyArray, fp: AnyArray, n_positive: float, n_cases: float
    ) -> float:
        """Return the expected cost of 1,000 cases with other counts at the same thresholds."""
        # Infinite costs of false positives must not meet counts of 0.
        has_fp = fp > 0
        alarms = float(self.ratio_integral[has_fp] @ fp[has_fp])
        missed = float(self.probability @ (n_positive - tp))
        return PER_CASES * (alarms + missed) / float(n_cases)

    def _precision(self, confidence_level: float) -> Interval:
        raising = (self.tp + self.fp) > 0
        if not raising.any():
            return 0.0, 1.0
        low, high = self.precision_limits(confidence_level)
        weights = self.probability[raising] / self.probability[raising].sum()
        return float(weights @ low[raising]), float(weights @ high[raising])

    def precision_limits(self, confidence_level: float) -> tuple[FloatArray, FloatArray]:
        """Return the limits of precision at each threshold; 0 and 1 where there is no alarm."""
        if self.prevalence is None:
            precision = self.share(precision_of, confidence_level)
            return precision.low, precision.high
        # Each share has half of the error, so that both hold together with this confidence.
        confidence_each = (1.0 + confidence_level) / 2
        tpr, fpr = self.share(recall_of, confidence_each), self.share(fpr_of, confidence_each)
        ends = (tpr.low, fpr.high), (tpr.high, fpr.low)
        low, high = (_precision(*rates, self.prevalence) for rates in ends)
        return low, high

    def _alarms(self, confidence_level: float) -> Interval:
        if self.prevalence is None:
            share = self.share(lambda c: (c.tp + c.fp, c.n_cases), confidence_level)
            return share.mean(self.probability).times(self.n_cases).limits
        tpr = self.share(recall_of, confidence_level).mean(self.probability)
        fpr = self.share(fpr_of, confidence_level).mean(self.probability)
        both = tpr.times(self.prevalence).plus(fpr.times(1.0 - self.prevalence))
        return _clip(both.times(self.n_cases).limits, self.n_cases)

    def _cost(self, tpr: Share, confidence_level: float) -> Interval:
        """Return the interval of the normalised cost.

        Groups differ in their number of positives, and t depends on the class sizes: to first
        order the derivative of the cost by the share p of positives is
        (FNR - FPR) t (1 - t) / (p (1 - p)).
        """
        fpr = self.share(fpr_of, confidence_level)
        missed = tpr.rest.mean(self.probability - self.t_integral)
        cost = fpr.mean(self.t_integral).plus(missed)
        p = self.n_positive / self.n_cases
        if self.grouped is None or self.prevalence is not None or p in (0, 1):
            return cost.limits
        probability = self.probability
        t = self.t_integral / np.where(probability > 0, probability, 1.0)
        slope = (probability * t * (1 - t) / (p * (1 - p))) @ (tpr.rest.estimate - fpr.estimate)
        positives = self.share(
            lambda c: (np.atleast_1d(c.n_positive), np.atleast_1d(c.n_cases)), confidence_level
        )
        moved = (positives if slope >= 0 else positives.rest).mean(np.array([abs(slope)]))
        low, high = cost.plus(moved).limits
        return low - float(moved.estimate), high - float(moved.estimate)

    def _cost_per_case(
        self, on_false: FloatArray, on_missed: FloatArray, confidence_level: float
    ) -> Share:
        if self.prevalence is None:
            false_alarms = self.share(lambda c: (c.fp, c.n_cases), confidence_level)
            missed = self.share(lambda c: (c.n_positive - c.tp, c.n_cases), confidence_level)
            return false_alarms.mean(on_false).plus(missed.mean(on_missed))
        false_alarms = self.share(fpr_of, confidence_level).mean(on_false)
        miss = self.share(recall_of, confidence_level).rest.mean(on_missed)
        return false_alarms.times(1.0 - self.prevalence).plus(miss.times(self.prevalence))


@dataclass(frozen=True, eq=False)
class Share:
    """Shares with limits, and residuals: the contribution of each group, if any, to the error."""

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    residuals: FloatArray

    @property
    def rest(self) -> Share:
        """One minus the share."""
        return Share(1.0 - self.estimate, 1.0 - self.high, 1.0 - self.low, -self.residuals)

    @property
    def limits(self) -> Interval:
        """The limits of a single share."""
        return float(self.low), float(self.high)

    @property
    def first(self) -> tuple[float, float, float]:
        """The first of several shares, and its limits."""
        return float(self.estimate[0]), float(self.low[0]), float(self.high[0])

    def mean(self, weights: FloatArray) -> Share:
        """Add up the shares and their limits with weights of at least 0."""
        shares = self.estimate, self.low, self.high
        estimate, low, high = (_weighted(weights, share) for share in shares)
        finite = np.where(np.isfinite(weights), weights, 0.0)
        return Share(estimate, low, high, self.residuals @ finite)

    def times(self, factor: float) -> Share:
        """Multiply share and limits."""
        ends = factor * self.low, factor * self.high
        return Share(factor * self.estimate, *ends, factor * self.residuals)

    def plus(self, other: Share) -> Share:
        """Add another share: the distances to the limits add as standard deviations do."""
        total, correlation = self.estimate + other.estimate, self._correlation(other)
        below = _added(self.estimate - self.low, other.estimate - other.low, correlation)
        above = _added(self.high - self.estimate, other.high - other.estimate, correlation)
        return Share(total, total - below, total + above, self.residuals + other.residuals)

    def _correlation(self, other: Share) -> float:
        size = np.linalg.norm(self.residuals) * np.linalg.norm(other.residuals)
        return float(self.residuals @ other.residuals / size) if size else 0.0


def _added(one: FloatArray, other: FloatArray, correlation: float) -> FloatArray:
    # Limits may be infinite.
    if correlation == 0:
        return np.hypot(one, other)
    return np.asarray(np.sqrt(np.maximum(one**2 + other**2 + 2 * correlation * one * other, 0.0)))


def _weighted(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Add up values with weights; infinite ones, as mean cost ratios can be, times 0 are 0."""
    if np.isfinite(weights).all():
        return np.asarray(weights @ values)
    some = values > 0
    return np.asarray(weights[some] @ values[some])


def _precision(tpr: FloatArray, fpr: FloatArray, prevalence: float) -> FloatArray:
    tp, fp = prevalence * tpr, (1.0 - prevalence) * fpr
    total = tp + fp
    return np.divide(tp, total, out=np.zeros(total.shape), where=total > 0)


def _clip(interval: Interval, highest: float = np.inf) -> Interval:
    low, high = interval
    return max(low, 0.0), min(high, highest)
