"""Bets keep their promise: fair on average, never ruinous beyond the wealth, and powerful."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from voros.guarantee import betting
from voros.guarantee.betting import final_wealth
from voros.guarantee.tuning import TUNING

VALUES = np.array([-0.6, 0.1, 0.9])


def fair_chances() -> np.ndarray:
    """Chances of the values with a mean of exactly 0."""
    low = 0.45
    # low * -0.6 + middle * 0.1 + high * 0.9 = 0 with middle + high = 1 - low.
    high = (0.6 * low - 0.1 * (1 - low)) / 0.8
    return np.array([low, 1 - low - high, high])


@pytest.mark.parametrize("rounds", [200, 3])
@pytest.mark.parametrize("level", [0.3, 0.05])
def test_the_mean_wealth_of_fair_draws_is_one(
    monkeypatch: pytest.MonkeyPatch, rounds: int, level: float
) -> None:
    """All sequences of seven draws, weighed by their chances: any peek ahead would show."""
    monkeypatch.setattr(betting, "TUNING", replace(TUNING, bet_rounds=rounds))
    paths = np.array(list(product(range(3), repeat=7))).T
    n_paths = paths.shape[1]
    learned = np.tile([[0.1], [-0.6]], n_paths)
    wealth = final_wealth(learned, VALUES[paths], 0.6, np.full(n_paths, level))
    chance = np.prod(fair_chances()[paths], axis=0)
    assert chance.sum() == pytest.approx(1, abs=1e-12)
    assert wealth.min() >= 0
    assert chance @ wealth == pytest.approx(1, abs=1e-12)
    assert 0 < chance @ (wealth * level >= 1) <= level


def test_the_worst_draws_leave_some_wealth() -> None:
    for n_draws in (1, 5, 50):
        worst = np.full((n_draws, 1), -2.0)
        wealth = final_wealth(worst[:1], worst, 2.0, np.array([0.05]))[0]
        assert 0 < wealth < 0.2


def test_variables_are_bet_on_one_by_one() -> None:
    rng = np.random.default_rng(0)
    draws, levels = rng.choice([-0.4, 0.6], size=(90, 4), p=[0.5, 0.5]), np.full(4, 0.05)
    together = final_wealth(draws[:10], draws[10:], 0.4, levels)
    for j in range(4):
        alone = final_wealth(draws[:10, [j]], draws[10:, [j]], 0.4, levels[:1])
        assert together[j] == pytest.approx(alone[0])


def test_nothing_is_staked_once_the_target_is_reached() -> None:
    up = np.ones((60, 1))
    more = np.concatenate([up, -up])
    short, long = (final_wealth(up[:5], d, 1.0, np.array([0.05])) for d in (up, more))
    # The longer series bets less at first, but reaches the target too, and then keeps it.
    assert 20 <= long[0] <= 20 * 1.9
    assert 20 <= short[0] <= 20 * 1.9


def test_the_power_is_close_to_that_of_the_exact_test() -> None:
    """400 draws of +-1 with a chance of .57: the exact binomial test passes in 87 %."""
    n, chance, runs = 400, 0.57, 1000
    needed = int(binom.isf(0.05, n, 0.5)) + 1
    exact = binom.sf(needed - 1, n, chance)
    rng = np.random.default_rng(0)
    draws = np.where(rng.random((20 + n, runs)) < chance, 1.0, -1.0)
    passed = final_wealth(draws[:20], draws[20:], 1.0, np.full(runs, 0.05)) >= 20
    assert 0.85 < exact < 0.9
    assert passed.mean() > exact - 0.04
