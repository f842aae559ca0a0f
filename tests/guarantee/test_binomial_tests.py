"""Binomial tails against SciPy's distributions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from voros.guarantee.binomial_tests import (
    at_least,
    beta_binomial_cdf,
    beta_binomial_mass,
    beta_binomial_moments,
    fewest_alarms,
    fewest_at,
    fewest_near,
    passing,
    share_risk,
)


def exact_tail(count: int, trials: int, chance: Fraction) -> Fraction:
    """Probability of at least ``count``, by counting outcomes."""
    terms = range(max(count, 0), trials + 1)
    return sum(
        (comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in terms), Fraction(0)
    )


@pytest.mark.parametrize("chance", [Fraction(0), Fraction(1, 5), Fraction(3, 4), Fraction(1)])
def test_tails_of_a_few_trials_are_counted_out(chance: Fraction) -> None:
    for trials in range(8):
        counts = np.arange(-2, trials + 3)
        expected = [float(exact_tail(k, trials, chance)) for k in counts.tolist()]
        assert at_least(counts, trials, float(chance)).tolist() == pytest.approx(expected)
        for count, one in zip(counts.tolist(), expected, strict=True):
            assert float(at_least(count, trials, float(chance))) == pytest.approx(one)
            several = at_least(count, np.array([trials, 9]), np.array([float(chance), 0.0]))
            assert several.tolist() == pytest.approx([one, float(count < 1)])


@pytest.mark.parametrize("floor", [Fraction(1, 10), Fraction(3, 5)])
@pytest.mark.parametrize("alpha", [0.3, 0.011])
def test_counts_that_pass_and_their_power_are_counted_out(floor: Fraction, alpha: float) -> None:
    trials = np.arange(25)
    needed, power = passing(trials, float(floor), 0.75, alpha)
    for n, tp, chance in zip(trials.tolist(), needed.tolist(), power.tolist(), strict=True):
        fewest = next(k for k in range(n + 2) if exact_tail(k, n, floor) <= alpha)
        assert tp == fewest
        assert chance == pytest.approx(float(exact_tail(fewest, n, Fraction(3, 4))))


@pytest.mark.parametrize(("alpha", "least"), [(0.7, 1), (0.05, 2)])
def test_the_fewest_are_found_from_any_guess(alpha: float, least: int) -> None:
    trials = np.arange(1, 21)
    counts = np.arange(22)[:, None]
    tails = binom.sf(counts - 1, trials, 0.3)
    expected = np.argmax(tails <= alpha, axis=0).tolist()
    for guess in (np.zeros_like(trials), trials, trials + 1, trials // 2, trials[::-1] // 3):
        assert fewest_near(guess, alpha, trials, 0.3).tolist() == expected
    assert min(expected) == least


def test_a_probability_of_just_alpha_passes() -> None:
    """And a power that is just reached is enough: at most and at least include it."""
    trials = np.array([30])
    for count in range(5, 20):
        alpha = float(at_least(count, 30, 0.4))
        assert fewest_at(alpha, trials, 0.4).tolist() == [count]
        assert fewest_near(trials, alpha, trials, 0.4).tolist() == [count]
    powers = passing(np.arange(1, 60), 0.4, 0.7, 0.05)[1].tolist()
    highest = [n for n in range(10, 60) if powers[n - 1] > max(powers[: n - 1])]
    for n in highest:
        assert fewest_alarms(0.4, 0.7, 0.05, powers[n - 1]) == n
    assert len(highest) > 5


@pytest.mark.parametrize("most", [1, 2.5, 6, 7, 8.5])
def test_the_risk_of_a_capacity_in_the_population_is_a_lower_tail(most: float) -> None:
    share = Fraction(most) / 7
    expected = [float(1 - exact_tail(k + 1, 7, share)) if share < 1 else 0.0 for k in range(8)]
    assert share_risk(np.arange(8), 7, most, None).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 3), (4, 2)])
def test_beta_binomials_of_a_few_trials_are_counted_out(a: int, b: int) -> None:
    """Of all orders of the trials and of a + b - 1 others, those with k before the a-th other."""
    for trials in range(1, 8):
        ways = [
            Fraction(
                comb(k + a - 1, k) * comb(trials - k + b - 1, trials - k),
                comb(trials + a + b - 1, trials),
            )
            for k in range(trials + 1)
        ]
        assert sum(ways) == 1
        mass = beta_binomial_mass(np.arange(trials + 1), trials, a, b)
        assert mass.tolist() == pytest.approx([float(way) for way in ways])
        asked = np.arange(-2, trials + 3)
        below = [float(sum(ways[: max(k + 1, 0)])) for k in asked.tolist()]
        cdf = beta_binomial_cdf(asked, trials, a, b)
        assert cdf.tolist() == pytest.approx(below)
        # Not even by rounding.
        assert (cdf <= 1).all()


@pytest.mark.parametrize("chance", [0.0, 1e-6, 0.05, 0.5, 0.97, 1.0])
def test_tails_are_those_of_scipy(chance: float) -> None:
    trials = np.array([1, 2, 7, 400, 10**6])[:, None]
    count = np.unique(np.append(np.arange(-2, 12), [380, 400, 401, 50_100, 10**6, 10**6 + 1]))
    expected = binom.sf(count - 1, trials, chance)
    np.testing.assert_allclose(at_least(count, trials, chance), expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-3, 1e-7])
@pytest.mark.parametrize("chance", [0.003, 0.05, 0.5, 0.97])
def test_the_fewest_are_the_least_within_alpha(alpha: float, chance: float) -> None:
    trials = np.unique(np.geomspace(1, 10**6, 300).astype(int))
    fewest = fewest_at(alpha, trials, chance)
    assert (binom.sf(fewest - 1, trials, chance) <= alpha).all()
    assert (binom.sf(fewest - 2, trials, chance) > alpha).all()


@pytest.mark.parametrize(
    ("trials", "a", "b"), [(5, 1, 1), (300, 20, 180), (10**6, 10**5, 9 * 10**5)]
)
def test_beta_binomials_are_those_of_scipy(trials: int, a: int, b: int) -> None:
    mean, deviation = beta_binomial_moments(trials, a, b)
    assert mean == pytest.approx(betabinom.mean(trials, a, b), rel=1e-12)
    assert deviation == pytest.approx(betabinom.std(trials, a, b), rel=1e-12)
    count = np.arange(max(0, int(mean - 5 * deviation)), min(trials, int(mean + 5 * deviation)) + 1)
    expected = betabinom.pmf(count, trials, a, b)
    np.testing.assert_allclose(beta_binomial_mass(count, trials, a, b), expected, rtol=1e-6)
