from __future__ import annotations

import numpy as np
import oracles
import pytest
from scipy.optimize import isotonic_regression

from voros import OperatingPoints
from voros.core.hull import cost_hull, upper_vertices


@pytest.fixture(scope="module")
def cases() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y_true = (rng.random(500) < 0.2).astype(int)
    return y_true, (rng.normal(size=500) + y_true).round(1)


def hull_by_brute_force(tp, fp, ratios) -> list[int]:
    return [int(np.argmin(c * fp - tp)) for c in ratios]


def test_the_hull_holds_the_best_threshold_at_every_cost(cases) -> None:
    points = OperatingPoints.from_scores(*cases)
    ratios = np.geomspace(1e-4, 1e4, 400)
    for allowed in (np.ones(len(points), dtype=bool), points.precise_enough(0.6)):
        hull = cost_hull(points, allowed)
        best = hull.index[hull.best(ratios)]
        index = np.flatnonzero(allowed)
        expected = index[hull_by_brute_force(points.tp[index], points.fp[index], ratios)]
        cost_of = lambda i: ratios * points.fp[i] - points.tp[i]  # noqa: E731
        assert cost_of(best) == pytest.approx(cost_of(expected), abs=1e-9)
        assert np.all(hull.enter[1:] <= hull.enter[:-1])


def test_where_two_thresholds_cost_the_same_the_one_with_fewer_alarms_is_taken() -> None:
    points = OperatingPoints.from_counts([4, 6], [1, 5], 10, 10)
    hull = cost_hull(points, np.ones(3, dtype=bool))
    assert hull.enter.tolist() == [np.inf, 4.0, 0.5]
    assert hull.best(np.array([0.5, 0.49, 4.0, 3.9, np.inf, 0.0])).tolist() == [1, 2, 0, 1, 0, 2]


def test_published_points_may_come_in_any_order_and_need_not_be_monotone() -> None:
    curve = OperatingPoints.from_points([0.5, 0.1, 0.3], [0.9, 0.6, 0.55], 100, 900)
    assert curve.fpr == pytest.approx([0, 0.1, 0.3, 0.5])
    hull = cost_hull(curve, np.ones(4, dtype=bool))
    assert curve.fpr[hull.index] == pytest.approx([0, 0.1, 0.5])
    assert np.isnan(curve.thresholds[1])


def test_a_published_point_better_in_both_respects_is_best_at_every_cost() -> None:
    points = OperatingPoints.from_counts([5, 20], [5, 0], 20, 20)
    hull = cost_hull(points, np.ones(3, dtype=bool))
    for ratio in (1e-6, 1.0, 1e6):
        best = hull.index[hull.best(np.array([ratio]))[0]]
        assert (points.tp[best], points.fp[best]) == (20, 0)


def test_reweighted_hulls_never_rise() -> None:
    rng = np.random.default_rng(6)
    for _ in range(300):
        problem = oracles.random_problem(rng)
        points = OperatingPoints.from_scores(problem.y_true, problem.y_score)
        reweighted = points.at_prevalence(rng.uniform(0.01, 0.9))
        enter = cost_hull(reweighted, np.ones(len(points), dtype=bool)).enter
        assert np.all(enter[1:] <= enter[:-1])


def test_points_with_equal_alarms_count_by_their_right_ones() -> None:
    points = OperatingPoints.from_counts([2, 5, 5], [8, 5, 9], 10, 10)
    hull = cost_hull(points, np.ones(4, dtype=bool))
    assert points.tp[hull.index].tolist() == [0, 5]


@pytest.mark.parametrize("n_points", [1, 2, 3, 70, 500, 20_000])
def test_slopes_of_the_upper_hull_are_the_isotonic_regression_of_the_steps(n_points) -> None:
    rng = np.random.default_rng(n_points)
    for positives in (0.02, 0.5, 0.9):
        width = rng.geometric(positives, n_points - 1)
        x, y = np.append(0, np.cumsum(width)), np.arange(n_points)
        corners = upper_vertices(x, y)
        slopes = np.repeat(np.diff(y[corners]) / np.diff(x[corners]), np.diff(corners))
        if n_points > 1:
            fitted = isotonic_regression(1 / width, weights=width, increasing=False)
            assert slopes == pytest.approx(fitted.x, rel=1e-9)
        assert np.all(np.diff(slopes)[np.diff(slopes) != 0] < 0)


def test_an_arc_is_all_corners_and_a_high_last_point_undoes_it() -> None:
    x = np.arange(5000.0)
    y = -((x - 5000.0) ** 2)
    assert upper_vertices(x, y).tolist() == list(range(5000))
    y[-1] = 1e9
    assert upper_vertices(x, y).tolist() == [0, 4999]


def test_points_on_a_line_are_no_corners() -> None:
    x = np.arange(1000)
    assert upper_vertices(x, 3 * x).tolist() == [0, 999]
