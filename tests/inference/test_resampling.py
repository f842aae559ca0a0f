"""A resample by weights is what copying its rows would give, and draws follow their plan."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import voros
from voros.inference.resampling import MOST_REDRAWS, Ranked, Sampling
from voros.inference.statistics import Measure

SCENARIOS = (
    voros.Scenario(0.15, 0.5, (1 / 9, 1 / 6)),
    voros.Scenario(0.5, 0.1, voros.costs.miss_costs(20, 40)),
    voros.Scenario(0.3, 25, 1 / 20),
    voros.Scenario(0.2, 0.3, voros.costs.uniform_t(0.1, 0.6), prevalence=0.05),
    voros.Scenario(1.0, 0.2, (0.1, 0.2)),
    voros.Scenario(0.0, 1.0, (0.1, 0.2)),
)


@pytest.fixture(params=["distinct scores", "tied scores"])
def cases(request):
    rng = np.random.default_rng(3)
    positive = rng.random(400) < 0.15
    scores = positive + rng.normal(size=400)
    return positive, scores.round(1) if request.param == "tied scores" else scores


def resampled(positive, scores, n=25, **plan):
    ranked = Ranked.from_cases(positive, scores, worthwhile=True)
    for counts in Sampling.from_cases(positive, **plan).resamples(n, np.random.default_rng(0)):
        yield ranked, counts


@pytest.mark.parametrize("scenario", SCENARIOS, ids=range(len(SCENARIOS)))
def test_partial_voros_of_a_resample_equals_recomputing_it_from_scratch(cases, scenario):
    positive, scores = cases
    measure = Measure.from_metric("partial_voros", scenario)
    limits = {
        "min_precision": scenario.min_precision,
        "capacity": scenario.capacity,
        "cost_ratio": scenario.costs,
        "prevalence": scenario.prevalence,
    }
    for ranked, counts in resampled(positive, scores):
        value = measure.compute([ranked.points(counts)])[0]
        rows = np.repeat(np.arange(400), counts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", voros.VorosWarning)
            copied = voros.partial_voros_score(positive[rows], scores[rows], **limits)
            weighted = voros.partial_voros_score(positive, scores, sample_weight=counts, **limits)
        assert value == pytest.approx(copied, abs=1e-9)
        assert value == pytest.approx(weighted, abs=1e-9)


@pytest.mark.parametrize("metric", ["voros", "partial_auroc", "recall"])
def test_selection_metrics_of_a_resample_equal_those_of_copied_rows(cases, metric):
    positive, scores = cases
    scenario = SCENARIOS[0]
    measure = Measure.from_metric(metric, scenario)
    ranked = Ranked.from_cases(positive, scores, worthwhile=measure.worthwhile_only)
    for _, counts in resampled(positive, scores, n=10):
        rows = np.repeat(np.arange(400), counts)
        copied = voros.select_model(positive[rows], {"a": scores[rows]}, scenario).ranking[0]
        assert measure.compute([ranked.points(counts)])[0] == pytest.approx(
            getattr(copied, metric), abs=1e-12
        )


def test_auroc_of_a_resample_is_scikit_learns(cases):
    positive, scores = cases
    measure = Measure.from_metric("auroc", SCENARIOS[0])
    ranked = Ranked.from_cases(positive, scores)
    for _, counts in resampled(positive, scores, n=10):
        expected = roc_auc_score(positive, scores, sample_weight=counts)
        assert measure.compute([ranked.points(counts)])[0] == pytest.approx(expected, abs=1e-12)


def test_expected_cost_and_threshold_of_a_resample_are_those_of_a_policy_made_on_it(cases):
    positive, scores = cases
    scenario = SCENARIOS[0]
    cost, threshold = (
        Measure.from_metric(m, scenario).compute for m in ("expected_cost", "threshold")
    )
    for ranked, counts in resampled(positive, scores, n=10):
        rows = np.repeat(np.arange(400), counts)
        policy = voros.ThresholdPolicy.from_validation(positive[rows], scores[rows], scenario)
        points = [ranked.points(counts)]
        account = policy.evaluate(positive[rows], scores[rows], by_cost=True)
        assert cost(points)[0] == pytest.approx(account.expected_cost, abs=1e-12)
        assert threshold(points)[0] == policy.threshold()


def test_cases_are_drawn_as_often_as_there_are_of_them():
    positive = np.arange(50) < 20
    draws = np.array(list(Sampling.from_cases(positive).resamples(2000, np.random.default_rng(1))))
    assert set(draws.sum(axis=1)) == {50}
    # Multinomial: each count has mean 1 and variance 1 - 1/n.
    assert draws.mean() == 1
    assert draws.var(axis=0).mean() == pytest.approx(1 - 1 / 50, abs=0.02)
    assert np.std(draws[:, positive].sum(axis=1)) == pytest.approx(np.sqrt(50 * 0.24), rel=0.05)


def test_groups_are_drawn_whole():
    groups = np.array(["x", "y", "x", "z", "y", "x"])
    positive = np.array([1, 0, 0, 1, 1, 0], dtype=bool)
    sampling = Sampling.from_cases(positive, groups=groups)
    for counts in sampling.resamples(50, np.random.default_rng(1)):
        assert counts.sum() == len(counts) == 3
        by_case = counts[sampling.units]
        by_subgroup = {name: set(by_case[groups == name]) for name in groups}
        assert all(len(drawn) == 1 for drawn in by_subgroup.values())


def test_a_resample_of_one_class_is_drawn_again():
    positive = np.array([True] + [False] * 9)
    for counts in Sampling.from_cases(positive).resamples(200, np.random.default_rng(0)):
        assert counts[0] > 0
        assert counts[1:].sum() > 0


def test_groups_that_cannot_give_both_classes_are_refused():
    positive = np.array([True, False, False])
    # Group 1 alone has both classes, and half of the draws hold it.
    assert list(
        Sampling.from_cases(positive, groups=[1, 1, 2]).resamples(5, np.random.default_rng(0))
    )
    sampling = Sampling(positive, np.array([0, 0, 0]), 1)
    assert list(sampling.resamples(2, np.random.default_rng(0)))
    alone = Sampling(np.array([True, True]), np.array([0, 1]), 2)
    with pytest.raises(ValueError, match=f"{MOST_REDRAWS} resamples in a row held one class"):
        list(alone.resamples(1, np.random.default_rng(0)))


def test_every_case_is_left_out_once():
    positive = np.arange(900) < 90
    for plan in ({}, {"groups": np.arange(900) // 3}):
        blocks = list(Sampling.from_cases(positive, **plan).blocks(np.random.default_rng(0)))
        assert np.all(np.sum(1 - np.array(blocks), axis=0) == 1)


def test_a_case_without_a_group_is_refused():
    positive = np.array([True, False, True])
    with pytest.raises(ValueError, match="groups is missing in 1 of 3 cases"):
        Sampling.from_cases(positive, groups=np.array([1.0, np.nan, 1.0]))


@pytest.mark.parametrize("scenario", SCENARIOS[:3], ids=range(3))
def test_cases_beyond_the_capacity_change_no_resample(cases, scenario):
    positive, scores = (np.tile(part, 5) for part in cases)
    measure = Measure.from_metric("partial_voros", scenario)
    for ranked, counts in resampled(positive, scores):
        most = scenario.max_alarms(len(positive), 0.0)
        few = ranked.within_alarms(most)
        assert len(few.units) < len(ranked.units)
        parts = few.points(counts), ranked.points(counts)
        assert parts[0].n_positive == parts[1].n_positive
        assert parts[0].n_negative == parts[1].n_negative
        np.testing.assert_array_equal(*measure.compute(parts)[:, None])


def test_fewer_thresholds_hardly_move_the_resamples_of_a_difference():
    rng = np.random.default_rng(0)
    positive = rng.random(40_000) < 0.15
    models = [
        Ranked.from_cases(positive, d * positive + rng.normal(size=40_000), worthwhile=True)
        for d in (1, 2)
    ]
    draws = list(Sampling.from_cases(positive).resamples(30, rng))
    measure = Measure.from_metric("partial_voros", SCENARIOS[0])

    def differences(ranked):
        first, second = (
            measure.compute([one.points(counts) for counts in draws]) for one in ranked
        )
        return second - first

    exact, thinned = differences(models), differences([one.thinned(2000) for one in models])
    assert np.abs(thinned - exact).max() > 0
    assert np.abs(thinned - exact).mean() < 0.05 * exact.std()
