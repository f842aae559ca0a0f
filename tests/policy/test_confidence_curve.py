"""What each confidence of a ladder deploys and costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import voros
from voros import Guarantee, OperatingPoints, Scenario, ThresholdPolicy

SCENARIO = Scenario(min_precision=0.5, capacity=0.2, cost_ratio=(0.05, 0.1))
LADDER = Guarantee((0.95, 0.9, 0.8))


def sample(seed: int, n: int = 900, separation: float = 1.2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.2
    return positive, rng.normal(size=n) + separation * positive


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_each_step_is_what_its_guarantee_alone_would_deploy() -> None:
    y, scores = sample(0)
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=LADDER, n_models=1)
    points = OperatingPoints.from_scores(y, scores)
    *steps, plain = policy.confidence_curve().steps
    for step, guarantee in zip(steps, LADDER.steps, strict=True):
        alone = ThresholdPolicy.from_points(points, SCENARIO, guarantee=guarantee, n_models=1)
        chosen = alone.default
        step_values = (step.confidence, step.threshold, step.alarms, step.tp, step.recall)
        assert step_values == (
            guarantee.confidence,
            chosen.threshold,
            chosen.alarms,
            chosen.tp,
            chosen.recall,
        )
        cost = alone.evaluate(y, scores, by_cost=True).expected_cost
        assert step.expected_cost == pytest.approx(cost)
    assert plain.confidence is None
    without = ThresholdPolicy.from_validation(y, scores, SCENARIO)
    assert plain.threshold == without.default.threshold


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_the_highest_confidence_at_which_something_passes_is_deployed() -> None:
    deployed = set()
    for seed in range(12):
        y, scores = sample(seed, 500)
        policy = ThresholdPolicy.from_validation(
            y, scores, SCENARIO, guarantee=(0.95, 0.9, 0.8), n_models=1
        )
        curve = policy.confidence_curve()
        first = next((step for step in curve.steps[:-1] if step.alarms > 0), curve.steps[0])
        assert policy.guarantee == LADDER.at(first.confidence)
        assert policy.default.threshold == first.threshold
        assert curve.deployed == first.confidence
        assert curve.given_up[-1] == 0
        deployed.add(first.confidence)
    assert len(deployed) > 1


def test_the_policy_of_a_later_choice_is_the_step_of_the_curve() -> None:
    y, scores = sample(0)
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=LADDER, n_models=1)
    assert policy.guarantee is not None
    later = ThresholdPolicy.from_validation(
        y, scores, SCENARIO, guarantee=policy.guarantee.at(0.8), n_models=1
    )
    assert later.default.threshold == policy.confidence_curve().steps[2].threshold


def test_the_curve_is_saved_with_the_policy_and_shown() -> None:
    y, scores = sample(0)
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=LADDER, n_models=1)
    again = ThresholdPolicy.from_json(policy.to_json())
    assert again == policy
    assert again.confidence_curve() == policy.confidence_curve()
    text = repr(policy.confidence_curve())
    assert text.splitlines()[0].split()[0] == "confidence"
    assert "0.9*" in text
    assert text.splitlines()[4].startswith("none")


def test_the_curve_as_a_data_frame() -> None:
    pytest.importorskip("pandas")
    y, scores = sample(0)
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=LADDER, n_models=1)
    frame = policy.confidence_curve().frame()
    assert list(frame["given_up"]) == pytest.approx(policy.confidence_curve().given_up)


@pytest.mark.parametrize("guarantee", [None, 0.9])
def test_without_a_ladder_there_is_no_curve(guarantee: Any) -> None:
    y, scores = sample(3, 2000, 2.0)
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=guarantee, n_models=1)
    with pytest.raises(ValueError, match=r"a curve needs a ladder that was fixed beforehand"):
        policy.confidence_curve()


def test_where_nothing_passes_the_lowest_confidence_is_explained() -> None:
    y, scores = sample(1, 60)
    with pytest.warns(voros.NeverAlarmWarning, match=r"with confidence 0\.8\b"):
        policy = ThresholdPolicy.from_validation(
            y, scores, Scenario(0.9, 0.2, 0.1), guarantee=LADDER, n_models=1
        )
    assert policy.never_alarms
    assert policy.guarantee == LADDER.at(0.95)


def test_a_bare_number_is_a_confidence() -> None:
    y, scores = sample(2, 3000, 2.0)
    bare, named = (
        ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=g, n_models=1)
        for g in (0.9, Guarantee(0.9))
    )
    assert bare == named
    chosen = voros.select_model(y, {"a": scores}, SCENARIO, guarantee=0.9)
    assert chosen.guarantee == Guarantee(0.9)
    for nonsense in ("0.9", True):
        with pytest.raises(TypeError, match=r"accepted is a voros\.Guarantee or a confidence"):
            ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=nonsense, n_models=1)


def test_a_selection_climbs_with_all_models() -> None:
    """The confidence that counts is the highest at which any model can alarm."""
    y, weak = sample(5, 700, 0.3)
    strong = np.random.default_rng(6).normal(size=700) + 1.2 * y
    scores = {"weak": weak, "strong": strong}
    selection = voros.select_model(y, scores, SCENARIO, guarantee=LADDER)
    assert selection.winner == "strong"
    policy = selection.policy()
    steps = policy.confidence_curve().steps
    assert [step.confidence for step in steps] == [0.95, 0.9, 0.8, None]
    alone = ThresholdPolicy.from_validation(
        y, strong, SCENARIO, guarantee=selection.guarantee, n_models=2
    )
    assert alone.default == policy.default
    assert all(step.model == "strong" for step in steps if step.alarms)
    before = steps[: [step.confidence for step in steps].index(policy.confidence_curve().deployed)]
    assert all(step.alarms == 0 for step in before)


def test_the_classifier_climbs_too() -> None:
    from sklearn.linear_model import LogisticRegression

    y, scores = sample(0)
    fitted = LogisticRegression().fit(scores[:, None], y)
    classifier = voros.ConstrainedThresholdClassifier(
        fitted, SCENARIO, cv="prefit", guarantee=(0.95, 0.9, 0.8)
    ).fit(scores[:, None], y)
    policy = ThresholdPolicy.from_validation(y, scores, SCENARIO, guarantee=LADDER, n_models=1)
    curve = classifier.policy_.confidence_curve()
    assert curve.deployed == policy.confidence_curve().deployed
    assert [s.alarms for s in curve.steps] == [s.alarms for s in policy.confidence_curve().steps]
