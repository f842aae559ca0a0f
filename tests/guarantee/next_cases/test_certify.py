"""Walks over random label sequences against the rule played case by case, and deployments drawn."""

from __future__ import annotations

import numpy as np
import pytest
from fixed_sequences import sequence
from scipy.stats import binom
from slower import slow

from voros import Guarantee, OperatingPoints, Scenario
from voros.guarantee.binomial_tests import alpha_shares, first_rank, most_counted
from voros.guarantee.next_cases.certify import (
    RANKS,
    alpha_parts,
    at_rank,
    certified_next,
    certified_run,
    first_start,
    least_rank,
    plans,
)
from voros.guarantee.next_cases.fixed_sequence import (
    FixedSequence,
    needed_to_keep,
    risky_precisions,
)
from voros.guarantee.next_cases.needed import requirement
from voros.guarantee.next_cases.rank_test import needed_above
from voros.guarantee.tuning import TUNING


@pytest.mark.parametrize("most", [0, 1, 50, 131, 132, 300, 5000])
def test_shares_of_alpha_are_all_of_it(most: int) -> None:
    """The ranks that are tested by themselves have most where there are few alarms."""
    shares = alpha_parts(most)
    assert set(shares) == {"main", "early", *RANKS}
    assert sum(shares.values()) == pytest.approx(1)
    together = sum(shares[rank] for rank in RANKS)
    assert together == pytest.approx(min(max(9_000 / max(most, 1) ** 2, 0.02), 0.7))
    assert [shares[rank] / together for rank in RANKS] == pytest.approx([0.06, 0.6, 0.34])
    assert shares["early"] == 0.005


def passed_by_the_rule(
    groups: list[list[bool]], needed: list[int], plan: FixedSequence
) -> list[int]:
    """Numbers of alarms that the walk passes; each group holds the labels of one score."""
    tp, alarms, alive, passed = 0, 0, False, []
    for group in groups:
        if alarms < plan.start <= alarms + len(group):
            first = sorted(group, reverse=True)[: plan.start - 1 - alarms]
            alive = tp + sum(first) >= needed[0]
        tp, alarms = tp + sum(group), alarms + len(group)
        alive = alive and alarms <= plan.most and tp >= needed[1 + alarms - plan.start]
        if alive:
            passed.append(alarms)
    return passed


@pytest.mark.parametrize("tied", [False, True])
def test_the_walk_is_the_rule_case_by_case(tied: bool) -> None:
    rng = np.random.default_rng(1)
    lengths, ended_early = [], 0
    for _ in range(400):
        n_cases, start = int(rng.integers(20, 120)), int(rng.integers(2, 15))
        plan = sequence(n_cases, 50, 0.5, 0.05, start, int(rng.integers(start, n_cases + 1)))
        rises = rng.random(plan.most - start) < 0.5
        needed = int(rng.integers(0, start + 1)) + np.append(0, np.cumsum(rises))
        needed = np.append(needed[0] - int(rng.integers(0, 2)), needed)
        labels = np.append(rng.random(n_cases - 2) < 0.6, [True, False])
        cuts = np.arange(1, n_cases)
        if tied:
            cuts = np.sort(rng.choice(cuts, int(rng.integers(1, 12)), replace=False))
        groups = [part.tolist() for part in np.split(labels, cuts)]
        scores = -np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        points = OperatingPoints.from_scores(labels, scores)
        certified_alarms = points.alarms[certified_run(points, plan, needed)].tolist()
        assert certified_alarms == passed_by_the_rule(groups, needed.tolist(), plan)
        lengths.append(len(certified_alarms))
        ended_early += bool(certified_alarms) and certified_alarms[-1] < plan.most
    assert np.count_nonzero(lengths) > 100
    assert ended_early > 30


def drawn(rng: np.random.Generator, separation: float = 2.0, n: int = 3000) -> OperatingPoints:
    positive = rng.random(n) < 0.2
    return OperatingPoints.from_scores(positive, rng.normal(size=n) + separation * positive)


