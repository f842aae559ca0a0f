from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certified import certified_policy
from scipy.stats import norm

import voros
from voros import Guarantee, OperatingPoints, Scenario, ThresholdPolicy
from voros.guarantee.shortfall import repeated

SCENARIO = Scenario(min_precision=0.4, capacity=0.2, cost_ratio=(1 / 20, 1 / 10))
GUARANTEES = [Guarantee(), Guarantee(horizon=1500)]
SLOW_TO_EXPLAIN = [GUARANTEES[0], pytest.param(GUARANTEES[1], marks=pytest.mark.slow)]


def sample(
    rng: np.random.Generator, n_cases: int, prevalence: float = 0.1, separation: float = 1.8
) -> tuple[np.ndarray, np.ndarray]:
    positive = rng.random(n_cases) < prevalence
    return positive, rng.normal(size=n_cases) + separation * positive


def true_rates(
    threshold: float, prevalence: float = 0.1, separation: float = 1.8
) -> tuple[float, float]:
    """Precision and share of alarms in the population."""
    tp_share = prevalence * norm.sf(threshold - separation)
    alarms = tp_share + (1 - prevalence) * norm.sf(threshold)
    return tp_share / alarms, alarms


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_what_is_allowed_is_feasible_and_never_alarm_always_is(guarantee: Guarantee) -> None:
    points = OperatingPoints.from_scores(*sample(np.random.default_rng(0), 2000))
    allowed = guarantee.allowed(points, SCENARIO)
    assert allowed[0]
    assert allowed[1:].any()
    assert not (allowed & ~points.feasible(SCENARIO)).any()


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_order_of_cases_and_the_scale_of_scores_do_not_matter(guarantee: Guarantee) -> None:
    rng = np.random.default_rng(3)
    positive, scores = sample(rng, 2000)
    order = rng.permutation(2000)
    one = OperatingPoints.from_scores(positive, scores)
    other = OperatingPoints.from_scores(positive[order], np.exp(scores[order]))
    np.testing.assert_array_equal(
        guarantee.allowed(one, SCENARIO), guarantee.allowed(other, SCENARIO)
    )


@pytest.mark.slow
def test_more_confidence_and_a_shorter_horizon_allow_fewer_alarms() -> None:
    points = OperatingPoints.from_scores(*sample(np.random.default_rng(1), 6000))

    def most(guarantee: Guarantee) -> int:
        return int(points.alarms[guarantee.allowed(points, SCENARIO)].max())

    assert most(Guarantee(0.99)) < most(Guarantee(0.9)) < most(Guarantee(0.5))
    assert most(Guarantee(horizon=500)) < most(Guarantee(horizon=6000)) <= most(Guarantee())


def test_a_policy_deploys_only_what_is_certified() -> None:
    positive, scores = sample(np.random.default_rng(2), 3000)
    points = OperatingPoints.from_scores(positive, scores)
    for guarantee in GUARANTEES:
        policy = ThresholdPolicy.from_validation(
            positive, scores, SCENARIO, guarantee=guarantee, n_models=1
        )
        certified = points.thresholds[guarantee.allowed(points, SCENARIO)]
        assert set(policy.thresholds.tolist()) <= set(certified.tolist())


def test_a_floor_alone_and_a_capacity_alone() -> None:
    points = OperatingPoints.from_scores(*sample(np.random.default_rng(4), 3000))
    floor = Scenario(min_precision=0.4, cost_ratio=0.05)
    room = Scenario(capacity=0.2, cost_ratio=0.05)
    for guarantee in (Guarantee(), Guarantee(horizon=3000)):
        assert points.alarms[guarantee.allowed(points, floor)].max() > 100
        most = points.alarms[guarantee.allowed(points, room)].max()
        # 600 alarms are allowed; the scores alone are uncertain by some 22, or 31, of them.
        assert 530 < most < 580


def test_perfect_precision_cannot_be_certified() -> None:
    points = OperatingPoints.from_scores(*sample(np.random.default_rng(4), 3000))
    strict = Scenario(min_precision=1.0, cost_ratio=0.05)
    for guarantee in GUARANTEES:
        assert not guarantee.allowed(points, strict)[1:].any()


