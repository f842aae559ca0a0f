"""Deployed policies, each with its own scores and thresholds, on the same test cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import voros
from voros import Scenario, ThresholdPolicy, compare_policies

SCENARIO = Scenario(0.3, 0.4, (0.1, 0.2))


def cases(seed, n_cases=600):
    rng = np.random.default_rng(seed)
    y = rng.random(n_cases) < 0.2
    return y, {
        "weak": rng.normal(size=n_cases) + y,
        # Another scale: the threshold of one policy means nothing to the other.
        "strong": 100 * (rng.normal(size=n_cases) + 2 * y),
    }


@pytest.fixture(scope="module")
def policies():
    y, scores = cases(0)
    return {name: ThresholdPolicy.from_validation(y, s, SCENARIO) for name, s in scores.items()}


def test_each_policy_is_evaluated_with_its_own_scores_on_the_same_resamples(policies):
    y, scores = cases(1)
    result = compare_policies(
        y, scores, policies, n_resamples=100, random_state=0, method="percentile"
    )
    for name, policy in policies.items():
        expected = policy.evaluate(y, scores[name]).expected_cost
        assert result.models[name].estimate == pytest.approx(expected, abs=1e-15)
    assert result.ranking == ("strong", "weak")
    # Drawn by hand with the same seed.
    rng = np.random.default_rng(0)
    for i in range(5):
        rows = rng.integers(0, len(y), len(y))
        by_hand = [
            policies[name].evaluate(y[rows], scores[name][rows]).expected_cost
            for name in ("strong", "weak")
        ]
        pair = result.pair("strong", "weak")
        assert pair.distribution[i] == pytest.approx(by_hand[0] - by_hand[1], abs=1e-12)
    assert result.pair("strong", "weak").high < 0


def test_the_same_policy_twice_does_not_differ(policies):
    y, scores = cases(2)
    twice = {"one": policies["weak"], "other": policies["weak"]}
    result = compare_policies(
        y, {"one": scores["weak"], "other": scores["weak"]}, twice, n_resamples=100, random_state=1
    )
    assert not result.pairs[0].distribution.any()
    assert result.pairs[0].p_value == 1


def test_groups_are_drawn_whole(policies):
    y, scores = cases(3, 300)
    y2, scores2 = np.repeat(y, 2), {name: np.repeat(s, 2) for name, s in scores.items()}
    arguments = {"n_resamples": 100, "random_state": 0, "method": "percentile"}
    single = compare_policies(y, scores, policies, **arguments)
    double = compare_policies(
        y2, scores2, policies, groups=np.repeat(np.arange(300), 2), **arguments
    )
    np.testing.assert_allclose(single.pairs[0].distribution, double.pairs[0].distribution)


def test_what_cannot_be_compared_is_refused(policies):
    y, scores = cases(1)
    with pytest.raises(ValueError, match="needs at least two"):
        compare_policies(y, {"weak": scores["weak"]}, {"weak": policies["weak"]})
    with pytest.raises(ValueError, match="the names must be the same"):
        compare_policies(y, {"weak": scores["weak"], "odd": scores["weak"]}, policies)
    with pytest.raises(TypeError, match=r"policies\['weak'\] is a float"):
        compare_policies(y, scores, {**policies, "weak": 0.5})
    dear = ThresholdPolicy.from_validation(y, scores["weak"], Scenario(0.3, 0.4, (0.2, 0.4)))
    with pytest.raises(ValueError, match="different costs or prevalences"):
        compare_policies(y, scores, {**policies, "weak": dear})
    assert voros.compare_policies is compare_policies


def test_the_verdict_says_who_broke_a_limit():
    pytest.importorskip("pandas")
    # 100 cases, 20 ill: the eager policy alarms them and 20 others, the careful one 10 of them.
    y = np.arange(100) < 20
    eager = np.where((np.arange(100) < 20) | (np.arange(100) >= 80), 0.9, 0.1)
    careful = np.where(np.arange(100) < 10, 0.9, 0.1)
    limits = Scenario(min_precision=0.6, capacity=0.3, cost_ratio=0.1)
    policy = ThresholdPolicy.from_validation(
        [1, 1, 0, 0], [0.9, 0.9, 0.1, 0.1], limits.changed(capacity=1.0)
    )
    policies = {name: replace(policy, scenario=limits) for name in ("eager", "careful")}
    comparison = compare_policies(
        y, {"eager": eager, "careful": careful}, policies, n_resamples=100, random_state=0
    )
    assert comparison.ranking[0] == "eager"
    assert {name: len(broken) for name, broken in comparison.violations.items()} == {
        "eager": 2,
        "careful": 0,
    }
    assert (
        "eager broke its limits here: precision: 0.500, at least 0.6 required" in comparison.verdict
    )
    assert "capacity: 40 alarms, at most 30 allowed" in comparison.verdict
    assert comparison.verdict.endswith(
        "Of those that kept them, careful has the lowest expected cost."
    )
    rows = [line.split() for line in repr(comparison).splitlines()]
    assert [row[-1] for row in rows if row and row[0] in policies][:2] == ["broken", "kept"]
    assert comparison.models_frame("pandas")["limits_kept"].tolist() == [False, True]


def test_the_verdict_says_that_all_or_none_kept_their_limits():
    y = np.arange(100) < 20
    scores = {name: np.where(np.arange(100) < n, 0.9, 0.1) for name, n in (("a", 10), ("b", 15))}
    for floor, said in ((0.6, "All kept their limits on these cases."), (1.0, "None kept them.")):
        tested = y if floor < 1 else np.roll(y, 5)
        limits = Scenario(min_precision=floor, cost_ratio=0.1)
        policy = ThresholdPolicy.from_validation([1, 1, 0, 0], [0.9, 0.9, 0.1, 0.1], limits)
        comparison = compare_policies(
            tested, scores, {"a": policy, "b": policy}, n_resamples=100, random_state=0
        )
        assert comparison.verdict.endswith(said)


def test_the_interval_of_every_policy_is_that_of_its_own_thresholds() -> None:
    """The same model in other units: another threshold, and the same cost and interval."""
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.15
    scores = {"one": 1.5 * y + rng.normal(size=1000)}
    scores["hundredfold"] = 100 * scores["one"]
    scenario = voros.Scenario(0.3, 0.1, cost_ratio=0.1)
    policies = {
        name: voros.ThresholdPolicy.from_validation(y, column, scenario)
        for name, column in scores.items()
    }
    compared = voros.compare_policies(y, scores, policies, n_resamples=100, random_state=0)
    one, other = compared.models.values()
    assert (one.low, one.high) == (other.low, other.high)
    assert one.low < one.estimate < one.high


def test_policies_of_several_outcomes_are_compared_case_by_case() -> None:
    """The cost of both outcomes together is the mean of the two, weighted by cases."""
    rng = np.random.default_rng(1)
    y = {name: rng.random(800) < 0.2 for name in ("a", "b")}
    scores = {name: 1.5 * column + rng.normal(size=800) for name, column in y.items()}
    scenario = voros.Scenario(cost_ratio=0.2)
    policies = {
        name: voros.allocate(y, scores, scenario, capacity=capacity)
        for name, capacity in (("many", 0.4), ("few", 0.05))
    }
    by_policy = dict.fromkeys(policies, scores)
    compared = voros.compare_policies(y, by_policy, policies, n_resamples=100, random_state=0)
    for name, policy in policies.items():
        alarms = policy.predict(scores)
        fp = sum((alarms[k] & ~y[k]).sum() for k in y)
        missed = sum((~alarms[k] & y[k]).sum() for k in y)
        positive = sum(y[k].sum() for k in y)
        most = 0.2 * (1600 - positive) + positive
        assert compared.models[name].estimate == pytest.approx((0.2 * fp + missed) / most)
    one = voros.ThresholdPolicy.from_validation(y["a"], scores["a"], scenario)
    with pytest.raises(ValueError, match="accepted beside it are joint policies of the same"):
        voros.compare_policies(y, by_policy, policies | {"few": one})
    weighed = voros.allocate(y, scores, scenario, capacity=0.1, miss_weight={"a": 2.0, "b": 1.0})
    with pytest.raises(ValueError, match="costs, weights or values of their own"):
        voros.compare_policies(y, by_policy, policies | {"few": weighed})


def test_groups_and_worklists_with_named_labels_cost_what_their_alarms_do() -> None:
    rng = np.random.default_rng(2)
    y = rng.random(600) < 0.2
    scores, named = 1.5 * y + rng.normal(size=600), np.where(y, "dead", "alive")
    ward, day = np.where(np.arange(600) % 2, "a", "b"), np.arange(600) // 20
    scenario = voros.Scenario(cost_ratio=0.2)
    listed = voros.Scenario(capacity=3, cost_ratio=0.2, per="shift", exceed=0.0)
    policies = {
        "by ward": voros.allocate(y, scores, scenario, capacity=0.2, by=ward),
        "list": voros.worklist(named, scores, listed, pos_label="dead", periods=day),
        "threshold": voros.ThresholdPolicy.from_validation(y, scores, scenario),
    }
    compared = voros.compare_policies(
        named,
        dict.fromkeys(policies, scores),
        policies,
        by=ward,
        periods=day,
        pos_label="dead",
        n_resamples=100,
        random_state=0,
    )
    alarms = {
        "by ward": policies["by ward"].predict(scores, by=ward),
        "list": policies["list"].predict(scores, periods=day),
        "threshold": scores >= policies["threshold"].threshold(),
    }
    most = 0.2 * (~y).sum() + y.sum()
    for name, raised in alarms.items():
        cost = (0.2 * (raised & ~y).sum() + (~raised & y).sum()) / most
        assert compared.models[name].estimate == pytest.approx(cost)
    assert not any(compared.violations.values())