@pytest.mark.parametrize("separation", [1.0, slow(2.0), 4.0])
@pytest.mark.parametrize("horizon", [1200, slow(3000), 9000])
@pytest.mark.parametrize("capacity", [0.04, 0.3])
def test_thresholds_are_the_last_of_two_sequences_and_those_at_the_ranks(
    separation: float, horizon: int, capacity: float
) -> None:
    points = drawn(np.random.default_rng(0), separation)
    scenario = Scenario(0.4, capacity, 0.05)
    allowed = scenario.max_alarms(horizon)
    alpha, for_capacity = alpha_shares(0.05, 0.4, allowed, horizon)
    most = most_counted(3000, allowed, horizon, for_capacity)
    tests = plans(3000, horizon, 0.4, alpha, most)
    assert {"main", *RANKS[1:]} <= set(tests) <= {"main", "early", *RANKS}
    rows = np.arange(len(points))
    expected = {
        int(row)
        for way in tests.keys() & {"main", "early"}
        for row in rows[certified_run(points, tests[way], requirement(tests[way]))][-1:]
    }
    for way in tests.keys() & set(RANKS):
        expected |= set(at_rank(points, tests[way].start, needed_above(tests[way])).tolist())
    certified = certified_next(points, scenario, horizon, 0.05)
    assert certified.dtype == np.bool_
    assert set(np.flatnonzero(certified).tolist()) == expected
    # Each deployed threshold has the alpha of its test; together they use all of alpha.
    assert sum(test.alpha for test in tests.values()) + for_capacity == pytest.approx(0.05)


@pytest.mark.parametrize("floor", [0.05, 0.4, 0.9])
@pytest.mark.parametrize(("n_cases", "horizon"), [slow(3000, 3000), (3000, 300), (500, 5000)])
@pytest.mark.parametrize("most", [40, slow(200), 450])
def test_tests_start_where_they_may_pass(
    floor: float, n_cases: int, horizon: int, most: int
) -> None:
    tests, shares = plans(n_cases, horizon, floor, 0.05, most), alpha_parts(most)
    both = 1 + n_cases / horizon
    earliest = min((test.ranks[0] for test in tests.values() if test.ranks), default=None)

    def perfect(way: str) -> int:
        return first_start(n_cases, horizon, floor, shares[way] * 0.05, most, earliest)

    expected = {}
    for way, place in zip(RANKS, (0.15, 0.35, 0.6), strict=True):
        if int(place * most) >= least_rank(n_cases, horizon, floor, shares[way] * 0.05):
            expected[way] = int(place * most)
        else:
            shares["main"] += shares[way]
    later = 2.7 * both * first_rank(floor, 0.05)
    main = max(perfect("main"), int(min(later, most / 3)))
    expected["main"] = main
    early = perfect("early")
    expected |= {"early": early} if early + early // 8 < main else {}
    expected = {way: start for way, start in expected.items() if start <= most}
    assert {way: test.start for way, test in tests.items()} == expected
    if "early" not in expected:
        shares["main"] += shares["early"]
    for way, test in tests.items():
        assert test.alpha == pytest.approx(shares[way] * 0.05)
        assert test.most == (main if way == "early" else most)
        assert test.ranks is not None
        assert test.ranks[0] <= min(expected.values())
        assert test.ranks[1] == most