def broken_share(guarantee: Guarantee | None, runs: int, seed: int, **population: Any) -> float:
    """Share of validations whose policy breaks a limit, in the population or the next cases."""
    rng, broken = np.random.default_rng(seed), 0
    for _ in range(runs):
        points = OperatingPoints.from_scores(*sample(rng, 1500, **population))
        policy = certified_policy(points, SCENARIO, guarantee)
        if guarantee is None or guarantee.horizon is None:
            used = [policy.threshold(c) for c in (0.051, 0.075, 0.099)]
            rates = [true_rates(t, **population) for t in used if np.isfinite(t)]
            broken += any(
                precision < SCENARIO.min_precision or share > SCENARIO.capacity
                for precision, share in rates
            )
        else:
            future = sample(rng, guarantee.horizon, **population)
            broken += not policy.evaluate(*future, by_cost=True).satisfied
    return broken / runs


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize("guarantee", [Guarantee(0.9), Guarantee(0.9, horizon=1500)])
def test_limits_hold_as_often_as_promised(guarantee: Guarantee) -> None:
    share = broken_share(guarantee, runs=200, seed=11)
    assert share <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 200)
    plain = broken_share(None, runs=60, seed=11)
    assert plain > 0.15


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.parametrize("guarantee", [Guarantee(0.9), Guarantee(0.9, horizon=1500)])
@pytest.mark.parametrize("separation", [1.4, 3.0])
def test_limits_hold_in_other_populations(guarantee: Guarantee, separation: float) -> None:
    share = broken_share(guarantee, runs=600, seed=12, separation=separation)
    assert share <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 600)


def weak(n: int = 100) -> tuple[OperatingPoints, Scenario]:
    positive, scores = sample(np.random.default_rng(0), n, prevalence=0.3, separation=1.2)
    return OperatingPoints.from_scores(positive, scores), Scenario(0.6, cost_ratio=0.1)


def said_number(text: str, before: str) -> float:
    """The number that follows some words."""
    return float(text.split(before)[1].split()[0].rstrip(".,;").replace(",", ""))


@pytest.mark.parametrize("guarantee", SLOW_TO_EXPLAIN)
def test_explain_says_how_many_positives_it_takes(guarantee: Guarantee) -> None:
    """Cases repeated as often as it says do pass; repeated half as much more, they do not."""
    points, scenario = weak()
    assert not guarantee.allowed(points, scenario)[1:].any()
    more = said_number(guarantee.explain(points, scenario), "About ")
    times = 1 + more / points.n_positive

    def passes(factor: float) -> bool:
        return bool(guarantee.allowed(repeated(points, factor), scenario)[1:].any())

    assert passes(times * 1.3)
    assert not passes(1 + (times - 1) / 3)


def test_explain_says_what_would_pass_and_that_does() -> None:
    """The confidence and the floor that it names pass; a little stricter ones do not."""
    points, scenario = weak(250)
    text = Guarantee().explain(points, scenario)
    confidence = said_number(text, "a confidence of ")
    floor = said_number(text, "a precision floor of ")
    assert Guarantee(confidence).allowed(points, scenario)[1:].any()
    assert not Guarantee((confidence + 0.95) / 2).allowed(points, scenario)[1:].any()
    limits = [scenario.changed(min_precision=round(floor + step, 2)) for step in (0.0, 0.01)]
    passed = [bool(Guarantee().allowed(points, limit)[1:].any()) for limit in limits]
    assert passed == [True, False]


