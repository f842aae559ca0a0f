from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from deployment_oracle import (
    INF,
    best_threshold,
    counts,
    feasible_thresholds,
    mean_over,
    normalised_cost,
    random_cases,
)

import voros
import voros.inference
from voros import OperatingPoints, Scenario, ThresholdPolicy, costs
from voros.policy.origin import POLICY_STRATEGIES

Y = [0, 1, 0, 1, 1, 0, 0, 0]
S = [0.1, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2]
SCENARIO = Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
LIMITS = [
    (Fraction(0), Fraction(1)),
    (Fraction(3, 10), Fraction(1, 2)),
    (Fraction(1, 2), Fraction(1, 5)),
]


def make(rng, floor, share, cost_ratio=(0.05, 2.0)):
    labels, scores = random_cases(rng)
    scenario = Scenario(float(floor), float(share), cost_ratio)
    return labels, scores, scenario, feasible_thresholds(labels, scores, floor, share * len(labels))


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize(("floor", "share"), LIMITS)
@pytest.mark.parametrize("strategy", ["partial_voros", "voros"])
def test_threshold_is_the_cheapest_feasible_one_at_every_cost(floor, share, strategy):
    rng = np.random.default_rng(0)
    for _ in range(25):
        labels, scores, scenario, allowed = make(rng, floor, share)
        policy = ThresholdPolicy.from_validation(labels, scores, scenario, strategy=strategy)
        for ratio in 10.0 ** rng.uniform(-3, 2, 15):
            best = best_threshold(labels, scores, allowed, Fraction(ratio))
            assert policy.threshold(ratio) == best


def cost_at(cost, to_ratio, odds, value):
    return cost(to_ratio(value, odds))


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize("strategy", ["recall", "partial_auroc"])
def test_cost_unaware_strategies_deploy_greatest_recall_with_fewest_alarms(strategy):
    rng = np.random.default_rng(1)
    for _ in range(30):
        labels, scores, scenario, allowed = make(rng, Fraction(3, 10), Fraction(1, 2))
        policy = ThresholdPolicy.from_validation(labels, scores, scenario, strategy=strategy)
        tp = {threshold: counts(labels, scores, threshold)[0] for threshold in allowed}
        greatest = max(tp.values())
        # Allowed thresholds fall, so the first of greatest recall raises fewest alarms.
        assert policy.thresholds.tolist() == [next(t for t in allowed if tp[t] == greatest)]


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize(
    ("cost_ratio", "to_ratio", "low", "high"),
    [
        (costs.uniform(0.1, 3), lambda v, _: v, 0.1, 3),
        (costs.miss_costs(0.4, 9), lambda v, _: 1 / v, 0.4, 9),
        (costs.uniform_t(0.2, 0.8), lambda v, odds: v / (1 - v) / odds, 0.2, 0.8),
    ],
)
def test_single_threshold_has_least_expected_cost(cost_ratio, to_ratio, low, high):
    rng = np.random.default_rng(2)
    for _ in range(6):
        labels, scores, scenario, allowed = make(rng, Fraction(1, 5), Fraction(3, 5), cost_ratio)
        odds = (len(labels) - sum(labels)) / sum(labels)
        policy = ThresholdPolicy.from_validation(labels, scores, scenario, strategy="single")
        expected = {}
        for threshold in allowed:
            cost = partial(normalised_cost, labels, scores, threshold)
            expected[threshold] = mean_over(partial(cost_at, cost, to_ratio, odds), low, high)
        assert len(policy.choices) == 1
        assert expected[policy.threshold()] == pytest.approx(min(expected.values()), abs=1e-12)


def test_the_default_of_a_cost_aware_policy_is_the_single_best_threshold():
    rng = np.random.default_rng(3)
    labels, scores, scenario, _ = make(rng, Fraction(1, 5), Fraction(3, 5))
    aware = ThresholdPolicy.from_validation(labels, scores, scenario)
    single = ThresholdPolicy.from_validation(labels, scores, scenario, strategy="single")
    assert aware.default == single.default
    assert aware.threshold() == single.threshold(0.123)


@pytest.mark.parametrize("strategy", POLICY_STRATEGIES)
def test_the_fixed_policy_deploys_the_default_at_every_cost(strategy):
    rng = np.random.default_rng(3)
    labels, scores, scenario, _ = make(rng, Fraction(1, 5), Fraction(3, 5))
    policy = ThresholdPolicy.from_validation(labels, scores, scenario, strategy=strategy)
    fixed = policy.fixed()
    assert set(fixed.threshold([0, 0.01, 1.0, np.inf])) == {policy.threshold()}
    alone = "single" if strategy in ("partial_voros", "voros", "expected_cost") else strategy
    assert fixed == ThresholdPolicy.from_validation(labels, scores, scenario, strategy=alone)


