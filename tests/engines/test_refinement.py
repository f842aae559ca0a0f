"""Refinement ends at the score of all the cases, touching only what can matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voros
from voros.engines import ChangedDataError, count_frame

pl = pytest.importorskip("polars")

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

SMALL = 64
"""Rows per answer: forces many passes on few cases."""


def draw(n_cases, random_state, decimals=None):
    rng = np.random.default_rng(random_state)
    scores = rng.random(n_cases) ** 2 - 0.05
    labels = rng.random(n_cases) < 0.8 * np.abs(scores)
    return labels, scores if decimals is None else scores.round(decimals)


def counted(labels, scores, scenarios, largest_answer=SMALL, **options):
    frame = pl.LazyFrame({"y": labels, "s": scores})
    return count_frame(
        frame,
        label="y",
        scores=["s"],
        scenarios=scenarios,
        largest_answer=largest_answer,
        **options,
    )["s"]


@pytest.mark.slow
def test_is_exact_whatever_the_limits_with_answers_of_few_rows():
    labels, scores = draw(5000, 0)
    for min_precision in (0.0, 0.3, 0.7, 1.0):
        for capacity in (1.0, 0.3, 0.02, 7):
            for cost_ratio in ((0.1, 0.4), 0.25):
                scenario = voros.Scenario(min_precision, capacity, cost_ratio)
                points = counted(labels, scores, [scenario])
                truth = voros.evaluate(labels, scores, scenario)
                assert points.covers.exact
                assert points.covers.interval[0] == pytest.approx(truth.score, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    st.sampled_from([1.0, 0.1, 2]),
    st.sampled_from([None, 0.02, 0.5]),
)
def test_choices_and_limits_are_those_of_all_the_cases(
    random_state, decimals, min_precision, capacity, prevalence
):
    """Thresholds, feasibility and the highest precision, not only the score."""
    labels, scores = draw(700, random_state, decimals)
    scenario = voros.Scenario(min_precision, capacity, (0.2, 0.9), prevalence)
    truth = voros.evaluate(labels, scores, scenario)
    result = voros.evaluate(counted(labels, scores, [scenario]), scenario=scenario)
    assert result.score == pytest.approx(truth.score, abs=1e-12)
    # As text, because the precision of raising no alarm is NaN.
    assert repr(result.choices) == repr(truth.choices)
    assert result.feasible == truth.feasible
    assert result.most_precise == truth.most_precise


def test_a_small_capacity_leaves_most_rows_untouched():
    labels, scores = draw(200_000, 1)
    scenario = voros.Scenario(0.5, 0.01, (1 / 40, 1 / 20))
    points = counted(labels, scores, [scenario], largest_answer=2000)
    assert points.covers.exact
    assert points.covers.usage.rows_counted < 0.05 * 200_000
    assert points.covers.usage.passes <= 4
    assert points.covers.usage.bytes_received < points.covers.usage.passes * 20_000 * 48


@pytest.mark.parametrize("order", [1, -1])
def test_sorted_rows_mislead_the_first_guess_and_not_the_score(order):
    labels, scores = draw(150_000, 2)
    ranked = np.argsort(scores)[::order]
    scenario = voros.Scenario(0.3, 0.01, (0.05, 0.2))
    points = counted(labels[ranked], scores[ranked], [scenario], largest_answer=3000)
    truth = voros.evaluate(labels, scores, scenario)
    assert points.covers.interval == pytest.approx((truth.score, truth.score), abs=1e-12)


def test_a_tolerance_saves_passes_and_is_kept():
    labels, scores = draw(20_000, 3)
    scenario = voros.Scenario(0.2, 0.4, (0.1, 0.5))
    exact = counted(labels, scores, [scenario])
    rough = counted(labels, scores, [scenario], tolerance=0.02)
    low, high = rough.covers.interval
    assert rough.covers.usage.passes < exact.covers.usage.passes
    assert not rough.covers.exact
    assert 0 < high - low <= 0.02
    assert low <= exact.covers.interval[0] <= high


def test_several_scenarios_are_all_served():
    labels, scores = draw(4000, 4)
    scenarios = [voros.Scenario(a, k, (0.1, 0.3)) for a in (0, 0.4) for k in (0.02, 0.6)]
    points = counted(labels, scores, scenarios)
    for scenario in scenarios:
        truth = voros.evaluate(labels, scores, scenario).score
        assert points.covers.bounds(scenario) == pytest.approx((truth, truth), abs=1e-12)


def test_another_scenario_is_bounded_though_not_exact():
    labels, scores = draw(20_000, 5)
    points = counted(labels, scores, [voros.Scenario(0.5, 0.01, (0.05, 0.1))])
    other = voros.Scenario(0.1, 0.8, (0.05, 0.1))
    low, high = points.covers.bounds(other)
    assert low < high
    assert low <= voros.evaluate(labels, scores, other).score <= high


def test_several_models_share_the_passes():
    labels, scores = draw(6000, 6)
    rng = np.random.default_rng(6)
    columns = {"good": scores, "noisy": scores + rng.normal(0, 0.3, 6000), "flat": scores.round(1)}
    scenario = voros.Scenario(0.3, 0.2, (0.1, 0.3))
    frame = pl.LazyFrame({"y": labels, **columns})
    by_model = count_frame(
        frame, label="y", scores=list(columns), scenarios=[scenario], largest_answer=SMALL
    )
    alone = [counted(labels, column, [scenario]).covers.usage.passes for column in columns.values()]
    for name, column in columns.items():
        truth = voros.evaluate(labels, column, scenario).score
        assert by_model[name].covers.interval[0] == pytest.approx(truth, abs=1e-12)
        assert by_model[name].covers.exact
    assert by_model["good"].covers.usage.passes < sum(alone)


def test_without_a_scenario_every_score_is_counted():
    labels, scores = draw(3000, 7, decimals=2)
    points = counted(labels, scores, [], largest_answer=200)
    truth = voros.OperatingPoints.from_scores(labels, scores)
    assert points.thresholds.tolist() == truth.thresholds.tolist()
    assert points.tp.tolist() == truth.tp.tolist()
    assert points.fp.tolist() == truth.fp.tolist()


def test_too_many_scores_ask_for_a_scenario():
    labels, scores = draw(3000, 8)
    with pytest.raises(ValueError, match=r"more than 200 distinct scores; pass a scenario"):
        counted(labels, scores, [], largest_answer=200)


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_thresholds_that_are_shown_are_scores_that_occur(tolerance):
    labels, scores = draw(8000, 9)
    scenario = voros.Scenario(0.3, 0.4, (0.1, 0.3))
    points = counted(labels, scores, [scenario], tolerance=tolerance)
    result = voros.evaluate(points, scenario=scenario)
    shown = [choice.threshold for choice in result.choices] + [result.most_precise.threshold]
    assert np.isin(shown, scores).all()
    # The others are edges of ranges, and set with the same alarms.
    for threshold, alarms in zip(points.thresholds, points.alarms, strict=True):
        assert np.count_nonzero(scores >= threshold) == alarms


def test_every_score_equal():
    labels = np.array([True, False, True, False])
    points = counted(labels, np.full(4, 0.5), [voros.Scenario(0.3, 1.0, 0.5)])
    assert points.thresholds.tolist() == [np.inf, 0.5]


def test_rows_that_change_between_passes_are_an_error():
    """A frame drawn at random at every pass must not end in a number."""
    labels, scores = draw(50_000, 10)
    rng = np.random.default_rng(10)
    frame = pl.LazyFrame({"y": labels, "s": scores}).with_columns(
        pl.col("s").map_batches(lambda s: s + rng.normal(0, 0.1, len(s)), return_dtype=pl.Float64)
    )
    with pytest.raises(ChangedDataError, match="between passes"):
        count_frame(
            frame,
            label="y",
            scores=["s"],
            scenarios=[voros.Scenario(0.3, 0.9, (0.1, 0.3))],
            largest_answer=SMALL,
        )


def test_rows_above_the_cut_that_vanish_are_an_error(monkeypatch):
    """The sample shows scores above a cut, and the next pass finds none there."""
    monkeypatch.setattr("voros.engines.search.SAMPLE_ROWS", 1000)
    labels, scores = draw(20_000, 10)
    calls = []

    def halved_later(column):
        calls.append(len(column))
        return column if len(calls) <= 2 else column * 0.5

    frame = pl.LazyFrame({"y": labels, "s": scores}).with_columns(
        pl.col("s").map_batches(halved_later, return_dtype=pl.Float64)
    )
    scenario = voros.Scenario(0.1, 0.05, (0.1, 0.3))
    with pytest.raises(ChangedDataError, match="between passes"):
        count_frame(frame, label="y", scores=["s"], scenarios=[scenario], largest_answer=4000)


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, float("nan")])
def test_a_tolerance_out_of_range_is_refused(tolerance):
    labels, scores = draw(50, 11)
    with pytest.raises(ValueError, match=r"tolerance=.* accepted is a number within \[0, 1\)"):
        counted(labels, scores, [], tolerance=tolerance)


def test_a_capacity_of_less_than_one_case_before_reweighting():
    """At a lower prevalence a positive weighs less than one case, and may fit the capacity."""
    labels, scores = draw(45, 12)
    scenario = voros.Scenario(0.0, 0.02, (0.2, 0.9), prevalence=0.05)
    points = counted(labels, scores, [scenario])
    truth = voros.evaluate(labels, scores, scenario)
    assert truth.max_alarms < 1
    assert points.covers.interval == pytest.approx((truth.score, truth.score), abs=1e-12)


@pytest.mark.slow
def test_very_many_rows_get_an_interval_unless_exactness_is_asked_for(monkeypatch):
    labels, scores = draw(20_000, 13)
    scenario = voros.Scenario(0.2, 0.6, (0.1, 0.5))
    monkeypatch.setattr("voros.engines.search.MANY_ROWS", 19_999)
    monkeypatch.setattr("voros.engines.search.ENOUGH", 0.01)
    rough = counted(labels, scores, [scenario])
    low, high = rough.covers.interval
    assert (rough.covers.tolerance, rough.covers.exact) == (0.01, False)
    assert low < voros.evaluate(labels, scores, scenario).score <= high <= low + 0.01
    assert counted(labels, scores, [scenario], tolerance=0).covers.exact
    monkeypatch.setattr("voros.engines.search.MANY_ROWS", 20_000)
    assert counted(labels, scores, [scenario]).covers.exact


def test_alternating_labels_stop_at_an_interval_unless_exactness_is_asked_for(monkeypatch):
    """They leave every bin open at a cost ratio of one, and hardly anything elsewhere."""
    monkeypatch.setattr("voros.engines.search.MANY_OPEN", 1000)
    monkeypatch.setattr("voros.engines.search.ENOUGH", 1e-3)
    scores, labels = np.arange(30_000) / 30_000, np.arange(30_000) % 2 == 0
    scenario = voros.Scenario(cost_ratio=(0.01, 1.0))
    truth = voros.evaluate(labels, scores, scenario).score
    points = counted(labels, scores, [scenario], largest_answer=4000)
    low, high = points.covers.interval
    assert low <= truth <= high <= low + 1e-3
    assert not points.covers.exact
    assert voros.evaluate(points, scenario=scenario).score == low
    exact = counted(labels, scores, [scenario], largest_answer=4000, tolerance=0)
    assert exact.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    assert points.covers.usage.passes < exact.covers.usage.passes


def test_a_sorted_file_misleads_the_scale_for_one_pass(monkeypatch):
    monkeypatch.setattr("voros.engines.search.SAMPLE_ROWS", 500)
    labels, scores = draw(30_000, 14)
    order = np.argsort(scores)
    scenario = voros.Scenario(cost_ratio=(0.1, 0.4))
    points = counted(labels[order], scores[order], [scenario], largest_answer=5000)
    truth = voros.evaluate(labels, scores, scenario).score
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)
    assert points.covers.usage.passes <= 5
