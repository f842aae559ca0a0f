"""Walks over random label sequences against the rule played case by case, and deployments drawn."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isqrt
from math import floor as floor_of

import numpy as np
import pytest

from voros import Guarantee, OperatingPoints, Scenario
from voros.core.arrays import AnyArray, BoolArray
from voros.guarantee.binomial_tests import alpha_shares, first_rank, most_counted
from voros.guarantee.next_cases import (
    certified_next,
    inner_start,
    spaced,
    walk,
    walk_starts,
)
from voros.guarantee.prediction import rough_requirement
from voros.guarantee.tuning import TUNING
from voros.guarantee.walk_risk import Walk


def test_shares_of_alpha_are_all_of_it() -> None:
    assert sum((TUNING.main_share, TUNING.late_share, TUNING.inner_share)) == pytest.approx(1)


def passed_by_the_rule(groups: list[list[bool]], needed: list[int], plan: Walk) -> list[int]:
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
        plan = Walk(n_cases, 50, 0.5, 0.05, start, int(rng.integers(start, n_cases + 1)))
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
        found = points.alarms[walk(points, plan, needed)].tolist()
        assert found == passed_by_the_rule(groups, needed.tolist(), plan)
        lengths.append(len(found))
        ended_early += bool(found) and found[-1] < plan.most
    assert np.count_nonzero(lengths) > 100
    assert ended_early > 30


def drawn(rng: np.random.Generator, separation: float = 2.0, n: int = 3000) -> OperatingPoints:
    positive = rng.random(n) < 0.2
    return OperatingPoints.from_scores(positive, rng.normal(size=n) + separation * positive)


def of_the_sequences(
    points: OperatingPoints, scenario: Scenario, horizon: int, alpha: float
) -> tuple[BoolArray, list[Walk]]:
    """What is deployed, by the tests that were planned, in their order."""
    plans: list[Walk] = []

    def noted(plan: Walk) -> AnyArray:
        plans.append(plan)
        return rough_requirement(plan)

    return certified_next(points, scenario, horizon, alpha, noted), plans


@pytest.mark.parametrize("separation", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("horizon", [1200, 3000, 9000])
def test_thresholds_are_the_last_of_two_walks_and_a_few_of_a_stricter_one(
    separation: float, horizon: int
) -> None:
    points = drawn(np.random.default_rng(0), separation)
    scenario = Scenario(0.4, 0.3, 0.05)
    capacity = scenario.max_alarms(horizon)
    alpha, for_capacity = alpha_shares(0.05, 0.4, capacity, horizon)
    most = most_counted(3000, capacity, horizon, for_capacity)
    starts = walk_starts(3000, horizon, 0.4, alpha, most)
    main = min(starts)
    expected: set[int] = set()
    planned = [
        Walk(3000, horizon, 0.4, s * alpha, start, most, main, coarse=start != main)
        for start, s in starts.items()
    ]
    for plan in planned:
        expected |= set(np.arange(len(points))[walk(points, plan, rough_requirement(plan))][-1:])
    share = TUNING.inner_share / TUNING.inner_thresholds
    # The stricter one starts where it may pass: later than the main one.
    earliest = int(np.ceil(0.45 * (1 + 3000 / horizon) * first_rank(0.4, share * alpha)))
    start = inner_start(main, earliest, most)
    assert start > main
    plan = Walk(3000, horizon, 0.4, share * alpha, start, most, main, coarse=True)
    inner = walk(points, plan, rough_requirement(plan))
    expected |= set(spaced(points.alarms, inner).tolist())
    found, plans = of_the_sequences(points, scenario, horizon, 0.05)
    assert found.dtype == np.bool_
    assert set(np.flatnonzero(found).tolist()) == expected
    assert plans == [*planned, plan]
    # Each deployed threshold may err by the alpha of its test: all of them by all of alpha.
    n_deployed = [1] * len(planned) + [TUNING.inner_thresholds]
    each = [plan.alpha for plan in plans]
    assert np.dot(each, n_deployed) + for_capacity <= 0.05 + 1e-12


def test_sequences_with_too_small_an_alpha_are_left_out() -> None:
    """A main sequence at just the least alpha stands alone; a larger one has all of them."""
    points = drawn(np.random.default_rng(0), 4.0)
    scenario = Scenario(0.4, 1.0, 0.05)
    at_least = TUNING.least_alpha / TUNING.main_share
    for alpha, n_plans in ((at_least, 1), (2e-5, 2), (2e-4, 3)):
        found, plans = of_the_sequences(points, scenario, 3000, alpha)
        assert len(plans) == n_plans
        assert all(plan.alpha >= TUNING.least_alpha for plan in plans)
        lasts = {int(points.alarms[walk(points, p, rough_requirement(p))][-1]) for p in plans[:2]}
        if n_plans < 3:
            assert set(points.alarms[found].tolist()) == lasts


def by_the_rule_of_starts(
    n_cases: int, horizon: int, floor: float, alpha: float, most: int
) -> dict[int, float]:
    """Ranks in exact arithmetic; a test that could not pass is not planned."""

    def earliest(share: str) -> int:
        rank = first_rank(floor, float(share) * alpha)
        return ceil(Fraction("0.45") * rank * (1 + Fraction(n_cases, horizon)))

    last = min(most, n_cases - 1)
    if earliest("1") > last:
        return {}
    main = max(earliest("1"), floor_of(min(Fraction(6 * earliest("1")), Fraction(most, 4))))
    late = max(isqrt(main * most), earliest("0.03"))
    return {main: 0.965} | ({late: 0.03} if late <= last else {})


def test_starts_are_where_a_good_precision_may_pass() -> None:
    rng, sizes = np.random.default_rng(3), []
    for _ in range(300):
        n_cases, horizon = (int(n) for n in np.exp(rng.uniform(np.log(100), np.log(20_000), 2)))
        floor, alpha = float(rng.integers(1, 19) / 20), float(rng.choice([0.01, 0.05, 0.2]))
        ranks = (first_rank(floor, share * alpha) for share in (1, 0.03))
        early, late = (ceil(0.45 * rank * (1 + n_cases / horizon)) for rank in ranks)
        for most in (int(rng.integers(1, n_cases + 1)), early - 1, early, late - 1, late):
            found = walk_starts(n_cases, horizon, floor, alpha, most)
            expected = by_the_rule_of_starts(n_cases, horizon, floor, alpha, most)
            assert list(found) == list(expected)
            assert list(found.values()) == pytest.approx(list(expected.values()))
            sizes.append(len(found))
    assert {size: sizes.count(size) > 30 for size in range(3)} == dict.fromkeys(range(3), True)


def test_the_stricter_sequence_starts_between_the_main_one_and_the_most() -> None:
    assert inner_start(100, 20, 10_000) == 120
    assert inner_start(100, 500, 10_000) == 1000
    assert inner_start(100, 10, 10_000) == 100


def test_walks_start_later_for_short_horizons_and_nowhere_beyond_the_capacity() -> None:
    usual = walk_starts(2000, 2000, 0.4, 0.05, 1000)
    assert list(usual.values()) == [TUNING.main_share, TUNING.late_share]
    assert min(walk_starts(2000, 200, 0.4, 0.05, 1000)) > 2 * min(usual)
    assert max(usual) <= 500
    assert walk_starts(2000, 2000, 0.4, 0.05, 5) == {}
    assert walk_starts(2000, 2000, 1.0, 0.05, 1000) == {}
    # Few alarms: as early as can be.
    earliest = min(walk_starts(2000, 2000, 0.4, 0.05, 30))
    assert earliest == pytest.approx(min(usual) / 6, abs=1)
    assert walk_starts(2000, 2000, 0.4, 0.05, earliest) == {earliest: TUNING.main_share}


@pytest.mark.parametrize(("n_cases", "horizon"), [(11, 22), (14, 14), (14, 1000), (21, 42)])
def test_no_sequence_starts_at_the_last_case(n_cases: int, horizon: int) -> None:
    """The first rank that may pass, of the main sequence or the late one, is the last of all."""
    starts = walk_starts(n_cases, horizon, 0.3, 0.05, n_cases)
    assert max(starts, default=0) < n_cases
    points = OperatingPoints.from_scores(np.arange(n_cases) > 0, np.arange(n_cases))
    allowed = Guarantee(0.95, horizon=horizon).allowed(points, Scenario(0.3, cost_ratio=0.1))
    assert allowed[1:].any() == bool(starts)


@pytest.mark.parametrize(("n_cases", "horizon"), [(12, 22), (15, 15), (15, 1000), (22, 42)])
def test_a_sequence_may_start_at_the_last_case_but_one(n_cases: int, horizon: int) -> None:
    assert max(walk_starts(n_cases, horizon, 0.3, 0.05, n_cases)) == n_cases - 1


def test_no_stretch_has_no_thresholds() -> None:
    nothing = spaced(np.arange(100), slice(5, 5))
    assert nothing.tolist() == []
    assert np.arange(100)[nothing].tolist() == []
    assert spaced(np.arange(100), slice(5, 6)).tolist() == [5]


def test_thresholds_of_a_stretch_are_evenly_apart_in_ratios() -> None:
    """The first at or after each of eight numbers of alarms, from the stretch's ends inwards."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        alarms = np.append(0, np.cumsum(rng.integers(1, 9, size=int(rng.integers(10, 200)))))
        start, stop = np.sort(rng.choice(np.arange(1, len(alarms) + 1), 2, replace=False)).tolist()
        first, last = int(alarms[start]), int(alarms[stop - 1])
        wanted = [round(first * (last / first) ** (i / 7)) for i in range(8)]
        rows = {next(j for j in range(start, stop) if alarms[j] >= one) for one in wanted}
        assert spaced(alarms, slice(start, stop)).tolist() == sorted(rows)