def test_at_a_switch_the_threshold_with_fewer_alarms_is_deployed():
    # One more right alarm for two more false ones: equally good at a cost ratio of exactly 1/2.
    policy = ThresholdPolicy.from_validation(
        [1, 0, 0, 1, 0], [5, 4, 3, 2, 1], Scenario(cost_ratio=1.0)
    )
    assert policy.switches.tolist() == [0.5]
    assert policy.threshold(0.5) == 5
    assert policy.threshold(np.nextafter(0.5, 0)) == 2


def test_choices_cover_every_cost_ratio_without_a_gap():
    rng = np.random.default_rng(4)
    labels, scores, scenario, _ = make(rng, Fraction(0), Fraction(1))
    choices = ThresholdPolicy.from_validation(labels, scores, scenario).choices
    assert choices[0].cost_ratio_low == 0
    assert choices[-1].cost_ratio_high == INF
    for before, after in pairwise(choices):
        assert before.cost_ratio_high == after.cost_ratio_low
        assert before.alarms > after.alarms


def test_thresholds_on_one_line_leave_no_empty_interval():
    # From (502, 421) two steps of the same slope 1/2: the middle threshold is never better.
    tp, fp = [502, 534, 538, 700], [421, 485, 493, 1548]
    points = OperatingPoints.from_counts(tp, fp, 700, 1548, thresholds=[0.7, 0.6, 0.5, 0.1])
    for prevalence in (None, 0.1, 0.3, 0.7):
        scenario = Scenario(cost_ratio=1.0, prevalence=prevalence)
        policy = ThresholdPolicy.from_points(points, scenario)
        assert all(c.cost_ratio_low < c.cost_ratio_high for c in policy.choices)
        assert {0.7, 0.5} <= set(policy.thresholds)


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_many_cases_give_a_sound_policy_whatever_the_rounding(prevalence):
    rng = np.random.default_rng(0)
    for _ in range(60):
        labels = rng.random(2000) < rng.uniform(0.05, 0.6)
        scores = np.round(rng.normal(size=2000) + labels, rng.integers(0, 4))
        scenario = Scenario(0.02, 0.9, (0.1, 1.0), prevalence)
        policy = ThresholdPolicy.from_validation(labels, scores, scenario)
        assert (np.diff(policy.switches) > 0).all()
        assert (np.diff(policy.thresholds) > 0).all()


def test_choices_report_what_the_threshold_did_on_validation():
    policy = ThresholdPolicy.from_validation(Y, S, SCENARIO)
    choice = policy.choices[0]
    assert (choice.threshold, choice.tp, choice.fp, choice.alarms) == (0.5, 3, 1, 4)
    assert (choice.precision, choice.recall) == (0.75, 1.0)


def test_threshold_takes_arrays_and_the_ends_of_the_half_line():
    policy = ThresholdPolicy.from_validation(Y, S, SCENARIO)
    np.testing.assert_array_equal(policy.threshold([0.15, 3.0]), [0.5, 0.9])
    assert policy.threshold(0) == 0.5
    assert policy.threshold(np.inf) == 0.9
    assert isinstance(policy.threshold(np.float64(0.1)), float)


@pytest.mark.parametrize("ratio", [-0.1, float("nan"), [0.1, -1]])
def test_threshold_refuses_what_is_no_cost_ratio(ratio):
    with pytest.raises(ValueError, match=r"cost_ratio=.*at least 0"):
        ThresholdPolicy.from_validation(Y, S, SCENARIO).threshold(ratio)


def test_predict_alarms_at_and_above_the_threshold():
    policy = ThresholdPolicy.from_validation(Y, S, SCENARIO)
    scores = np.array([0.49999, 0.5, 0.9, np.inf, -np.inf])
    assert policy.predict(scores, cost_ratio=0.15).tolist() == [False, True, True, True, False]
    assert policy.predict(scores, cost_ratio=3.0).tolist() == [False, False, True, True, False]
    assert policy.predict(scores).tolist() == [False, True, True, True, False]


def test_predict_refuses_a_cost_for_each_case():
    with pytest.raises(ValueError, match="one number for all cases"):
        ThresholdPolicy.from_validation(Y, S, SCENARIO).predict([0.1, 0.2], cost_ratio=[0.1, 0.2])


