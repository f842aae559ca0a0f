"""Intervals and comparisons of costs that add up the values of cases."""

from __future__ import annotations

import numpy as np
import pytest

import voros
from voros.exceptions import ArgumentError, UndefinedScoreError
from voros.inference.resampling import Ranked

SCENARIO = voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=(0.5, 2.0))
PRICE = 25.0


def fraud(seed, n=1500):
    rng = np.random.default_rng(seed)
    risk = rng.beta(0.6, 5.0, n)
    return rng.random(n) < risk, risk, rng.lognormal(4.0, 1.0, n).round(2)


def test_a_resample_is_what_copying_its_rows_gives():
    y, risk, amounts = fraud(0, 200)
    values = np.where(y, amounts, PRICE)
    ranked = Ranked.from_cases(y, risk.round(1), values=values)
    counts = np.random.default_rng(1).integers(0, 4, 200)
    points = ranked.points(counts)
    rows = np.repeat(np.arange(200), counts)
    copied = voros.OperatingPoints.from_scores(
        y[rows], risk.round(1)[rows], miss_value=amounts[rows], false_alarm_cost=PRICE
    )
    for name in ("thresholds", "tp", "fp"):
        assert getattr(points, name).tolist() == getattr(copied, name).tolist()
        np.testing.assert_allclose(
            getattr(points.worth, name), getattr(copied.worth, name), rtol=1e-9, atol=1e-6
        )
    assert points.worth.n_positive == pytest.approx(copied.worth.n_positive)
    assert points.worth.n_negative == pytest.approx(copied.worth.n_negative)


def test_the_estimate_and_the_resamples_are_those_of_a_loop():
    y, risk, amounts = fraud(2)
    result = voros.bootstrap(
        y,
        risk,
        SCENARIO,
        metric="expected_cost",
        miss_value=amounts,
        false_alarm_cost=PRICE,
        n_resamples=100,
        random_state=0,
        method="percentile",
    )
    direct = voros.evaluate(y, risk, SCENARIO, miss_value=amounts, false_alarm_cost=PRICE)
    assert result.estimate == pytest.approx(direct.expected_cost)
    rng, drawn = np.random.default_rng(5), []
    for _ in range(100):
        rows = rng.integers(0, len(y), len(y))
        one = voros.evaluate(
            y[rows], risk[rows], SCENARIO, miss_value=amounts[rows], false_alarm_cost=PRICE
        )
        drawn.append(one.expected_cost)
    # Two sets of 100 resamples: their means differ by chance, in standard errors.
    error = np.hypot(np.std(drawn), result.standard_error) / 10
    assert abs(np.mean(drawn) - result.distribution.mean()) < 4 * error
    assert 0.6 < np.std(drawn) / result.standard_error < 1.6


@pytest.mark.parametrize("threshold_on", ["score", "value"])
def test_a_policy_is_priced_with_its_threshold_fixed(threshold_on):
    valid, test = fraud(3), fraud(4)
    policy = voros.ThresholdPolicy.from_validation(
        *valid[:2],
        SCENARIO,
        miss_value=valid[2],
        false_alarm_cost=PRICE,
        threshold_on=threshold_on,
    )
    how = {"miss_value": test[2], "false_alarm_cost": PRICE}
    drawn = voros.bootstrap(
        *test[:2], SCENARIO, metric=policy, n_resamples=100, random_state=0, **how
    )
    tested = policy.evaluate(*test[:2], by_cost=True, **how)
    assert drawn.estimate == pytest.approx(tested.expected_cost)
    assert drawn.method == "bca"
    assert drawn.low < drawn.estimate < drawn.high

    def money(points, scenario):
        return policy.evaluate(points, by_cost=True).cost_per_1000

    if threshold_on == "score":
        in_money = voros.bootstrap(
            *test[:2], SCENARIO, metric=money, n_resamples=100, random_state=0, **how
        )
        assert in_money.estimate == pytest.approx(tested.in_money().per_1000)


def test_models_are_compared_on_the_same_resamples():
    y, risk, amounts = fraud(5)
    noise = np.random.default_rng(0).uniform(size=len(y))
    comparison = voros.compare(
        y,
        {"risk": risk, "noise": noise},
        SCENARIO,
        metric="expected_cost",
        miss_value=amounts,
        false_alarm_cost=PRICE,
        n_resamples=100,
        random_state=0,
    )
    assert comparison.ranking == ("risk", "noise")
    assert comparison.differs(comparison.pairs[0])


def test_policies_on_scores_and_on_values_are_compared():
    valid, test = fraud(6, 1200), fraud(7, 1200)
    policies = {
        on: voros.ThresholdPolicy.from_validation(
            *valid[:2], SCENARIO, miss_value=valid[2], false_alarm_cost=PRICE, threshold_on=on
        )
        for on in ("score", "value")
    }
    comparison = voros.compare_policies(
        test[0],
        dict.fromkeys(policies, test[1]),
        policies,
        miss_value=test[2],
        false_alarm_cost=PRICE,
        n_resamples=100,
        random_state=0,
    )
    assert comparison.ranking == ("value", "score")
    for name, policy in policies.items():
        tested = policy.evaluate(*test[:2], miss_value=test[2], false_alarm_cost=PRICE)
        assert comparison.models[name].estimate == pytest.approx(tested.expected_cost)
        assert comparison.violations[name] == tested.violations


def test_what_values_do_not_allow_is_refused():
    y, risk, amounts = fraud(8, 400)
    how = {"miss_value": amounts, "n_resamples": 100, "random_state": 0}
    with pytest.raises(UndefinedScoreError, match="expected_cost"):
        voros.bootstrap(y, risk, SCENARIO, **how)
    policy = voros.ThresholdPolicy.from_validation(y, risk, SCENARIO, miss_value=amounts)
    with pytest.raises(ArgumentError, match="miss_value and false_alarm_cost are missing"):
        voros.bootstrap(y, risk, SCENARIO, metric=policy, n_resamples=100)


@pytest.mark.slow
def test_intervals_hold_the_cost_of_the_population():
    """Of a fixed policy: the true cost is that of a very large test set."""
    policy = voros.ThresholdPolicy.from_validation(
        *fraud(9)[:2], SCENARIO, miss_value=fraud(9)[2], false_alarm_cost=PRICE
    ).fixed()
    large = fraud(10, 2_000_000)
    truth = policy.evaluate(*large[:2], miss_value=large[2], false_alarm_cost=PRICE).expected_cost
    inside = 0
    for seed in range(20):
        y, risk, amounts = fraud(1000 + seed, 800)
        result = voros.bootstrap(
            y,
            risk,
            SCENARIO,
            metric=policy,
            miss_value=amounts,
            false_alarm_cost=PRICE,
            n_resamples=100,
            random_state=seed,
        )
        inside += result.low <= truth <= result.high
    # 95 % of 20 less three standard errors; 400 runs of 1,500 cases held it in 92 %.
    assert inside >= 16
