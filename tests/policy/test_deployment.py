"""A policy's account on new data, against counting, quadrature, grids and Monte Carlo."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from deployment_oracle import counts, mean_over, normalised_cost, random_cases
from scipy.stats import lognorm

import voros
from voros import OperatingPoints, Scenario, ThresholdPolicy, costs

VALID_Y = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]
VALID_S = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05]

SEVERAL_SWITCHES = 15


def policy_and_new_cases(seed, cost_ratio, strategy="partial_voros"):
    rng = np.random.default_rng(seed)
    valid = random_cases(rng, 60)
    new = random_cases(rng, 80)
    scenario = Scenario(0.2, 0.8, cost_ratio)
    return ThresholdPolicy.from_validation(*valid, scenario, strategy=strategy), *new


def odds_of(labels):
    return (len(labels) - sum(labels)) / sum(labels)


def cost_at_ratio(policy, labels, scores, ratio):
    return normalised_cost(labels, scores, policy.threshold(ratio), ratio)


@pytest.mark.parametrize("strategy", ["partial_voros", "recall", "single"])
@pytest.mark.parametrize("seed", range(4))
def test_expected_cost_over_cost_ratios_matches_quadrature(seed, strategy):
    policy, labels, scores = policy_and_new_cases(seed, (0.05, 3.0), strategy)
    cost = partial(cost_at_ratio, policy, labels, scores)
    expected = mean_over(cost, 0.05, 3.0, policy.switches)
    assert policy.evaluate(labels, scores, by_cost=True).expected_cost == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("seed", range(3))
def test_expected_cost_over_miss_costs_matches_quadrature(seed):
    policy, labels, scores = policy_and_new_cases(seed, costs.miss_costs(0.3, 20))
    expected = mean_over(
        lambda r: cost_at_ratio(policy, labels, scores, 1 / r), 0.3, 20, 1 / policy.switches
    )
    assert policy.evaluate(labels, scores, by_cost=True).expected_cost == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("seed", range(3))
def test_costs_over_t_are_read_with_the_class_sizes_of_the_new_cases(seed):
    policy, labels, scores = policy_and_new_cases(seed, costs.uniform_t(0.1, 0.9))
    odds = odds_of(labels)
    assert odds != pytest.approx(policy.n_negative / policy.n_positive)
    slopes = policy.switches * odds
    expected = mean_over(
        lambda t: cost_at_ratio(policy, labels, scores, t / (1 - t) / odds),
        0.1,
        0.9,
        slopes / (1 + slopes),
    )
    assert policy.evaluate(labels, scores, by_cost=True).expected_cost == pytest.approx(
        expected, abs=1e-12
    )


def test_expected_cost_over_samples_is_their_mean():
    draws = [0.05, 0.3, 0.3, 2.0]
    policy, labels, scores = policy_and_new_cases(7, costs.from_samples(draws))
    expected = np.mean([cost_at_ratio(policy, labels, scores, c) for c in draws])
    assert policy.evaluate(labels, scores, by_cost=True).expected_cost == pytest.approx(
        expected, abs=1e-14
    )


def test_expected_cost_over_a_density_matches_monte_carlo_within_its_error():
    frozen = lognorm(0.8, scale=0.4)
    policy, labels, scores = policy_and_new_cases(8, costs.from_scipy(frozen))
    draws = frozen.rvs(20_000, random_state=1)
    cost = [cost_at_ratio(policy, labels, scores, c) for c in draws]
    error = np.std(cost) / math.sqrt(len(cost))
    assert (
        abs(policy.evaluate(labels, scores, by_cost=True).expected_cost - np.mean(cost)) < 4 * error
    )


def test_a_trapezoid_grid_closes_in_on_the_exact_expected_cost():
    policy, labels, scores = policy_and_new_cases(SEVERAL_SWITCHES, (0.05, 3.0))
    exact = policy.evaluate(labels, scores, by_cost=True).expected_cost
    assert len(policy.evaluate(labels, scores, by_cost=True).choices) > 2
    for n in (11, 101, 1001, 10_001):
        ratios = np.linspace(0.05, 3.0, n)
        values = np.array([cost_at_ratio(policy, labels, scores, c) for c in ratios])
        grid_mean = (values[:-1] + values[1:]).sum() / 2 / (n - 1)
        # On new cases the cost jumps at switches, so the grid's error falls as 1/n.
        assert abs(grid_mean - exact) < 0.2 / n


def test_mean_alarms_and_precision_are_means_over_the_costs():
    policy, labels, scores = policy_and_new_cases(SEVERAL_SWITCHES, (0.05, 3.0))
    account = policy.evaluate(labels, scores, by_cost=True)

    def alarms(ratio):
        return sum(counts(labels, scores, policy.threshold(ratio)))

    def precision(ratio):
        return counts(labels, scores, policy.threshold(ratio))[0] / alarms(ratio)

    assert len(account.choices) > 2
    expected = mean_over(alarms, 0.05, 3.0, policy.switches)
    assert account.mean_alarms == pytest.approx(expected, rel=1e-12)
    expected = mean_over(precision, 0.05, 3.0, policy.switches)
    assert account.mean_precision == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore::voros.exceptions.InvertedCostsWarning")
def test_mean_precision_leaves_out_the_costs_at_which_nothing_is_alarmed():
    # Two right alarms of three up to a cost ratio of 2, and none above.
    points = OperatingPoints.from_counts([2], [1], 4, 6, thresholds=[0.5])
    policy = ThresholdPolicy.from_points(points, Scenario(cost_ratio=(1.0, 5.0)))
    assert policy.switches.tolist() == [2.0]
    new = OperatingPoints.from_counts([1, 4], [3, 6], 4, 6, thresholds=[0.5, 0.1])
    account = policy.evaluate(new, by_cost=True)
    assert account.mean_precision == 0.25
    assert account.mean_alarms == pytest.approx(0.25 * 4)
    assert account.probabilities.tolist() == [0.25, 0.75]


def test_a_policy_that_never_alarms_has_no_precision_and_breaks_nothing():
    with pytest.warns(voros.NeverAlarmWarning):
        policy = ThresholdPolicy.from_validation(
            [0, 0, 1], [3, 2, 1], Scenario(min_precision=0.9, cost_ratio=0.5)
        )
    account = policy.evaluate(VALID_Y, VALID_S, by_cost=True)
    assert math.isnan(account.mean_precision)
    assert account.mean_alarms == 0
    assert account.satisfied
    # All positives missed: P / (cN + P) with P = 4 and N = 6.
    assert account.expected_cost == pytest.approx(4 / (0.5 * 6 + 4))


def test_thresholds_between_and_beyond_the_new_scores_count_the_alarms_above_them():
    points = OperatingPoints.from_scores([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    policy = ThresholdPolicy.from_points(
        OperatingPoints.from_counts([1], [0], 2, 2, thresholds=[2.5]), Scenario(cost_ratio=1.0)
    )
    assert policy.evaluate(points, by_cost=True).mean_alarms == 2
    low = ThresholdPolicy.from_points(
        OperatingPoints.from_counts([1], [0], 2, 2, thresholds=[-7.0]), Scenario(cost_ratio=1.0)
    )
    assert low.evaluate(points, by_cost=True).mean_alarms == 4
    high = ThresholdPolicy.from_points(
        OperatingPoints.from_counts([1], [0], 2, 2, thresholds=[9.0]), Scenario(cost_ratio=1.0)
    )
    assert high.evaluate(points, by_cost=True).mean_alarms == 0


def test_points_that_do_not_reach_the_threshold_are_refused():
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(cost_ratio=0.1))
    top = OperatingPoints.from_counts([1], [0], 4, 6, thresholds=[0.95])
    with pytest.raises(ValueError, match=r"the alarms at threshold 0\.3 were not counted"):
        policy.evaluate(top, by_cost=True)
    with pytest.raises(ValueError, match="carry no thresholds"):
        policy.evaluate(OperatingPoints.from_points([0.1], [0.5], 10, 90), by_cost=True)


def test_a_share_of_capacity_follows_the_new_cases_and_a_count_stays():
    twice_y, twice_s = VALID_Y * 2, VALID_S * 2
    share = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0, 0.3, 0.01))
    count = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0, 3, 0.01))
    assert share.threshold() == count.threshold() == 0.8
    followed, stayed = (
        share.evaluate(twice_y, twice_s, by_cost=True),
        count.evaluate(twice_y, twice_s, by_cost=True),
    )
    assert (followed.max_alarms, followed.satisfied) == (6, True)
    assert (stayed.max_alarms, stayed.satisfied) == (3, False)
    assert stayed.violations[0].missed_by == 1


def test_new_cases_too_few_for_any_alarm_can_still_be_accounted_for():
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0, 0.3, 0.01))
    account = policy.evaluate([1, 0], [0.9, 0.1], by_cost=True)
    assert account.max_alarms == pytest.approx(0.6)
    assert [v.limit for v in account.violations] == ["capacity"]
    assert account.violations[0].missed_by == pytest.approx(0.4)


def test_violations_say_which_limit_by_how_much_and_where():
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, (0.1, 1.0)))
    # 4 of 7 and 3 of 4 right on validation: one more right alarm for two false ones.
    assert policy.thresholds.tolist()[:2] == [0.3, 0.6]
    assert policy.switches[0] == 0.5
    new_y = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    account = policy.evaluate(new_y, VALID_S, by_cost=True)
    (precision,) = (v for v in account.violations if v.limit == "precision")
    assert not account.satisfied
    assert precision.bound == 0.5
    assert precision.worst == pytest.approx(2 / 7)
    assert precision.missed_by == pytest.approx(0.5 - 2 / 7)
    (where,) = precision.where
    assert (where.threshold, where.cost_ratio_low, where.cost_ratio_high) == (
        0.3,
        0.1,
        policy.switches[0],
    )
    assert precision.probability == pytest.approx((policy.switches[0] - 0.1) / 0.9)
    assert "precision: 0.286, at least 0.5 required (at cost ratios 0.100 to" in repr(account)


def test_a_threshold_that_is_never_deployed_breaks_nothing():
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, 0.9))
    new_y = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    account = policy.evaluate(new_y, VALID_S, by_cost=True)
    assert [choice.threshold for choice in account.choices] == [0.6]
    assert account.satisfied


def test_a_named_prevalence_reweights_the_new_cases_too():
    scenario = Scenario(0.2, 1.0, (0.1, 1.0), prevalence=0.1)
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, scenario)
    account = policy.evaluate(VALID_Y, VALID_S, by_cost=True)
    weights = np.where(VALID_Y, 0.1 / 0.4, 0.9 / 0.6)
    plain = ThresholdPolicy.from_validation(
        VALID_Y, VALID_S, Scenario(0.2, 1.0, (0.1, 1.0)), sample_weight=weights
    )
    same = plain.evaluate(VALID_Y, VALID_S, sample_weight=weights, by_cost=True)
    np.testing.assert_array_equal(policy.thresholds, plain.thresholds)
    assert account.expected_cost == pytest.approx(same.expected_cost, rel=1e-12)
    assert account.mean_precision == pytest.approx(same.mean_precision, rel=1e-12)
    assert account.mean_alarms == pytest.approx(same.mean_alarms, rel=1e-12)


def test_weights_count_as_repeated_cases():
    rng = np.random.default_rng(11)
    policy, labels, scores = policy_and_new_cases(11, (0.05, 3.0))
    weights = rng.integers(1, 5, len(labels))
    weighted = policy.evaluate(labels, scores, sample_weight=weights, by_cost=True)
    repeated = policy.evaluate(np.repeat(labels, weights), np.repeat(scores, weights), by_cost=True)
    assert weighted.expected_cost == pytest.approx(repeated.expected_cost, rel=1e-12)
    assert weighted.mean_alarms == pytest.approx(repeated.mean_alarms, rel=1e-12)


@pytest.mark.parametrize("cost_ratio", [(0.05, 3.0), costs.uniform_t(0.1, 0.8), 0.4])
def test_on_validation_no_strategy_beats_the_cost_aware_one(cost_ratio):
    rng = np.random.default_rng(12)
    for _ in range(10):
        valid = random_cases(rng, 50)
        scenario = Scenario(0.2, 0.6, cost_ratio)
        cost = {
            strategy: ThresholdPolicy.from_validation(*valid, scenario, strategy=strategy)
            .evaluate(*valid, by_cost=True)
            .expected_cost
            for strategy in ("partial_voros", "single", "recall")
        }
        assert cost["partial_voros"] <= cost["single"] + 1e-12
        assert cost["single"] <= cost["recall"] + 1e-12


def test_frame_marks_which_limits_each_threshold_keeps():
    pytest.importorskip("pandas")
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, (0.1, 1.0)))
    frame = policy.evaluate([1, 0, 0, 1, 0, 0, 0, 0, 0, 0], VALID_S, by_cost=True).frame(
        backend="pandas"
    )
    assert frame["keeps_precision"].tolist() == [False, True]
    assert frame["keeps_capacity"].tolist() == [True, True]
    assert frame["probability"].sum() == pytest.approx(1)


def test_evaluate_and_predict_deploy_the_same():
    rng = np.random.default_rng(4)
    y = rng.random(500) < 0.3
    scores = rng.normal(size=500) + 1.5 * y
    policy = ThresholdPolicy.from_validation(y, scores, Scenario(0.3, 0.6, (0.02, 1.0)))
    assert len(set(policy.thresholds)) > 3
    for ratio in (None, 0.03, 0.4):
        alarms = policy.predict(scores, cost_ratio=ratio)
        evaluation = policy.evaluate(y, scores, cost_ratio=ratio)
        assert evaluation.mean_alarms == alarms.sum()
        assert evaluation.mean_recall == alarms[y].mean()
        assert evaluation.mean_precision == y[alarms].mean()
        assert [choice.threshold for choice in evaluation.choices] == [policy.threshold(ratio)]
    fp, fn = (alarms & ~y).sum(), (~alarms & y).sum()
    worst = 0.4 * (~y).sum() + y.sum()
    assert evaluation.expected_cost == pytest.approx((0.4 * fp + fn) / worst)
    assert evaluation.cost_per_1000 == pytest.approx(2 * (0.4 * fp + fn))
    assert policy.evaluate(y, scores).expected_cost == pytest.approx(
        policy.fixed().evaluate(y, scores, by_cost=True).expected_cost, abs=1e-14
    )
    with pytest.raises(ValueError, match="leave cost_ratio out"):
        policy.evaluate(y, scores, cost_ratio=0.1, by_cost=True)
    with pytest.raises(ValueError, match="one number for all cases"):
        policy.evaluate(y, scores, cost_ratio=[0.1, 0.2])


@pytest.mark.parametrize("by_cost", [True, False])
def test_cases_of_one_class_are_evaluated(by_cost):
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, (0.1, 0.3)))
    at = policy.threshold()
    scores = [at, at - 1, at + 1]
    well = policy.evaluate([0, 0, 0], scores, by_cost=by_cost)
    assert well.expected_cost == 2 / 3
    assert np.isnan(well.mean_recall)
    assert well.mean_precision == 0
    assert well.cost_per_1000 == pytest.approx(1000 * 0.2 * 2 / 3)
    assert [v.limit for v in well.violations] == ["precision"]
    ill = policy.evaluate([1, 1, 1], scores, by_cost=by_cost)
    assert ill.expected_cost == pytest.approx(1 / 3)
    assert (ill.mean_recall, ill.mean_precision) == (2 / 3, 1)
    assert ill.cost_per_1000 == pytest.approx(1000 / 3)


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1]])
@pytest.mark.parametrize("weighted", ["sample_weight", "miss_value"])
def test_weighted_cases_of_one_class_are_refused(labels, weighted):
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, (0.1, 0.3)))
    with pytest.raises(ValueError, match=r"of (posi|nega)tives\)=0\.0; accepted is"):
        policy.evaluate(labels, [0.1, 0.2, 0.3], **{weighted: [2.0, 1.0, 1.0]})


def test_a_day_without_alarms_and_a_single_case_are_evaluated():
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, (0.1, 0.3)))
    low = policy.threshold() - 1
    quiet = policy.evaluate([0, 1, 0], [low] * 3)
    assert (quiet.mean_alarms, quiet.mean_recall, quiet.satisfied) == (0, 0, True)
    assert np.isnan(quiet.mean_precision)
    assert quiet.intervals.precision == (0, 1)
    assert "precision                           -           0 to 1" in repr(quiet)
    alone = policy.evaluate([False], [low])
    assert (alone.expected_cost, alone.satisfied) == (0, True)
    assert alone.intervals.recall == (0, 1)
    with pytest.raises(ValueError, match="empty"):
        policy.evaluate([], [])


def test_one_class_cannot_stand_for_another_prevalence_nor_for_costs_over_t():
    rare = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.1, 0.9, 0.1, 0.2))
    with pytest.raises(ValueError, match=r"negative cases only.*prevalence of 0\.2"):
        rare.evaluate([0, 0], [0.1, 0.2])
    over_t = Scenario(0.1, 0.9, costs.uniform_t(0.1, 0.2))
    with pytest.raises(ValueError, match=r"positive cases only.*miss_costs"):
        ThresholdPolicy.from_validation(VALID_Y, VALID_S, over_t).evaluate([1, 1], [0.1, 0.2])


def test_notebooks_show_limits_guarantee_and_alarms():
    rng = np.random.default_rng(6)
    y = rng.random(2000) < 0.3
    scores = {name: rng.normal(size=2000) + 1.5 * y for name in ("a < b", "c")}
    scenario = Scenario(0.5, 0.5, (0.05, 0.2))
    selection = voros.select_model(y, scores, scenario, guarantee=voros.Guarantee(0.9))
    policy = selection.policy()
    page = policy._repr_html_()
    for told in (
        "at least 0.5",
        "at most 1,000 of 2,000 cases",
        "with 90 % confidence",
        "split over 2 models",
        f"{policy.default.alarms:,}",
        policy.model.replace("<", "&lt;"),
    ):
        assert told in page
    evaluation = policy.evaluate(y, scores[policy.model])
    for told in (
        "default threshold",
        "at least 0.5",
        "at most 1,000",
        "with 90 % confidence",
        "recall",
    ):
        assert told in evaluation._repr_html_()
    assert f"{evaluation.mean_alarms:,.5g}" in evaluation._repr_html_()


def test_the_title_says_which_thresholds_and_on_how_many_cases():
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, (0.1, 0.3)))
    evaluation = policy.evaluate(VALID_Y * 200, VALID_S * 200)
    title = "default threshold on 2,000 cases, 800 positive"
    assert repr(evaluation).splitlines()[0] == title
    assert evaluation._repr_html_().startswith(f"<p>{title}</p>")
    promised = replace(policy, guarantee=voros.Guarantee(0.9)).evaluate(VALID_Y, VALID_S)
    assert promised._repr_html_().endswith(f"<p>guarantee: {voros.Guarantee(0.9).words}</p>")


def test_weights_whose_sum_could_overflow_are_refused():
    policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, Scenario(0.5, 0.7, (0.1, 0.3)))
    most = 1e280 / 4
    evaluation = policy.evaluate([1, 0, 1, 0], [9, 9, 0, 0], sample_weight=[most] * 4)
    assert evaluation.mean_recall == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"accepted is a ratio of at most 1e\+100 between them"):
        policy.evaluate([1, 0, 1, 0], [9, 9, 0, 0], sample_weight=[3e279, 1, 1, 1])


def test_intervals_are_of_the_population_at_the_named_prevalence():
    """Half of the cases are positive, the prevalence is 0.02; intervals contain the means there."""
    rng = np.random.default_rng(9)
    y = np.arange(20_000) % 2
    scores = rng.normal(size=20_000) + 1.5 * y
    policy = ThresholdPolicy.from_validation(y, scores, Scenario(0.0, 1.0, 0.05, 0.02))
    evaluation = policy.evaluate(y, scores)
    tpr, fpr = ((scores[y == label] >= policy.threshold()).mean() for label in (1, 0))
    share = 0.02 * tpr + 0.98 * fpr
    for (low, high), mean in (
        (evaluation.intervals.alarms, 20_000 * share),
        (evaluation.intervals.precision, 0.02 * tpr / share),
        (evaluation.intervals.cost_per_1000, 1000 * (0.05 * 0.98 * fpr + 0.02 * (1 - tpr))),
    ):
        assert low < mean < high
        assert high < 1.2 * low


def test_what_cannot_be_evaluated_is_named():
    def refused(scenario, labels):
        policy = ThresholdPolicy.from_validation(VALID_Y, VALID_S, scenario)
        with pytest.raises(ValueError, match="y_true") as caught:
            policy.evaluate(labels, [0.1, 0.2])
        return str(caught.value)

    assert refused(Scenario(0.1, 0.9, 0.1, 0.2), [0, 0]) == (
        "y_true holds negative cases only, which cannot stand for a prevalence of 0.2; leave the "
        "prevalence out, or add cases"
    )
    assert refused(Scenario(0.1, 0.9, costs.uniform_t(0.1, 0.2)), [1, 1]) == (
        "y_true holds positive cases only, and costs over t are read with both class sizes; state "
        "them as a cost ratio or with miss_costs"
    )
