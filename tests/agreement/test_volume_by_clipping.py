"""Areas by clipping in rational arithmetic, and their means by quadrature, for any set of points.

The points need not come from one ranking: they may cross, repeat or lie on the region's border.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import oracles
import pytest
from scipy import stats
from scipy.integrate import quad

from voros import OperatingPoints, costs
from voros.core.geometry import Region, feasible_region
from voros.core.hull import CostHull, cost_hull
from voros.core.volume import dominated_area, mean_quotient, partial_volume, partial_volumes

AGREEMENT = 1e-10
UNITS = ("ratio", "miss", "t")

Polygon = list[tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Problem:
    """Counts of operating points, class sizes and limits, all rational."""

    counts: tuple[tuple[int, int], ...]
    n_positive: int
    n_negative: int
    floor: Fraction
    max_alarms: Fraction

    @property
    def feasible(self) -> list[tuple[int, int]]:
        return [
            (tp, fp)
            for tp, fp in self.counts
            if tp >= self.floor * (tp + fp) and tp + fp <= self.max_alarms
        ]

    @property
    def corners(self) -> Polygon:
        """The feasible region, by clipping the unit square."""
        p, n = self.n_positive, self.n_negative
        square = [(Fraction(x), Fraction(y)) for x, y in oracles.SQUARE]
        precise = oracles.clip(square, self.floor * n, -(1 - self.floor) * p, Fraction(0))
        return oracles.clip(precise, n, p, self.max_alarms)

    def arguments(self) -> tuple[OperatingPoints, CostHull, Region]:
        """What the code under test takes."""
        tp, fp = np.array(self.counts[1:]).reshape(-1, 2).T
        points = OperatingPoints.from_counts(tp, fp, self.n_positive, self.n_negative)
        kept = set(self.feasible)
        counts = zip(points.tp.tolist(), points.fp.tolist(), strict=True)
        mask = np.array([pair in kept for pair in counts])
        region = feasible_region(
            self.n_positive, self.n_negative, float(self.floor), float(self.max_alarms)
        )
        return points, cost_hull(points, mask), region


def random_problem(rng: np.random.Generator, floor: Fraction | None = None) -> Problem:
    n_positive, n_negative = rng.integers(1, 13, 2).tolist()
    tp = rng.integers(0, n_positive + 1, 5)
    fp = np.minimum(rng.integers(0, n_negative + 1, 5), rng.integers(0, n_negative + 1, 5))
    counts = {(0, 0), *zip(tp.tolist(), fp.tolist(), strict=True)}
    if rng.random() < 0.2:
        counts |= {(n_positive, 0)}
    if rng.random() < 0.2:
        counts |= {(n_positive, n_negative)}
    choices = [Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(int(rng.integers(1, 32)), 32)]
    drawn = choices[int(rng.integers(len(choices)))]
    n_cases = n_positive + n_negative
    capacities = [Fraction(n_cases), Fraction(int(rng.integers(4, 4 * n_cases + 1)), 4)]
    return Problem(
        ((0, 0), *sorted(counts - {(0, 0)})),
        n_positive,
        n_negative,
        drawn if floor is None else floor,
        capacities[int(rng.integers(2))],
    )


def line_weights(over: str, value: float, odds: float) -> tuple[float, float]:
    """Weights of tpr and fpr whose quotient is the slope of the line of equal cost."""
    slope = {"ratio": value * odds, "miss": odds / value if value else np.inf}.get(over)
    if slope is None:
        return 1 - value, value
    return (1.0, slope) if slope < 1 else (1 / slope, 1.0)


def best_share(problem: Problem, over: str) -> Callable[[float], float]:
    """Share of the region that is costlier than the cheapest feasible point, by clipping."""
    p, n = problem.n_positive, problem.n_negative
    corners = [(float(x), float(y)) for x, y in problem.corners]
    points = [(fp / n, tp / p) for tp, fp in problem.feasible]

    def share(value: float) -> float:
        up, right = line_weights(over, value, n / p)
        least = max(up * y - right * x for x, y in points)
        return oracles.area(oracles.clip(corners, -right, up, least)) / oracles.area(corners)

    return share


def kinks(problem: Problem, over: str) -> list[float]:
    """Values at which a line of equal cost holds two points, or a point and a corner."""
    p, n = problem.n_positive, problem.n_negative
    points = [(Fraction(fp, n), Fraction(tp, p)) for tp, fp in problem.feasible]
    slopes = {
        (y - k) / (x - h)
        for h, k in points
        for x, y in [*points, *problem.corners]
        if x != h and (y - k) * (x - h) > 0
    }
    into = {
        "ratio": lambda m: m * p / n,
        "miss": lambda m: n / (m * p),
        "t": lambda m: m / (1 + m),
    }[over]
    return sorted(float(into(m)) for m in slopes)


def mean_by_quadrature(
    problem: Problem,
    over: str,
    low: float,
    high: float,
    density: Callable[[float], float] | None = None,
) -> float:
    share = best_share(problem, over)
    weigh = density if density is not None else lambda _: 1 / (high - low)
    ends = [low, *(x for x in kinks(problem, over) if low < x < high), high]
    return sum(
        quad(lambda v: share(v) * weigh(v), a, b, epsabs=1e-12, epsrel=1e-11)[0]
        for a, b in pairwise(ends)
        if b - a > 1e-13 * b
    )


def random_range(rng: np.random.Generator, over: str) -> tuple[float, float]:
    if over == "t":
        low, high = np.sort(rng.choice([0.0, *rng.uniform(0, 1, 3), 1.0], 2, replace=False))
    else:
        low = 10.0 ** rng.uniform(-1.5, 0.5)
        high = low * 10.0 ** rng.uniform(0.01, 1.5)
    return float(low), float(high)


def random_place(rng: np.random.Generator, corners: Polygon) -> tuple[Fraction, Fraction]:
    """A corner, a point on a side, inside the region, or anywhere in the square."""
    kind = int(rng.integers(4))
    if kind == 3:
        return Fraction(int(rng.integers(33)), 32), Fraction(int(rng.integers(33)), 32)
    weights = np.zeros(len(corners), dtype=int)
    weights[rng.choice(len(corners), min(kind + 1, len(corners)), replace=False)] = 1
    weights *= rng.integers(1, 5, len(corners))
    mix = [Fraction(int(w), int(weights.sum())) for w in weights]
    return (
        sum((w * x for w, (x, _) in zip(mix, corners, strict=True)), Fraction(0)),
        sum((w * y for w, (_, y) in zip(mix, corners, strict=True)), Fraction(0)),
    )


def test_shares_of_several_points_at_once_by_rational_clipping() -> None:
    rng = np.random.default_rng(21)
    for _ in range(150):
        problem = random_problem(rng)
        corners = problem.corners
        places = [random_place(rng, corners) for _ in range(3)]
        # A level and an upright line among them.
        weights = [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
        weights.append((Fraction(1), Fraction(int(rng.integers(1, 40)), 8)))
        weights = [weights[i] for i in rng.permutation(3)]
        areas = [
            oracles.area(oracles.clip(corners, -right, up, up * k - right * h))
            for (h, k), (up, right) in zip(places, weights, strict=True)
        ]
        expected = np.array([float(area / oracles.area(corners)) for area in areas])
        columns = np.array([[*p, *w] for p, w in zip(places, weights, strict=True)], dtype=float).T
        region = problem.arguments()[2]
        assert dominated_area(region, *columns) == pytest.approx(expected, abs=1e-12), problem
        table = dominated_area(region, *columns.reshape(4, 1, 3))
        assert table == pytest.approx(expected[None], abs=1e-12)


@pytest.mark.parametrize("over", UNITS)
def test_mean_over_uniform_costs_by_quadrature(over: str) -> None:
    rng = np.random.default_rng(31)
    for _ in range(60):
        problem = random_problem(rng)
        low, high = random_range(rng, over)
        expected = mean_by_quadrature(problem, over, low, high)
        got = partial_volume(*problem.arguments(), costs.Uniform(low, high, over=over))
        assert 0 <= got <= 1
        assert got == pytest.approx(expected, abs=AGREEMENT), (problem, low, high)


@pytest.mark.parametrize("over", UNITS)
def test_mean_over_samples_by_clipping(over: str) -> None:
    rng = np.random.default_rng(41)
    for _ in range(60):
        problem = random_problem(rng)
        values = rng.uniform(0, 1, 3) if over == "t" else 10.0 ** rng.uniform(-1.5, 1.5, 3)
        weights = rng.integers(1, 5, 3)
        share = best_share(problem, over)
        expected = np.average([share(float(v)) for v in values], weights=weights)
        got = partial_volume(*problem.arguments(), costs.from_samples(values, weights, over=over))
        assert got == pytest.approx(expected, abs=AGREEMENT), problem


@pytest.mark.parametrize(
    ("over", "frozen", "top"),
    [
        ("ratio", stats.truncexpon(4, scale=0.5), 2.0),
        ("miss", stats.uniform(0.2, 6), 6.2),
        ("t", stats.beta(2, 3), 1.0),
    ],
)
def test_mean_over_a_density_by_quadrature(
    over: str, frozen: stats.rv_continuous, top: float
) -> None:
    rng = np.random.default_rng(51)
    for _ in range(12):
        problem = random_problem(rng)
        low = float(frozen.support()[0])
        expected = mean_by_quadrature(problem, over, low, top, lambda v: float(frozen.pdf(v)))
        got = partial_volume(*problem.arguments(), costs.from_scipy(frozen, over=over))
        assert got == pytest.approx(expected, abs=1e-8), problem


def expected_means(problems: Sequence[Problem], over: str, low: float, high: float) -> list[float]:
    return [mean_by_quadrature(problem, over, low, high) for problem in problems]


@pytest.mark.parametrize("over", UNITS)
def test_means_of_several_curves_each_in_its_own_region(over: str) -> None:
    rng = np.random.default_rng(61)
    for n_problems in (1, 2, 3, 5, 8):
        problems = [random_problem(rng) for _ in range(n_problems)]
        points, hulls, regions = zip(*(p.arguments() for p in problems), strict=True)
        low, high = random_range(rng, over)
        got = partial_volumes(points, hulls, regions, costs.Uniform(low, high, over=over))
        assert got.shape == (n_problems,)
        assert got == pytest.approx(expected_means(problems, over, low, high), abs=AGREEMENT)


def test_means_of_one_curve_within_several_limits() -> None:
    rng = np.random.default_rng(71)
    for _ in range(6):
        problem = random_problem(rng)
        floors = [Fraction(0), Fraction(1, 8), Fraction(1, 2)]
        problems = [replace(problem, floor=floor) for floor in floors]
        points, hulls, regions = zip(*(p.arguments() for p in problems), strict=True)
        got = partial_volumes(points, hulls, regions, costs.Uniform(0.1, 2.0))
        assert got == pytest.approx(expected_means(problems, "ratio", 0.1, 2.0), abs=AGREEMENT)
        # Known costs and several curves: the mean is one share.
        single = partial_volumes(points, hulls, regions, costs.known(0.7))
        shares = [best_share(p, "ratio")(0.7) for p in problems]
        assert single == pytest.approx(shares, abs=AGREEMENT)


ALL_RIGHT = Fraction(1)
NEARLY_ALL_RIGHT = 1 - Fraction(1, 10**9)


def test_where_every_alarm_must_be_right_the_mean_is_the_limit_of_high_floors() -> None:
    rng = np.random.default_rng(81)
    for _ in range(40):
        problem = random_problem(rng, ALL_RIGHT)
        nearly = replace(problem, floor=NEARLY_ALL_RIGHT)
        limit = pytest.approx(best_share(nearly, "ratio")(0.7), abs=1e-6)
        points, hull, region = problem.arguments()
        for distribution in (costs.known(0.7), costs.Uniform(0.3, 1.1)):
            assert partial_volume(points, hull, region, distribution) == limit
            assert partial_volumes([points] * 2, [hull] * 2, [region] * 2, distribution)[1] == limit


def test_floors_of_one_and_others_in_one_call() -> None:
    rng = np.random.default_rng(82)
    for _ in range(10):
        problem = random_problem(rng, ALL_RIGHT)
        free = replace(problem, floor=Fraction(0))
        points, hulls, regions = zip(problem.arguments(), free.arguments(), strict=True)
        got = partial_volumes(points, hulls, regions, costs.Uniform(0.3, 1.1))
        first = best_share(replace(problem, floor=NEARLY_ALL_RIGHT), "ratio")(0.7)
        second = mean_by_quadrature(free, "ratio", 0.3, 1.1)
        assert got == pytest.approx([first, second], abs=1e-6)


def test_shares_where_every_alarm_must_be_right_are_the_limit_of_high_floors() -> None:
    rng = np.random.default_rng(83)
    for _ in range(40):
        problem = random_problem(rng, ALL_RIGHT)
        nearly = replace(problem, floor=NEARLY_ALL_RIGHT)
        top = min(problem.max_alarms / problem.n_positive, Fraction(1))
        heights = np.array([0.0, float(top) * rng.random(), float(top)])
        rest = np.zeros(3), heights, np.ones(3), np.ones(3)
        near = dominated_area(nearly.arguments()[2], *rest)
        assert dominated_area(problem.arguments()[2], *rest) == pytest.approx(near, abs=1e-6)


@pytest.mark.parametrize("distribution", [costs.known(0.7), costs.Uniform(0.3, 1.1)])
def test_curves_hulls_and_regions_must_be_equally_many(distribution) -> None:
    points, hull, region = random_problem(np.random.default_rng(7), Fraction(1, 2)).arguments()
    with pytest.raises(ValueError, match="argument"):
        partial_volumes([points] * 2, [hull], [region], distribution)


def test_a_classifier_that_nothing_can_beat_scores_one_and_no_more() -> None:
    rng = np.random.default_rng(91)
    for _ in range(200):
        p, n = rng.integers(1, 60, 2).tolist()
        floor = Fraction(int(rng.integers(0, 100)), 101)
        capacity = int(rng.integers(1, p + n + 1))
        problem = Problem(((0, 0), (min(p, capacity), 0)), p, n, floor, Fraction(capacity))
        distribution = costs.Uniform(*random_range(rng, "ratio"))
        points, hull, region = problem.arguments()
        scores = [
            partial_volume(points, hull, region, distribution),
            *partial_volumes([points] * 2, [hull] * 2, [region] * 2, distribution),
            partial_volume(points, hull, region, costs.from_samples(rng.uniform(0.1, 3, 7))),
        ]
        assert max(scores) <= 1
        assert min(scores) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("vanishing", ["neither", "start", "end"])
def test_means_of_quotients_to_thirty_digits(vanishing: str) -> None:
    rng = np.random.default_rng(101)
    scale = 10.0 ** rng.uniform(-8, 8, 60)
    v = np.sort(rng.uniform(0, 1, (2, 60)) ** 4, axis=0)[:: -1 if vanishing == "end" else 1]
    u = rng.uniform(-1, 1, (2, 60))
    v, u = v * scale, u * scale
    if vanishing != "neither":
        # Numerator and denominator vanish together: the quotient is constant.
        at = 0 if vanishing == "start" else 1
        u[at] = v[at] = 0.0
    expected = [float(exact_mean_quotient(*column)) for column in np.vstack([u, v]).T]
    assert mean_quotient(*u, *v) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("spread", [1e-4, 0.02, 0.035, 0.07, 0.0999])
def test_means_of_quotients_whose_numerator_changes_sign_lose_no_digit(spread: float) -> None:
    # From -1 to 1 the mean of u alone is 0, so that only the logarithm's part is left.
    v = 1 - spread, 1 + spread
    got = mean_quotient(*(np.array([x]) for x in (-1.0, 1.0, *v)))[0]
    assert got == pytest.approx(float(exact_mean_quotient(-1.0, 1.0, *v)), rel=3e-15, abs=0)


def exact_mean_quotient(u0: float, u1: float, v0: float, v1: float) -> mpmath.mpf:
    """Of (u0 + du x)/(v0 + dv x) over [0, 1]: one division and one logarithm, in fifty digits."""
    with mpmath.workdps(50):
        u0, u1, v0, v1 = (mpmath.mpf(x) for x in (u0, u1, v0, v1))
        du, dv = u1 - u0, v1 - v0
        rest = u0 - du * v0 / dv
        return du / dv + (rest / dv * mpmath.log(v1 / v0) if rest else 0)
