"""Discrimination against scikit-learn, case by case and resample by resample."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from voros.core.operating_points import OperatingPoints
from voros.core.risk_quality import auroc_interval, risk_quality


@pytest.fixture(params=[3, None])
def risks(request):
    rng = np.random.default_rng(4)
    risk = rng.random(400)
    y = rng.random(400) < risk**2
    return y, risk if request.param is None else risk.round(1), rng.integers(0, 120, 400)


def test_measures_against_scikit_learn(risks):
    y, risk, _ = risks
    found = risk_quality(y, risk, n_resamples=10)
    assert found.auroc == pytest.approx(roc_auc_score(y, risk))
    assert found.auprc == pytest.approx(average_precision_score(y, risk))
    assert found.brier == pytest.approx(brier_score_loss(y, risk))
    assert (found.mean_risk, found.prevalence) == (risk.mean(), y.mean())


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
    found = risk_quality(y, risk, patient, n_resamples=60, confidence=0.9)
    np.testing.assert_allclose([*found.intervals.values()], np.column_stack([low, high]))


def delong(y, risk):
    """Area and variance from every pair of cases, as DeLong et al. (1988) define them."""
    x, z = risk[y][:, None], risk[~y][None, :]
    wins = (x > z) + 0.5 * (x == z)
    by_positive, by_negative = wins.mean(axis=1), wins.mean(axis=0)
    m, n = wins.shape
    return wins.mean(), by_positive.var(ddof=1) / m + by_negative.var(ddof=1) / n


def test_the_interval_of_the_auroc_against_every_pair(risks):
    y, risk, _ = risks
    found = auroc_interval(OperatingPoints.from_scores(y, risk), confidence=0.9)
    area, variance = delong(y, risk)
    assert found.value == pytest.approx(area) == pytest.approx(roc_auc_score(y, risk))
    half = 1.6448536269514722 * np.sqrt(variance) / (area * (1 - area))
    expected = [1 / (1 + np.exp(-(np.log(area / (1 - area)) + side * half))) for side in (-1, 1)]
    assert [found.low, found.high] == pytest.approx(expected)


def test_an_area_of_one_has_no_interval():
    found = auroc_interval(OperatingPoints.from_scores([0, 0, 1], [0.1, 0.2, 0.7]))
    assert found.value == 1
    assert np.isnan([found.low, found.high]).all()
