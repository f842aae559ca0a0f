"""Discrimination against scikit-learn, resample by resample."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from voros_studies.experiments.risk_quality import risk_quality


@pytest.fixture(params=[3, None])
def risks(request):
    rng = np.random.default_rng(4)
    risk = rng.random(400)
    y = rng.random(400) < risk**2
    return y, risk if request.param is None else risk.round(1), rng.integers(0, 120, 400)


def test_measures_against_scikit_learn(risks):
    y, risk, _ = risks
    quality = risk_quality(y, risk, n_resamples=10)
    assert quality.auroc == pytest.approx(roc_auc_score(y, risk))
    assert quality.auprc == pytest.approx(average_precision_score(y, risk))
    assert quality.brier == pytest.approx(brier_score_loss(y, risk))
    assert (quality.mean_risk, quality.prevalence) == (risk.mean(), y.mean())


def test_intervals_against_resampling_whole_patients(risks):
    """The same draws, each measured by scikit-learn on the cases that it holds."""
    y, risk, patient = risks
    rng = np.random.default_rng(0)
    names, codes = np.unique(patient, return_inverse=True)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=60)
    measured = []
    for counts in drawn:
        rows = np.repeat(np.arange(400), counts[codes])
        measured.append(
            [
                measure(y[rows], risk[rows])
                for measure in (roc_auc_score, average_precision_score, brier_score_loss)
            ]
        )
    low, high = np.quantile(measured, [0.05, 0.95], axis=0)
    quality = risk_quality(y, risk, patient, n_resamples=60, confidence_level=0.9)
    np.testing.assert_allclose([*quality.intervals.values()], np.column_stack([low, high]))
