r"""Calibration: whether predicted risks agree with observed outcomes.

Calibration in the large is the intercept a of :math:`\operatorname{logit} P(Y=1) = a +
\operatorname{logit} r`, with r the risk: 0 where risks are right on average, above 0 where they are
too low. The slope b of :math:`a + b \operatorname{logit} r` is 1 where risks are spread as they
should be, below 1 where they are too extreme (Cox, 1958; Van Calster et al., 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from voros.core.cases import are_risks, check_risks
from voros.core.exact_intervals import binomial_limits, mean_limits
from voros.core.operating_points import OperatingPoints
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, FloatArray

GROUPS_OF_RISK = 10
"""Number of groups of risk, of equal size."""

SMOOTHED_SHARE = 2 / 3
"""Share of the cases that determines each point of a smooth calibration curve."""

SMOOTH_POINTS = 50
"""Number of points of such a curve."""

SMALLEST_REACH = 1e-12
"""Smallest bandwidth of the smooth curve, where all nearest cases have the same risk."""

MOST_RISKS = 20_000
"""With more distinct risks, those with nearly the same logit are merged."""

LOGIT_WIDTH = 1e-3
"""Largest distance of the logits of merged risks."""

SMALL_STEP = 1e-9
"""A step of Newton's method of at most this size ends a fit."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval in the population."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Mean risk and observed share in bins of equal size, with exact intervals.

    Attributes
    ----------
    mean_risk, observed, low, high : ndarray of shape (n_bins,)
    cases : ndarray of int, shape (n_bins,)
    """

    mean_risk: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    cases: AnyArray


@dataclass(frozen=True, eq=False)
class RiskCounts:
    """Numbers of cases and of positives at each distinct risk, by rising risk.

    Attributes
    ----------
    risk : ndarray of shape (n_risks,)
    cases, positive : ndarray of int, shape (n_risks,)
    """

    risk: FloatArray
    cases: AnyArray
    positive: AnyArray

    @classmethod
    def from_points(cls, points: OperatingPoints) -> RiskCounts:
        """Return the counts at every distinct risk, from operating points without weights."""
        check_risks(points.thresholds[1:])
        if not points.whole or not points.covers.every_score or points.alarms[-1] != points.n_cases:
            raise ArgumentError(
                "points",
                " leave out thresholds or carry weights; accepted are whole cases, counted at "
                "every distinct score as OperatingPoints.from_scores does",
            )
        counts = np.diff(points.alarms), np.diff(points.tp)
        return cls(points.thresholds[:0:-1], *(values[::-1] for values in counts))

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return int(self.cases.sum())

    @property
    def mean_risk(self) -> float:
        """Mean risk of the cases."""
        return float(self.risk @ self.cases) / self.n_cases

    def observed(self, confidence_level: float) -> Estimate:
        """Return the share of positives, with exact limits."""
        hits = self.positive.sum()
        low, high = binomial_limits(np.array([hits]), self.n_cases, confidence_level)
        return Estimate(float(hits) / self.n_cases, float(low[0]), float(high[0]))

    def brier(self, confidence_level: float) -> Estimate:
        """Return the mean squared distance between risk and outcome."""
        negative = self.cases - self.positive
        first, second = (
            float((1 - self.risk) ** power @ self.positive + self.risk**power @ negative)
            for power in (2, 4)
        )
        limits = mean_limits(first, second, self.n_cases, confidence_level)
        return Estimate(first / self.n_cases, *limits)

    def without_certain(self) -> RiskCounts:
        """Leave out risks of exactly 0 and 1, which have no finite logit."""
        inner = (self.risk > 0) & (self.risk < 1)
        return RiskCounts(self.risk[inner], self.cases[inner], self.positive[inner])

    def merged(self) -> RiskCounts:
        """Merge risks whose logits are nearly the same, where there are very many.

        Each bin takes the mean of its risks and loses their positions inside. For logits with
        standard deviation s, bins of width h move slope and intercept by about h / (s sqrt(12)) of
        their standard errors, less than a thousandth.
        """
        if len(self.risk) <= MOST_RISKS:
            return self
        with np.errstate(divide="ignore"):
            bins = np.floor(logit(self.risk) / LOGIT_WIDTH)
        starts = np.append(0, np.flatnonzero(bins[1:] != bins[:-1]) + 1)
        risk, cases, positive = (
            np.add.reduceat(values, starts)
            for values in (self.risk * self.cases, self.cases, self.positive)
        )
        return RiskCounts(risk / cases, cases, positive)

    @property
    def why_no_line(self) -> str:
        """The reason why no line can be fitted to the logits; empty where one can."""
        with_hits = self.risk[self.positive > 0]
        without = self.risk[self.cases > self.positive]
        if not len(with_hits) or not len(without):
            return "the cases with a risk between 0 and 1 are of one class"
        if len(self.risk) == 1:
            return "all cases have the same risk"
        if with_hits.min() >= without.max() or with_hits.max() <= without.min():
            return "the risks separate the classes, so the slope has no end"
        return ""

    def fit(self, z: float, *, slope: bool) -> Estimate:
        """Fit the outcome to the logit of the risk by maximum likelihood, with a Wald interval."""
        log_odds = logit(self.risk)
        design = np.column_stack([np.ones_like(log_odds), log_odds])[:, : 2 if slope else 1]
        line, information = fit_logistic(design, self.cases, self.positive, offset=log_odds)
        half = z * float(np.sqrt(np.linalg.inv(information)[-1, -1]))
        value = float(line[-1]) + slope
        return Estimate(value, value - half, value + half)


def logit(risk: FloatArray) -> FloatArray:
    """Return the log odds of risks."""
    return np.asarray(np.log(risk) - np.log1p(-risk))


def expit(log_odds: FloatArray) -> FloatArray:
    """Return the risks of log odds; SciPy's function loads more slowly than most commands run."""
    return np.asarray(0.5 * (1 + np.tanh(log_odds / 2)))


