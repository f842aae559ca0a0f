from __future__ import annotations

import mpmath
import numpy as np
import oracles
import pytest

from voros.core.geometry import feasible_region
from voros.core.volume import dominated_area, mean_quotient


@pytest.mark.parametrize("spread", [0.0, 1e-15, 1e-9, 1e-3, 0.0999, 0.1001, 0.5, 0.99, 1 - 1e-12])
@pytest.mark.parametrize("u", [(0.3, 0.7), (0.7, 0.3), (0.0, 1.0)])
def test_mean_of_a_quotient_to_thirty_digits(u, spread) -> None:
    v = (1 - spread, 1 + spread)
    with mpmath.workdps(40):
        u0, u1, v0, v1 = (mpmath.mpf(x) for x in (*u, *v))
        expected = mpmath.quad(
            lambda x: (u0 + (u1 - u0) * x) / (v0 + (v1 - v0) * x), [0, 1e-12, 1e-6, 1]
        )
    got = mean_quotient(*(np.array([x]) for x in (*u, *v)))[0]
    assert got == pytest.approx(float(expected), rel=1e-13)


def test_mean_of_a_quotient_whose_ends_vanish_together() -> None:
    zero, half, one = (np.array([x]) for x in (0.0, 0.5, 1.0))
    assert mean_quotient(zero, half, zero, one) == pytest.approx(0.5)
    assert mean_quotient(half, zero, one, zero) == pytest.approx(0.5)
    assert mean_quotient(zero, zero, zero, zero) == 0.0


def test_shares_of_random_points_and_lines_against_clipping() -> None:
    rng = np.random.default_rng(2)
    for _ in range(500):
        p, n = rng.integers(1, 50, 2).tolist()
        alpha, kappa = rng.uniform(0, 0.95), rng.uniform(1, p + n)
        region = feasible_region(p, n, alpha, kappa)
        corners = region.vertices
        weights = rng.dirichlet(np.ones(len(corners)))
        h, k = weights @ corners
        slope = rng.choice([0.0, rng.uniform(0, 3), 50.0])
        shape = [tuple(corner) for corner in corners]
        expected = oracles.area(oracles.clip(shape, -slope, 1, k - slope * h))
        got = dominated_area(region, *(np.array([x]) for x in (h, k, 1.0, slope)))
        assert got * region.area == pytest.approx(expected, abs=1e-13)


P, N, ALPHA, SLOPE = 100, 900, 0.2, 1.0
STEEPNESS = ALPHA * N / ((1 - ALPHA) * P)


@pytest.mark.parametrize(
    ("kappa", "point", "short_form"),
    [
        (900, (0.05, 0.3), lambda q, _: q**2 / (2 * (STEEPNESS - SLOPE))),
        (
            300,
            (0.1, 0.75),
            lambda q, _: (
                (1 - ALPHA) * 300**2 / (2 * N * P) - (300 / P - q) ** 2 / (2 * (SLOPE + N / P))
            ),
        ),
        (900, (0.02, 0.97), lambda q, area: area - (1 - q) ** 2 / (2 * SLOPE)),
    ],
    ids=["through the precision line", "through the capacity line", "through the top"],
)
def test_the_three_short_forms_under_the_papers_assumptions(kappa, point, short_form) -> None:
    region = feasible_region(P, N, ALPHA, kappa)
    h, k = point
    got = dominated_area(region, *(np.array([x]) for x in (h, k, 1.0, SLOPE)))[0] * region.area
    assert got == pytest.approx(short_form(k - SLOPE * h, region.area), abs=1e-14)
