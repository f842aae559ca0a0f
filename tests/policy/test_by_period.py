"""Policies with a capacity per period, against counting case by case."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import numpy as np
import pytest

import voros
from voros import Periods, Scenario, ThresholdPolicy
from voros.core.periods import PeriodCases
from voros.policy import PeriodEvaluation


def ward(seed: int, n: int = 400, n_days: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    scores = (y + rng.normal(size=n)).round(2)
    days = rng.integers(0, n_days, n)
    days[:2] = 0, n_days - 1
    return y, scores, days


def as_times(days: np.ndarray) -> list[str]:
    return [(datetime(2024, 2, 20, 9) + timedelta(days=int(day))).isoformat() for day in days]


@pytest.mark.parametrize("exceed", [None, 0.1, 0.0])
def test_an_evaluation_counts_the_alarms_of_each_day(exceed) -> None:
    y, scores, days = ward(0)
    scenario = Scenario(0.3, 3, cost_ratio=(0.1, 0.3), per="day", exceed=exceed)
    policy = ThresholdPolicy.from_validation(y, scores, scenario, times=as_times(days))
    y_new, new, days_new = ward(1)
    keep = days_new != 7
    y_new, new, days_new = y_new[keep], new[keep], days_new[keep]
    evaluation = policy.evaluate(y_new, new, times=as_times(days_new))
    threshold = policy.threshold()
    alarms = Counter(int(d) for d, s in zip(days_new, new, strict=True) if s >= threshold)
    expected = [alarms[day] for day in range(30)]
    table = evaluation.by_period
    assert table.alarms[:, 0].tolist() == expected
    assert table.n_cases[7] == 0
    assert table.n_periods == 30
    n_above = sum(count > 3 for count in expected)
    assert table.n_above.tolist() == [n_above]
    rules = [(sum(expected) / 30, 3)] + ([] if exceed is None else [(n_above / 30, exceed)])
    assert [(limit.values[0], limit.bound) for limit in table.limits] == rules
    broken = "capacity" in {violation.limit for violation in evaluation.violations}
    assert broken == any(value > bound for value, bound in rules)
    assert evaluation.mean_alarms == sum(expected)
    pd = pytest.importorskip("pandas")
    frame = evaluation.by_period.frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame["alarms"].tolist() == expected
    assert frame["tp"].sum() == sum(y_new[new >= threshold])
    assert "alarms per day" in repr(evaluation)
    assert "2024-02-27" in frame["period"].tolist()
    assert "<table>" in evaluation._repr_html_()
    assert "<table>" in table._repr_html_()


def test_a_broken_rule_says_what_it_measures() -> None:
    scenario = Scenario(capacity=2, cost_ratio=0.01, per="shift", exceed=0.0)
    y, scores = [1, 0, 1, 0, 1, 1], [9, 1, 8, 2, 7, 6]
    policy = ThresholdPolicy.from_validation(y, scores, scenario, periods=list("aabbcc"))
    (violation,) = policy.evaluate(y, scores, periods=list("aaaaab")).violations
    counted = sum(score >= policy.threshold() for score in scores[:5])
    assert counted > 2
    assert violation.bound == 0
    assert violation.worst == 0.5
    assert "50 % of the periods (per shift) have more than 2 alarms, at most 0 % allowed" in str(
        violation
    )


def test_a_broken_mean_is_reported_though_few_periods_are_above() -> None:
    """Nine alarms on one of four days: a quarter of the days is above 2, and the mean is 3."""
    scenario = Scenario(capacity=2, cost_ratio=0.1, per="day", exceed=0.25)
    policy = ThresholdPolicy.from_validation(
        [1, 0, 1, 0], [2, 1, 2, 1], scenario, periods=[1, 1, 2, 3]
    )
    days = [1] * 9 + [2, 3, 4]
    tested = policy.evaluate([1, 0] * 6, [2] * 12, periods=days)
    assert tested.by_period.n_above.tolist() == [1]
    assert not tested.satisfied
    (violation,) = tested.violations
    assert str(violation).startswith("capacity: 3 alarms per day, on average, at most 2 allowed")
    printed = tested.table().text()
    assert [row.split()[-1] for row in printed.splitlines()[-2:]] == ["2", "0.25"]


def test_a_rule_that_is_just_met_is_kept() -> None:
    """Four periods of 3, 1, 2 and 2 alarms: 8 together, and one of four above 2."""
    codes = np.repeat(np.arange(4), [3, 1, 2, 2])
    cases = PeriodCases(
        periods=Periods.from_column(codes), positive=np.zeros(8, dtype=bool), scores=np.ones(8)
    )
    for exceed, kept in ((None, True), (0.25, True), (0.24, False), (0.0, False)):
        scenario = Scenario(capacity=2, cost_ratio=0.1, per="day", exceed=exceed)
        evaluation = PeriodEvaluation.from_cases(cases, np.array([1.0]), scenario)
        assert evaluation.broken.tolist() == [not kept]
    tighter = Scenario(capacity=1, cost_ratio=0.1, per="day")
    assert PeriodEvaluation.from_cases(cases, np.array([1.0]), tighter).broken.tolist() == [True]


def test_a_rule_on_periods_is_named_where_it_binds() -> None:
    """Within the mean a lower threshold would do; two alarms on one day rule it out."""
    y, scores, days = [1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1], [0, 0, 1, 1, 2, 2]
    scenario = Scenario(capacity=1, cost_ratio=0.1, per="day", exceed=0.0)
    evaluation = voros.evaluate(y, scores, scenario, periods=days)
    assert [choice.threshold for choice in evaluation.choices] == [6.0]
    assert evaluation.binding == ("capacity",)
    # Only the highest score is within the rule, so it is the most precise one too.
    assert evaluation.most_precise.alarms == 1


def test_every_threshold_of_a_policy_is_judged_in_its_periods() -> None:
    y, scores, days = ward(2)
    scenario = Scenario(capacity=4, cost_ratio=(0.05, 1.5), per="day", exceed=0.2)
    policy = ThresholdPolicy.from_validation(y, scores, scenario, times=as_times(days))
    evaluation = policy.evaluate(y, scores, by_cost=True, times=as_times(days))
    assert len(evaluation.choices) > 1
    assert evaluation.satisfied
    table = evaluation.by_period
    for column, choice in enumerate(evaluation.choices):
        counts = np.bincount(days[scores >= choice.threshold], minlength=30)
        assert table.alarms[:, column].tolist() == counts.tolist()
        assert np.count_nonzero(counts > 4) <= 6


def test_points_carry_their_periods_to_an_evaluation() -> None:
    y, scores, days = ward(3)
    scenario = Scenario(capacity=4, cost_ratio=0.1, per="day")
    policy = ThresholdPolicy.from_validation(y, scores, scenario, times=as_times(days))
    periods = voros.Periods.from_times(as_times(days), "day")
    points = voros.OperatingPoints.from_scores(y, scores, periods=periods)
    assert repr(policy.evaluate(points)) == repr(policy.evaluate(y, scores, times=as_times(days)))
    bare = voros.OperatingPoints.from_scores(y, scores)
    with pytest.raises(ValueError, match="per='day' needs the period of each case"):
        policy.evaluate(bare)


def test_a_saved_policy_keeps_its_periods() -> None:
    y, scores, days = ward(4)
    scenario = Scenario(0.2, 4, cost_ratio=0.1, per="shift", exceed=0.125)
    policy = ThresholdPolicy.from_validation(y, scores, scenario, periods=days, model="risk")
    again = ThresholdPolicy.from_json(policy.to_json())
    assert again == policy
    assert again.scenario == scenario
    assert again.origin.n_periods == len(set(days.tolist()))
    assert "4 per shift" in policy._repr_html_()


def test_models_are_ranked_within_a_capacity_per_period() -> None:
    y, scores, days = ward(5)
    # All alarms of this model fall on the first days.
    crowded = scores - 10 * (days > 3)
    scenario = Scenario(capacity=4, cost_ratio=(0.1, 0.2), per="day", exceed=0.0)
    models = {"steady": scores, "crowded": crowded}
    selection = voros.select_model(y, models, scenario, times=as_times(days))
    assert selection.winner == "steady"
    policy = selection.policy()
    assert policy == ThresholdPolicy.from_validation(
        y, scores, scenario, times=as_times(days), model="steady", n_models=2
    )


def test_weighted_cases_and_other_prevalences_add_up() -> None:
    y, scores, days = ward(6)
    scenario = Scenario(capacity=8, cost_ratio=0.1, per="day", prevalence=0.15)
    weights = np.random.default_rng(0).random(len(y)) + 0.5
    policy = ThresholdPolicy.from_validation(
        y, scores, scenario, sample_weight=weights, times=as_times(days)
    )
    evaluation = policy.evaluate(y, scores, sample_weight=weights, times=as_times(days))
    total = weights.sum()
    worth = np.where(
        y == 1, 0.15 * total / weights[y == 1].sum(), 0.85 * total / weights[y == 0].sum()
    )
    flagged = scores >= policy.threshold()
    expected = np.bincount(days[flagged], (weights * worth)[flagged], minlength=30)
    assert evaluation.by_period.alarms[:, 0] == pytest.approx(expected)
    assert evaluation.by_period.n_cases.sum() == pytest.approx(total)


def test_rounding_of_weights_breaks_no_capacity() -> None:
    """Thirty alarms of weight .1 add up to 3.0000000000000013, and three are allowed."""
    labels, weights = np.tile([1, 0], 30), np.full(60, 0.1)
    scores, days = np.tile([1.0, 0.0], 30), np.zeros(60, dtype=int)
    assert np.cumsum(weights)[29] > 3
    scenario = Scenario(capacity=3, per="day", cost_ratio=0.1, exceed=0.0)
    policy = ThresholdPolicy.from_validation(
        labels, scores, scenario, periods=days, sample_weight=weights
    )
    assert policy.threshold() == 1.0
    tested = policy.evaluate(labels, scores, periods=days, sample_weight=weights)
    assert tested.by_period is not None
    assert tested.by_period.alarms.max() > 3
    assert tested.by_period.n_above.tolist() == [0]
    assert tested.satisfied
