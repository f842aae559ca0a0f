"""The feasible region against clipping in rational arithmetic, lines through corners included.

Class sizes are small, capacities whole and floors simple fractions, so that limits pass a corner
of the square, or each other on its border, about as often as not.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest

from voros.core.geometry import feasible_region

Corner = tuple[Fraction, Fraction]
Limits = tuple[int, int, Fraction, int]


def random_limits(rng: np.random.Generator) -> Limits:
    n_positive, n_negative = rng.integers(1, 9, 2).tolist()
    denominator = int(rng.choice([2, 4, 8]))
    floor = Fraction(int(rng.integers(0, denominator)), denominator)
    return n_positive, n_negative, floor, int(rng.integers(1, n_positive + n_negative + 1))


def all_limits(seed: int, n_draws: int) -> list[Limits]:
    rng = np.random.default_rng(seed)
    return [random_limits(rng) for _ in range(n_draws)]


def exact_corners(limits: Limits) -> list[Corner]:
    """Corners counter-clockwise from the origin, each once."""
    n_positive, n_negative, floor, capacity = limits
    square = [(Fraction(x), Fraction(y)) for x, y in oracles.SQUARE]
    precise = oracles.clip(square, floor * n_negative, -(1 - floor) * n_positive, Fraction(0))
    return list(dict.fromkeys(oracles.clip(precise, n_negative, n_positive, Fraction(capacity))))


def test_area_and_corners_are_those_of_rational_clipping() -> None:
    for limits in all_limits(1, 600):
        corners = exact_corners(limits)
        n_positive, n_negative, floor, capacity = limits
        region = feasible_region(n_positive, n_negative, float(floor), capacity)
        assert region.area == pytest.approx(float(oracles.area(corners)), abs=1e-14), limits
        assert region.vertices == pytest.approx(np.array(corners, dtype=float), abs=1e-14), limits
        assert region.ring[:, 0].tolist() == region.ring[:, -1].tolist() == [0, 0]
        assert region.highest_recall == pytest.approx(float(max(y for _, y in corners)))


def test_limits_that_meet_on_a_side_of_the_square_make_one_corner_there() -> None:
    rng = np.random.default_rng(4)
    for n_positive, n_negative in rng.integers(1, 60, (1000, 2)).tolist():
        capacity = int(rng.integers(1, n_positive + n_negative))
        on_top, on_the_right = Fraction(n_positive, capacity), 1 - Fraction(n_negative, capacity)
        for floor in (on_top, on_the_right):
            if 0 < floor < 1:
                limits = (n_positive, n_negative, floor, capacity)
                region = feasible_region(n_positive, n_negative, float(floor), capacity)
                assert len(region.vertices) == len(exact_corners(limits)), limits
