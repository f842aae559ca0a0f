"""Policies over cases with values: thresholds, money, guarantees, files."""

from __future__ import annotations

import numpy as np
import pytest

import voros
from voros.exceptions import ArgumentError

SCENARIO = voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=(0.5, 2.0))


def fraud(seed, n=2000):
    """Probabilities of fraud, and amounts that they know nothing of."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(0.6, 5.0, n)
    return rng.random(n) < risk, risk, rng.lognormal(4.0, 1.2, n).round(2)


def cost_of(y, alarm, amounts, price, ratio=1.0):
    return amounts[y & ~alarm].sum() + ratio * price * (alarm & ~y).sum()


@pytest.mark.parametrize("threshold_on", ["score", "value"])
def test_the_threshold_is_the_cheapest_one_within_the_limits(threshold_on):
    y, risk, amounts = fraud(0, 300)
    scenario = voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=1.0)
    policy = voros.ThresholdPolicy.from_validation(
        y, risk, scenario, miss_value=amounts, false_alarm_cost=10.0, threshold_on=threshold_on
    )
    compared = risk if threshold_on == "score" else risk * amounts
    costs = [cost_of(y, np.zeros(len(y), bool), amounts, 10.0)]
    for threshold in compared:
        alarm = compared >= threshold
        if alarm.sum() <= 0.2 * len(y) and y[alarm].mean() >= 0.25:
            costs.append(cost_of(y, alarm, amounts, 10.0))
    miss_value = None if threshold_on == "score" else amounts
    alarm = policy.predict(risk, miss_value=miss_value)
    assert cost_of(y, alarm, amounts, 10.0) == pytest.approx(min(costs))
    tested = policy.evaluate(y, risk, miss_value=amounts, false_alarm_cost=10.0)
    assert tested.in_money().per_1000 == pytest.approx(1000 * min(costs) / len(y))
    assert tested.cost_per_1000 == tested.in_money().per_1000
    assert tested.mean_precision == pytest.approx(y[alarm].mean())
    assert tested.mean_alarms == alarm.sum()
    worst = amounts[y].sum() + 10.0 * (~y).sum()
    assert tested.expected_cost == pytest.approx(min(costs) / worst)


def test_each_cost_ratio_has_its_best_threshold():
    y, risk, amounts = fraud(1, 400)
    policy = voros.ThresholdPolicy.from_validation(
        y, risk, SCENARIO, miss_value=amounts, false_alarm_cost=25.0
    )
    for ratio in (0.01, 0.5, 0.9, 1.7, 40.0):
        costs = [cost_of(y, np.zeros(len(y), bool), amounts, 25.0, ratio)]
        for threshold in risk:
            alarm = risk >= threshold
            if alarm.sum() <= 0.2 * len(y) and y[alarm].mean() >= 0.25:
                costs.append(cost_of(y, alarm, amounts, 25.0, ratio))
        alarm = policy.predict(risk, cost_ratio=ratio)
        assert cost_of(y, alarm, amounts, 25.0, ratio) == pytest.approx(min(costs))
    by_cost = policy.evaluate(y, risk, by_cost=True, miss_value=amounts, false_alarm_cost=25.0)
    ratios = np.linspace(0.5, 2.0, 2001)
    grid = [
        cost_of(y, risk >= policy.threshold(ratio), amounts, 25.0, ratio)
        for ratio in (ratios[1:] + ratios[:-1]) / 2
    ]
    assert by_cost.cost_per_1000 == pytest.approx(1000 * np.mean(grid) / len(y), rel=1e-5)


def test_a_guarantee_certifies_the_same_thresholds_whatever_cases_are_worth():
    """It is about counts: values only choose among what it certifies."""
    y, risk, amounts = fraud(2)
    points = voros.OperatingPoints.from_scores(y, risk)
    certified = voros.Guarantee(0.9).certified(points, SCENARIO)
    policy = voros.ThresholdPolicy.from_validation(
        y, risk, SCENARIO, guarantee=0.9, n_models=1, miss_value=amounts, false_alarm_cost=25.0
    )
    allowed = points.thresholds[certified]
    assert set(policy.thresholds) <= {*allowed.tolist(), np.inf}
    costs = {
        threshold: cost_of(y, risk >= threshold, amounts, 25.0, 1.0)
        for threshold in (np.inf, *allowed)
    }
    assert costs[policy.threshold(1.0)] == pytest.approx(min(costs.values()))


@pytest.mark.parametrize("threshold_on", ["score", "value"])
def test_a_saved_policy_is_the_same_one(threshold_on, tmp_path):
    y, risk, amounts = fraud(3)
    policy = voros.ThresholdPolicy.from_validation(
        y, risk, SCENARIO, miss_value=amounts, false_alarm_cost=25.0, threshold_on=threshold_on
    )
    policy.to_json(tmp_path / "policy.json")
    again = voros.ThresholdPolicy.from_json(tmp_path / "policy.json")
    assert again == policy
    assert again.threshold_on == threshold_on
    assert again.values == policy.values


def test_values_are_asked_for_where_they_are_needed():
    y, risk, amounts = fraud(4, 500)
    how = {"miss_value": amounts, "false_alarm_cost": 25.0}
    by_score = voros.ThresholdPolicy.from_validation(y, risk, SCENARIO, **how)
    by_value = voros.ThresholdPolicy.from_validation(y, risk, SCENARIO, **how, threshold_on="value")
    with pytest.raises(ArgumentError, match="miss_value and false_alarm_cost are missing"):
        by_score.evaluate(y, risk)
    with pytest.raises(ArgumentError, match="miss_value=None; the threshold is on the expected"):
        by_value.predict(risk)
    with pytest.raises(ArgumentError, match="threshold_on='value'"):
        by_score.predict(risk, miss_value=amounts)
    with pytest.raises(ArgumentError, match=r"y_score runs from 1\.0\S* to 1\.\d+;"):
        by_value.predict(risk + 1, miss_value=amounts)
    with pytest.raises(ArgumentError, match="cannot be combined with by"):
        by_score.evaluate(y, risk, **how, by=y)
    with pytest.raises(ValueError, match="threshold_on='rank'"):
        voros.ThresholdPolicy.from_validation(y, risk, SCENARIO, **how, threshold_on="rank")


def test_monitors_and_pictures_refuse_values():
    y, risk, amounts = fraud(4, 500)
    policy = voros.ThresholdPolicy.from_validation(y, risk, SCENARIO, miss_value=amounts)
    with pytest.raises(ArgumentError, match="a monitor counts cases"):
        voros.Monitor(policy)
    points = voros.OperatingPoints.from_scores(y, risk, miss_value=amounts)
    display = voros.plotting.ThresholdCostDisplay(points, SCENARIO)
    with pytest.raises(ArgumentError, match="cases with values"):
        _ = display.best_threshold


def test_a_policy_of_counts_can_be_priced_in_money():
    y, risk, amounts = fraud(5, 500)
    policy = voros.ThresholdPolicy.from_validation(y, risk, SCENARIO.changed(cost_ratio=0.2))
    tested = policy.evaluate(y, risk, cost_ratio=1.0, miss_value=amounts, false_alarm_cost=25.0)
    alarm = policy.predict(risk, cost_ratio=1.0)
    assert tested.in_money().per_1000 == pytest.approx(
        1000 * cost_of(y, alarm, amounts, 25.0) / len(y)
    )
    assert np.isnan(tested.intervals.cost).all()
    assert "bootstrap" in repr(tested)


def test_the_threshold_on_value_saves_more_where_scores_do_not_know_amounts():
    """On new cases: an alarm is worth its probability times its amount."""
    valid, test = fraud(6, 20_000), fraud(7, 20_000)
    saved = {}
    for on in ("score", "value"):
        policy = voros.ThresholdPolicy.from_validation(
            *valid[:2], SCENARIO, miss_value=valid[2], false_alarm_cost=25.0, threshold_on=on
        )
        tested = policy.evaluate(*test[:2], miss_value=test[2], false_alarm_cost=25.0)
        saved[on] = tested.in_money().saved
    assert saved["value"] > 1.2 * saved["score"] > 0
