"""The interval of an AUROC against every pair of cases, and its coverage."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from voros.core.calibration import auroc_interval
from voros.core.exact_intervals import mean_limits
from voros.core.operating_points import OperatingPoints


def placements(y, risk):
    """Share of the other class that each case beats, from every pair of cases."""
    wins = (risk[y][:, None] > risk[~y]) + 0.5 * (risk[y][:, None] == risk[~y])
    return wins.mean(axis=1), wins.mean(axis=0)


def test_the_interval_of_the_auroc_with_many_cases_is_that_of_delong():
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.5
    risk = y + rng.normal(size=20_000)
    auroc = auroc_interval(OperatingPoints.from_scores(y, risk), confidence_level=0.9)
    beaten, lost = placements(y[:4000], risk[:4000])
    assert auroc.value == pytest.approx(roc_auc_score(y, risk))
    half = 1.6448536 * np.sqrt((beaten.var() + lost.var()) / 10_000)
    assert [auroc.low, auroc.high] == pytest.approx(
        [auroc.value - half, auroc.value + half], abs=5e-4
    )


@pytest.mark.parametrize("decimals", [1, 16])
def test_the_limits_of_a_mean_are_quantiles_of_weighted_means(decimals):
    """Gaffke's, drawn at random: the values and one more of 0, with weights of a Dirichlet."""
    rng = np.random.default_rng(4)
    risk = rng.random(400)
    y = rng.random(400) < risk**2
    values = (risk.round(decimals) - y)[:25] ** 2
    drawn = np.random.default_rng(0).dirichlet(np.ones(26), 40_000)
    expected = np.quantile(drawn @ np.append(values, 0.0), 0.025)
    low, high = mean_limits(values.sum(), (values**2).sum(), 25, 0.95)
    assert low == pytest.approx(expected, abs=0.004)
    upper = np.quantile(drawn @ np.append(values, 1.0), 0.975)
    assert high == pytest.approx(upper, abs=0.006)


def test_an_area_of_one_has_an_interval():
    """Of 15 positives that beat all negatives, one in five might not."""
    y = np.arange(2015) < 15
    auroc = auroc_interval(OperatingPoints.from_scores(y, y + 0.0))
    assert (auroc.value, auroc.high) == (1, 1)
    assert auroc.low == pytest.approx(0.025 ** (1 / 15), abs=0.002)


@pytest.mark.parametrize("n_positive", [5, 10, 30])
def test_the_interval_of_a_high_auroc_holds_with_few_positives(n_positive):
    """By DeLong 78 % to 90 % of them held."""
    true, held = 0.98305, 0
    for seed in range(200):
        rng = np.random.default_rng([seed, n_positive])
        y = np.arange(n_positive + 200) < n_positive
        scores = 3.0 * y + rng.normal(size=len(y))
        auroc = auroc_interval(OperatingPoints.from_scores(y, scores))
        held += auroc.low <= true <= auroc.high
    assert held >= 186
