"""Closed bounds for many alarms against SciPy's exact tails."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.stats import binom

from voros.guarantee.next_cases.closed_bounds import ManyCounts, count_ranges, tail_bound
from voros.guarantee.next_cases.fixed_sequence import (
    exact_up_to,
    keeping_chance,
    risky_precisions,
)
from voros.guarantee.next_cases.needed import RiskBound


@pytest.mark.parametrize("seed", range(5))
def test_no_tail_is_above_its_bound(seed: int) -> None:
    """Random ranges of alarms, needed successes and chances, 0 and 1 among them."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        low = int(rng.integers(1, 3000))
        alarms = np.arange(low, low + int(rng.integers(1, 60)))
        share = rng.random()
        needed = np.maximum(np.ceil(share * alarms).astype(int), 1)
        success = np.clip(np.append(share + rng.normal(scale=0.05, size=6), [0.0, 1.0]), 0, 1)
        exact = binom.sf(needed[:, None] - 1, alarms[:, None], success).max(axis=0)
        least = np.array([((needed - 1) / alarms).min()])
        bound = tail_bound((alarms[:1], alarms[-1:]), least, success)[0]
        assert (exact <= bound + 1e-12).all()


def test_a_tail_of_many_is_near_its_bound() -> None:
    alarms, chance = np.array([40_000]), np.array([0.5])
    needed = 20_000 + np.array([100, 200, 330])
    for fewest in needed:
        bound = tail_bound((alarms, alarms), np.array([(fewest - 1) / 40_000]), chance)[0, 0]
        exact = binom.sf(fewest - 1, 40_000, 0.5)
        assert exact <= bound <= exact + 1.05 * binom.pmf(fewest - 1, 40_000, 0.5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("offset", [0, 50])
def test_no_mean_is_above_its_bound_between_two_chances(seed: int, offset: int) -> None:
    """Any tails, rising and falling, over ranges that cover all counts that matter."""
    rng = np.random.default_rng(seed)
    trials, chances = 3000, rng.uniform(0.1, 0.5) + np.array([0.0, 0.02, 0.03])
    many = ManyCounts(trials, chances, offset)
    tails = rng.random((len(many.begins), 3))
    bounds = many.mean_bounds(tails)
    counts = np.arange(trials + 1)
    ranges = np.searchsorted(many.begins, offset + counts, side="right") - 1
    table = tails[np.maximum(ranges, 0)]
    assert len(many) == len(bounds) == 2
    for pair, bound in zip(pairwise(chances), bounds, strict=True):
        for chance in np.linspace(*pair, 9):
            assert (binom.pmf(counts, trials, chance) @ table <= bound + 1e-12).all()


def test_ranges_of_counts_begin_and_grow_as_they_should() -> None:
    begins = count_ranges(4000, 9000)
    assert begins[0] == 4000
    assert begins[-1] <= 9000
    assert (begins[1:] / begins[:-1]).max() < 1.005


@pytest.mark.parametrize("floor", [0.05, 0.5, 0.9])
def test_risky_precisions_of_many_alarms_are_never_too_low(floor: float) -> None:
    """Beyond the exact range the chance at a risky precision is at most its level, and near it."""
    horizon = 200_000
    risky = risky_precisions((0.01, 0.5), horizon, horizon, floor)
    for share in (0.02, 0.11, 0.4):
        assert share * horizon > exact_up_to(floor) or share == 0.02
        row, index = risky.at(np.array([share]))[0], risky.index[risky.rows(np.array([share]))][0]
        assert (index > 0).all()
        columns = np.arange(20, 130, 15)
        exact = 1 - keeping_chance(np.array([share]), row[columns], horizon, floor).values[0]
        levels = 1 - np.cumsum(risky.weights)[columns]
        assert (exact <= levels + 1e-9).all()
        assert (exact >= 0.8 * levels)[(levels < 0.45) & (levels > 0.005)].all()


@pytest.mark.parametrize("floor", [0.1, 0.6])
def test_passing_with_many_alarms_is_never_more_likely_than_said(floor: float) -> None:
    """Random chances within random parts, few alarms and many, at precisions between the grid."""
    rng = np.random.default_rng(0)
    walk = sequence(100_000, 100_000, floor, 0.05, 500, 30_000)
    alarms = np.arange(500, 30_001)
    needed = np.ceil(floor * alarms + 2 * np.sqrt(floor * (1 - floor) * alarms)).astype(int)
    passing, drop = RiskBound(walk)._passing.bounds(needed)
    below, precision = walk.n_cases - walk.start, walk.risky.precision
    for part in rng.integers(len(passing), size=40):
        chance = rng.uniform(*walk.edges[part : part + 2])
        counts = np.arange(
            *(int(below * chance + s * 8 * np.sqrt(below * chance)) for s in (-1, 1))
        )
        counts = counts[(counts >= 0) & (counts < len(needed))]
        k, back = int(rng.integers(20, len(precision))), rng.random()
        rho = (1 - back) * precision[k] + back * precision[k - 1]
        tails = binom.sf(needed[counts] - 1, alarms[counts], rho)
        exact = binom.pmf(counts, below, chance) @ tails
        assert exact <= passing[part, k] - back * drop[part, k] + 1e-9
