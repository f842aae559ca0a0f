r"""Estimate the risk of a case from its score, with a standard error, on labelled cases.

The log odds are a natural cubic spline of the score, or of its logit where all scores are
probabilities: linear below the first and above the last of three knots, which are the 10th, 50th
and 90th percentile of the positives' scores (Harrell, 2015). Labels are smoothed by one case, as
Platt (1999) does, so that a curve exists where scores separate the classes. Where patients are
known, standard errors come from a sandwich estimate by patient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voros.core.calibration import Estimate, expit, fit_logistic, logit
from voros.core.cases import are_risks
from voros.typing import AnyArray, BoolArray, FloatArray

SLACK = 2.0
"""Standard errors on each side of an estimate."""

PERCENTILES = (10, 50, 90)
"""Percentiles of the positives' scores at which the knots lie."""

LEAST_DISTANCE = 1e-3
"""Smallest distance between knots, relative to the outer ones; nearer knots give a line."""

MOST_SPANS = 20.0
"""Largest distance of a score from the middle knot, relative to the outer ones: scores are clipped,
because third powers of very large ones would overflow."""

SMALLEST_RISK = 1e-6
"""Scores are clipped to this distance from 0 and 1, which have no finite logit."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskCurve:
    """Log odds by score.

    Attributes
    ----------
    on_logits : bool
        Whether all scores were probabilities.
    ends : tuple of two floats
        The lowest and highest score, on the scale of the spline; the curve is flat beyond them.
    knots : tuple of three floats
    line : ndarray of shape (n_columns,)
        Coefficients; the design has fewer columns with few distinct scores.
    covariance : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.random(4000)
    >>> curve = RiskCurve.from_cases(rng.random(4000) < risk**2, risk)
    >>> estimate, low, high = curve.risks(np.array([0.5, 0.9]))
    >>> estimate.round(2).tolist(), low.round(2).tolist(), high.round(2).tolist()
    ([0.24, 0.8], [0.23, 0.78], [0.26, 0.83])
    """

    on_logits: bool
    ends: tuple[float, float]
    knots: tuple[float, float, float]
    line: FloatArray
    covariance: FloatArray

    @classmethod
    def from_cases(
        cls,
        positive: BoolArray,
        scores: FloatArray,
        groups: AnyArray | None = None,
        prevalence: float | None = None,
    ) -> RiskCurve:
        """Fit the curve to cases of both classes.

        Parameters
        ----------
        positive, scores : ndarray of shape (n_cases,)
        groups : ndarray of shape (n_cases,), optional
            The patient of each case.
        prevalence : float, optional
            Share of positives at deployment, if not that of the cases.
        """
        on_logits = are_risks(scores)
        places = predictor(scores, on_logits)
        # Knots are scores, so there are at least as many scores as columns.
        knots = np.percentile(places[positive], PERCENTILES, method="inverted_cdf").tolist()
        ends = float(places.min()), float(places.max())
        design = _design(places, ends, knots)
        n_positive, n_negative = int(positive.sum()), int((~positive).sum())
        targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
        line, information = fit_logistic(design, np.ones(len(scores)), targets)
        covariance = np.asarray(np.linalg.inv(information), np.float64)
        if groups is not None:
            residuals = design * (targets - expit(design @ line))[:, None]
            codes = np.unique(groups, return_inverse=True)[1]
            sums = np.stack([np.bincount(codes, column) for column in residuals.T], axis=1)
            covariance = covariance @ (sums.T @ sums) @ covariance * len(sums) / (len(sums) - 1)
        if prevalence is not None:
            odds = prevalence / (1 - prevalence) * n_negative / n_positive
            line = line + np.eye(len(line))[0] * np.log(odds)
        return cls(
            on_logits=on_logits, ends=ends, knots=tuple(knots), line=line, covariance=covariance
        )

    def design(self, scores: FloatArray) -> FloatArray:
        """Return the columns of the spline at some scores."""
        return _design(predictor(scores, self.on_logits), self.ends, self.knots)

    def risks(self, scores: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the risk at each score, and the risks two standard errors lower and higher."""
        design = self.design(scores)
        log_odds = design @ self.line
        variance = np.einsum("ij,jk,ik->i", design, self.covariance, design)
        slack = SLACK * np.sqrt(np.maximum(variance, 0.0))
        return expit(log_odds), expit(log_odds - slack), expit(log_odds + slack)

    def mean(self, scores: FloatArray, codes: AnyArray) -> Estimate:
        """Return the mean risk of cases, with two standard errors on each side.

        They include the error of the curve and the sampling of units; ``codes`` has the unit of
        each case.
        """
        design = self.design(scores)
        risks = expit(design @ self.line)
        value, slope = risks.mean(), (risks * (1 - risks)) @ design / len(risks)
        drawn = np.bincount(codes, risks - value) / len(risks)
        half = SLACK * float(np.sqrt(slope @ self.covariance @ slope + drawn @ drawn))
        return Estimate(float(value), max(float(value) - half, 0.0), min(float(value) + half, 1.0))


def predictor(scores: AnyArray, of_risks: bool) -> FloatArray:
    """Return the logits of risks, and other scores unchanged.

    Examples
    --------
    >>> (
    ...     predictor(np.array([0.5, 1.0]), True).round(1).tolist(),
    ...     predictor(np.array([3]), False).tolist(),
    ... )
    ([0.0, 13.8], [3.0])
    """
    x = np.asarray(scores, np.float64)
    return logit(np.clip(x, SMALLEST_RISK, 1 - SMALLEST_RISK)) if of_risks else x


def _design(places: FloatArray, ends: tuple[float, float], knots: Sequence[float]) -> FloatArray:
    """Return a column of ones, a line if scores differ, and a spline if knots do."""
    first, middle, last = knots
    columns = [np.ones(len(places))]
    scale = (last - first) or (ends[1] - ends[0])
    if scale:
        at = np.clip((np.clip(places, *ends) - middle) / scale, -MOST_SPANS, MOST_SPANS)
        columns.append(at)
    below, above = ((middle - first) / scale, (last - middle) / scale) if scale else (0.0, 0.0)
    if min(below, above) > LEAST_DISTANCE:
        columns.append(
            np.maximum(at + below, 0.0) ** 3
            - np.maximum(at, 0.0) ** 3 / above
            + np.maximum(at - above, 0.0) ** 3 * below / above
        )
    return np.column_stack(columns)
