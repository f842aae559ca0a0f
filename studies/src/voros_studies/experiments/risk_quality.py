"""Quality of risks without limits or costs: discrimination and accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.exact_intervals import Interval
from voros.typing import AnyArray, BoolArray, FloatArray

RATED = ("auroc", "auprc", "brier")
RESAMPLES_TOGETHER = 100
"""Resamples in one batch."""


@dataclass(frozen=True, kw_only=True)
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
        Mean predicted risk, and observed share of positives.
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
    confidence_level: float = 0.95,
) -> RiskQuality:
    """Measure risks between 0 and 1 against outcomes of both classes.

    Whole groups, such as the cases of one patient, are drawn with replacement. A resample without
    one of the classes has no AUROC and does not count.

    Examples
    --------
    >>> result = risk_quality(np.array([False, True, False, True]), np.array([0.1, 0.9, 0.6, 0.5]))
    >>> result.auroc, round(result.auprc, 4), round(result.brier, 4)
    (0.75, 0.8333, 0.1575)
    """
    order = np.argsort(-risk, kind="stable")
    ranked = _Ranked(positive[order], risk[order])
    estimate = ranked.measures(np.ones((1, len(risk))))[:, 0]
    own = np.arange(len(risk)) if groups is None else groups
    codes = np.unique(own, return_inverse=True)[1]
    draws = _resampled(ranked, codes[order], n_resamples, np.random.default_rng(0))
    tail = (1 - confidence_level) / 2
    low, high = np.nanquantile(draws, [tail, 1 - tail], axis=1)
    intervals = {name: (float(a), float(b)) for name, a, b in zip(RATED, low, high, strict=True)}
    auroc, auprc, brier = map(float, estimate)
    return RiskQuality(
        auroc=auroc,
        auprc=auprc,
        brier=brier,
        mean_risk=float(risk.mean()),
        prevalence=float(positive.mean()),
        intervals=intervals,
    )


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
    measures = []
    for start in range(0, n_resamples, RESAMPLES_TOGETHER):
        size = min(RESAMPLES_TOGETHER, n_resamples - start)
        drawn = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=size)
        measures.append(ranked.measures(drawn[:, codes].astype(np.float64)))
    return np.hstack(measures)
