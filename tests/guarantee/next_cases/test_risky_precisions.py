from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from voros.guarantee.next_cases.fixed_sequence import (
    chance_deviates,
    keeping_chance,
    needed_to_keep,
    precision_grid,
    risky_precisions,
)


@pytest.mark.parametrize("floor", [0.003, 0.15, 1 / 3, 0.5, 0.9])
def test_one_right_alarm_less_would_break_the_floor(floor: float) -> None:
    exact = Fraction(floor).limit_denominator(1000)
    for alarms in range(1, 60):
        least = int(needed_to_keep(np.array([alarms]), floor)[0])
        assert Fraction(least - 1, alarms) < exact <= Fraction(least, alarms)


@pytest.mark.parametrize(("floor", "share", "precision"), [(0.5, 0.4, 0.6), (0.3, 0.7, 0.2)])
def test_the_chance_of_a_broken_floor_counts_every_future(
    floor: float, share: float, precision: float
) -> None:
    """Six cases, each unflagged, a true positive or a false positive: all 729 futures."""
    chances = (1 - share, share * precision, share * (1 - precision))
    broken = 0.0
    for future in product(range(3), repeat=6):
        tp, fp = future.count(1), future.count(2)
        if tp + fp and tp / (tp + fp) < floor:
            broken += float(np.prod([chances[case] for case in future]))
    risk = 1 - keeping_chance(np.array([share]), np.array([precision]), 6, floor).values
    assert risk[0, 0] == pytest.approx(broken, abs=1e-9)


def chance(share: float, precision: float, horizon: int, floor: Fraction) -> float:
    """The chance of a broken floor, by SciPy."""
    alarms = np.arange(1, horizon + 1)
    most = np.array([-(-floor.numerator * a // floor.denominator) - 1 for a in alarms.tolist()])
    return float(binom.pmf(alarms, horizon, share) @ binom.cdf(most, alarms, precision))


@pytest.mark.parametrize("floor", ["1/100", "1/20", "1/2", "99/100"])
@pytest.mark.parametrize("horizon", [20, 100, pytest.param(1000, marks=pytest.mark.slow)])
def test_risky_precisions_are_found_on_the_whole_of_0_to_1(floor: str, horizon: int) -> None:
    """Never below the exact one, and above it by no more than the grid."""
    exact_floor = Fraction(floor)
    risky = risky_precisions((0.02, 0.5), horizon, horizon, float(exact_floor))
    deviates = chance_deviates()
    reached = 0
    for share in (0.02, 0.05, 0.1, 0.35):
        row = risky.at(np.array([share]))[0]
        for j in range(0, len(deviates), 24):
            level = float(norm.sf(deviates[j]))
            if chance(share, 0.0, horizon, exact_floor) <= level:
                continue
            reached += 1
            exact = brentq(lambda p, s=share, b=level: chance(s, p, horizon, exact_floor) - b, 0, 1)
            risky_precision = row[j]
            assert risky_precision >= exact - 1e-9
            looser = chance(0.9 * share, float(risky_precision), horizon, exact_floor)
            assert level > 0.5 or looser <= 3 * level
    assert reached > 10


def test_risky_precisions_of_few_alarms_are_the_exact_ones() -> None:
    """With about 10 alarms a floor of 1 in 100 breaks only if none is a true positive."""
    risky = risky_precisions((0.1, 0.3), 100, 100, 0.01)
    column = int(np.flatnonzero(chance_deviates() == 2.0)[0])
    exact = brentq(lambda p: (1 - 0.1 * p) ** 100 - 0.9**100 - norm.sf(2.0), 0, 1)
    risky_precision = risky.at(np.array([0.1]))[0][column]
    assert exact == pytest.approx(0.37, abs=0.01)
    assert exact <= risky_precision <= 1.12 * exact


@pytest.mark.parametrize("floor", [0.01, 0.4, 0.95])
def test_they_fall_with_the_share_and_hold_between_shares(floor: float) -> None:
    risky = risky_precisions((0.01, 1.0), 500, 500, floor)
    assert (np.diff(risky.index, axis=0) <= 0).all()
    assert (np.diff(risky.index, axis=1) >= 0).all()
    rng = np.random.default_rng(0)
    shares = np.sort(rng.uniform(0.01, 1.0, 40))
    rows = risky.at(shares)
    levels = norm.sf(chance_deviates())
    # At the risky precision the chance is at most the level it stands for, where one is risky.
    for share, row, index in zip(shares, rows, risky.index[risky.rows(shares)], strict=True):
        exact = 1 - keeping_chance(np.array([share]), row, 500, floor).values[0]
        assert (exact[index > 0] <= levels[index > 0] + 1e-9).all()
        assert 1 - keeping_chance(np.array([share]), np.zeros(1), 500, floor).values <= (
            levels[index == 0].min(initial=1.0) + 1e-9
        )


def test_no_precision_breaks_a_floor_where_alarms_are_too_rare() -> None:
    """One alarm in a hundred futures: a chance of a half is out of reach."""
    risky = risky_precisions((1e-4, 1.1e-4), 100, 100, 0.4)
    levels = norm.sf(chance_deviates())
    assert (risky.index[:, levels > 0.02] == 0).all()
    assert (risky.index[:, levels < 0.005] > 0).all()


def test_weights_and_what_is_ignored_are_all_chances() -> None:
    risky = risky_precisions((0.1, 0.2), 100, 100, 0.4)
    assert risky.weights.sum() + risky.ignored == pytest.approx(1)
    assert (risky.weights > 0).all()


def test_the_grid_reaches_from_0_to_1() -> None:
    grid = precision_grid(0.3, 0.01)
    assert (grid[0], grid[-1]) == (0, 1)
    assert 0.3 in grid
    assert (np.diff(grid) > 0).all()


@pytest.mark.parametrize("floor", ["1/100", "2/5", "19/20"])
def test_flagged_positives_at_a_risky_precision_do_not_fall_with_the_share(floor: str) -> None:
    """What the proof for tied scores needs, by SciPy."""
    exact_floor = Fraction(floor)
    for level in (1e-3, 0.05, 0.3, 0.8):
        flagged = [
            share * brentq(lambda p, s=share, b=level: chance(s, p, 60, exact_floor) - b, 0, 1)
            for share in np.linspace(0.05, 1.0, 25).tolist()
            if chance(share, 0.0, 60, exact_floor) > level
        ]
        assert len(flagged) > 10
        assert (np.diff(flagged) >= -1e-9).all()
