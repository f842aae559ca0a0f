"""Walks over random label sequences against the rule played case by case, and deployments drawn."""

from __future__ import annotations

import numpy as np
import pytest

from voros import Guarantee, OperatingPoints, Scenario
from voros.guarantee.next_cases import (
    certified_next,
    inner_start,
    spaced,
    walk,
    walk_starts,
)
from voros.guarantee.prediction import rough_requirement
from voros.guarantee.sequential import first_rank, most_alarms, shared_alpha
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
        alive = alive and alarms <= plan.most and tp >= needed[alarms - plan.start]
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


@pytest.mark.parametrize("separation", [1.0, 2.0, 4.0])
def test_thresholds_are_the_last_of_two_walks_and_a_few_of_a_stricter_one(
    separation: float,
) -> None:
    points = drawn(np.random.default_rng(0), separation)
    scenario = Scenario(0.4, 0.3, 0.05)
    alpha, for_capacity = shared_alpha(3000, scenario, 3000, 0.05)
    most = most_alarms(3000, scenario, 3000, for_capacity)
    starts = walk_starts(3000, 3000, 0.4, alpha, most)
    (main, main_share), (late, late_share) = starts.items()
    expected: set[int] = set()
    for start, share in ((main, main_share), (late, late_share)):
        plan = Walk(3000, 3000, 0.4, share * alpha, start, most)
        expected |= set(np.arange(len(points))[walk(points, plan, rough_requirement(plan))][-1:])
    share = TUNING.inner_share / TUNING.inner_thresholds
    # The stricter one starts where it may pass: later than the main one.
    earliest = int(np.ceil(0.45 * 2 * first_rank(0.4, share * alpha)))
    start = inner_start(main, earliest, most)
    assert start > main
    plan = Walk(3000, 3000, 0.4, share * alpha, start, most)
    inner = walk(points, plan, rough_requirement(plan))
    expected |= set(spaced(points.alarms, inner).tolist())
    found = certified_next(points, scenario, 3000, 0.05, rough_requirement)
    assert set(np.flatnonzero(found).tolist()) == expected
    assert len(expected) <= 2 + TUNING.inner_thresholds
    assert main_share + late_share + TUNING.inner_share == pytest.approx(1)


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


def test_no_stretch_has_no_thresholds() -> None:
    assert spaced(np.arange(100), slice(5, 5)).tolist() == []
    assert spaced(np.arange(100), slice(5, 6)).tolist() == [5]


def test_without_a_floor_the_capacity_decides_alone() -> None:
    points = drawn(np.random.default_rng(0))
    scenario = Scenario(0.0, 0.1, 0.05)
    found = certified_next(points, scenario, 500, 0.05)
    assert points.alarms[found].max() == most_alarms(3000, scenario, 500, 0.05)


def test_a_confidence_beyond_what_is_proven_is_refused() -> None:
    points = drawn(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"error of 9.*e-09 is not proven for a horizon; accepted"):
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