def fit_logistic(
    design: FloatArray, cases: AnyArray, positive: AnyArray, offset: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Fit log odds that are linear in a design by maximum likelihood.

    Each row has a number of cases and a number of positives, which need not be whole. Returns the
    coefficients and their information matrix. A finite maximum must exist.
    """

    def likelihood(line: FloatArray) -> float:
        log_odds = design @ line + offset
        return float(positive @ log_odds - cases @ np.logaddexp(0, log_odds))

    line: FloatArray = np.zeros(design.shape[1])
    step: FloatArray = np.ones(1)
    information: FloatArray = np.eye(len(line))
    while np.abs(step).max() > SMALL_STEP:
        fitted = expit(design @ line + offset)
        information = (design.T * (cases * fitted * (1 - fitted))) @ design
        uphill = design.T @ (positive - cases * fitted)
        step = np.asarray(np.linalg.solve(information, uphill), np.float64)
        before = likelihood(line)
        # Far from the maximum a whole step may reduce the likelihood.
        while np.abs(step).max() > SMALL_STEP and before > likelihood(line + step):
            step = step / 2
        line = line + step
    return line, information


def calibration_curve(
    risks: RiskCounts, n_bins: int = GROUPS_OF_RISK, confidence_level: float = 0.95
) -> CalibrationCurve:
    """Compare risks with observed shares, in bins by rank; equal risks share a bin.

    Examples
    --------
    >>> risks = RiskCounts(np.array([0.1, 0.4, 0.9]), np.full(3, 10), np.array([1, 4, 9]))
    >>> curve = calibration_curve(risks, n_bins=3)
    >>> curve.mean_risk.round(2).tolist(), curve.observed.round(2).tolist(), curve.cases.tolist()
    ([0.1, 0.4, 0.9], [0.1, 0.4, 0.9], [10, 10, 10])
    """
    ranks = np.ceil(np.linspace(0, 1, n_bins + 1)[1:-1] * (risks.n_cases - 1))
    # Every bin after the first starts at the risk of such a rank.
    rows = np.searchsorted(np.cumsum(risks.cases), ranks, side="right")
    starts = np.unique(np.append(0, rows))
    cases, hits, total = (
        np.add.reduceat(values, starts)
        for values in (risks.cases, risks.positive, risks.cases * risks.risk)
    )
    low, high = binomial_limits(hits, cases, confidence_level)
    return CalibrationCurve(total / cases, hits / cases, low, high, cases)


def smooth_share(risks: RiskCounts, at: FloatArray) -> FloatArray:
    """Return the share of positives at some risks by local linear regression (loess).

    Each share comes from a line through the nearest two thirds of the cases, weighted by the
    tricube of their distance (Cleveland, 1979), as in clinical prediction studies (Austin and
    Steyerberg, 2014).

    Examples
    --------
    >>> risk = np.linspace(0.01, 0.99, 99)
    >>> risks = RiskCounts(risk, np.ones(99, int), (risk > 0.5).astype(int))
    >>> smooth_share(risks, np.array([0.2, 0.5, 0.8])).round(1).tolist()
    [0.0, 0.5, 1.0]
    """
    shares = np.empty(len(at))
    nearest = max(2, math.ceil(SMOOTHED_SHARE * risks.n_cases))
    for i, centre in enumerate(at):
        away = risks.risk - centre
        order = np.argsort(np.abs(away))
        last = np.searchsorted(np.cumsum(risks.cases[order]), nearest)
        reach = np.abs(away[order[last]])
        weight = np.clip(1 - (np.abs(away) / max(reach, SMALLEST_REACH)) ** 3, 0, None) ** 3
        if not weight.any():
            # All of the nearest risks have the same distance.
            weight = (np.abs(away) <= reach).astype(np.float64)
        on_cases, on_hits = weight * risks.cases, weight * risks.positive
        total, mean = on_cases.sum(), on_hits.sum() / on_cases.sum()
        off = away - on_cases @ away / total
        spread = on_cases @ off**2
        slope = 0.0 if spread <= 0 else on_hits @ off / spread
        shares[i] = mean - slope * (on_cases @ away) / total
    return np.clip(shares, 0.0, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Calibration:
    """Calibration of risks; intervals take cases as independent.

    Attributes
    ----------
    curve : CalibrationCurve
        Observed shares in groups of risk.
    smooth : tuple of two ndarrays of shape (n_points,)
        Risks from the lowest to the highest, and the smoothed share of positives at each.
    mean_risk : float
    observed : Estimate
        The share of positives, with exact limits.
    brier : Estimate
        Mean squared distance between risk and outcome; lower is better.
    in_the_large : Estimate or None
        0 where risks are right on average; above 0 where they are too low.
    slope : Estimate or None
        1 where risks are spread as they should be; below 1 where they are too extreme.
    certain : int
        Cases with a risk of exactly 0 or 1, whose logit is infinite; `in_the_large` and `slope` are
        computed without them.
    missing : str
        Why `in_the_large` and `slope` are None.

    Examples
    --------
    >>> risk = np.repeat([0.2, 0.8], 50)
    >>> y = np.arange(100) % 50 < np.repeat([5, 30], 50)  # shares of 0.1 and 0.6
    >>> result = Calibration.from_points(OperatingPoints.from_scores(y, risk))
    >>> result.mean_risk, result.observed.value, round(result.slope.value, 2)
    (0.5, 0.35, 0.94)
    """

    curve: CalibrationCurve
    smooth: tuple[FloatArray, FloatArray]
    mean_risk: float
    observed: Estimate
    brier: Estimate
    in_the_large: Estimate | None
    slope: Estimate | None
    certain: int = 0
    missing: str = ""

    @classmethod
    def from_points(
        cls, points: OperatingPoints, n_bins: int = GROUPS_OF_RISK, confidence_level: float = 0.95
    ) -> Calibration:
        """Assess the risks of cases without weights, counted at every distinct risk."""
        risks = RiskCounts.from_points(points)
        few = risks.merged()
        at = np.linspace(risks.risk[0], risks.risk[-1], SMOOTH_POINTS)
        z = NormalDist().inv_cdf((1 + confidence_level) / 2)
        rest = few.without_certain()
        certain, missing = risks.n_cases - rest.n_cases, rest.why_no_line
        return cls(
            curve=calibration_curve(risks, n_bins, confidence_level),
            smooth=(at, smooth_share(few, at)),
            mean_risk=risks.mean_risk,
            observed=risks.observed(confidence_level),
            brier=risks.brier(confidence_level),
            in_the_large=None if missing else rest.fit(z, slope=False),
            slope=None if missing else rest.fit(z, slope=True),
            certain=certain,
            missing=missing,
        )


def auroc_interval(points: OperatingPoints, confidence_level: float = 0.95) -> Estimate:
    """Area under the ROC curve of independent cases, with limits that hold for few cases too.

    The area is the mean over positives of the share of negatives with lower scores, and a similar
    mean over negatives. Both means have limits, and the distances to these add as standard
    deviations do (after DeLong et al., 1988).

    Examples
    --------
    >>> points = OperatingPoints.from_scores([0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.6, 0.5, 0.7, 0.2])
    >>> result = auroc_interval(points)
    >>> round(result.value, 4), round(result.low, 2), round(result.high, 2)
    (0.8889, 0.02, 1.0)
    """
    tp, fp = np.diff(points.tp), np.diff(points.fp)
    # Share of the negatives below each score, and of the positives above it; ties count half.
    below = 1 - (points.fp[1:] - fp / 2) / points.n_negative
    above = (points.tp[1:] - tp / 2) / points.n_positive
    area = float(tp @ below) / points.n_positive
    ends = [
        mean_limits(float(count @ place), float(count @ place**2), n, confidence_level)
        for count, place, n in ((tp, below, points.n_positive), (fp, above, points.n_negative))
    ]
    low, high = (math.hypot(*(end[side] - area for end in ends)) for side in (0, 1))
    return Estimate(area, max(area - low, 0.0), min(area + high, 1.0))


def holds_risks(points: OperatingPoints) -> bool:
    """Whether all finite thresholds are probabilities."""
    return are_risks(points.thresholds[1:])