def test_a_score_of_infinity_can_raise_an_alarm():
    policy = ThresholdPolicy.from_validation([1, 0, 0], [np.inf, 1, 0], Scenario(cost_ratio=1.0))
    assert policy.predict([np.inf, 1e300]).tolist() == [True, False]


@pytest.mark.parametrize("strategy", POLICY_STRATEGIES)
def test_infeasible_limits_give_a_policy_that_never_alarms(strategy):
    labels, scores = [0, 0, 0, 1, 1], [5, 4, 3, 2, 1]
    scenario = Scenario(min_precision=0.9, cost_ratio=(0.01, 0.02))
    with pytest.warns(voros.NeverAlarmWarning, match=r"0\.9\. .* the highest precision is 0\.4"):
        policy = ThresholdPolicy.from_validation(labels, scores, scenario, strategy=strategy)
    assert policy.never_alarms
    assert not policy.predict([1e9, 5, 0]).any()
    assert not policy.predict([1e9, 5, 0], cost_ratio=0.0).any()


def test_a_capacity_below_one_case_is_refused():
    with pytest.raises(voros.InfeasibleError, match="fewer than one case"):
        ThresholdPolicy.from_validation(Y, S, Scenario(capacity=0.1, cost_ratio=0.1))


def test_never_alarm_can_be_best_without_being_all_that_is_left():
    with pytest.warns(voros.exceptions.InvertedCostsWarning):
        dear = Scenario(cost_ratio=5.0)
    policy = ThresholdPolicy.from_validation([0, 1, 0, 1], [4, 3, 2, 1], dear)
    assert policy.threshold() == INF
    assert not policy.never_alarms


def test_another_prevalence_changes_which_thresholds_are_feasible():
    # At half positives the lower threshold has precision 3/4; at one in ten it has 1/4.
    labels, scores = [1, 1, 1, 0, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.1, 0.1]
    here = Scenario(min_precision=0.5, cost_ratio=0.01)
    rare = Scenario(min_precision=0.5, cost_ratio=0.01, prevalence=0.1)
    assert ThresholdPolicy.from_validation(labels, scores, here).threshold() == 0.5
    policy = ThresholdPolicy.from_validation(labels, scores, rare)
    assert policy.threshold() == 0.9
    assert (policy.n_positive, policy.n_negative) == (pytest.approx(0.6), pytest.approx(5.4))


def test_weights_count_as_repeated_cases():
    rng = np.random.default_rng(5)
    labels, scores = random_cases(rng, 30)
    weights = rng.integers(1, 4, 30)
    scenario = Scenario(0.3, 0.6, (0.1, 1.0))
    weighted = ThresholdPolicy.from_validation(labels, scores, scenario, sample_weight=weights)
    repeated = ThresholdPolicy.from_validation(
        np.repeat(labels, weights), np.repeat(scores, weights), scenario
    )
    np.testing.assert_array_equal(weighted.thresholds, repeated.thresholds)
    np.testing.assert_allclose(weighted.switches, repeated.switches)


def test_a_guarantee_narrows_what_is_deployed():
    rng = np.random.default_rng(6)
    labels = (rng.random(600) < 0.3).astype(int)
    scores = np.round(rng.normal(size=600) + 1.5 * labels, 2)
    scenario = Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.05, 0.2))
    guarantee = voros.Guarantee(confidence=0.9)
    points = OperatingPoints.from_scores(labels, scores)
    allowed = points.thresholds[guarantee.allowed(points, scenario)].tolist()
    policy = ThresholdPolicy.from_validation(
        labels, scores, scenario, guarantee=guarantee, n_models=1
    )
    for ratio in (0.05, 0.1, 0.2, 1.0):
        best = best_threshold(labels.tolist(), scores.tolist(), allowed, Fraction(ratio))
        assert policy.threshold(ratio) == best
    free = ThresholdPolicy.from_validation(labels, scores, scenario)
    assert policy.default.alarms < free.default.alarms
    assert policy.guarantee == guarantee
    assert ThresholdPolicy.from_json(policy.to_json()) == policy


def test_a_guarantee_that_allows_nothing_leaves_never_alarm():
    guarantee = voros.Guarantee(confidence=0.95)
    with pytest.warns(voros.NeverAlarmWarning, match=r"with confidence 0.95.*none is certified"):
        policy = ThresholdPolicy.from_validation(Y, S, SCENARIO, guarantee=guarantee, n_models=1)
    assert policy.never_alarms


