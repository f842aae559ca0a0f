from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from voros import OperatingPoints, Scenario
from voros.inference.next_cases import (
    INNER_SHARE,
    INNER_THRESHOLDS,
    LATE_SHARE,
    MAIN_SHARE,
    PREVALENCE_SHARE,
    TIES_SHARE,
    certified_next,
    most_usual,
    right_above,
    starting_ranks,
    walk,
)
from voros.inference.prediction import Requirement
from voros.inference.walk_risk import Walk


def points(right: list[int]) -> OperatingPoints:
    """One case at each score, best first, and a negative last."""
    labels = np.array([*right, 0])
    return OperatingPoints.from_scores(labels, -np.arange(len(labels)))


def test_shares_of_the_error_are_all_of_it() -> None:
    shares = (PREVALENCE_SHARE, TIES_SHARE, LATE_SHARE, INNER_SHARE, MAIN_SHARE)
    assert sum(shares) == pytest.approx(1)


def test_no_more_thresholds_are_allowed_than_are_reckoned_with() -> None:
    rng = np.random.default_rng(0)
    for separation in (1.0, 2.0, 4.0):
        positive = rng.random(3000) < 0.2
        scores = rng.normal(size=3000) + separation * positive
        some = OperatingPoints.from_scores(positive, scores)
        allowed = certified_next(some, Scenario(0.4, 0.3, 0.05), 3000, 0.05)
        assert allowed.sum() <= 2 + INNER_THRESHOLDS
    assert allowed.sum() >= 4


def test_a_walk_goes_from_its_start_to_the_first_failure() -> None:
    some = points([1, 1, 0, 1, 1, 0, 0, 0, 1])
    needs = Requirement(np.array([1, 1, 1, 2, 2, 3, 3, 4, 5, 6]), np.array([3]))
    plan = Walk(10, 10, 0.5, 0.05, (3,), 9)
    # Alarms 3 to 7 have 2, 3, 4, 4, 4 right ones; 8 would need 5.
    assert walk(some, plan, needs, (3, 3), 0.01) == slice(3, 8)
    capped = Walk(10, 10, 0.5, 0.05, (3,), 5)
    assert walk(some, capped, needs, (3, 3), 0.01) == slice(3, 6)


def test_a_walk_whose_start_is_in_doubt_passes_all_and_counts_from_the_last() -> None:
    some = points([1, 1, 0, 1, 1, 0, 0, 0, 1])
    needs = Requirement(np.array([1, 1, 1, 2, 2, 3, 3, 4, 5, 6]), np.array([3, 5]))
    plan = Walk(10, 10, 0.5, 0.05, (3, 5), 9)
    assert walk(some, plan, needs, (3, 6), 0.01) == slice(5, 8)
    strict = Requirement(np.array([1, 1, 1, 3, 2, 3, 3, 4, 5, 6]), np.array([3, 5]))
    found = walk(some, plan, strict, (3, 6), 0.01)
    assert found.start == found.stop


def test_tied_cases_at_a_start_are_ordered_by_chance() -> None:
    """Twenty tied cases, half of them right; ten of them come before the starting rank."""
    labels = np.repeat([1, 0], 10)
    some = OperatingPoints.from_scores(np.append(labels, 0), np.append(np.ones(20), 0))
    rng = np.random.default_rng(0)
    drawn = np.array([rng.permutation(labels)[:10].sum() for _ in range(20_000)])
    for level in (0.01, 0.1, 0.5):
        least = right_above(some, 1, 11, level)
        assert np.mean(drawn < least) <= level + 0.01
        assert np.mean(drawn <= least) >= level - 0.01


@pytest.mark.parametrize("prevalence", [0.003, 0.02, 0.1, 0.5])
def test_positives_beyond_the_most_usual_are_rare_for_every_prevalence(prevalence: float) -> None:
    """For a fixed number, both draws from it: exact, over all numbers of positives."""
    n_cases, level = 500, 0.05
    chance = binom.pmf(np.arange(n_cases + 1), n_cases, prevalence)
    usual = binom.isf(level / 2, n_cases, prevalence)
    off = 0.0
    for found in np.flatnonzero(chance > 1e-12):
        labels = (np.arange(n_cases) < found).astype(int)
        some = OperatingPoints.from_scores(labels, np.zeros(n_cases)) if found > 0 else None
        limit = most_usual(some, level) if some is not None else usual
        off += chance[found] * (found > usual or limit < usual)
    assert off <= level


def test_walks_start_later_for_short_horizons_and_nowhere_beyond_the_capacity() -> None:
    usual = starting_ranks(2000, 2000, 0.4, 0.05, 1000)
    assert starting_ranks(2000, 200, 0.4, 0.05, 1000)[0] > 4 * usual[0]
    assert max(usual) <= 500
    assert starting_ranks(2000, 2000, 0.4, 0.05, 5) == ()
