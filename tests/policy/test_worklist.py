"""Worklists, against listing case by case and over all ways to break ties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import voros
from voros import Scenario
from voros.core.periods import PeriodCases, Periods
from voros.policy.worklists import listed_share, worklist_points


def list_by_hand(scores, days, k, threshold, order):
    """List the k highest of each day, ties in a stated order; return the rows listed."""
    listed = []
    for day in set(days):
        rows = [i for i in order if days[i] == day and scores[i] >= threshold]
        listed += sorted(rows, key=lambda i: -scores[i])[:k]
    return listed


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 2, 4])
def test_counts_are_the_mean_over_all_ways_to_break_ties(seed, k) -> None:
    rng = np.random.default_rng(seed)
    scores, days = rng.integers(0, 3, 6).astype(float), rng.integers(0, 2, 6).tolist()
    labels = np.array([0, 1, 1, 0, 1, 0]) > 0
    cases = PeriodCases(periods=Periods.from_column(days), positive=labels, scores=scores)
    points = worklist_points(cases, k)
    orders = list(permutations(range(6)))
    for threshold, tp, alarms in zip(points.thresholds, points.tp, points.alarms, strict=True):
        lists = [list_by_hand(scores, days, k, threshold, order) for order in orders]
        assert alarms == pytest.approx(np.mean([len(listed) for listed in lists]))
        assert tp == pytest.approx(np.mean([labels[listed].sum() for listed in lists]))
    most = sum(min(k, days.count(day)) for day in set(days))
    assert points.alarms[-1] == pytest.approx(most)
    shares = listed_share(scores, cases.periods, k)
    lists = [list_by_hand(scores, days, k, -np.inf, order) for order in orders]
    chance = [np.mean([row in listed for listed in lists]) for row in range(6)]
    assert shares == pytest.approx(chance)


def ward(seed, n=500, n_days=40):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    return y, y + rng.normal(size=n), rng.integers(0, n_days, n)


def test_the_best_threshold_is_that_of_every_one_tried() -> None:
    y, scores, days = ward(0)
    scenario = Scenario(0.35, 3, cost_ratio=0.2, per="day", exceed=0.1)
    worklist = voros.worklist(y, scores, scenario, periods=days)
    best = np.inf
    for threshold in [np.inf, *scores]:
        rows = list_by_hand(scores, days.tolist(), 3, threshold, range(len(y)))
        tp, fp = y[rows].sum(), len(rows) - y[rows].sum()
        if tp >= 0.35 * len(rows):
            best = min(best, 0.2 * fp + y.sum() - tp)
    rows = list_by_hand(scores, days.tolist(), 3, worklist.threshold, range(len(y)))
    assert 0.2 * (len(rows) - y[rows].sum()) + y.sum() - y[rows].sum() == pytest.approx(best)
    listed = worklist.validation.worklist
    assert listed.cost_per_1000 == pytest.approx(1000 * best / len(y))
    assert listed.mean_alarms == len(rows)
    assert listed.intervals is None
    assert np.flatnonzero(worklist.predict(scores, periods=days)).tolist() == sorted(rows)
    full = [day for day in set(days.tolist()) if sum(days[rows] == day) == 3]
    assert (worklist.validation.n_full, worklist.validation.n_periods) == (
        len(full),
        len(set(days)),
    )


def test_a_list_and_a_threshold_are_compared_on_new_cases() -> None:
    y, scores, days = ward(1)
    scenario = Scenario(0.2, 3, cost_ratio=(0.05, 0.2), per="day", exceed=0.0)
    worklist = voros.worklist(y, scores, scenario, periods=days)
    plain = voros.ThresholdPolicy.from_validation(y, scores, scenario, periods=days)
    assert worklist.policy == plain
    y_new, new, days_new = ward(2)
    tested = worklist.evaluate(y_new, new, periods=days_new)
    rows = list_by_hand(new, days_new.tolist(), 3, worklist.threshold, range(len(y_new)))
    assert tested.worklist.mean_recall == pytest.approx(y_new[rows].sum() / y_new.sum())
    assert tested.worklist.mean_precision == pytest.approx(y_new[rows].mean())
    assert repr(tested.threshold) == repr(plain.evaluate(y_new, new, periods=days_new))
    assert worklist.score >= plain_score(y, scores, scenario, days)
    assert "<table>" in worklist._repr_html_()
    pytest.importorskip("pandas")
    assert tested.frame("pandas")["deployed"].tolist() == ["worklist", "threshold"]


def plain_score(y, scores, scenario, days):
    return voros.evaluate(y, scores, scenario, periods=days).score


def test_with_one_case_a_period_the_list_is_the_threshold() -> None:
    y, scores, _ = ward(3, n=80)
    scenario = Scenario(0.3, 1, cost_ratio=(0.05, 0.2), per="case")
    worklist = voros.worklist(y, scores, scenario, periods=np.arange(80))
    assert worklist.threshold == worklist.policy.threshold()
    assert worklist.validation.worklist.expected_cost == pytest.approx(
        worklist.validation.threshold.expected_cost
    )


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (Scenario(cost_ratio=0.1), "per is needed"),
        (Scenario(capacity=2, cost_ratio=0.1, per="day", prevalence=0.1), "prevalence=0.1"),
    ],
)
def test_what_has_no_list_is_refused_by_name(scenario, message) -> None:
    with pytest.raises(ValueError, match=message):
        voros.worklist([0, 1], [1, 2], scenario, periods=[1, 1])
