"""How good risks are as such, without limits or costs: discrimination, accuracy, calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.core.exact_intervals import Interval, binomial_limits

RATED = ("auroc", "auprc", "brier")
RESAMPLES_TOGETHER = 100
"""Resamples that are weighed together."""


@dataclass(frozen=True)
class RiskQuality:
    """Discrimination and accuracy of risks, with percentile intervals.

    Attributes
    ----------
    auroc : float
        Area under the ROC curve.
    auprc : float
        Average precision: the sum of precisions at the thresholds, weighted by the rise in recall.
    brier : float
        Mean squared distance between risk and outcome; lower is better.
    mean_risk, prevalence : float
        What is expected on average, and what was observed.
    intervals : dict of str to tuple of two floats
        Of the first three.
    """

    auroc: float
    auprc: float
    brier: float
    mean_risk: float
    prevalence: float
    intervals: dict[str, Interval]


def risk_quality(
    positive: BoolArray,
    risk: FloatArray,
    groups: AnyArray | None = None,
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    random_state: int = 0,
) -> RiskQuality:
    """Measure risks between 0 and 1 against outcomes, of which both classes must be there.

    Whole groups, such as the cases of one patient, are drawn with replacement. A resample without
    one of the classes has no AUROC and does not count.

    Examples
    --------
    >>> found = risk_quality(np.array([False, True, False, True]), np.array([0.1, 0.9, 0.6, 0.5]))
    >>> found.auroc, round(found.auprc, 4), round(found.brier, 4)
    (0.75, 0.8333, 0.1575)
    """
    order = np.argsort(-risk, kind="stable")
    ranked = _Ranked(positive[order], risk[order])
    estimate = ranked.measures(np.ones((1, len(risk))))[:, 0]
    own = np.arange(len(risk)) if groups is None else groups
    codes = np.unique(own, return_inverse=True)[1]
    draws = _resampled(ranked, codes[order], n_resamples, np.random.default_rng(random_state))
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(draws, [tail, 1 - tail], axis=1)
    intervals = {name: (float(a), float(b)) for name, a, b in zip(RATED, low, high, strict=True)}
    auroc, auprc, brier = map(float, estimate)
    means = float(risk.mean()), float(positive.mean())
    return RiskQuality(auroc, auprc, brier, *means, intervals)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Cases by falling risk."""

    positive: BoolArray
    risk: FloatArray

    def measures(self, weights: FloatArray) -> FloatArray:
        """Return AUROC, AUPRC and Brier score for each row of weights."""
        last = np.append(np.flatnonzero(np.diff(self.risk)), len(self.risk) - 1)
        start = np.zeros((len(weights), 1))
        tp, fp = (
            np.hstack([start, np.cumsum(weights * which, axis=1)[:, last]])
            for which in (self.positive, ~self.positive)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            tpr, fpr = tp / tp[:, -1:], fp / fp[:, -1:]
            auroc = (np.diff(fpr, axis=1) * (tpr[:, 1:] + tpr[:, :-1]) / 2).sum(axis=1)
            precision = np.nan_to_num(tp / (tp + fp))
            auprc = (np.diff(tpr, axis=1) * precision[:, 1:]).sum(axis=1)
        brier = weights @ (self.risk - self.positive) ** 2 / weights.sum(axis=1)
        return np.stack([auroc, auprc, brier])


def _resampled(
    ranked: _Ranked, codes: AnyArray, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    n_groups = int(codes.max()) + 1
    found = []
    for start in range(0, n_resamples, RESAMPLES_TOGETHER):
        size = min(RESAMPLES_TOGETHER, n_resamples - start)
        drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=size)
        found.append(ranked.measures(drawn[:, codes].astype(np.float64)))
    return np.hstack(found)


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


def calibration_curve(
    positive: BoolArray, risk: FloatArray, n_bins: int = 10, confidence: float = 0.95
) -> CalibrationCurve:
    """Compare risks with what was observed, in bins by rank; equal risks share a bin.

    Examples
    --------
    >>> risk = np.repeat([0.1, 0.4, 0.9], 10)
    >>> curve = calibration_curve(np.arange(30) % 10 < risk * 10, risk, n_bins=3)
    >>> curve.mean_risk.round(2).tolist(), curve.observed.round(2).tolist(), curve.cases.tolist()
    ([0.1, 0.4, 0.9], [0.1, 0.4, 0.9], [10, 10, 10])
    """
    edges = np.unique(np.quantile(risk, np.linspace(0, 1, n_bins + 1)[1:-1], method="higher"))
    bins = np.unique(np.searchsorted(edges, risk, side="right"), return_inverse=True)[1]
    cases = np.bincount(bins)
    hits = np.bincount(bins, weights=positive)
    low, high = binomial_limits(hits, cases, confidence)
    return CalibrationCurve(np.bincount(bins, weights=risk) / cases, hits / cases, low, high, cases)
