"""Scores made from few points are the scores of all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import voros
from voros import OperatingPoints, Scenario, evaluate
from voros.core.cases import check_scores
from voros.core.pruning import CasesInMemory, pruned_points, within_reach
from voros.evaluation import Evaluation

pytestmark = pytest.mark.filterwarnings("ignore::voros.VorosWarning")

TINY_STEPS = {"MANY_CASES": 4, "CACHED": 16, "CASES_PER_RANGE": 2, "MOST_RANGES": 8}
"""So that a handful of cases is split as often as millions are."""

SHAPES = {
    "plain": lambda z: z,
    "ties": lambda z: z.round(1),
    "few distinct": lambda z: z.round(0),
    "heavy tail": lambda z: np.exp(20 * z),
    "some never": lambda z: np.where(z < -1, -np.inf, z),
    "some certain": lambda z: np.where(z > 1.5, np.inf, z),
    "huge": lambda z: z * 2e307,
    "denormal": lambda z: z * 5e-323,
    "signed zeros": lambda z: np.where(np.abs(z) < 0.5, np.copysign(0.0, z), z),
    "probabilities": lambda z: 1 / (1 + np.exp(-5 * z)),
    "whole": lambda z: (10 * z).astype(np.int64),
    "bytes": lambda z: np.clip(10 * z + 100, 0, 255).astype(np.uint8),
    "single": lambda z: z.astype(np.float32),
}

COSTS = [
    0.2,
    (0.05, 0.1),
    (0.5, 3.0),
    voros.costs.uniform_t(0, 1),
    voros.costs.miss_costs(2, 30),
]


def make_cases(n_cases, shape, seed, prevalence=0.2):
    rng = np.random.default_rng(seed)
    positive = rng.random(n_cases) < prevalence
    positive[:2] = True, False
    signal = rng.normal(size=n_cases) + 1.2 * positive
    return positive, check_scores(SHAPES[shape](signal))


def chosen(result: Evaluation) -> list[tuple[float, ...]]:
    return [(c.cost_ratio_low, c.cost_ratio_high, c.threshold, c.tp, c.fp) for c in result.choices]


def assert_same_result(few: OperatingPoints, positive, scores, scenario) -> None:
    """Compare a score and its choices with those of all thresholds."""
    got, expected = evaluate(few, scenario=scenario), evaluate(positive, scores, scenario)
    assert got.score == pytest.approx(expected.score, abs=1e-12)
    assert chosen(got) == chosen(expected)


def assert_true_counts(few: OperatingPoints, positive, scores) -> None:
    for threshold, tp, fp in zip(few.thresholds[1:], few.tp[1:], few.fp[1:], strict=True):
        alarms = scores >= threshold
        assert (tp, fp) == (np.sum(alarms & positive), np.sum(alarms & ~positive))


@st.composite
def scenarios(draw):
    return Scenario(
        draw(st.sampled_from([0.0, 0.15, 0.5, 0.9, 1.0])),
        draw(st.sampled_from([1.0, 0.5, 0.2, 3, 10])),
        draw(st.sampled_from(COSTS)),
        draw(st.sampled_from([None, None, 0.1, 0.6])),
    )


@settings(max_examples=500, deadline=None)
@given(
    st.integers(20, 200),
    st.sampled_from(list(SHAPES)),
    st.integers(0, 2**32),
    st.sampled_from([0.05, 0.3, 0.8]),
    scenarios(),
)
@pytest.mark.slow
def test_split_down_to_a_few_cases(n_cases, shape, seed, prevalence, scenario):
    positive, scores = make_cases(n_cases, shape, seed, prevalence)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in TINY_STEPS.items():
            patch.setattr(f"voros.core.pruning.{name}", value)
        few = pruned_points(CasesInMemory(positive, scores), scenario)
    assert_same_result(few, positive, scores, scenario)
    assert_true_counts(few, positive, scores)


@pytest.mark.parametrize("shape", SHAPES)
def test_as_many_cases_as_it_is_made_for(shape):
    positive, scores = make_cases(200_000, shape, seed=5)
    for scenario in (Scenario(0.5, 0.1, (1 / 40, 1 / 20)), Scenario(0.15, 0.5, (1 / 9, 1 / 6))):
        few = pruned_points(CasesInMemory(positive, scores), scenario)
        assert_same_result(few, positive, scores, scenario)


def test_only_few_points_are_left_of_many():
    positive, scores = make_cases(400_000, "plain", seed=1)
    few = pruned_points(
        CasesInMemory(positive, scores), Scenario(cost_ratio=voros.costs.uniform_t(0, 1))
    )
    assert len(few) < len(scores) / 20


def test_that_something_is_feasible_shows_where_alarms_are_never_worth_it():
    positive, scores = make_cases(200_000, "plain", seed=2)
    scenario = Scenario(0.1, 0.5, cost_ratio=1e9)
    few = pruned_points(CasesInMemory(positive, scores), scenario)
    assert evaluate(few, scenario=scenario).feasible
    assert_same_result(few, positive, scores, scenario)


WEIGHTS = {
    "fractions": lambda rng, n: rng.random(n) + 0.1,
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(float),
    "uneven": lambda rng, n: np.exp(4 * rng.normal(size=n)),
    "huge": lambda rng, n: (rng.random(n) + 0.1) * 1e100,
    "tiny": lambda rng, n: (rng.random(n) + 0.1) * 1e-100,
}


def assert_same_weighted_result(few, positive, scores, weights, scenario):
    """Compare a score and its choices with those of all thresholds, sorted and summed."""
    every = OperatingPoints.from_scores(positive, scores, sample_weight=weights)
    got, expected = evaluate(few, scenario=scenario), evaluate(every, scenario=scenario)
    assert got.score == pytest.approx(expected.score, abs=1e-12)
    assert [c.threshold for c in got.choices] == [c.threshold for c in expected.choices]
    for one, other in zip(got.choices, expected.choices, strict=True):
        assert (one.tp, one.fp) == pytest.approx((other.tp, other.fp), rel=1e-11)
    assert (few.n_positive, few.n_negative) == (every.n_positive, every.n_negative)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(20, 200),
    st.sampled_from(list(SHAPES)),
    st.sampled_from(list(WEIGHTS)),
    st.integers(0, 2**32),
    scenarios().filter(lambda scenario: not scenario.capacity_is_count),
)
@pytest.mark.slow
def test_weighted_cases_are_split_down_to_a_few(n_cases, shape, kind, seed, scenario):
    positive, scores = make_cases(n_cases, shape, seed)
    weights = WEIGHTS[kind](np.random.default_rng(seed), n_cases)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in TINY_STEPS.items():
            patch.setattr(f"voros.core.pruning.{name}", value)
        few = pruned_points(CasesInMemory(positive, scores, weights), scenario)
    assert_same_weighted_result(few, positive, scores, weights, scenario)


@pytest.mark.parametrize("shape", ["plain", "heavy tail", "probabilities", "single"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_as_many_weighted_cases_as_it_is_made_for(shape, kind):
    positive, scores = make_cases(100_000, shape, seed=5)
    weights = WEIGHTS[kind](np.random.default_rng(6), 100_000)
    for scenario in (Scenario(0.5, 0.1, (1 / 40, 1 / 20)), Scenario(0.15, 0.5, (1 / 9, 1 / 6))):
        few = pruned_points(CasesInMemory(positive, scores, weights), scenario)
        assert_same_weighted_result(few, positive, scores, weights, scenario)


def test_whole_weights_are_repetitions_where_few_points_are_counted():
    positive, scores = make_cases(60_000, "plain", seed=7)
    weights = np.random.default_rng(7).integers(1, 4, 60_000)
    scenario = Scenario(0.4, 0.2, (0.1, 0.3))
    score = voros.partial_voros_score(positive, scores, scenario, sample_weight=weights)
    repeated = np.repeat(positive, weights), np.repeat(scores, weights)
    assert score == pytest.approx(voros.partial_voros_score(*repeated, scenario), abs=1e-12)


@pytest.mark.parametrize("order", ["shuffled", "sorted", "heavy first"])
def test_the_weight_guessed_from_a_sample_never_cuts_off_what_is_feasible(order):
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=100_000), np.exp(3 * rng.normal(size=100_000))
    if order == "sorted":
        scores = np.sort(scores)
    if order == "heavy first":
        # The strided sample sees the heaviest cases only.
        weights = np.sort(weights).reshape(50, -1).T.ravel()
    for share in (1e-4, 0.01, 0.3, 0.9):
        marked = within_reach(scores, share * weights.sum(), weights)
        lowest = scores[marked].min()
        assert np.array_equal(marked, scores >= lowest)
        assert weights[marked].sum() > share * weights.sum() or marked.all()
