"""One shared capacity against enumeration of every choice, and against SciPy's integer program."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp
from slower import slow_after

from voros.core import deficit_search
from voros.core.decision import solve
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.shared_capacity import Stream, as_cost, multiplier, share_capacity, whole_costs

COSTS = [Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(5, 36), Fraction(1, 40)]


def random_points(rng, n_cases, n_scores):
    """Scores from few values tie often."""
    positive = rng.random(n_cases) < rng.uniform(0.1, 0.6)
    positive[:2] = True, False
    scores = rng.integers(0, n_scores, n_cases) + rng.integers(0, 3) * positive
    return OperatingPoints.from_scores(positive, scores)


def random_streams(rng, n_streams, n_cases, n_scores, costs=COSTS):
    return [
        Stream.within(
            random_points(rng, n_cases, n_scores),
            false_alarm=costs[rng.integers(len(costs))] * weight,
            miss=weight,
            min_precision=float(rng.choice([0.0, 0.0, 0.3, 0.5, 0.95])),
        )
        for weight in (Fraction(int(w)) for w in rng.integers(1, 4, n_streams))
    ]


def every_choice(streams, max_alarms):
    """Least cost, then fewest alarms, over all choices, in rational numbers."""
    best = None
    for rows in itertools.product(*(np.flatnonzero(s.allowed).tolist() for s in streams)):
        alarms = sum(int(s.points.alarms[r]) for s, r in zip(streams, rows, strict=True))
        if alarms <= max_alarms:
            cost = sum(
                s.miss * int(s.points.n_positive - s.points.tp[r])
                + s.false_alarm * int(s.points.fp[r])
                for s, r in zip(streams, rows, strict=True)
            )
            best = min(best or (cost, alarms), (cost, alarms))
    return best


@pytest.mark.parametrize("few_pairs", [deficit_search.FEW_PAIRS, 0], ids=["listed", "table"])
@pytest.mark.slow
def test_equals_enumeration_on_a_thousand_small_problems(monkeypatch, few_pairs):
    monkeypatch.setattr(deficit_search, "FEW_PAIRS", few_pairs)
    rng = np.random.default_rng(0)
    infeasible = 0
    for _ in range(1000):
        streams = random_streams(rng, rng.integers(1, 4), rng.integers(4, 25), rng.integers(1, 9))
        max_alarms = int(rng.integers(0, 40))
        infeasible += any(not s.allowed[1:].any() for s in streams)
        choice = share_capacity(streams, max_alarms)
        assert (choice.cost, sum(choice.alarms)) == every_choice(streams, max_alarms)
        assert choice.certificate.resolution == 0
        assert choice.certificate.relaxed_cost <= float(choice.cost) + 1e-9
        assert all(s.allowed[r] for s, r in zip(streams, choice.rows, strict=True))
    assert infeasible > 100


@pytest.mark.parametrize(
    ("max_alarms", "alarms", "saved"),
    [
        (
            9,
            [[0, 3, 5, 9], [0, 2, 6, 7, 8], [0, 4, 6]],
            [[0, 7, 14, 21], [0, 4, 11, 12, 20], [0, 3, 7]],
        ),
        (
            18,
            [[0, 1, 6, 11, 13], [0, 2, 6, 8, 13], [0, 1, 3, 4, 9]],
            [[0, 7, 11, 19, 27], [0, 3, 8, 15, 21], [0, 6, 14, 21, 27]],
        ),
    ],
)
def test_a_choice_found_beyond_the_depth_is_not_yet_the_best(max_alarms, alarms, saved):
    """The first complete choices have a deficit above the depth, and a better one is not listed."""
    options = [
        deficit_search.Options(np.array(a), np.array(s), np.arange(len(a)))
        for a, s in zip(alarms, saved, strict=True)
    ]
    choice = deficit_search.best_choice(options, multiplier(options, max_alarms), max_alarms)
    best = max(
        sum(s[i] for s, i in zip(saved, choice, strict=True))
        for choice in itertools.product(*map(range, map(len, alarms)))
        if sum(a[i] for a, i in zip(alarms, choice, strict=True)) <= max_alarms
    )
    assert sum(s[i] for s, i in zip(saved, choice.positions, strict=True)) == best


def milp_cost(streams, max_alarms):
    costs, alarms, one_each = [], [], []
    for k, stream in enumerate(streams):
        points = stream.points
        costs.append(
            float(stream.miss) * (points.n_positive - points.tp)
            + float(stream.false_alarm) * points.fp
            + np.where(stream.allowed, 0.0, 1e9)
        )
        alarms.append(points.alarms)
        one_each.append(np.full(len(points), k))
    which = np.concatenate(one_each)
    choice = np.array([(which == k).astype(float) for k in range(len(streams))])
    limits = [
        LinearConstraint(choice, 1, 1),
        LinearConstraint(np.concatenate(alarms)[None], 0, max_alarms),
    ]
    solved = milp(
        np.concatenate(costs),
        integrality=np.ones(len(which)),
        bounds=(0, 1),
        constraints=limits,
        options={"mip_rel_gap": 0.0},
    )
    assert solved.status == 0
    return solved.fun


def continuous_streams(rng, n_streams, n_cases, floors=(0.0, 0.3)):
    streams = []
    for _ in range(n_streams):
        positive = rng.random(n_cases) < rng.uniform(0.05, 0.3)
        points = OperatingPoints.from_scores(
            positive, rng.normal(size=n_cases) + rng.uniform(0.5, 2) * positive
        )
        miss = float(rng.uniform(0.5, 3))
        streams.append(
            Stream.within(
                points,
                false_alarm=miss * float(rng.uniform(0.02, 0.3)),
                miss=miss,
                min_precision=float(rng.choice(floors)),
            )
        )
    return streams


@pytest.mark.parametrize("seed", slow_after(3, range(6)))
def test_equals_an_integer_program(seed):
    rng = np.random.default_rng(seed)
    streams = continuous_streams(rng, 5, 150)
    for max_alarms in (20, 77, 150):
        choice = share_capacity(streams, max_alarms)
        assert sum(choice.alarms) <= max_alarms
        expected = milp_cost(streams, max_alarms)
        assert float(choice.cost) == pytest.approx(expected, abs=1e-6)


def test_costs_that_no_common_unit_holds_are_rounded_and_say_how_far():
    rng = np.random.default_rng(3)
    streams = continuous_streams(rng, 8, 400)
    units = whole_costs(streams)
    assert 0 < units.resolution < 1e-9
    assert share_capacity(streams, 200).certificate.resolution == units.resolution


def test_one_stream_is_the_decision_of_a_scenario():
    rng = np.random.default_rng(1)
    for _ in range(50):
        points = random_points(rng, 60, 40)
        scenario = Scenario(0.4, int(rng.integers(2, 50)), cost_ratio=0.15)
        decision = solve(points, scenario)
        cost = 0.15 * decision.points.fp - decision.points.tp
        least = cost[decision.feasible].min()
        stream = Stream.within(points, false_alarm=0.15, min_precision=0.4)
        (row,) = share_capacity([stream], decision.max_alarms).rows
        assert cost[row] == pytest.approx(least, abs=1e-12)
        assert decision.feasible[row]


def test_a_false_alarm_dearer_than_everything_is_never_raised():
    points = OperatingPoints.from_counts([2, 5], [0, 1], n_positive=10, n_negative=90)
    other = OperatingPoints.from_counts([3, 9], [3, 30], n_positive=10, n_negative=90)
    streams = [Stream.within(points, false_alarm=1e100), Stream.within(other, false_alarm=0.1)]
    assert share_capacity(streams, 100).rows == (1, 2)


def test_weighted_cases_share_within_rounding():
    points = OperatingPoints.from_scores(
        [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], sample_weight=[0.1, 0.2, 0.3, 0.4]
    )
    streams = [Stream.within(points, false_alarm=0.1)] * 2
    assert sorted(share_capacity(streams, 0.7).alarms) == pytest.approx([0.1, 0.6])


def test_cost_never_rises_with_capacity_and_never_falls_with_a_floor():
    rng = np.random.default_rng(5)
    streams = random_streams(rng, 4, 80, 60)
    costs = [share_capacity(streams, k).cost for k in range(0, 160, 7)]
    assert costs == sorted(costs, reverse=True)
    free = [Stream.within(s.points, false_alarm=s.false_alarm, miss=s.miss) for s in streams]
    assert all(share_capacity(free, k).cost <= share_capacity(streams, k).cost for k in (10, 80))


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr(deficit_search, "MOST_PAIRS", 3)
    streams = continuous_streams(np.random.default_rng(2), 3, 150)
    with pytest.raises(ValueError, match="accepted are 3; use fewer distinct scores"):
        share_capacity(streams, 40)


def test_costs_are_read_as_the_fractions_that_were_typed():
    assert as_cost(5 / 36) == Fraction(5, 36)
    assert as_cost(1e-13) == Fraction(1e-13)


@pytest.mark.slow
def test_equals_an_integer_program_on_larger_problems():
    rng = np.random.default_rng(11)
    for n_streams, n_cases in ((3, 600), (10, 300), (20, 100)):
        streams = continuous_streams(rng, n_streams, n_cases)
        for share in (0.05, 0.2):
            max_alarms = int(share * n_streams * n_cases)
            choice = share_capacity(streams, max_alarms)
            assert float(choice.cost) == pytest.approx(milp_cost(streams, max_alarms), abs=1e-6)


@pytest.mark.slow
def test_ten_streams_of_a_million_cases_share_in_a_second():
    import time

    rng = np.random.default_rng(4)
    streams = continuous_streams(rng, 10, 1_000_000)
    began = time.process_time()
    choice = share_capacity(streams, 500_000)
    assert time.process_time() - began < 2.0
    assert sum(choice.alarms) <= 500_000
