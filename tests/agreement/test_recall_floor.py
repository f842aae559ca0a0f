"""A recall floor against brute force over all thresholds, however they are counted."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracles
import pytest
from scipy.integrate import trapezoid

import voros
from voros import OperatingPoints, Scenario, engines
from voros.core.decision import solve
from voros.core.geometry import feasible_region
from voros.core.pruning import CasesInMemory, pruned_points

pytestmark = pytest.mark.filterwarnings("ignore::voros.exceptions.VorosWarning")

AGREEMENT = 1e-9


def random_problem(rng: np.random.Generator) -> oracles.Problem:
    floor = Fraction(int(rng.integers(1, 20)), 20)
    return replace(oracles.random_problem(rng), min_recall=floor)


def scenario_of(problem: oracles.Problem) -> Scenario:
    return Scenario(
        min_precision=float(problem.min_precision),
        min_recall=float(problem.min_recall),
        capacity=min(float(problem.max_alarms) / len(problem.y_true), 1.0),
        cost_ratio=(problem.low, problem.high),
    )


@pytest.mark.parametrize("seed", range(60))
def test_score_and_choice_by_brute_force(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed))
    scenario = scenario_of(problem)
    if problem.max_alarms < problem.min_recall * problem.n_positive:
        with pytest.raises(voros.InfeasibleError, match=r"min_recall=.* contradict each other"):
            voros.evaluate(problem.y_true, problem.y_score, scenario)
        return
    result = voros.evaluate(problem.y_true, problem.y_score, scenario)
    feasible = oracles.feasible_counts(problem)
    if not feasible:
        assert result.score == 0.0
        assert not result.feasible
        return
    assert result.region.area == pytest.approx(oracles.area(oracles.region(problem)), abs=1e-12)
    if result.region.area > 0:
        assert result.score == pytest.approx(oracles.partial_voros(problem), abs=AGREEMENT)
    for choice in result.choices:
        ratio = (choice.cost_ratio_low + choice.cost_ratio_high) / 2
        best = min(ratio * fp - tp for tp, fp in feasible)
        assert ratio * choice.fp - choice.tp == pytest.approx(best, abs=1e-9)


def test_a_floor_of_one_is_the_limit_of_floors_below_it() -> None:
    y_true, y_score = [1, 0, 1, 0, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
    limits = {"capacity": 0.875, "cost_ratio": (0.1, 0.3)}
    # Three false alarms of four within a capacity of seven: the segment y = 1 from 0 to 4/5.
    whole = voros.partial_voros_score(y_true, y_score, min_recall=1.0, **limits)
    assert whole == pytest.approx(1 - (3 / 5) / (4 / 5))
    near = [solve_at(y_true, y_score, 1 - gap, limits) for gap in (1e-4, 1e-6)]
    assert abs(near[1] - whole) < abs(near[0] - whole) < 1e-3


def solve_at(y_true, y_score, floor: float, limits) -> float:
    return voros.partial_voros_score(y_true, y_score, min_recall=floor, **limits)


def test_both_floors_of_one_leave_the_perfect_classifier() -> None:
    scenario = Scenario(1.0, cost_ratio=0.1, min_recall=1.0)
    assert voros.evaluate([1, 1, 0], [3, 2, 1], scenario).score == 1.0
    assert voros.evaluate([1, 0, 1], [3, 2, 1], scenario).score == 0.0


def test_a_segment_of_no_false_alarms_starts_at_the_recall_floor() -> None:
    # Recall 2/4 without a false alarm; between 1/4 and 1 the width of the region is the recall.
    y_true, y_score = [1, 1, 0, 1, 1, 0], [6, 5, 4, 3, 2, 1]
    scenario = Scenario(1.0, cost_ratio=0.1, min_recall=0.25)
    expected = (0.5**2 - 0.25**2) / (1 - 0.25**2)
    assert voros.evaluate(y_true, y_score, scenario).score == pytest.approx(expected)
    near = voros.evaluate(y_true, y_score, scenario.changed(min_precision=1 - 1e-7)).score
    assert near == pytest.approx(expected, abs=1e-5)


def test_recall_is_compared_on_counts() -> None:
    # Nine of ten are enough, weighted too: 0.1 * 9 is a little less than 0.9 * (0.1 * 10).
    y_true = [1] * 10 + [0] * 10
    y_score = [*range(20, 11, -1), 1, *range(11, 1, -1)]
    result = voros.evaluate(y_true, y_score, Scenario(min_recall=0.9, cost_ratio=1.0))
    assert [c.tp for c in result.choices] == [9]
    weights = np.full(20, 0.1)
    weighted = voros.evaluate(
        y_true, y_score, Scenario(min_recall=0.9, cost_ratio=1.0), sample_weight=weights
    )
    assert weighted.choices[0].threshold == result.choices[0].threshold
    assert weighted.score == pytest.approx(result.score)


def many_cases(rng: np.random.Generator, n_cases: int = 40_000):
    y_true = rng.random(n_cases) < rng.uniform(0.05, 0.6)
    return y_true, rng.normal(size=n_cases) + rng.uniform(0.3, 2.5) * y_true


def random_scenarios(rng: np.random.Generator, n: int):
    for _ in range(n):
        low = 10 ** rng.uniform(-2, 0.5)
        yield Scenario(
            min_precision=float(rng.choice([0.0, 0.1, 0.3])),
            min_recall=float(rng.uniform(0.05, 0.99)),
            capacity=float(rng.choice([0.3, 0.6, 1.0])),
            cost_ratio=(low, low * rng.uniform(1, 20)),
            prevalence=None if rng.random() < 0.7 else float(rng.uniform(0.05, 0.4)),
        )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_pruned_counts_decide_as_all_thresholds_do(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y_true, y_score = many_cases(rng)
    weights = rng.uniform(0.5, 2, len(y_true)) if weighted else None
    every = OperatingPoints.from_scores(y_true, y_score, sample_weight=weights)
    for scenario in random_scenarios(rng, 5):
        few = solve(pruned_points(CasesInMemory(y_true, y_score, weights), scenario), scenario)
        full = solve(every, scenario)
        assert few.can_alarm == full.can_alarm
        assert few.partial_voros == pytest.approx(full.partial_voros, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_of_binned_counts_hold_and_engines_find_the_score(seed: int) -> None:
    pl = pytest.importorskip("polars")

    rng = np.random.default_rng(100 + seed)
    y_true, y_score = many_cases(rng, 3000)
    (scenario,) = random_scenarios(rng, 1)
    expected = solve(OperatingPoints.from_scores(y_true, y_score), scenario).partial_voros
    for bits in (12, 13, 15):
        low, high = engines.BinnedCounts.from_scores(y_true, y_score, bits=bits).bounds(scenario)
        assert low - 1e-12 <= expected <= high + 1e-12
    frame = pl.LazyFrame({"y": y_true, "s": y_score})
    counted = engines.count_frame(
        frame, label="y", scores=["s"], scenarios=[scenario], largest_answer=64
    )["s"]
    assert counted.covers.exact
    assert solve(counted, scenario).partial_voros == pytest.approx(expected, abs=1e-12)


def test_areas_of_many_regions_at_once_are_those_of_one() -> None:
    rng = np.random.default_rng(3)
    y_true, y_score = many_cases(rng, 400)
    scores = {"a": y_score, "b": rng.normal(size=400) + y_true}
    grid = {"min_precisions": [0.0, 0.2, 0.6], "capacities": [0.2, 0.5, 1.0]}
    result = voros.winner_map(y_true, scores, **grid, cost_ratio=(0.1, 2.0), min_recall=0.6)
    for i, floor in enumerate(grid["min_precisions"]):
        for j, capacity in enumerate(grid["capacities"]):
            for k, name in enumerate(scores):
                one = solve(
                    OperatingPoints.from_scores(y_true, scores[name]),
                    Scenario(floor, capacity, (0.1, 2.0), min_recall=0.6),
                )
                assert result.feasible[i, j, k] == one.can_alarm
                assert result.scores[i, j, k] == pytest.approx(one.partial_voros, abs=1e-12)
    assert result.feasible.any()
    assert not result.feasible.all()


def test_partial_auroc_is_the_area_under_what_meets_the_limits() -> None:
    rng = np.random.default_rng(5)
    y_true, y_score = many_cases(rng)
    scenario = Scenario(0.2, 0.7, cost_ratio=0.1, min_recall=0.4)
    lazy = voros.evaluate(y_true, y_score, scenario).decision.partial_auroc
    every = solve(OperatingPoints.from_scores(y_true, y_score), scenario)
    fpr, tpr = every.points.fpr[every.feasible], every.points.tpr[every.feasible]
    assert lazy == pytest.approx(trapezoid(tpr, fpr), abs=1e-12)


def test_message_says_what_binds_and_what_could_be_met() -> None:
    y_true = [0, 1, 0, 0, 1, 0, 1, 0, 0, 0]
    y_score = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    scenario = Scenario(0.4, 0.6, cost_ratio=0.1, min_recall=0.9)
    with pytest.warns(voros.NeverAlarmWarning) as caught:
        assert voros.evaluate(y_true, y_score, scenario).score == 0.0
    # Recall 1 takes 7 alarms (precision 3/7), within 6 alarms the precision is .4 at 5 (2 of 3).
    assert str(caught[0].message) == (
        "no threshold meets a recall floor of 0.9 and a precision floor of 0.4 within 6 alarms (a "
        "capacity of 0.6). The recall floor and the capacity bind together: with the other limits "
        "a recall of 0.667 (5 alarms), or a capacity of 7 alarms could be met"
    )
    for changed in ({"min_recall": 2 / 3}, {"capacity": 7}):
        assert voros.evaluate(y_true, y_score, scenario.changed(**changed)).feasible


def test_a_contradiction_says_which_limits_and_what_could_be_met() -> None:
    y_true = [1] * 10 + [0] * 10
    scenario = Scenario(0.1, 0.25, cost_ratio=0.1, min_recall=0.9)
    message = (
        "min_recall=0.9 and capacity=0.25 contradict each other: no classifier finds 0.9 of 10 "
        "positives within 5 alarms. With this capacity a recall of at most 0.5 could be met; the "
        "recall floor needs a capacity of at least 9 alarms"
    )
    for call in (voros.evaluate, voros.ThresholdPolicy.from_validation):
        with pytest.raises(voros.InfeasibleError) as error:
            call(y_true, range(20), scenario)
        assert str(error.value) == message
    with pytest.raises(voros.InfeasibleError, match="max_alarms=5 contradict"):
        feasible_region(10, 10, 0.1, 5, min_recall=0.9)


def test_a_resample_beyond_the_limits_scores_nothing_and_is_no_error() -> None:
    # As many alarms as 0.9 of the positives: a resample with one more contradicts itself.
    rng = np.random.default_rng(1)
    y_true = np.arange(200) < 40
    y_score = y_true + 0.3 * rng.normal(size=200)
    scenario = Scenario(0.2, 0.18, cost_ratio=(0.1, 0.2), min_recall=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for metric in ("partial_voros", "threshold", "expected_cost"):
            result = voros.bootstrap(
                y_true, y_score, scenario, metric=metric, n_resamples=100, random_state=0
            )
            assert np.isfinite(result.estimate) or metric == "threshold"


def test_net_benefit_is_that_of_thresholds_that_find_enough() -> None:
    rng = np.random.default_rng(8)
    y_true, y_score = many_cases(rng, 300)
    scenario = Scenario(cost_ratio=0.5, min_recall=0.8)
    benefit = voros.net_benefit(y_true, y_score, scenario=scenario, threshold_probability=0.5)
    thresholds = [t for t in y_score if (y_score[y_true] >= t).mean() >= 0.8]
    worth = [(y_score[y_true] >= t).sum() - (y_score[~y_true] >= t).sum() for t in thresholds]
    assert benefit == pytest.approx(max(worth) / 300)
    none = Scenario(0.999, cost_ratio=0.5, min_recall=0.99)
    assert np.isnan(voros.net_benefit(y_true, y_score, scenario=none, threshold_probability=0.5))
    with pytest.raises(voros.exceptions.ArgumentError, match="net benefit do not support"):
        voros.inference.net_benefit_band(
            y_true, y_score, scenario=scenario, threshold_probability=[0.5]
        )
