from itertools import combinations

import numpy as np
import pytest
from scipy.stats import hypergeom

from voros.inference.prediction import (
    _passing_risk,
    inner_risk,
    last_and_inner,
    last_risk,
    margins,
    pooled_tail,
    scale,
    walk,
)


@pytest.mark.parametrize(("rank", "right"), [(5, 2), (5, 5), (6, 3), (4, 0)])
def test_pooled_tail_counts_every_way_to_split_the_cases(rank: int, right: int) -> None:
    """Brute force over which of the pooled cases are validation's; right alarms come first."""
    n_cases, horizon = 5, 4

    def needed(alarms: np.ndarray) -> np.ndarray:
        return np.maximum(np.ceil(0.5 * alarms + 0.4), 1).astype(int)

    passed = total = 0
    for mine in combinations(range(n_cases + horizon), n_cases):
        alarms = sum(case < rank for case in mine)
        tp = sum(case < right for case in mine)
        passed += tp >= needed(np.array([alarms]))[0]
        total += 1
    assert pooled_tail(rank, right, n_cases, horizon, needed) == pytest.approx(passed / total)


def test_pooled_tail_at_a_fixed_number_of_alarms_is_hypergeometric() -> None:
    """All cases are alarms, so that validation's number of them is known."""
    found = pooled_tail(300, 180, 100, 200, lambda alarms: np.full(len(alarms), 68))
    assert found == pytest.approx(hypergeom.sf(67, 300, 180, 100), rel=1e-9)


@pytest.mark.parametrize("inner", [False, True])
def test_margins_keep_their_level(inner: bool) -> None:
    ranks, found = margins(2000, 1500, 0.3, 0.01, inner, 400)
    risk = inner_risk if inner else last_risk
    for rank, margin in zip(np.exp(ranks).round().astype(int), found, strict=True):
        assert risk(float(margin), (int(rank), 2000, 1500, 0.3)) <= 0.01


def test_being_further_inside_costs_less_risk() -> None:
    problem = (200, 2000, 2000, 0.5)
    risks = [last_risk(margin, problem) for margin in (0.5, 1.0, 2.0, 4.0)]
    assert risks == sorted(risks, reverse=True)
    assert inner_risk(3.0, problem) > _passing_risk(3.0, 0.25, *problem)


def test_a_long_horizon_needs_the_margin_of_the_population_and_a_short_one_more() -> None:
    alarms = np.array([100.0])
    endless = float(scale(alarms, 1000, 10**9, 0.5)[0])
    assert endless == pytest.approx(np.sqrt(0.25 * 100))
    assert float(scale(alarms, 1000, 1000, 0.5)[0]) == pytest.approx(endless * np.sqrt(2))


def test_a_walk_goes_from_its_start_to_the_first_failure() -> None:
    tp, alarms = np.array([0, 1, 2, 3, 3, 3, 4]), np.arange(7)
    needed = np.full(7, 0.75)
    assert walk(tp, alarms, 2, needed, 0.5) == slice(2, 5)
    assert walk(tp, alarms, 1, needed, 0.5) == slice(1, 1)
    chosen = last_and_inner(tp, alarms, 2, needed, np.full(7, 1.4), 0.5)
    assert np.flatnonzero(chosen).tolist() == [3, 4]
