"""Binomial tails against SciPy's distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from voros.guarantee.binomial_tests import (
    at_least,
    beta_binomial_mass,
    beta_binomial_moments,
    fewest_at,
)


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
    found = fewest_at(alpha, trials, chance)
    assert (binom.sf(found - 1, trials, chance) <= alpha).all()
    assert (binom.sf(found - 2, trials, chance) > alpha).all()


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