@pytest.mark.parametrize("source", ["scores", "points"])
def test_a_guarantee_needs_to_know_how_many_models_there_were(source):
    guarantee = voros.Guarantee(0.9)
    arguments = {
        "scores": (ThresholdPolicy.from_validation, (Y, S, SCENARIO)),
        "points": (
            ThresholdPolicy.from_points,
            (OperatingPoints.from_scores(Y, S), SCENARIO),
        ),
    }
    make, args = arguments[source]
    with pytest.raises(ValueError, match=r"needs n_models.*selection\.policy\(\)"):
        make(*args, guarantee=guarantee)
    for n_models in (0, 1.5, True):
        with pytest.raises(ValueError, match=f"n_models={n_models}; accepted"):
            make(*args, guarantee=guarantee, n_models=n_models)


def test_models_that_were_chosen_from_split_the_error():
    rng = np.random.default_rng(6)
    labels = rng.random(2000) < 0.3
    scores = rng.normal(size=2000) + 1.5 * labels
    scenario = Scenario(min_precision=0.5, capacity=0.5, cost_ratio=(0.05, 0.2))
    chosen, strict = (
        ThresholdPolicy.from_validation(
            labels, scores, scenario, guarantee=voros.Guarantee(confidence), n_models=n_models
        )
        for confidence, n_models in ((0.9, 20), (0.995, 1))
    )
    assert chosen.thresholds.tolist() == strict.thresholds.tolist()
    assert chosen.switches.tolist() == strict.switches.tolist()
    assert (chosen.guarantee, chosen.n_models) == (voros.Guarantee(0.9), 20)
    assert ThresholdPolicy.from_json(chosen.to_json()) == chosen


@pytest.mark.parametrize("scenario", [{"min_precision": 0.5}, None, 0.5, "strict"])
def test_anything_but_a_scenario_is_a_type_error(scenario):
    message = f"scenario is a {type(scenario).__name__}; accepted is a voros.Scenario"
    points = OperatingPoints.from_scores(Y, S)
    with pytest.raises(TypeError, match=message):
        ThresholdPolicy.from_validation(Y, S, scenario)
    with pytest.raises(TypeError, match=message):
        ThresholdPolicy.from_points(points, scenario)
    with pytest.raises(TypeError, match=message):
        voros.select_model({"a": points}, scenario=scenario)
    with pytest.raises(TypeError, match=message):
        points.feasible(scenario)
    with pytest.raises(TypeError, match=message):
        voros.Guarantee().allowed(points, scenario)


def test_an_unknown_strategy_is_refused_by_name():
    with pytest.raises(ValueError, match="strategy='best'; accepted are 'partial_voros'"):
        ThresholdPolicy.from_validation(Y, S, SCENARIO, strategy="best")


def test_points_without_thresholds_cannot_be_deployed():
    points = OperatingPoints.from_points([0.1], [0.5], 10, 90)
    with pytest.raises(ValueError, match="carry no thresholds"):
        ThresholdPolicy.from_points(points, SCENARIO)


def test_string_labels_need_the_positive_one():
    labels = ["ill" if y else "well" for y in Y]
    policy = ThresholdPolicy.from_validation(labels, S, SCENARIO, pos_label="ill")
    plain = ThresholdPolicy.from_validation(Y, S, SCENARIO)
    assert policy == replace(plain, pos_label="ill")
    with pytest.raises(ValueError, match="pass pos_label"):
        plain.evaluate(labels, S)


def test_a_policy_remembers_the_positive_label_the_model_and_where_it_came_from():
    labels = ["ill" if y else "well" for y in Y]
    policy = ThresholdPolicy.from_validation(
        labels, S, replace(SCENARIO, prevalence=0.1), pos_label="ill", model="sharp"
    )
    assert (policy.model, policy.pos_label) == ("sharp", "ill")
    assert policy.origin == voros.policy.Origin(
        n_positive=sum(Y),
        n_negative=len(Y) - sum(Y),
        n_groups=None,
        n_periods=None,
        period_correlation=None,
        version=voros.__version__,
    )
    assert policy.n_positive == pytest.approx(0.1 * len(Y))
    again = ThresholdPolicy.from_json(policy.to_json())
    assert again == policy
    other = again.evaluate([not y for y in Y], S, pos_label=False)
    assert again.evaluate(labels, S).mean_alarms == other.mean_alarms
    selection = voros.select_model(labels, {"sharp": S}, SCENARIO, pos_label="ill")
    assert selection.policy().pos_label == "ill"
    assert selection.policy().evaluate(labels, S).satisfied


