"""Models ranked by expected cost, of cases and of cases with values."""

from __future__ import annotations

import numpy as np
import pytest

import voros
from voros.exceptions import UndefinedScoreError

SCENARIO = voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=1.0)


def models(seed=0, n=400):
    """One model ranks by risk, the other finds the large amounts."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(0.6, 5.0, n)
    y, amounts = rng.random(n) < risk, rng.lognormal(4.0, 1.2, n).round(2)
    large = np.clip(risk * amounts / 500, 0, 1)
    return y, {"by risk": risk, "by amount": large}, amounts


def least_cost(y, scores, amounts, price):
    """Brute force over the thresholds within the limits."""
    costs = [amounts[y].sum()]
    for threshold in scores:
        alarm = scores >= threshold
        if alarm.sum() <= 0.2 * len(y) and y[alarm].mean() >= 0.25:
            costs.append(amounts[y & ~alarm].sum() + price * (alarm & ~y).sum())
    return min(costs)


def test_the_winner_costs_least_by_brute_force():
    winners = set()
    for seed in range(6):
        y, scores, amounts = models(seed)
        selection = voros.select_model(
            y,
            scores,
            SCENARIO,
            strategy="expected_cost",
            miss_value=amounts,
            false_alarm_cost=10.0,
        )
        worst = amounts[y].sum() + 10.0 * (~y).sum()
        expected = {name: least_cost(y, s, amounts, 10.0) / worst for name, s in scores.items()}
        assert selection.winner == min(expected, key=expected.__getitem__)
        for row in selection.ranking:
            assert row.expected_cost == pytest.approx(expected[row.model])
        assert selection.policy().default.value_caught > 0
        winners.add(selection.winner)
    assert winners == {"by amount", "by risk"}


def test_a_table_shows_the_cost_and_leaves_out_what_is_not_defined():
    pytest.importorskip("pandas")
    y, scores, amounts = models()
    how = {"miss_value": amounts, "false_alarm_cost": 10.0}
    selection = voros.select_model(y, scores, SCENARIO, strategy="expected_cost", **how)
    assert selection.compared == ("expected_cost", "voros", "partial_auroc", "recall")
    frame = selection.frame()
    assert "partial_voros" not in frame.columns
    assert selection.behind(selection.ranking[1]) > 0
    assert np.isnan(selection.ranking[0].partial_voros)
    with pytest.raises(UndefinedScoreError, match="expected_cost"):
        voros.select_model(y, scores, SCENARIO, **how)


def test_without_values_the_cost_is_that_of_counts():
    y, scores, _ = models()
    scenario = SCENARIO.changed(cost_ratio=(0.05, 0.3))
    by_cost = voros.select_model(y, scores, scenario, strategy="expected_cost")
    for row in by_cost.ranking:
        result = voros.evaluate(y, scores[row.model], scenario)
        assert row.expected_cost == pytest.approx(result.expected_cost)
    assert by_cost.compared[:2] == ("expected_cost", "partial_voros")
    assert by_cost.policy().strategy == "expected_cost"
    assert voros.ThresholdPolicy.from_json(by_cost.policy().to_json()) == by_cost.policy()


def test_many_cases_are_pruned_and_cost_the_same():
    rng = np.random.default_rng(0)
    y = rng.random(40_000) < 0.1
    scores = rng.normal(size=40_000) + 1.5 * y
    scenario = voros.Scenario(0.3, 0.1, cost_ratio=(0.05, 0.2))
    pruned = voros.select_model(y, {"a": scores}, scenario, strategy="expected_cost")
    points = voros.OperatingPoints.from_scores(y, scores)
    every = voros.select_model({"a": points}, scenario=scenario, strategy="expected_cost")
    assert pruned.ranking[0].expected_cost == pytest.approx(every.ranking[0].expected_cost)


def test_thresholds_on_expected_values_go_through_to_the_policy():
    y, scores, amounts = models()
    scores = {"a": scores["by risk"], "b": scores["by risk"] ** 2}
    how = {"miss_value": amounts, "false_alarm_cost": 10.0, "threshold_on": "value"}
    selection = voros.select_model(y, scores, SCENARIO, strategy="expected_cost", **how)
    policy = selection.policy()
    assert policy.threshold_on == "value"
    direct = voros.ThresholdPolicy.from_validation(
        y, scores[selection.winner], SCENARIO, strategy="expected_cost", **how
    )
    assert direct.thresholds.tolist() == policy.thresholds.tolist()
    alarms = policy.predict(scores, miss_value=amounts)
    assert alarms.sum() == policy.default.alarms
