"""What a bootstrap promises: arguments honoured, resamples shared, intervals that hold."""

import time
import warnings

import numpy as np
import pytest

import voros
from voros.inference.statistics import METRICS

SCENARIO = voros.Scenario(0.3, 0.3, (1 / 20, 1 / 10))
SCORES = ("partial_voros", "voros", "partial_auroc", "recall", "auroc", "expected_cost")


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(11)
    positive = rng.random(600) < 0.2
    return positive, 1.2 * positive + rng.normal(size=600)


@pytest.mark.parametrize("metric", METRICS)
def test_the_estimate_is_the_metric_and_lies_among_the_resamples(cases, metric):
    result = voros.bootstrap(*cases, SCENARIO, metric=metric, n_resamples=200, random_state=0)
    assert result.low <= result.estimate <= result.high
    assert len(result.distribution) == 200
    assert result.metric == metric
    if metric in SCORES:
        assert 0 <= result.low < result.high <= 1


def test_estimates_are_those_of_the_score_functions(cases):
    score = voros.partial_voros_score(
        *cases, min_precision=0.3, capacity=0.3, cost_ratio=(1 / 20, 1 / 10)
    )
    assert voros.bootstrap(*cases, SCENARIO, n_resamples=100).estimate == pytest.approx(score)
    policy = voros.ThresholdPolicy.from_validation(*cases, SCENARIO)
    chosen = voros.bootstrap(*cases, SCENARIO, metric="threshold", n_resamples=100)
    assert chosen.estimate == policy.threshold()
    cost = policy.evaluate(*cases, by_cost=True).expected_cost
    for metric in ("expected_cost", policy):
        result = voros.bootstrap(*cases, SCENARIO, metric=metric, n_resamples=100)
        assert result.estimate == pytest.approx(cost)


def test_a_policy_with_fixed_thresholds_is_accounted_for_in_every_resample(cases):
    positive, scores = cases
    policy = voros.ThresholdPolicy.from_validation(*cases, SCENARIO)
    result = voros.bootstrap(*cases, SCENARIO, metric=policy, n_resamples=100, random_state=4)
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 600, 600)
    cost = policy.evaluate(positive[rows], scores[rows], by_cost=True).expected_cost
    assert result.distribution[0] == pytest.approx(cost)


def test_any_function_of_points_and_scenario_is_a_metric(cases):
    def alarms(points, scenario):
        return points.alarms[points.feasible(scenario)].max() / points.n_cases

    result = voros.bootstrap(*cases, SCENARIO, metric=alarms, n_resamples=100, random_state=0)
    assert result.metric == "alarms"
    assert result.high <= 0.3


def test_the_interval_of_the_auroc_agrees_with_its_known_standard_error(cases):
    positive, scores = cases
    result = voros.bootstrap(positive, scores, SCENARIO, metric="auroc", random_state=0)
    # DeLong's variance, from the placements of each case among those of the other class.
    above = np.mean(scores[positive][:, None] > scores[~positive], axis=1)
    below = np.mean(scores[~positive][:, None] < scores[positive], axis=1)
    delong = np.sqrt(np.var(above, ddof=1) / len(above) + np.var(below, ddof=1) / len(below))
    assert result.standard_error == pytest.approx(delong, rel=0.06)
    assert result.high - result.low == pytest.approx(2 * 1.96 * delong, rel=0.12)


def test_models_share_their_resamples(cases):
    positive, scores = cases
    both = voros.bootstrap(
        positive, {"a": scores, "b": scores + 3}, SCENARIO, n_resamples=100, random_state=7
    )
    alone = voros.bootstrap(positive, scores, SCENARIO, n_resamples=100, random_state=7)
    assert np.array_equal(both["a"].distribution, both["b"].distribution)
    assert np.array_equal(both["a"].distribution, alone.distribution)


def test_a_data_frame_of_models_is_read_by_column(cases):
    pandas = pytest.importorskip("pandas")
    positive, scores = cases
    frame = pandas.DataFrame({"a": scores, "b": -scores})
    intervals = voros.bootstrap(positive, frame, SCENARIO, n_resamples=100, random_state=7)
    alone = voros.bootstrap(positive, scores, SCENARIO, n_resamples=100, random_state=7)
    assert list(intervals) == ["a", "b"]
    assert np.array_equal(intervals["a"].distribution, alone.distribution)
    assert intervals["a"].frame("pandas")["low"].tolist() == [intervals["a"].low]