@pytest.mark.parametrize("seed", [28, 146, 182])
def test_explain_finds_the_floor_that_passes_though_lower_ones_fail(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.random(60) < 0.25
    points = OperatingPoints.from_scores(y, y + rng.normal(size=60))
    floors = [0.5 - step / 100 for step in range(1, 26)]
    limits = [Scenario(floor, cost_ratio=0.1) for floor in floors]
    passed = [bool(Guarantee().allowed(points, limit)[1:].any()) for limit in limits]
    assert not passed[-1]
    text = Guarantee().explain(points, Scenario(0.5, cost_ratio=0.1))
    said = said_number(text, "a precision floor of ")
    assert said == pytest.approx(floors[passed.index(True)])


@pytest.mark.slow
def test_what_would_pass_for_the_next_cases_does() -> None:
    points, scenario = weak(250)
    guarantee = GUARANTEES[1]
    floor = said_number(guarantee.explain(points, scenario), "a precision floor of ")
    assert 0.3 <= floor < 0.6
    assert guarantee.allowed(points, scenario.changed(min_precision=floor))[1:].any()
    stricter = scenario.changed(min_precision=round(floor + 0.01, 2))
    assert not guarantee.allowed(points, stricter)[1:].any()


def test_explain_says_its_parts_in_order() -> None:
    points, scenario = weak(250)
    text = Guarantee().explain(points, scenario)
    parts = (
        "no threshold keeps precision >= 0.6 in the population with confidence",
        "The precision floor fails: the closest threshold is",
        "more validation positives",
        "These cases would pass at a confidence of",
        "to use it, state it before you look at new validation cases",
        "Development cases (development=) would help",
    )
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("n_models", [1, 3])
@pytest.mark.parametrize("guarantee", SLOW_TO_EXPLAIN)
def test_explain_says_how_many_true_positives_are_missing(
    guarantee: Guarantee, n_models: int
) -> None:
    """With as many as it says, and all stricter thresholds right, the threshold is certified."""
    points, scenario = weak(250)
    text = guarantee.explain(points, scenario, n_models).split("The precision floor fails: ")[1]
    guarantee = guarantee.split(n_models)
    needed, tp_now, alarms = (
        int(said_number(text, before)) for before in ("where ", "with ", " true positives in ")
    )
    assert tp_now < needed <= alarms
    n_rest = 250 - alarms - int(points.n_positive)
    for tp, passes in ((needed, True), (needed - 1, False)):
        below = np.r_[np.zeros(n_rest + tp), np.ones(int(points.n_positive) - tp)]
        labels = np.r_[np.ones(tp), np.zeros(alarms - tp), below]
        better = OperatingPoints.from_scores(labels, -np.arange(len(labels)))
        # Of a sequence for the next cases only the last threshold is deployed.
        certified = better.alarms[guarantee.certified(better, scenario)]
        assert bool(certified.max(initial=0) >= alarms) == passes


def test_explain_when_stricter_thresholds_fail() -> None:
    """False alarms first, then right ones: between two starts a threshold alone would pass."""
    positive = np.r_[np.zeros(12), np.ones(60), np.zeros(400)]
    points = OperatingPoints.from_scores(positive, -np.arange(472))
    scenario = Scenario(0.6, 0.2, cost_ratio=0.1)
    assert not Guarantee().allowed(points, scenario)[1:].any()
    text = Guarantee().explain(points, scenario)
    assert "which is enough, but stricter thresholds, which are tested first, fail" in text


def test_explain_when_there_are_too_few_alarms_at_all() -> None:
    points = OperatingPoints.from_scores(np.arange(100) < 20, -np.arange(100))
    text = Guarantee().explain(points, Scenario(0.9, 0.3, 0.1))
    assert ", too few alarms to pass even without a false one." in text


def test_explain_names_the_limits_as_they_were_given() -> None:
    points, _ = weak(250)
    limits = Scenario(capacity=3, cost_ratio=0.1, min_recall=0.9)
    text = Guarantee(horizon=100).explain(points, limits)
    assert text.startswith("no threshold keeps recall >= 0.9 and capacity=3 in the next 100 cases ")


def test_explain_names_a_capacity_that_would_do() -> None:
    """Right alarms alone, and a capacity with too few of them."""
    points = OperatingPoints.from_scores(np.arange(1000) < 100, -np.arange(1000))
    scenario = Scenario(0.9, 0.05, cost_ratio=0.1)
    assert not Guarantee(0.99).allowed(points, scenario)[1:].any()
    capacity = said_number(Guarantee(0.99).explain(points, scenario), "a capacity of ")
    assert 0.05 < capacity <= 0.1
    assert Guarantee(0.99).allowed(points, scenario.changed(capacity=capacity))[1:].any()


def test_explain_speaks_of_the_confidence_that_was_asked_for_over_several_models() -> None:
    points, scenario = weak(250)
    text = Guarantee(0.95).explain(points, scenario, n_models=2)
    assert "with confidence 0.95, so" in text
    confidence = said_number(text, "a confidence of ")
    assert Guarantee(confidence).split(2).allowed(points, scenario)[1:].any()
    assert not Guarantee(0.95).split(2).allowed(points, scenario)[1:].any()


def test_explain_when_no_number_of_cases_would_do() -> None:
    rng = np.random.default_rng(0)
    points = OperatingPoints.from_scores(rng.random(400) < 0.1, rng.normal(size=400))
    scenario = Scenario(min_precision=0.9, cost_ratio=0.1)
    text = Guarantee().explain(points, scenario)
    assert "More cases will not help; change the model or the limits." in text
    assert "would pass" not in text


def test_explain_when_the_capacity_leaves_nothing() -> None:
    points = OperatingPoints.from_scores(*sample(np.random.default_rng(0), 200))
    scenario = Scenario(min_precision=0.4, capacity=0.005, cost_ratio=0.1)
    text = Guarantee().explain(points, scenario)
    assert "The capacity fails: not even one alarm among these cases is sure to keep it." in text


def test_never_alarm_comes_with_the_explanation() -> None:
    positive, scores = sample(np.random.default_rng(1), 60)
    with pytest.warns(voros.NeverAlarmWarning, match="more validation positives"):
        policy = ThresholdPolicy.from_validation(
            positive, scores, SCENARIO, guarantee=Guarantee(0.999), n_models=1
        )
    assert policy.never_alarms


def test_any_real_number_is_a_confidence() -> None:
    with pytest.warns(voros.exceptions.LowConfidenceWarning, match="a probability of 0.667"):
        assert Guarantee(Fraction(1, 3)) == Guarantee(1 / 3)
    assert Guarantee((Fraction(19, 20), Fraction(9, 10))).confidence == (0.95, 0.9)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, "high", True])
