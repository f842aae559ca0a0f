from __future__ import annotations

import numpy as np
import oracles
import pytest
from sklearn.metrics import roc_curve

from voros import OperatingPoints, Scenario
from voros.core.hull import cost_hull


@pytest.fixture(scope="module")
def cases() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y_true = (rng.random(500) < 0.2).astype(int)
    return y_true, (rng.normal(size=500) + y_true).round(1)


def test_counts_equal_scikit_learns_curve_with_every_threshold_kept(cases) -> None:
    fpr, tpr, thresholds = roc_curve(*cases, drop_intermediate=False)
    points = OperatingPoints.from_scores(*cases)
    assert points.thresholds.tolist() == thresholds.tolist()
    assert points.fpr == pytest.approx(fpr)
    assert points.tpr == pytest.approx(tpr)
    assert points.tp.dtype.kind == "i"


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 1.0, 1.0]])
@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)])
def test_a_threshold_of_zero_has_no_sign(zeros, weights) -> None:
    points = OperatingPoints.from_scores([1, 0, 1, 0], [*zeros, 1, -1], sample_weight=weights)
    assert repr(points.thresholds.tolist()) == "[inf, 1.0, 0.0, -1.0]"


def test_weighted_counts_equal_scikit_learns(cases) -> None:
    weights = np.random.default_rng(4).uniform(0.1, 3, len(cases[0]))
    fpr, tpr, _ = roc_curve(*cases, sample_weight=weights, drop_intermediate=False)
    points = OperatingPoints.from_scores(*cases, sample_weight=weights)
    assert points.fpr == pytest.approx(fpr)
    assert points.tpr == pytest.approx(tpr)
    assert points.n_cases == pytest.approx(weights.sum())


def test_collinear_thresholds_are_kept() -> None:
    # All on one line: dropping the middle would lose the only one within the capacity.
    points = OperatingPoints.from_scores([1, 1, 1, 0], [4, 3, 2, 1])
    assert len(points) == 5
    assert points.feasible(Scenario(capacity=2, cost_ratio=0.1)).tolist() == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("tp", "fp", "min_precision"), [(3, 17, 0.15), (5, 1, 5 / 6), (1, 2, 1 / 3), (29, 71, 0.29)]
)
def test_precision_exactly_at_the_floor_is_feasible(tp, fp, min_precision) -> None:
    points = OperatingPoints.from_counts([tp, tp], [fp, fp + 1], 100, 100)
    assert points.precise_enough(min_precision).tolist() == [True, True, False]


def test_capacity_exactly_reached_is_feasible() -> None:
    points = OperatingPoints.from_counts([20, 20], [9, 10], 50, 50)
    scenario = Scenario(capacity=0.29, cost_ratio=0.1)
    assert points.feasible(scenario).tolist() == [True, True, False]


def test_sums_of_weights_are_given_the_benefit_of_rounding() -> None:
    # Three weights of 0.1 against seven of 0.1: precision 0.3, up to rounding of the sums.
    y_true = [1] * 3 + [0] * 7 + [1]
    points = OperatingPoints.from_scores(y_true, [2] * 10 + [1], sample_weight=[0.1] * 11)
    assert points.precise_enough(0.3).tolist() == [True, True, True]


def test_huge_counts_are_compared_without_overflow() -> None:
    points = OperatingPoints.from_counts(
        [np.int64(3 * 10**12)], [np.int64(17 * 10**12)], 10**13, 10**15
    )
    assert points.precise_enough(0.15).tolist() == [True, True]
    assert points.precise_enough(0.1500001).tolist() == [True, False]
    assert points.precise_enough(0.123456789).tolist() == [True, True]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1], [1.2], 10, 10), r"tpr must lie within \[0, 1\]; it spans \[1.2, 1.2\]"),
        (([np.nan], [0.2], 10, 10), "fpr holds NaN in 1 of 1"),
        (([0.1], [0.2], 0, 10), "n_positive=0; accepted is a number of cases above 0"),
        (([0.1], [0.2], 10, float("inf")), "n_negative=inf"),
        (([0.1, 0.2], [0.2], 10, 10), "fpr has 2, tpr has 1"),
    ],
)
def test_bad_curves_are_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        OperatingPoints.from_points(*arguments)


def test_counts_beyond_the_class_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"fp must lie within \[0, 10\], n_negative; it spans \[3, 11\]"
    ):
        OperatingPoints.from_counts([1, 2], [3, 11], 10, 10)


def test_another_prevalence_keeps_rates_and_cases() -> None:
    points = OperatingPoints.from_counts([8, 9], [10, 40], 10, 90)
    rare = points.at_prevalence(0.01)
    assert rare.fpr == pytest.approx(points.fpr)
    assert rare.tpr == pytest.approx(points.tpr)
    assert rare.n_cases == points.n_cases
    # Bayes: precision at prevalence p is p tpr / (p tpr + (1-p) fpr).
    assert rare.precision[1] == pytest.approx(0.01 * 0.8 / (0.01 * 0.8 + 0.99 * 10 / 90))


def test_another_prevalence_reorders_points_that_are_not_nested() -> None:
    points = OperatingPoints.from_counts([5, 11], [5, 0], 20, 80, thresholds=[0.2, 0.1])
    rare = points.at_prevalence(0.02)
    assert np.all(np.diff(rare.alarms) > 0)
    assert rare.thresholds.tolist() == [np.inf, 0.1, 0.2]
    hull = cost_hull(rare, np.ones(3, dtype=bool))
    assert rare.tpr[hull.index] == pytest.approx([0, 11 / 20])


def test_random_curves_by_counting() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        problem = oracles.random_problem(rng)
        points = OperatingPoints.from_scores(problem.y_true, problem.y_score)
        got = list(zip(points.tp.tolist(), points.fp.tolist(), strict=True))
        assert got == oracles.count_thresholds(problem)


@pytest.mark.parametrize("n_positive", range(1, 40))
def test_no_rate_exceeds_one_at_another_prevalence(n_positive) -> None:
    points = OperatingPoints.from_counts([n_positive], [2], n_positive, 2)
    for prevalence in (0.05, 0.3, 0.7, 0.95):
        moved = points.at_prevalence(prevalence)
        assert moved.tpr.max() == 1
        assert moved.fpr.max() == 1