def test_the_same_seed_gives_the_same_interval_and_another_seed_another(cases):
    first, again, other = (
        voros.bootstrap(*cases, SCENARIO, n_resamples=100, random_state=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first.distribution, again.distribution)
    assert not np.array_equal(first.distribution, other.distribution)


def test_limits_are_applied_inside_every_resample(cases):
    result = voros.bootstrap(*cases, SCENARIO, metric="recall", n_resamples=300, random_state=0)
    free = voros.bootstrap(
        *cases, voros.Scenario(cost_ratio=0.1), metric="recall", n_resamples=100, random_state=0
    )
    # 30 % of the cases at a precision of 1 would be the most.
    assert result.distribution.max() < 1
    assert np.all(free.distribution == 1)


def test_where_the_limits_leave_nothing_the_score_is_zero_without_a_warning():
    rng = np.random.default_rng(0)
    positive, scores = rng.random(1200) < 0.1, rng.normal(size=1200)
    strict = voros.Scenario(0.9, 0.5, (0.1, 0.2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = voros.bootstrap(positive, scores, strict, n_resamples=200, random_state=0)
    assert np.any(result.distribution == 0)
    assert result.low >= 0


def test_a_threshold_that_may_be_never_alarm_has_an_infinite_end():
    rng = np.random.default_rng(0)
    positive = rng.random(300) < 0.1
    scores = 0.3 * positive + rng.normal(size=300)
    strict = voros.Scenario(0.6, 0.5, (0.1, 0.2))
    result = voros.bootstrap(
        positive, scores, strict, metric="threshold", n_resamples=300, random_state=0
    )
    assert result.high == np.inf
    assert np.isnan(result.standard_error)


@pytest.mark.slow
def test_cases_that_repeat_within_groups_widen_the_interval(cases):
    positive, scores = (np.repeat(values, 3) for values in cases)
    apart = voros.bootstrap(positive, scores, SCENARIO, n_resamples=500, random_state=0)
    together = voros.bootstrap(
        positive, scores, SCENARIO, groups=np.repeat(np.arange(600), 3), random_state=0
    )
    once = voros.bootstrap(*cases, SCENARIO, random_state=1)
    # Three copies of a case say no more than one.
    assert together.standard_error == pytest.approx(once.standard_error, rel=0.1)
    assert apart.standard_error == pytest.approx(once.standard_error / np.sqrt(3), rel=0.15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "f1"}, "metric='f1'; accepted are 'partial_voros'"),
        ({"method": "basic"}, "method='basic'; accepted are 'auto', 'bca', 'percentile'"),
        ({"method": None}, "method=None; accepted are 'auto'"),
        ({"n_resamples": 10}, "n_resamples=10; accepted is a whole number of at least 100"),
        ({"confidence_level": 1.0}, "confidence_level=1.0; accepted is a number strictly between"),
        ({"groups": np.zeros(600)}, "groups holds one group only"),
        ({"groups": np.zeros(5)}, "y_true has 600, groups has 5"),
    ],
)
def test_bad_arguments_are_refused(cases, arguments, message):
    with pytest.raises(ValueError, match=message):
        voros.bootstrap(*cases, SCENARIO, **arguments)


def test_one_case_of_each_class_says_next_to_nothing():
    result = voros.bootstrap(
        [0, 1], [0.1, 0.9], voros.Scenario(cost_ratio=1.0), n_resamples=100, random_state=0
    )
    # To alarm for nobody or for everybody scores a half where both cost the same.
    assert (result.low, result.estimate, result.high) == (0.5, 1, 1)


def test_a_model_with_bad_scores_is_named(cases):
    positive, scores = cases
    with pytest.raises(ValueError, match="model 'b': y_score holds NaN"):
        voros.bootstrap(positive, {"a": scores, "b": np.where(positive, np.nan, 0.0)}, SCENARIO)
    with pytest.raises(ValueError, match="no model"):
        voros.bootstrap(positive, {}, SCENARIO)


@pytest.mark.slow
def test_two_thousand_resamples_of_the_papers_size_take_less_than_three_seconds():
    rng = np.random.default_rng(0)
    positive = rng.random(7802) < 0.11
    scores = 1.5 * positive + rng.normal(size=7802)
    started = time.process_time()
    voros.bootstrap(positive, scores, voros.Scenario(0.15, 0.5, (1 / 9, 1 / 6)), random_state=0)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("function", [voros.bootstrap, voros.compare])
def test_an_unknown_keyword_is_refused_with_those_accepted(function) -> None:
    scores = {"a": [0.2, 0.8, 0.1, 0.9], "b": [0.3, 0.7, 0.2, 0.8]}
    with pytest.raises(
        TypeError, match=r"n_resample is not an argument .* n_resamples, confidence"
    ):
        function([0, 1, 0, 1], scores, voros.Scenario(cost_ratio=0.1), n_resample=200)
