"""Values of cases: limits count cases, costs add up values. Against brute force over thresholds."""

from __future__ import annotations

import numpy as np
import pytest

import voros
from voros.core.decision import solve
from voros.exceptions import ArgumentError, DoubtfulWeightsWarning, UndefinedScoreError

SCENARIOS = (
    voros.Scenario(min_precision=0.4, capacity=0.3, cost_ratio=1.0),
    voros.Scenario(min_precision=0.3, capacity=15, cost_ratio=0.3),
    voros.Scenario(cost_ratio=0.05),
    voros.Scenario(min_recall=0.5, min_precision=0.2, cost_ratio=0.5),
)


def cases(seed, n=60, *, ties=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    scores = rng.normal(size=n) + y
    if ties:
        scores = scores.round(0)
    return y, scores, rng.gamma(0.5, 100.0, n).round(2), rng.gamma(2.0, 5.0, n).round(2)


def brute_force(y, scores, miss_value, false_alarm_cost, scenario):
    """Least cost over every threshold that meets the limits, one case at a time."""
    best = np.inf
    c = float(scenario.costs.mean_ratio(1.0))
    capacity = scenario.capacity
    most = capacity * len(y) if isinstance(capacity, float) else capacity
    n_feasible = 0
    for threshold in (np.inf, *np.unique(scores)):
        alarm = scores >= threshold
        tp, fp = int((alarm & y).sum()), int((alarm & ~y).sum())
        if tp + fp > most + 1e-9 or tp < scenario.min_precision * (tp + fp) - 1e-12:
            continue
        if tp < (scenario.min_recall or 0) * y.sum() - 1e-12:
            continue
        missed = sum(v for v, one in zip(miss_value, y & ~alarm, strict=True) if one)
        fp_cost = sum(w for w, one in zip(false_alarm_cost, ~y & alarm, strict=True) if one)
        n_feasible += 1
        best = min(best, c * fp_cost + missed)
    worst = c * false_alarm_cost[~y].sum() + miss_value[y].sum()
    return best / worst if n_feasible else None


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("ties", [False, True])
def test_the_least_cost_is_that_of_brute_force(scenario, ties):
    for seed in range(25):
        y, scores, v, w = cases(seed, ties=ties)
        expected = brute_force(y, scores, v, w, scenario)
        if expected is None:
            continue
        points = voros.OperatingPoints.from_scores(y, scores, miss_value=v, false_alarm_cost=w)
        decision = solve(points, scenario)
        assert decision.expected_cost == pytest.approx(expected, abs=1e-12)
        # What is deployed keeps the limits on counts, whatever the cases are worth.
        plain = solve(voros.OperatingPoints.from_scores(y, scores), scenario)
        assert decision.feasible.tolist() == plain.feasible.tolist()


def test_a_range_of_cost_ratios_is_a_mean_over_known_ones():
    """The best threshold at each cost: a fine grid of known ratios, each by brute force."""
    y, scores, v, w = cases(3)
    limits = {"min_precision": 0.4, "capacity": 0.3}
    points = voros.OperatingPoints.from_scores(y, scores, miss_value=v, false_alarm_cost=w)
    exact = solve(points, voros.Scenario(**limits, cost_ratio=(0.25, 1.0))).expected_cost
    ratios = np.linspace(0.25, 1.0, 401)
    grid = [
        brute_force(y, scores, v, w, voros.Scenario(**limits, cost_ratio=ratio))
        for ratio in (ratios[1:] + ratios[:-1]) / 2
    ]
    assert exact == pytest.approx(np.mean(grid), abs=1e-6)


def test_values_of_one_change_nothing():
    y, scores, _, _ = cases(1)
    scenario = voros.Scenario(min_precision=0.4, capacity=0.3, cost_ratio=(0.05, 0.4))
    plain = voros.evaluate(y, scores, scenario)
    ones = voros.evaluate(y, scores, scenario, miss_value=1.0)
    assert [c.threshold for c in ones.choices] == [c.threshold for c in plain.choices]
    assert ones.expected_cost == pytest.approx(plain.expected_cost, abs=1e-15)
    assert ones.choices[0].value_caught == plain.choices[0].tp


def test_another_prevalence_weighs_values_as_it_weighs_cases():
    y, scores, v, w = cases(2)
    points = voros.OperatingPoints.from_scores(y, scores, miss_value=v, false_alarm_cost=w)
    rare = solve(points, voros.Scenario(capacity=0.5, cost_ratio=1.0, prevalence=0.1))
    per_class = np.where(y, 0.1 / y.mean(), 0.9 / (1 - y.mean()))
    weighted = voros.OperatingPoints.from_scores(
        y, scores, sample_weight=per_class, miss_value=v, false_alarm_cost=w
    )
    again = solve(weighted, voros.Scenario(capacity=0.5, cost_ratio=1.0))
    assert rare.expected_cost == pytest.approx(again.expected_cost, abs=1e-12)


def test_cases_of_weight_zero_leave_their_values_out():
    y, scores, v, w = cases(4)
    kept = np.arange(len(y)) % 3 > 0
    scenario = voros.Scenario(capacity=0.3, cost_ratio=1.0)
    weights = kept.astype(float)
    how = {"miss_value": v, "false_alarm_cost": w}
    some = voros.evaluate(y, scores, scenario, sample_weight=weights, **how)
    rest = voros.evaluate(
        y[kept], scores[kept], scenario, miss_value=v[kept], false_alarm_cost=w[kept]
    )
    assert some.expected_cost == pytest.approx(rest.expected_cost, abs=1e-12)


def test_of_thresholds_that_cost_the_same_the_one_with_fewest_alarms_is_best():
    """The last alarms are on cases worth nothing."""
    y, scores = [True, False, True, False], [0.9, 0.7, 0.5, 0.3]
    scenario = voros.Scenario(cost_ratio=1.0)
    values = {"miss_value": [10, 0, 0, 0], "false_alarm_cost": [1, 0, 1, 1]}
    (choice,) = voros.evaluate(y, scores, scenario, **values).choices
    assert (choice.threshold, choice.alarms) == (0.9, 1)


def test_partial_voros_is_not_defined_with_values_and_limits():
    y, scores, v, w = cases(5)
    limited = voros.Scenario(capacity=0.3, cost_ratio=(0.5, 1.0))
    result = voros.evaluate(y, scores, limited, miss_value=v, false_alarm_cost=w)
    for undefined in (lambda: result.score, lambda: result.normalised_area(0.7)):
        with pytest.raises(UndefinedScoreError, match="expected_cost"):
            undefined()
    assert "expected cost" in repr(result)


def test_voros_with_values_is_that_of_cases_drawn_by_value():
    """Without limits a weight and a value say the same."""
    y, scores, v, w = cases(6)
    free = voros.Scenario(cost_ratio=(0.5, 1.0))
    valued = voros.evaluate(y, scores, free, miss_value=v, false_alarm_cost=w)
    with pytest.warns(DoubtfulWeightsWarning):
        weighted = voros.partial_voros_score(y, scores, free, sample_weight=np.where(y, v, w))
    assert valued.score == pytest.approx(weighted, abs=1e-12)


def test_money():
    y, scores, v, w = cases(7)
    scenario = voros.Scenario(min_precision=0.4, capacity=0.3, cost_ratio=1.0)
    result = voros.evaluate(y, scores, scenario, miss_value=v, false_alarm_cost=w)
    threshold = result.choices[0].threshold
    cost = v[y & (scores < threshold)].sum() + w[~y & (scores >= threshold)].sum()
    money = result.in_money()
    assert money.per_1000 == pytest.approx(1000 * cost / len(y))
    assert money.never_alarm == pytest.approx(1000 * v[y].sum() / len(y))
    assert money.miss == pytest.approx(v[y].mean())
    assert money.false_alarm == pytest.approx(w[~y].mean())
    with pytest.raises(ArgumentError, match="false_alarm_cost=30: these cases have values"):
        result.in_money(30)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"miss_value": [1, 2]}, "miss_value has 2"),
        ({"miss_value": -1}, "miss_value must be finite and not negative"),
        ({"false_alarm_cost": [np.nan] * 4}, "false_alarm_cost must be finite"),
        ({"miss_value": [0, 0, 0, 1]}, r"sum\(miss_value of positives\)=0"),
        ({"false_alarm_cost": 0}, r"sum\(false_alarm_cost of negatives\)=0"),
        ({"miss_value": ["a"] * 4}, "miss_value must be numbers"),
    ],
)
def test_what_is_not_a_value_is_refused(values, said):
    with pytest.raises(ValueError, match=said):
        voros.OperatingPoints.from_scores([1, 1, 0, 0], [4, 3, 2, 1], **values)