@pytest.mark.parametrize("floor", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("most", [100, 900])
def test_risky_precisions_are_computed_once_for_all_tests(floor: float, most: int) -> None:
    """To find the starts and for every test: they take a third of the time."""
    risky_precisions.cache_clear()
    for test in plans(2999, 3001, floor, 0.05, most).values():
        assert len(test.risky.shares)
    assert risky_precisions.cache_info().misses == 1


@pytest.mark.parametrize("floor", [0.05, 0.5, 0.9])
@pytest.mark.parametrize(("n_cases", "horizon"), [(3000, 3000), (3000, 300), (500, 5000)])
def test_the_first_start_is_where_only_true_positives_leave_enough_of_alpha(
    floor: float, n_cases: int, horizon: int
) -> None:
    """By drawing the place of the start and the next alarms, with the worst precision for each."""
    rank = first_start(n_cases, horizon, floor, 0.05, n_cases // 3)
    rng, precision = np.random.default_rng(0), np.linspace(0, 1, 2001)
    middle = (precision[1:] + precision[:-1]) / 2

    def risk(k: int) -> float:
        """The (k - 1)-th moment of precisions at which the floor breaks, over chances."""
        share = rng.beta(k, n_cases - k + 1, size=400)
        alarms = rng.binomial(horizon, share)[:, None]
        breaking = binom.cdf(needed_to_keep(alarms, floor) - 1, alarms, precision).mean(axis=0)
        return float(middle ** (k - 1) @ -np.diff(breaking))

    assert risk(rank) <= 0.05
    # Bounds are not much above the risk: a little earlier it would be too much.
    assert risk(max(int(0.7 * rank) - 1, 2)) > 0.35 * 0.05
    assert rank >= least_rank(n_cases, horizon, floor, 0.05)


def test_tests_with_too_small_an_alpha_are_left_out() -> None:
    """A main sequence at just the least alpha stands alone; a larger one has all of them."""
    least = TUNING.least_alpha / alpha_parts(3000)["main"]
    for alpha, ways in (
        (least, {"main"}),
        (2 * least, {"main"}),
        (2e-5, {"main", "early", *RANKS[1:]}),
        (2e-4, {"main", "early", *RANKS}),
    ):
        tests = plans(3000, 3000, 0.4, alpha, 3000)
        assert set(tests) == ways
        assert all(test.alpha >= TUNING.least_alpha for test in tests.values())


def test_nothing_starts_beyond_the_capacity_or_at_a_floor_of_one() -> None:
    assert plans(2000, 2000, 0.4, 0.05, 1) == {}
    assert plans(2000, 2000, 1.0, 0.05, 1000) == {}


def test_a_capacity_too_small_to_certify_any_alarm_has_no_tests() -> None:
    """Of 15 cases none may be flagged for 10 % of the next 30, so the largest count is -1."""
    assert plans(15, 30, 0.5, 0.05, -1) == {}
    points = OperatingPoints.from_scores([1] * 5 + [0] * 10, list(range(15, 0, -1)))
    scenario = Scenario(0.5, 0.1, cost_ratio=(1 / 40, 1 / 20))
    allowed = Guarantee(0.95, horizon=30).allowed(points, scenario)
    assert points.thresholds[allowed].tolist() == [np.inf]


def test_a_perfect_alarm_is_certified_for_the_next_cases_from_few_alarms_on() -> None:
    """150 positives above all negatives, a floor of .9, a capacity of a fifth."""
    positive = np.arange(3000) < 150
    points = OperatingPoints.from_scores(positive, -np.arange(3000))
    for horizon in (3000, 30_000):
        allowed = Guarantee(0.95, horizon).allowed(points, Scenario(0.9, 0.2, 0.05))
        assert points.alarms[allowed].max() >= 150


@pytest.mark.parametrize("floor", [0.3, 0.9])
@pytest.mark.parametrize("n_cases", [4, 5, 6, 15, 30])
def test_no_test_starts_at_the_last_case(n_cases: int, floor: float) -> None:
    """The risk of a test is that of the cases below its start."""
    for horizon in (n_cases, 1000):
        starts = [test.start for test in plans(n_cases, horizon, floor, 0.05, n_cases).values()]
        assert max(starts, default=0) < n_cases
        points = OperatingPoints.from_scores(np.arange(n_cases) > 0, np.arange(n_cases))
        Guarantee(0.95, horizon=horizon).allowed(points, Scenario(floor, cost_ratio=0.1))


def test_the_threshold_at_a_rank_is_the_one_with_as_many_alarms() -> None:
    points = OperatingPoints.from_counts([2, 3, 6], [1, 1, 4], 8, 10)
    # Ranks 3 and 4 have thresholds; of four alarms, three are right, and the last of them may be.
    assert at_rank(points, 4, 2).tolist() == [2]
    assert at_rank(points, 4, 3).tolist() == []
    # Three alarms are tied: two of them are right, and one of these may be the last.
    assert at_rank(points, 3, 1).tolist() == [1]
    assert at_rank(points, 3, 2).tolist() == []
    # Within a group of ties and beyond all cases there is no threshold.
    assert at_rank(points, 5, 0).tolist() == []
    assert at_rank(points, 11, 0).tolist() == []
    # A negative at the rank leaves all positives above it.
    alone = OperatingPoints.from_counts([3, 3], [0, 1], 4, 4)
    assert at_rank(alone, 4, 3).tolist() == [2]


def test_points_that_end_before_the_start_have_nothing_to_test() -> None:
    points = OperatingPoints.from_counts([3, 4], [1, 5], 5, 10)
    plan = sequence(15, 15, 0.3, 0.05, 12, 14)
    run = certified_run(points, plan, np.array([1, 1, 1, 1]))
    assert points.alarms[run].tolist() == []


def test_without_a_floor_the_capacity_decides_alone() -> None:
    points = drawn(np.random.default_rng(0))
    scenario = Scenario(0.0, 0.1, 0.05)
    certified = certified_next(points, scenario, 500, 0.05)
    assert points.alarms[certified].max() == most_counted(3000, 50.0, 500, 0.05)


def test_a_confidence_beyond_what_is_proven_is_refused() -> None:
    points = drawn(np.random.default_rng(0))
    message = (
        r"^a confidence that leaves an error of 9\.75e-09 is not proven for a horizon; accepted "
        r"are errors of at least 1e-07, after the split over models$"
    )
    with pytest.raises(ValueError, match=message):
        Guarantee(1 - 1e-8, horizon=3000).allowed(points, Scenario(0.4, 1.0, 0.05))


def deployments_that_break(
    scenario: Scenario, n_cases: int, horizon: int, prevalence: float, separation: float, runs: int
) -> float:
    """How often a deployed threshold breaks a limit in the next cases, with normal scores."""
    rng, broken = np.random.default_rng(0), 0
    guarantee = Guarantee(0.95, horizon)
    for _ in range(runs):
        positive = rng.random(n_cases) < prevalence
        scores = rng.normal(size=n_cases) + separation * positive
        points = OperatingPoints.from_scores(positive, scores)
        cuts = points.thresholds[guarantee.allowed(points, scenario)][1:]
        later = rng.random(horizon) < prevalence
        flagged = rng.normal(size=horizon) + separation * later >= cuts[:, None]
        alarms, tp = flagged.sum(axis=1), (flagged & later).sum(axis=1)
        most = scenario.max_alarms(horizon)
        broken += bool(((tp < scenario.min_precision * alarms) | (alarms > most)).any())
    return broken / runs


@pytest.mark.parametrize(
    ("scenario", "n_cases", "horizon", "prevalence", "separation"),
    [
        pytest.param(
            Scenario(0.01, 0.1, (1 / 200, 1 / 100)), 5000, 100, 0.015, 4.0, marks=pytest.mark.slow
        ),
        (Scenario(0.02, 0.3, (1 / 200, 1 / 100)), 2000, 40, 0.015, 12.0),
    ],
)
def test_small_floors_and_short_horizons_keep_the_promise(
    scenario: Scenario, n_cases: int, horizon: int, prevalence: float, separation: float
) -> None:
    """Precisions at which few next alarms break a small floor are far above it."""
    share = deployments_that_break(scenario, n_cases, horizon, prevalence, separation, 500)
    assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 500)


def test_a_sequence_that_nothing_can_pass_is_left_out() -> None:
    """Many validation cases and a short horizon: the stricter sequence has too little of alpha."""
    cases = np.arange(64_000)
    points = OperatingPoints.from_scores(cases < 9600, -cases)
    scenario = Scenario(min_precision=0.9, capacity=0.2, cost_ratio=0.05)
    allowed = Guarantee(0.95, horizon=100).allowed(points, scenario)
    assert points.alarms[allowed].max() > 0.1 * len(cases)