def test_points_that_end_before_the_start_have_nothing_to_test() -> None:
    points = OperatingPoints.from_counts([3, 4], [1, 5], 5, 10)
    plan = Walk(15, 15, 0.3, 0.05, 12, 14)
    stretch = walk(points, plan, np.array([1, 1, 1, 1]))
    assert points.alarms[stretch].tolist() == []


def test_without_a_floor_the_capacity_decides_alone() -> None:
    points = drawn(np.random.default_rng(0))
    scenario = Scenario(0.0, 0.1, 0.05)
    found = certified_next(points, scenario, 500, 0.05)
    assert points.alarms[found].max() == most_counted(3000, 50.0, 500, 0.05)


def test_a_confidence_beyond_what_is_proven_is_refused() -> None:
    points = drawn(np.random.default_rng(0))
    message = (
        r"^a confidence that leaves an error of 9\.65e-09 is not proven for a horizon; accepted "
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
        alarms, right = flagged.sum(axis=1), (flagged & later).sum(axis=1)
        most = scenario.max_alarms(horizon)
        broken += bool(((right < scenario.min_precision * alarms) | (alarms > most)).any())
    return broken / runs


@pytest.mark.parametrize(
    ("scenario", "n_cases", "horizon", "prevalence", "separation"),
    [
        (Scenario(0.01, 0.1, (1 / 200, 1 / 100)), 5000, 100, 0.015, 4.0),
        (Scenario(0.02, 0.3, (1 / 200, 1 / 100)), 2000, 40, 0.015, 12.0),
    ],
)
def test_small_floors_and_short_horizons_keep_the_promise(
    scenario: Scenario, n_cases: int, horizon: int, prevalence: float, separation: float
) -> None:
    """Precisions at which few next alarms break a small floor are far above it."""
    share = deployments_that_break(scenario, n_cases, horizon, prevalence, separation, 500)
    assert share <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 500)
