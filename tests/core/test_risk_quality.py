"""Discrimination against scikit-learn, case by case and resample by resample."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from voros.core.exact_intervals import mean_limits
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
    found = risk_quality(y, risk, patient, n_resamples=60, confidence_level=0.9)
    np.testing.assert_allclose([*found.intervals.values()], np.column_stack([low, high]))


def placements(y, risk):
    """Share of the other class that each case beats, from every pair of cases."""
    wins = (risk[y][:, None] > risk[~y]) + 0.5 * (risk[y][:, None] == risk[~y])
    return wins.mean(axis=1), wins.mean(axis=0)


def test_the_interval_of_the_auroc_with_many_cases_is_that_of_delong():
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.5
    risk = y + rng.normal(size=20_000)
    found = auroc_interval(OperatingPoints.from_scores(y, risk), confidence_level=0.9)
    beaten, lost = placements(y[:4000], risk[:4000])
    assert found.value == pytest.approx(roc_auc_score(y, risk))
    half = 1.6448536 * np.sqrt((beaten.var() + lost.var()) / 10_000)
    assert [found.low, found.high] == pytest.approx(
        [found.value - half, found.value + half], abs=5e-4
    )


def test_the_limits_of_a_mean_are_quantiles_of_weighted_means(risks):
    """Gaffke's, drawn at random: the values and one more of 0, with weights of a Dirichlet."""
    y, risk, _ = risks
    values = (risk - y)[:25] ** 2
    drawn = np.random.default_rng(0).dirichlet(np.ones(26), 40_000)
    expected = np.quantile(drawn @ np.append(values, 0.0), 0.025)
    low, high = mean_limits(values.sum(), (values**2).sum(), 25, 0.95)
    assert low == pytest.approx(expected, abs=0.004)
    upper = np.quantile(drawn @ np.append(values, 1.0), 0.975)
    assert high == pytest.approx(upper, abs=0.006)


def test_an_area_of_one_has_an_interval():
    """Of 15 positives that beat all negatives, one in five might not."""
    y = np.arange(2015) < 15
    found = auroc_interval(OperatingPoints.from_scores(y, y + 0.0))
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(0.025 ** (1 / 15), abs=0.002)


@pytest.mark.parametrize("n_positive", [5, 10, 30])
def test_the_interval_of_a_high_auroc_holds_with_few_positives(n_positive):
    """By DeLong 78 % to 90 % of them held."""
    true, held = 0.98305, 0
    for seed in range(200):
        rng = np.random.default_rng([seed, n_positive])
        y = np.arange(n_positive + 200) < n_positive
        scores = 3.0 * y + rng.normal(size=len(y))
        found = auroc_interval(OperatingPoints.from_scores(y, scores))
        held += found.low <= true <= found.high
    assert held >= 186
