"""Confidence sequences hold at all times, also while chances drift."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from voros.monitoring.evidence import ratio_interval
from voros.monitoring.precision import Units


def share_interval(hits: np.ndarray, alpha: float) -> tuple[float, float]:
    """Both ends for the share of true alarms among single ones."""
    ones = np.ones(len(hits))
    return Units(ones, ones, ones, hits * 1.0, 0 * ones, one_true=True).interval(alpha)


def test_no_trial_says_nothing() -> None:
    assert share_interval(np.zeros(0), 0.05) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (3, 10), (250, 1000), (1000, 1000)])
def test_intervals_are_wider_than_exact_ones_for_one_look(hits: int, n: int) -> None:
    low, high = share_interval(np.arange(n) < hits, 0.05)
    exact_low = beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    exact_high = beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    assert low <= exact_low
    assert exact_high <= high
    assert high - low < (5 if hits == n else 2.5) * (exact_high - exact_low)


@pytest.mark.slow
def test_the_running_mean_is_covered_at_all_times() -> None:
    rng = np.random.default_rng(0)
    n = np.arange(1, 401)
    missed = 0
    for _ in range(200):
        chances = np.where(n < 200, 0.4, 0.05 + 0.3 * rng.random())
        hits, mean = rng.random(400) < chances, np.cumsum(chances) / n
        ends = [(share_interval(hits[:k], 0.2), mean[k - 1]) for k in range(20, 401, 20)]
        missed += any(not low <= truth <= high for (low, high), truth in ends)
    assert missed / 200 <= 0.2


def test_alarms_of_patients_that_share_their_label_are_covered() -> None:
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(60):
        sizes = rng.integers(1, 4, 200).astype(float)
        true = sizes * (rng.random(200) < 0.3)
        ends = [ratio_interval(true[:n], 0.2, sizes[:n]) for n in (20, 60, 200)]
        missed += any(low > 0.3 or high < 0.3 for low, high in ends)
    assert missed / 60 <= 0.2


def test_both_ends_of_a_mean() -> None:
    rng = np.random.default_rng(2)
    ends = [ratio_interval(rng.poisson(20, 300).astype(float), 0.05) for _ in range(60)]
    low, high = np.array(ends).T
    assert np.mean((low > 20) | (high < 20)) <= 0.05
    assert low.mean() > 18
    assert high.mean() < 22.5


def test_both_ends_of_a_ratio_where_small_days_have_the_larger_share() -> None:
    rng = np.random.default_rng(3)
    missed, widths = 0, []
    for _ in range(25):
        small = rng.random(300) < 0.4
        sizes = np.where(small, 10.0, 100.0)
        low, high = ratio_interval(
            rng.binomial(sizes.astype(int), np.where(small, 0.3, 0.1)) * 1.0, 0.05, sizes
        )
        true = (4 * 0.3 + 60 * 0.1) / 64
        missed += not low <= true <= high
        widths.append(high - low)
    assert missed <= 1
    assert np.mean(widths) < 0.25 * true


def test_a_mean_of_few_values_has_no_upper_end() -> None:
    assert ratio_interval(np.array([1.0, 2.0]), 0.05)[1] == np.inf
    assert ratio_interval(np.zeros(3), 0.05)[0] == 0.0


def test_ends_of_a_mean_are_where_the_bets_just_reach() -> None:
    values = np.array([5.0, 1.0, 0.0, 3.0] * 60)
    low, high = ratio_interval(values, 0.1)
    for end, sign in ((low, 1), (high, -1)):
        products = [np.prod(1 + s * sign * (values / end - 1)) for s in (0.01, 0.03, 0.1, 0.3)]
        assert np.mean(products) == pytest.approx(20.0, rel=1e-6)