def test_weights_that_look_like_amounts_are_warned_of():
    rng = np.random.default_rng(0)
    y, scores, scenario = rng.random(400) < 0.3, rng.random(400), voros.Scenario(cost_ratio=0.2)
    amounts = rng.lognormal(4, 1, 400).round(2)
    for weights in (amounts, (100 * amounts**2).round()):
        with pytest.warns(DoubtfulWeightsWarning, match="pass miss_value"):
            voros.evaluate(y, scores, scenario, sample_weight=weights)
        with pytest.warns(DoubtfulWeightsWarning, match="limits count cases"):
            voros.select_model(y, {"a": scores}, scenario, sample_weight=weights)
    # Counts of repeated rows, weights of strata and of surveys are not amounts.
    for weights in (
        rng.integers(1, 60, 400),
        np.where(y, 1.0, 9.25),
        1 / rng.uniform(0.01, 1, 400),
    ):
        voros.evaluate(y, scores, scenario, sample_weight=weights)


def test_points_with_values_are_refused_where_costs_do_not_take_them():
    y, scores, v, _ = cases(8)
    points = voros.OperatingPoints.from_scores(y, scores, miss_value=v)
    scenario = voros.Scenario(capacity=0.3, cost_ratio=(0.5, 1.0))
    for function in (
        lambda: voros.partial_voros_score(points, scenario=scenario),
        lambda: voros.winner_map({"a": points, "b": points}, scenario=scenario),
        lambda: voros.net_benefit(points, threshold_probability=(0.1, 0.2)),
    ):
        with pytest.raises(ArgumentError, match="cases with values"):
            function()