def test_frame_has_a_row_for_each_interval_and_its_probability():
    pytest.importorskip("pandas")
    policy = ThresholdPolicy.from_validation(Y, S, SCENARIO)
    frame = policy.frame(backend="pandas")
    assert frame["threshold"].tolist() == policy.thresholds.tolist()
    # From the threshold 0.9 down to 0.5: two more right alarms for one false one.
    assert frame["cost_ratio_low"].tolist() == [0.0, 2.0]
    assert frame["probability"].tolist() == [1.0, 0.0]


def test_a_printed_policy_states_limits_guarantee_and_thresholds():
    policy = ThresholdPolicy.from_validation(Y, S, SCENARIO)
    text = repr(policy)
    n_alarms = int(np.sum(np.asarray(S) >= 0.5))
    assert "guarantee: none" in text
    assert f"precision: at least {SCENARIO.min_precision:g}" in text
    assert text.splitlines()[-1].split()[:3] == ["default", "0.5", str(n_alarms)]
    assert all(part in policy._repr_html_() for part in ("guarantee", "0.5", str(n_alarms)))


def test_without_limits_none_is_printed() -> None:
    policy = ThresholdPolicy.from_validation(Y, S, Scenario(cost_ratio=0.1))
    lines = repr(policy).splitlines()
    assert "strategy: the threshold of least cost at each cost ratio" in lines
    assert {"precision: any", "alarms: any number"} <= set(lines)
    assert "at most" not in repr(policy.evaluate(Y, S))
    assert "at least" not in repr(policy.evaluate(Y, S))


def test_the_capacity_of_weighted_cases_is_printed_as_it_binds() -> None:
    """Forty percent of 10.6 are 4.24: 4.1 alarms are within them, and 4.3 are not."""
    labels, scores = [1, 1, 0, 1, 0], [5, 4, 3, 2, 1]
    scenario = Scenario(capacity=0.4, cost_ratio=0.1)
    policy = ThresholdPolicy.from_validation(
        labels, scores, scenario, sample_weight=[2.0, 2.1, 2.5, 2.0, 2.0]
    )
    tested = policy.evaluate(labels, scores, sample_weight=[2.2, 2.1, 2.3, 2.0, 2.0])
    assert policy.default.alarms == pytest.approx(4.1)
    assert "alarms: at most 4.24 of 10.6 cases" in repr(policy)
    assert "at most 4.24" in tested.table().text()
    assert str(*tested.violations) == "capacity: 4.30 alarms, at most 4.24 allowed"


def test_whole_numbers_that_no_threshold_sets_apart_are_not_deployed():
    """Scores count them exactly, but a threshold of 2**60 would alarm for all."""
    labels, scores = np.repeat([0, 1], 50), 2**60 + np.arange(100)
    scenario = voros.Scenario(0.5, 0.3, (0.1, 0.3))
    exact = voros.partial_voros_score(labels, scores, scenario)
    assert exact == voros.partial_voros_score(labels, np.arange(100), scenario)
    with pytest.raises(ValueError, match=r"whole-number scores of 2\*\*53 or beyond"):
        voros.ThresholdPolicy.from_validation(labels, scores, scenario)
    with pytest.raises(ValueError, match=r"whole-number scores of 2\*\*53 or beyond"):
        voros.select_model(labels, scores, scenario).policy()
    apart = voros.ThresholdPolicy.from_validation(labels, scores - 2**60, scenario)
    assert apart.predict(scores - 2**60).sum() == 30


def test_a_few_alarms_in_thousands_of_cases_may_be_meant_in_percent() -> None:
    labels, scenario = np.arange(4000) % 5 == 0, Scenario(capacity=8, cost_ratio=0.1)
    with pytest.warns(voros.exceptions.FewAlarmsWarning, match="8 alarms in 4,000 cases"):
        policy = ThresholdPolicy.from_validation(labels, -np.arange(4000.0), scenario)
    assert policy.default.alarms <= 8


def test_points_are_needed_and_nothing_else_is_taken_for_them() -> None:
    with pytest.raises(TypeError, match="points is a NoneType; accepted is OperatingPoints"):
        ThresholdPolicy.from_points(None, Scenario(cost_ratio=0.1))  # type: ignore[arg-type]


def test_positives_of_a_stated_prevalence_are_not_given_as_counted() -> None:
    y_true, y_score = [0] * 6 + [1] * 2, np.arange(8) / 8
    stated = voros.Scenario(0.6, 0.5, cost_ratio=0.1, prevalence=0.5)
    policy = voros.ThresholdPolicy.from_validation(y_true, y_score, stated)
    selection = voros.select_model(y_true, {"one": y_score}, stated)
    for said in (policy, policy.evaluate(y_true, y_score), selection):
        assert "8 cases, 4 positive at the stated prevalence of 0.5" in str(said)
