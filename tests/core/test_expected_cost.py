from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.stats import beta, lognorm

from voros import OperatingPoints, costs
from voros.core.volume import cost_moments, expected_costs, mean_t

SWITCHES = np.array([0.02, 0.05, 0.3])
ODDS = 8.7


def t_of(ratio):
    return ratio * ODDS / (1 + ratio * ODDS)


def by_quadrature(density, to_ratio, low, high):
    """Probability and integral of t on each interval, to thirty digits."""
    with mpmath.workdps(30):
        ends = [mpmath.mpf(0), *map(mpmath.mpf, SWITCHES), mpmath.inf]
        probability, integral = [], []
        cuts = [low, *sorted(x for x in map(to_ratio, SWITCHES) if low < x < high), high]
        for start, end in pairwise(ends):
            pieces = [(a, b) for a, b in pairwise(cuts) if start <= to_ratio((a + b) / 2) < end]
            probability.append(sum(mpmath.quad(density, p) for p in pieces))
            integral.append(
                sum(mpmath.quad(lambda v: density(v) * t_of(to_ratio(v)), p) for p in pieces)
            )
        return [float(p) for p in probability], [float(i) for i in integral]


def same(value):
    return value


def invert(value):
    return 1 / value


@pytest.mark.parametrize(
    ("distribution", "to_ratio", "low", "high"),
    [
        (costs.uniform(0.01, 0.4), same, 0.01, 0.4),
        (costs.uniform(0.03, 0.04), same, 0.03, 0.04),
        (costs.miss_costs(2, 80), invert, 2, 80),
    ],
)
def test_uniform_moments_match_thirty_digit_quadrature(distribution, to_ratio, low, high):
    expected = by_quadrature(lambda _: mpmath.mpf(1) / (high - low), to_ratio, low, high)
    probability, integral = cost_moments(distribution, SWITCHES, ODDS)
    np.testing.assert_allclose(probability, expected[0], atol=1e-15)
    np.testing.assert_allclose(integral, expected[1], atol=1e-15)


def test_moments_of_uniform_t_are_those_of_a_line():
    probability, integral = cost_moments(costs.uniform_t(0.1, 0.6), SWITCHES, ODDS)
    edges = np.clip([0, *t_of(SWITCHES), 1], 0.1, 0.6)
    np.testing.assert_allclose(probability, np.diff(edges) / 0.5, atol=1e-15)
    np.testing.assert_allclose(integral, np.diff(edges**2) / 2 / 0.5, atol=1e-15)


@pytest.mark.parametrize(
    ("frozen", "over"),
    [(lognorm(0.6, scale=1 / 20), "ratio"), (lognorm(0.4, scale=25), "miss"), (beta(2, 5), "t")],
)
def test_moments_of_a_density_match_its_cdf_and_monte_carlo(frozen, over):
    distribution = costs.from_scipy(frozen, over=over)
    probability, integral = cost_moments(distribution, SWITCHES, ODDS)
    draws = frozen.rvs(400_000, random_state=0)
    ratios = {"ratio": draws, "miss": 1 / draws, "t": draws / (1 - draws) / ODDS}[over]
    interval = np.digitize(ratios, SWITCHES)
    at = {"ratio": SWITCHES, "miss": 1 / SWITCHES, "t": t_of(SWITCHES)}[over]
    below = frozen.sf(at) if over == "miss" else frozen.cdf(at)
    np.testing.assert_allclose(probability, np.diff([0, *below, 1]), atol=1e-9)
    for i in range(4):
        drawn = np.where(interval == i, t_of(ratios), 0)
        error = drawn.std() / math.sqrt(len(drawn))
        # A few draws in 400,000 may miss an interval altogether.
        assert abs(integral[i] - drawn.mean()) < 4.5 * error + 1e-6


def test_moments_of_samples_are_sums():
    distribution = costs.from_samples([0.01, 0.05, 0.04, 1.0], weights=[1, 2, 3, 4])
    probability, integral = cost_moments(distribution, SWITCHES, ODDS)
    # 0.05 lies on a switch and belongs to the interval above it.
    np.testing.assert_allclose(probability, [0.1, 0.3, 0.2, 0.4])
    expected = [0.1 * t_of(0.01), 0.3 * t_of(0.04), 0.2 * t_of(0.05), 0.4 * t_of(1.0)]
    np.testing.assert_allclose(integral, expected)


def test_a_narrow_interval_is_as_exact_as_any_other():
    low = 0.1
    narrow = mean_t(costs.uniform(low, low * (1 + 1e-9)), ODDS)
    assert narrow == pytest.approx(t_of(low * (1 + 5e-10)), rel=1e-14)


def test_expected_cost_of_every_threshold_by_hand():
    # P = 4, N = 12, c uniform on [1, 3]: t = 3c/(3c + 1), mean 1 - ln(10/4)/6.
    points = OperatingPoints.from_counts([1, 4], [0, 6], 4, 12)
    t = 1 - math.log(10 / 4) / 6
    expected = [1 - t, (1 - t) * 0.75, t * 0.5]
    np.testing.assert_allclose(expected_costs(points, costs.uniform(1, 3)), expected, rtol=1e-14)
