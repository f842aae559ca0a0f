"""Ranks of the score watch by brute force, and how its error is divided."""

from __future__ import annotations

import numpy as np
import pytest

from voros.monitoring.settings import Settings
from voros.monitoring.store import PeriodTotals
from voros.monitoring.unlabelled import (
    by_unit,
    change_watch,
    conformal_ranks,
    neighbour_correlation,
    uniform_numbers,
)


@pytest.mark.parametrize("with_classes", [True, False])
def test_ranks_are_those_counted_one_by_one(with_classes: bool) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, 60).astype(float)  # with ties
    classes = rng.integers(0, 3, 60) if with_classes else np.zeros(60, dtype=int)
    ranks = conformal_ranks(values, classes if with_classes else None, seed=4)
    for row, draw in enumerate(uniform_numbers(60, seed=4)):
        before = values[:row][classes[:row] == classes[row]]
        below, ties = int((before < values[row]).sum()), int((before == values[row]).sum()) + 1
        assert ranks[row] == pytest.approx((below + draw * ties) / (len(before) + 1))


def test_four_percent_of_the_error_are_for_a_change_at_the_start() -> None:
    one = np.ones(1)
    periods = PeriodTotals(
        names=np.array(["a"]), starts=0 * one, cases=9 * one, alarms=one, totals=one, squares=one
    )
    watch = change_watch(periods, Settings(window=1, alpha=0.1))
    bets = []
    for statistic in range(3):
        (rank,) = uniform_numbers(1, seed=statistic)  # the only one so far
        bets += [k * side ** (k - 1) for k in (0.2, 0.5) for side in (rank, 1 - rank)]
    assert watch.evidence == pytest.approx(0.04 * 0.1 * np.mean(bets))


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_are_compared_within_the_two_levels_that_fit_best(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 60
    values = rng.normal(size=n) + np.where(np.arange(n) < rng.integers(10, 50), 0, 2.0)
    rests = []
    for split in range(1, n):
        levels = [np.full(len(part), part.mean()) for part in (values[:split], values[split:])]
        rests.append(values - np.concatenate(levels))
    rest = min(rests, key=lambda r: np.sum(r**2))
    plain = sum(rest[i] * rest[i + 1] for i in range(n - 1)) / np.sum(rest**2)
    assert neighbour_correlation(values) == pytest.approx(plain + (2 + 4 * plain) / n)


def test_days_are_summed_to_weeks() -> None:
    days = np.arange("2026-01-05", "2026-01-24", dtype="datetime64[D]")
    columns = {name: np.arange(19.0) + i for i, name in enumerate(("cases", "alarms", "totals"))}
    starts = days.astype("datetime64[s]").astype(float)
    periods = PeriodTotals(names=days.astype(str), starts=starts, squares=np.ones(19), **columns)
    weeks = by_unit(periods, "day", "week")
    assert weeks.starts.tolist() == starts[[0, 7, 14]].tolist()
    assert weeks.cases.tolist() == [sum(range(7)), sum(range(7, 14)), sum(range(14, 19))]
    assert weeks.alarms.tolist() == [21.0 + 7, 70 + 7, 80 + 5]
    assert weeks.squares.tolist() == [7, 7, 5]
