"""Interval ends against SciPy's own bootstrap, and p-values against the intervals."""

import inspect

import numpy as np
import pytest
from scipy import stats

from voros.inference.bca import (
    acceleration,
    interval,
    p_value,
)

# Its name changed in SciPy 1.15.
SCIPYS_SEED = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"


def bootstrapped_mean(rng, values, n_resamples):
    return values[rng.integers(0, len(values), (n_resamples, len(values)))].mean(axis=1)


def left_out_means(values):
    return (values.sum() - values) / (len(values) - 1)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_intervals_of_a_skewed_mean_agree_with_scipy(method):
    rng = np.random.default_rng(5)
    values = rng.exponential(size=30) ** 2
    ours = interval(
        0.9,
        values.mean(),
        bootstrapped_mean(rng, values, 40_000),
        left_out_means(values) if method == "bca" else None,
    )
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=0.9,
        method=method,
        n_resamples=40_000,
        **{SCIPYS_SEED: rng},
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), rel=0.01)


def test_blocks_tell_the_skewness_that_single_cases_do():
    values = np.random.default_rng(0).exponential(size=20_000)
    blocks = values.reshape(200, 100).sum(axis=1)
    left_out = (values.sum() - blocks) / (len(values) - 100)
    alone = acceleration(left_out_means(values))
    # The standard error of a from g blocks is 1 / (sqrt(6) g).
    assert acceleration(left_out) == pytest.approx(alone, abs=3 / 6**0.5 / 200)


def test_the_p_value_is_the_level_at_which_the_interval_of_a_difference_reaches_zero():
    rng = np.random.default_rng(2)
    drawn = bootstrapped_mean(rng, rng.exponential(size=50) - 0.8, 20_000)
    p = p_value(drawn)
    for confidence, reaches in ((1 - p - 0.01, False), (1 - p + 0.01, True)):
        low, high = interval(confidence, 0.0, drawn)
        assert (low <= 0 <= high) == reaches


def test_the_p_value_of_a_mean_is_that_of_the_t_test():
    rng = np.random.default_rng(4)
    values = rng.normal(0.1, 1.0, size=400)
    drawn = bootstrapped_mean(rng, values, 20_000)
    assert p_value(drawn) == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue, abs=0.01)


def test_no_difference_at_all_has_a_p_value_of_one():
    assert p_value(np.zeros(500)) == 1.0


def test_a_p_value_claims_no_more_than_the_resamples_can_tell():
    assert p_value(np.ones(999)) == 2 / 1000


@pytest.mark.parametrize("n", [3, 8, 30])
def test_few_normal_draws_get_the_interval_of_the_t_test(n):
    """The resampled mean is normal with the spread of the sample: t's interval is known."""
    rng = np.random.default_rng(n)
    values = stats.norm.ppf((np.arange(n) + 0.5) / n) + 1.0
    spread = values.std()  # of the resamples, with n below the root
    drawn = np.sort(rng.normal(values.mean(), spread / np.sqrt(n), 400_000))
    expected = stats.t.interval(0.9, n - 1, values.mean(), stats.sem(values))
    assert interval(0.9, 0.0, drawn, n_units=n) == pytest.approx(expected, abs=0.02)
    assert p_value(drawn, n) == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue, abs=0.003)


def test_with_few_units_the_p_value_agrees_with_the_interval():
    rng = np.random.default_rng(2)
    drawn = bootstrapped_mean(rng, rng.exponential(size=50) - 0.8, 20_000)
    p = p_value(drawn, 6)
    assert p > p_value(drawn)
    for confidence, reaches in ((1 - p - 0.01, False), (1 - p + 0.01, True)):
        low, high = interval(confidence, 0.0, drawn, n_units=6)
        assert (low <= 0 <= high) == reaches


def test_two_units_have_ends_all_the_same():
    drawn = np.random.default_rng(0).normal(size=500)
    ends = interval(0.95, 0.0, drawn, np.empty(0), 2)
    assert ends == (drawn.min(), drawn.max())
