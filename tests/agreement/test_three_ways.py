"""Closed form, quadrature to thirty digits, and brute force over every threshold agree."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracles
import pytest
from oracles import Problem
from scipy import stats
from slower import slow_after

import voros
from voros import costs

AGREEMENT = 1e-10


def closed_form(problem: Problem, cost_ratio=None) -> float:
    kappa = problem.max_alarms / len(problem.y_true)
    # As an int where whole, else as a share; both ways in are used.
    capacity = int(problem.max_alarms) if problem.max_alarms.denominator == 1 else float(kappa)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        return voros.partial_voros_score(
            problem.y_true,
            problem.y_score,
            min_precision=float(problem.min_precision),
            capacity=capacity,
            cost_ratio=(problem.low, problem.high) if cost_ratio is None else cost_ratio,
        )


def nasty_problems() -> dict[str, Problem]:
    rng = np.random.default_rng(5)
    y = rng.permutation([1] * 6 + [0] * 9).tolist()
    s = (rng.normal(size=15) + np.array(y)).round(2).tolist()
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    one_positive = [0, 1, 0, 0, 0]
    balanced = [1, 0, 1, 0, 1, 0, 1, 0]
    ranks = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    return {
        "one positive": Problem(one_positive, [1.0, 3, 4, 0, 2], half, Fraction(3), 0.1, 0.3),
        "one negative": Problem([1, 1, 0, 1], [4.0, 2, 3, 1], half, Fraction(3), 0.1, 0.3),
        "all tied": Problem(balanced, [1.0] * 8, tenth, Fraction(8), 0.01, 0.1),
        "as many positives as negatives": Problem(balanced, ranks, half, Fraction(5), 0.1, 0.9),
        "floor below prevalence": Problem(y, s, tenth, Fraction(10), 0.01, 0.1),
        "floor below prevalence, costs beyond": Problem(y, s, tenth, Fraction(10), 0.05, 3.0),
        "floor near one": Problem(y, s, Fraction(999_999, 10**6), Fraction(10), 0.1, 5.0),
        "capacity of one case": Problem(y, s, half, Fraction(1), 0.1, 0.3),
        "interval of width 1e-9": Problem(y, s, half, Fraction(9), 0.25, 0.25 + 1e-9),
        "costs past alpha/(1-alpha)": Problem(y, s, half, Fraction(9), 0.5, 4.0),
        "costs around the precision line": Problem(y, s, half, Fraction(9), 0.999, 1.001),
        "no limits": Problem(y, s, Fraction(0), Fraction(15), 0.01, 20.0),
        "very wide costs": Problem(y, s, tenth, Fraction(12), 1e-6, 1e4),
        "rare positives": Problem(
            [1] * 2 + [0] * 400,
            [5.0, 1.0, *np.linspace(-9, 4, 400)],
            tenth,
            Fraction(41),
            0.01,
            0.1,
        ),
    }


@pytest.mark.parametrize("name", nasty_problems())
@pytest.mark.slow
def test_nasty_problem_to_thirty_digits(name: str) -> None:
    problem = nasty_problems()[name]
    if len(problem.y_true) > 100:
        expected = oracles.partial_voros(problem)
    else:
        expected = oracles.partial_voros_to_thirty_digits(problem)
    assert closed_form(problem) == pytest.approx(expected, abs=AGREEMENT)


def agree_by_brute_force(seed: int, n_problems: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(n_problems):
        problem = oracles.random_problem(rng)
        expected = oracles.partial_voros(problem)
        assert closed_form(problem) == pytest.approx(expected, abs=AGREEMENT), problem


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 12))
def test_thousands_of_random_problems_by_brute_force(seed: int) -> None:
    agree_by_brute_force(seed, 1500)


@pytest.mark.parametrize("seed", slow_after(1, range(2)))
def test_random_problems_to_thirty_digits(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(4):
        problem = oracles.random_problem(rng, max_cases=9)
        assert closed_form(problem) == pytest.approx(
            oracles.partial_voros_to_thirty_digits(problem), abs=AGREEMENT
        ), problem


def test_quadrature_of_a_uniform_density_equals_the_closed_form() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        problem = oracles.random_problem(rng)
        density = stats.uniform(problem.low, problem.high - problem.low)
        assert closed_form(problem, costs.from_scipy(density)) == pytest.approx(
            closed_form(problem), abs=AGREEMENT
        )


@pytest.mark.parametrize("over", ["ratio", "miss", "t"])
def test_uniform_in_every_unit_equals_its_quadrature(over: str) -> None:
    rng = np.random.default_rng(9)
    for _ in range(40):
        problem = oracles.random_problem(rng)
        low, high = np.sort(rng.uniform(0, 1, 2)) if over == "t" else (problem.low, problem.high)
        exact = costs.Uniform(low, high, over=over)
        density = costs.from_scipy(stats.uniform(low, high - low), over=over)
        assert closed_form(problem, exact) == pytest.approx(
            closed_form(problem, density), abs=AGREEMENT
        )


def test_lognormal_costs_against_quadrature_of_brute_force() -> None:
    problem = nasty_problems()["costs past alpha/(1-alpha)"]
    density = stats.lognorm(0.7, scale=0.4)
    ends = sorted({*oracles.kinks(Problem(**{**vars(problem), "low": 1e-6, "high": 1e3}))})
    pieces = [
        oracles.quad(lambda c: oracles.best_share(problem, c) * density.pdf(c), a, b, epsabs=1e-13)[
            0
        ]
        for a, b in pairwise(ends)
    ]
    assert closed_form(problem, costs.from_scipy(density)) == pytest.approx(sum(pieces), abs=1e-9)


def test_samples_are_a_plain_mean_of_brute_force() -> None:
    problem = nasty_problems()["as many positives as negatives"]
    values, weights = [0.2, 0.7, 1.5], [1.0, 2.0, 5.0]
    expected = np.average([oracles.best_share(problem, c) for c in values], weights=weights)
    assert closed_form(problem, costs.from_samples(values, weights)) == pytest.approx(
        expected, abs=AGREEMENT
    )


def test_a_curve_that_turns_infeasible_and_feasible_again_uses_every_feasible_point() -> None:
    # After two false alarms at the top the floor is broken, and three right ones fix it again.
    y_true = [1, 0, 0, 1, 1, 1, 0, 0, 0, 0]
    problem = Problem(y_true, list(range(10, 0, -1)), Fraction(3, 5), Fraction(10), 0.05, 0.15)
    assert [tp / (tp + fp) for tp, fp in oracles.feasible_counts(problem)[1:]] == [1, 0.6, 4 / 6]
    assert closed_form(problem) == pytest.approx(oracles.partial_voros(problem), abs=AGREEMENT)


def test_the_hull_is_of_the_feasible_points_not_of_the_whole_curve() -> None:
    # The point (fp 2, tp 5) lies under the chord of the whole curve, whose far end is infeasible.
    points = voros.OperatingPoints.from_counts([4, 5, 10], [1, 2, 4], 10, 10)
    scenario = voros.Scenario(capacity=8, cost_ratio=0.1)
    result = voros.evaluate(points, scenario=scenario)
    assert (result.choices[0].tp, result.choices[0].fp) == (5, 2)
