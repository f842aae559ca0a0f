"""A shared capacity between streams of cases with values, against every pair of thresholds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import voros
from voros.exceptions import ArgumentError
from voros.io.documents import DocumentError

SCENARIO = voros.Scenario(min_precision=0.2, cost_ratio=1.0)


def channels(seed, n=60):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    scores = (rng.normal(size=n) + 1.2 * y).round(1)
    channel = np.where(rng.random(n) < 0.5, "card", "web")
    amounts = rng.lognormal(3.5, 1.2, n).round(2) * np.where(channel == "web", 3, 1)
    return y, scores, channel, amounts, rng.uniform(2, 8, n).round(2)


def cost(y, alarm, amounts, price):
    return amounts[y & ~alarm].sum() + price[~y & alarm].sum()


def cheapest(y, scores, channel, amounts, price, capacity):
    """Least cost over every pair of thresholds within the limits."""
    best = np.inf
    levels = [(np.inf, *np.unique(scores[channel == name])) for name in ("card", "web")]
    for card, web in product(*levels):
        alarm = scores >= np.where(channel == "card", card, web)
        precise = all(
            y[alarm & (channel == name)].mean() >= 0.2
            for name in ("card", "web")
            if (alarm & (channel == name)).any()
        )
        if alarm.sum() <= capacity and precise:
            best = min(best, cost(y, alarm, amounts, price))
    return best


@pytest.mark.parametrize("capacity", [6, 15, 40])
def test_no_pair_of_thresholds_costs_less(capacity):
    for seed in range(6):
        y, scores, channel, amounts, price = channels(seed)
        policy = voros.allocate(
            y,
            scores,
            SCENARIO,
            capacity=capacity,
            by=channel,
            miss_value=amounts,
            false_alarm_cost=price,
        )
        expected = cheapest(y, scores, channel, amounts, price, capacity)
        alarm = policy.predict(scores, by=channel)
        assert cost(y, alarm, amounts, price) == pytest.approx(expected)
        assert policy.default.cost == pytest.approx(expected)
        assert alarm.sum() == sum(policy.default.alarms) <= capacity
        assert policy.never_alarm_cost == pytest.approx(amounts[y].sum())
        assert policy.certificate.relaxed_cost <= policy.default.cost * (1 + 1e-9)


def test_the_search_over_periods_finds_the_same_as_every_pair():
    """With exceed=0 a capacity of each period; one period makes it that of all."""
    y, scores, channel, amounts, price = channels(7)
    policy = voros.allocate(
        y,
        scores,
        SCENARIO,
        capacity=10,
        by=channel,
        per="day",
        exceed=0.0,
        periods=np.zeros(len(y), int),
        miss_value=amounts,
        false_alarm_cost=price,
    )
    assert policy.default.cost == pytest.approx(cheapest(y, scores, channel, amounts, price, 10))


def test_new_cases_are_priced_and_files_keep_the_values(tmp_path):
    y, scores, channel, amounts, price = channels(8)
    how = {"miss_value": amounts, "false_alarm_cost": price}
    policy = voros.allocate(y, scores, SCENARIO, capacity=15, by=channel, **how)
    later = channels(9)
    tested = policy.evaluate(
        later[0], later[1], by=later[2], miss_value=later[3], false_alarm_cost=later[4]
    )
    alarm = policy.predict(later[1], by=later[2])
    assert tested.cost == pytest.approx(cost(later[0], alarm, later[3], later[4]))
    policy.to_json(tmp_path / "joint.json")
    assert voros.JointPolicy.from_json(tmp_path / "joint.json") == policy
    text = (tmp_path / "joint.json").read_text()
    with pytest.raises(DocumentError, match="was changed after it was saved"):
        voros.JointPolicy.from_json(text.replace('"cost": ', '"cost": 9'))
    with pytest.raises(ArgumentError, match="miss_value and false_alarm_cost are missing"):
        policy.evaluate(later[0], later[1], by=later[2])


def test_outcomes_have_values_of_their_own():
    rng = np.random.default_rng(0)
    y = {name: rng.random(80) < 0.3 for name in ("sepsis", "kidney")}
    scores = {name: (rng.normal(size=80) + 1.2 * y[name]).round(1) for name in y}
    worth = {"sepsis": rng.uniform(1, 20, 80), "kidney": rng.uniform(1, 5, 80)}
    policy = voros.allocate(y, scores, SCENARIO, capacity=20, miss_value=worth)
    alarms = policy.predict(scores)
    total = sum(
        worth[name][y[name] & ~alarms[name]].sum() + (alarms[name] & ~y[name]).sum() for name in y
    )
    assert policy.default.cost == pytest.approx(total)


def test_what_does_not_take_values_refuses_them():
    y, scores, channel, amounts, _ = channels(1)
    how = {"capacity": 15, "miss_value": amounts}
    with pytest.raises(ArgumentError, match="miss_value cannot be combined with guarantee"):
        voros.allocate(y, scores, SCENARIO, by=channel, guarantee=voros.Guarantee(0.9), **how)
