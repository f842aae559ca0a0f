"""Tables and bounds against SciPy, at random chances between the computed ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from slower import slow_after

from voros.guarantee.next_cases.fixed_sequence import parts_between, rising_chances
from voros.guarantee.next_cases.tail_bounds import BinomialCounts, TailTable, windows
from voros.guarantee.tuning import TUNING


def random_needed(rng: np.random.Generator, length: int, first: int) -> np.ndarray:
    """Needed successes that rise by 0 or 1 and start anywhere, even below 0 or out of reach."""
    return int(rng.integers(-2, first + 3)) + np.cumsum(rng.random(length) < rng.random()).astype(
        int
    )


@pytest.mark.parametrize("seed", range(6))
def test_every_row_is_a_binomial_tail(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, length = int(rng.integers(0, 40)), 1300
    needed = random_needed(rng, length, first)
    success = np.concatenate([[0.0, 1.0], rng.random(4)])
    trials = np.arange(first, first + length)
    expected = binom.sf(needed[:, None] - 1, trials[:, None], success)
    table = TailTable(first, needed, success)
    low = int(rng.integers(0, 500))
    # In pieces, as walks ask for them, and beyond the end.
    pieces = [table.rows(first + i, first + i + 99) for i in range(low, length, 100)]
    rows = np.concatenate(pieces)[: length - low]
    np.testing.assert_allclose(rows, expected[low:], atol=1e-12)
    assert not np.concatenate(pieces)[length - low :].any()


@pytest.mark.parametrize("trials", slow_after(3, [3, 40, 700, 6000]))
@pytest.mark.parametrize("floor", [0.02, 0.5, 0.9])
def test_between_computed_chances_the_mean_is_never_above_the_bound(
    trials: int, floor: float
) -> None:
    rng = np.random.default_rng(trials)
    start, margin = 5, 1.5 * np.sqrt(floor * (1 - floor))
    counts = np.arange(start, start + trials + 1)
    needed = np.maximum.accumulate(np.ceil(floor * counts + margin * np.sqrt(counts))).astype(int)
    # Nothing suffices beyond four fifths of the range: the table ends with a jump.
    success = np.array([floor, min(1.2 * floor, 1)])
    table = TailTable(start, needed[: 4 * trials // 5 + 1], success)
    chances = rising_chances(0.3 / trials, 1.0, trials)
    bounds = BinomialCounts(trials, chances).means(table, start).within_parts()
    edges = parts_between(chances)
    assert len(bounds) == TUNING.parts * (len(chances) - 1) == len(edges) - 1
    tails = binom.sf(needed[:, None] - 1, counts[:, None], success)
    tails[4 * trials // 5 + 1 :] = 0.0
    part = rng.integers(len(bounds), size=300)
    chance = edges[part] + rng.random(300) * np.diff(edges)[part]
    exact = binom.pmf(np.arange(trials + 1), trials, chance[:, None]) @ tails
    assert (exact <= bounds[part] + 1e-12).all()
    # And not far above, but for the jump.
    near = chance < 0.5
    assert (bounds[part][near] <= 1.1 * exact[near] + 0.03).all()


def test_columns_that_do_not_matter_are_left_out_and_the_others_stay() -> None:
    """From the tenth chance on three columns are enough: they are as before, the others 1."""
    chances, success = rising_chances(0.01, 0.5, 300), np.linspace(0.1, 0.9, 7)
    counts, needed = BinomialCounts(300, chances), np.arange(5, 160) // 2
    whole = counts.means(TailTable(0, needed, success)).values
    columns = np.where(np.arange(len(chances)) < 10, 7, 3)
    some = counts.means(TailTable(0, needed, success), columns=columns).values
    first = TUNING.together * -(-10 // TUNING.together)
    np.testing.assert_allclose(some[:, :3], whole[:, :3], atol=1e-14)
    assert (some[first:, 3:] == 1).all()
    np.testing.assert_allclose(some[:10], whole[:10], atol=1e-14)


@pytest.mark.parametrize("trials", [3, 60, 900, 20_000])
@pytest.mark.parametrize("jump", [0.05, 0.5])
def test_the_bend_of_any_table_is_within_the_slack(trials: int, jump: float) -> None:
    """A table that jumps, seen from chances at which the jump is near, far, and out of sight."""
    success = np.array([0.3])
    chances = rising_chances(0.5 / trials, 0.99, trials)
    counts = BinomialCounts(trials, chances)
    means = counts.means(Steps(np.arange(trials + 1) < jump * trials, success))
    along = np.linspace(0, 1, 9)[:, None]
    between = (1 - along) * chances[:-1] + along * chances[1:]
    exact = binom.cdf(np.ceil(jump * trials) - 1, trials, between)
    line = (1 - along) * means.values[:-1, 0] + along * means.values[1:, 0]
    assert (exact <= line + means.slack[:, 0] + 1e-11).all()
    assert (exact >= line - means.slack[:, 0] - 1e-11).all()


class Steps(TailTable):
    """A table of zeros and ones that has nothing to do with binomial tails."""

    def __init__(self, ones: np.ndarray, success: np.ndarray) -> None:
        self.success, self.ones = success, ones

    def rows(self, low: int, high: int) -> np.ndarray:
        return self.ones[low : high + 1, None].astype(float)


@pytest.mark.parametrize(("trials", "chance"), [(10, 0.2), (1000, 0.5), (10**7, 1e-4), (50, 1.0)])
def test_hardly_anything_is_cut_off(trials: int, chance: float) -> None:
    low, high = windows(trials, np.array([chance]))
    assert binom.cdf(low - 1, trials, chance) + binom.sf(high, trials, chance) < 1e-11


def test_second_differences_of_binomials_are_as_small_as_the_bound_says() -> None:
    """The inequality behind the slack, over a grid of binomials."""
    for trials in (4, 5, 11, 60, 401):
        for chance in (1e-3, 0.03, 0.2, 0.5, 0.9):
            mass = binom.pmf(np.arange(trials - 1), trials - 2, chance)
            total = np.abs(np.convolve(mass, [1, -2, 1])).sum()
            variance = (trials - 3) * chance * (1 - chance)
            assert total <= min(4.0, 4 / (np.e * variance)) + 1e-12