def test_a_confidence_outside_0_to_1_is_refused(confidence: Any) -> None:
    with pytest.raises(ValueError, match=r"confidence=.*strictly between 0 and 1"):
        Guarantee(confidence)


@pytest.mark.parametrize("horizon", [0, -5, 10.5, True])
def test_a_horizon_that_is_no_number_of_cases_is_refused(horizon: Any) -> None:
    with pytest.raises(ValueError, match=r"horizon=.*whole number of cases above 0"):
        Guarantee(horizon=horizon)


@pytest.mark.parametrize("n_models", [0, -1, 2.5])
def test_a_number_of_models_that_is_none_is_refused(n_models: Any) -> None:
    with pytest.raises(ValueError, match=r"n_models=.*whole number above 0"):
        Guarantee().split(n_models)


def test_a_capacity_of_whole_alarms_is_one_per_horizon() -> None:
    """Twenty alarms a day of 1,000 cases: some twelve are left to expect, of 30,000 cases."""
    rng = np.random.default_rng(0)
    positive, scores = sample(rng, 30_000, 0.05, 3.0)
    scenario = Scenario(0.2, 20, (1 / 20, 1 / 10))
    guarantee = Guarantee(0.95, horizon=1000)
    policy = ThresholdPolicy.from_validation(
        positive, scores, scenario, guarantee=guarantee, n_models=1
    )
    a_day = policy.default.alarms / 30
    assert 11 < a_day < 16
    shared = Scenario(0.2, 0.02, (1 / 20, 1 / 10))
    same = ThresholdPolicy.from_validation(
        positive, scores, shared, guarantee=guarantee, n_models=1
    )
    assert policy == same
    month = policy.evaluate(*sample(rng, 30_000, 0.05, 3.0), by_cost=True)
    assert (month.max_alarms, month.satisfied) == (600, True)
    chosen = voros.select_model(positive, {"one": scores}, scenario, guarantee=guarantee)
    assert chosen.ranking[0].feasible


