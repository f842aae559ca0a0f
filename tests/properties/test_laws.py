"""Laws that hold for every data set, scenario and curve."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import voros
from voros import costs
from voros.core.decision import solve

pytestmark = pytest.mark.filterwarnings("ignore::voros.exceptions.InvertedCostsWarning")
"""Laws hold where false alarms cost more than misses, too."""

ROUNDING = 1e-12
# `make test-slow` searches longer.
EXAMPLES = 150 if "VOROS_THOROUGH" in os.environ else 40
many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    # Inputs that contradict themselves are drawn again; with some seeds most of the first ones do.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@st.composite
def data_sets(draw, max_cases: int = 40):
    n_cases = draw(st.integers(2, max_cases))
    y_true = np.array(draw(st.lists(st.booleans(), min_size=n_cases, max_size=n_cases)))
    assume(0 < y_true.sum() < n_cases)
    # Few distinct scores, so that ties are common.
    y_score = draw(st.lists(st.integers(-8, 8), min_size=n_cases, max_size=n_cases))
    return y_true.astype(int), np.array(y_score, dtype=float)


@st.composite
def scenarios(draw, n_cases: int | None = None):
    low = draw(st.floats(0.001, 5.0))
    cost_ratio = draw(
        st.sampled_from(
            [
                low,
                (low, low * 1.7),
                costs.miss_costs(1 / (2 * low), 1 / low),
                costs.uniform_t(0.05, 0.8),
                costs.from_samples([low, low * 3], weights=[1, 2]),
            ]
        )
    )
    return {
        "min_precision": draw(st.sampled_from([0.0, 0.05, 0.15, 0.5, 0.8, 0.99, 1.0])),
        "capacity": draw(st.sampled_from([0.5, 0.6, 0.75, 1.0, 1, 3])),
        "cost_ratio": cost_ratio,
        "min_recall": draw(st.sampled_from([None, None, 0.0, 0.2, 0.5, 0.9, 1.0])),
    }


def score(y_true, y_score, scenario, **more) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        try:
            return voros.partial_voros_score(y_true, y_score, **scenario, **more)
        except voros.InfeasibleError as error:
            # No classifier finds as many positives within the capacity.
            assume("contradict" not in str(error))
            raise


@many
@given(data_sets(), scenarios())
def test_within_zero_and_one(data, scenario) -> None:
    assert 0.0 <= score(*data, scenario) <= 1.0


@many
@given(data_sets(), scenarios())
def test_unchanged_by_increasing_transforms_of_the_score(data, scenario) -> None:
    y_true, y_score = data
    expected = score(y_true, y_score, scenario)
    for transformed in (3 * y_score - 7, np.exp(y_score), np.arctan(y_score), y_score**3):
        assert score(y_true, transformed, scenario) == expected


@many
@given(data_sets(), scenarios(), st.randoms(use_true_random=False))
def test_unchanged_by_the_order_of_rows(data, scenario, random) -> None:
    y_true, y_score = data
    order = list(range(len(y_true)))
    random.shuffle(order)
    assert score(y_true[order], y_score[order], scenario) == score(y_true, y_score, scenario)


@many
@given(data_sets(max_cases=15), scenarios(), st.data())
def test_weights_equal_repetition(data, scenario, more) -> None:
    y_true, y_score = data
    drawn = more.draw(st.lists(st.integers(0, 4), min_size=len(y_true), max_size=len(y_true)))
    weights = np.array(drawn)
    assume(weights[y_true == 1].sum() > 0 and weights[y_true == 0].sum() > 0)
    assume(weights.sum() >= 2)
    repeated = np.repeat(y_true, weights), np.repeat(y_score, weights)
    try:
        expected = score(*repeated, scenario)
    except voros.InfeasibleError:
        return
    # One weighted row is one case to the smallest-capacity rule; that differs by design.
    assume(not isinstance(scenario["capacity"], int) or weights[weights > 0].min() == 1)
    assert score(y_true, y_score, scenario, sample_weight=weights) == pytest.approx(
        expected, abs=ROUNDING
    )


@many
@given(data_sets(), scenarios(), st.floats(0.1, 100))
def test_unchanged_by_rescaling_all_weights(data, scenario, factor) -> None:
    assume(not isinstance(scenario["capacity"], int))
    y_true, y_score = data
    weights = np.full(len(y_true), factor)
    assert score(y_true, y_score, scenario, sample_weight=weights) == pytest.approx(
        score(y_true, y_score, scenario), abs=ROUNDING
    )


@many
@given(data_sets(), scenarios())
def test_naming_the_sample_prevalence_changes_nothing(data, scenario) -> None:
    y_true, y_score = data
    assert score(y_true, y_score, scenario, prevalence=float(y_true.mean())) == pytest.approx(
        score(y_true, y_score, scenario), abs=ROUNDING
    )


@many
@given(data_sets(), scenarios(), st.sampled_from([0.1, 0.2, 0.5]))
def test_a_deployment_prevalence_is_a_reweighting_of_the_classes(
    data, scenario, prevalence
) -> None:
    y_true, y_score = data
    share, n_cases = y_true.mean(), len(y_true)
    weights = np.where(y_true == 1, prevalence / share, (1 - prevalence) / (1 - share))
    assume(isinstance(scenario["capacity"], int) or scenario["capacity"] * n_cases > 1)
    assume(min(weights) <= (scenario["capacity"] if isinstance(scenario["capacity"], int) else 1))
    assert score(y_true, y_score, scenario, prevalence=prevalence) == pytest.approx(
        score(y_true, y_score, scenario, sample_weight=weights), abs=ROUNDING
    )


@many
@given(data_sets(), scenarios(), st.integers(0, 10**6))
def test_a_dominating_curve_never_scores_less(data, scenario, seed) -> None:
    y_true, y_score = data
    rng = np.random.default_rng(seed)
    # Raise positives, lower negatives, and break ties in favour of positives: then every number
    # of alarms is possible and holds at least as many right ones as before.
    moved = y_score + np.where(y_true == 1, 1, -1) * rng.integers(0, 4, len(y_true))
    better = np.empty(len(y_true))
    better[np.lexsort((y_true, moved))] = np.arange(len(y_true))
    assert score(y_true, better, scenario) >= score(y_true, y_score, scenario) - ROUNDING


@many
@given(data_sets(), scenarios(), st.integers(0, 10**6))
def test_more_thresholds_never_score_less(data, scenario, seed) -> None:
    points = voros.OperatingPoints.from_scores(*data)
    kept = np.random.default_rng(seed).random(len(points)) < 0.5
    kept[0] = True
    fewer = voros.OperatingPoints.from_counts(
        points.tp[kept], points.fp[kept], points.n_positive, points.n_negative
    )
    assert score(fewer, None, scenario) <= score(points, None, scenario) + ROUNDING


@many
@given(data_sets(), scenarios())
def test_no_limits_is_voros(data, scenario) -> None:
    y_true, y_score = data
    free = {"min_precision": 0.0, "capacity": 1.0, "cost_ratio": scenario["cost_ratio"]}
    as_count = free | {"capacity": len(y_true)}
    plain = voros.voros_score(y_true, y_score, cost_ratio=scenario["cost_ratio"])
    assert score(y_true, y_score, free) == plain == score(y_true, y_score, as_count)


@many
@given(data_sets(), scenarios(), st.floats(0.01, 3))
def test_a_known_cost_is_the_limit_of_a_shrinking_interval(data, scenario, ratio) -> None:
    known = score(*data, scenario | {"cost_ratio": ratio})
    for width in (1e-6, 1e-9, 1e-12):
        narrow = score(*data, scenario | {"cost_ratio": (ratio, ratio * (1 + width))})
        # The share of the region falls at most in proportion to the turn of the line.
        assert narrow == pytest.approx(known, abs=50 * width + 1e-9)


@many
@given(data_sets(), scenarios())
def test_evaluate_tells_the_same_score(data, scenario) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        expected = score(*data, scenario)
        result = voros.evaluate(*data, voros.Scenario(**scenario))
    assert result.score == pytest.approx(expected, abs=ROUNDING)


@many
@given(data_sets(), scenarios())
def test_looser_limits_never_raise_the_cost_of_the_best_threshold(data, scenario) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        score(*data, scenario)
        strict = voros.evaluate(*data, voros.Scenario(**scenario))
        free = voros.evaluate(*data, voros.Scenario(cost_ratio=scenario["cost_ratio"]))
    for ratio in (0.01, 0.1, 1.0):
        costs_of = [
            min(
                ratio * fp - tp
                for tp, fp in zip(e.points.tp[e.hull.index], e.points.fp[e.hull.index], strict=True)
            )
            for e in (free, strict)
        ]
        assert costs_of[0] <= costs_of[1]


@many
@given(data_sets(), scenarios(), st.floats(0, 1))
def test_a_lower_recall_floor_never_raises_the_cost_of_the_best_threshold(
    data, scenario, share
) -> None:
    floor = scenario["min_recall"] or 0.5
    points = voros.OperatingPoints.from_scores(*data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        strict, lower = (
            solve(points, voros.Scenario(**scenario | {"min_recall": recall}))
            for recall in (floor, share * floor)
        )
    assert not (strict.feasible[1:] & ~lower.feasible[1:]).any()
    assert strict.can_alarm <= lower.can_alarm
    if not strict.can_alarm:
        return
    for ratio in (0.01, 0.1, 1.0):
        cost = ratio * points.fp - points.tp
        assert cost[lower.feasible].min() <= cost[strict.feasible].min()
    # What the floor adds is a cut: the region shrinks.
    assert strict.region.area <= lower.region.area + ROUNDING