def test_a_capacity_beyond_the_horizon_is_no_limit() -> None:
    scenario = Scenario(0.3, 5000, 0.05)
    assert Guarantee(0.95, horizon=1000).limits(scenario).capacity == 1.0
    assert Guarantee(0.95).limits(scenario) is scenario


def test_weighted_cases_are_refused() -> None:
    positive, scores = sample(np.random.default_rng(0), 300)
    weighted = OperatingPoints.from_scores(positive, scores, sample_weight=np.full(300, 0.5))
    with pytest.raises(ValueError, match="whole cases, but the counts are weighted"):
        Guarantee().allowed(weighted, SCENARIO)


def test_another_prevalence_is_refused() -> None:
    points = OperatingPoints.from_scores(*sample(np.random.default_rng(0), 300))
    elsewhere = Scenario(0.4, 0.2, 0.05, prevalence=0.2)
    with pytest.raises(ValueError, match=r"prevalence=0\.2 cannot be combined with a guarantee"):
        Guarantee().allowed(points, elsewhere)


@pytest.mark.slow
def test_real_predictions_keep_their_limits_on_the_other_half() -> None:
    """MIMIC-IV, scenario 2: the plain policy breaks the floor in half of the splits."""
    folder = os.environ.get("VOROS_PAPER_PREDICTIONS")
    if not folder:
        pytest.skip("VOROS_PAPER_PREDICTIONS is not set: the folder of the paper's predictions")
    files = [
        np.genfromtxt(Path(folder) / f"scenario2_{part}.csv", delimiter=",", skip_header=1)
        for part in ("valid", "test")
    ]
    files[1][:, 0] += files[0][:, 0].max() + 1
    patients = np.concatenate([table[:, 0] for table in files]).astype(int)
    labels, scores = np.concatenate([table[:, 1:] for table in files]).T
    scenario = Scenario(0.5, 0.1, (1 / 40, 1 / 20))
    rng, broken = np.random.default_rng(4), np.zeros((60, 2))
    for row in broken:
        one = (rng.random(patients.max() + 1) < 0.5)[patients]
        for column, guarantee in enumerate((None, Guarantee(0.95, int((~one).sum())))):
            policy = ThresholdPolicy.from_validation(
                labels[one], scores[one], scenario, guarantee=guarantee, n_models=1
            )
            row[column] = not policy.evaluate(labels[~one], scores[~one], by_cost=True).satisfied
    plain, guaranteed = broken.mean(axis=0)
    assert plain > 0.35
    assert guaranteed <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.slow
def test_more_cases_are_asked_for_where_they_would_pass() -> None:
    """A short horizon: the normal approximation alone said that no number of cases would do."""
    rank = np.arange(600)
    scenario = Scenario(min_precision=0.9, capacity=0.2, cost_ratio=0.05)
    guarantee = Guarantee(0.95, horizon=60)
    points = OperatingPoints.from_scores(rank < 90, -rank)
    more = int(said_number(guarantee.explain(points, scenario), "About "))
    # With whole counts a number between these passes at times, and a larger one fails again.
    for n_positive, passes in ((90 + more, True), (90 + more // 4, False)):
        rank = np.arange(round(n_positive / 0.15))
        points = OperatingPoints.from_scores(rank < n_positive, -rank)
        assert guarantee.allowed(points, scenario)[1:].any() == passes


def test_a_capacity_below_one_of_the_cases_that_are_as_good_is_explained() -> None:
    rng = np.random.default_rng(0)
    y_true = rng.random(80) < 0.3
    points = OperatingPoints.from_scores(y_true, y_true + rng.normal(size=80))
    text = Guarantee(0.95, horizon=24).explain(points, Scenario(0.1, 0.05, cost_ratio=0.1))
    assert "More cases will not help" in text
