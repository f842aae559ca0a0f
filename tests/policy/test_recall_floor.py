"""A recall floor from the choice of a threshold to its evaluation, against counting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import voros
import voros.io.documents
from voros import Scenario, ThresholdPolicy

pytestmark = pytest.mark.filterwarnings("ignore::voros.exceptions.InvertedCostsWarning")

SCENARIO = Scenario(0.2, 0.6, cost_ratio=(0.5, 2.0), min_recall=0.7)


def draw(seed: int, n_cases: int = 300, shift: float = 1.3):
    rng = np.random.default_rng(seed)
    y_true = rng.random(n_cases) < 0.3
    return y_true, np.round(rng.normal(size=n_cases) + shift * y_true, 2)


def counted(y_true, y_score, threshold: float) -> tuple[int, int]:
    alarm = y_score >= threshold
    return int((alarm & y_true).sum()), int((alarm & ~y_true).sum())


def best_by_brute_force(y_true, y_score, scenario: Scenario, ratio: float) -> float:
    """The least cost of a threshold within all limits."""
    costs = []
    for threshold in np.unique(y_score):
        tp, fp = counted(y_true, y_score, threshold)
        enough = tp >= scenario.min_recall * y_true.sum() - 1e-9
        if enough and tp >= 0.2 * (tp + fp) and tp + fp <= 0.6 * len(y_true):
            costs.append(ratio * fp - tp)
    return min(costs)


@pytest.mark.parametrize("seed", range(5))
def test_each_threshold_is_the_best_within_the_limits(seed: int) -> None:
    y_true, y_score = draw(seed)
    policy = ThresholdPolicy.from_validation(y_true, y_score, SCENARIO)
    for ratio in (0.01, 0.6, 1.0, 1.9, 50.0):
        tp, fp = counted(y_true, y_score, policy.threshold(ratio))
        assert tp >= 0.7 * y_true.sum()
        assert ratio * fp - tp == pytest.approx(
            best_by_brute_force(y_true, y_score, SCENARIO, ratio)
        )
    assert ThresholdPolicy.from_json(policy.to_json()) == policy
    assert policy.predict(y_score).sum() == sum(counted(y_true, y_score, policy.threshold()))


def test_a_policy_is_printed_and_saved_with_its_floor() -> None:
    policy = ThresholdPolicy.from_validation(*draw(0), SCENARIO)
    assert "recall: at least 0.7" in repr(policy)
    assert '"min_recall": 0.7' in policy.to_json()
    without = ThresholdPolicy.from_validation(*draw(0), SCENARIO.changed(min_recall=None))
    assert "recall: at least" not in repr(without)


def test_nothing_within_the_limits_never_alarms_and_can_be_saved() -> None:
    scenario = SCENARIO.changed(min_precision=0.9, min_recall=0.95)
    with pytest.warns(voros.NeverAlarmWarning, match="recall floor of 0.95 and a precision floor"):
        policy = ThresholdPolicy.from_validation(*draw(0), scenario)
    assert policy.threshold() == np.inf
    assert ThresholdPolicy.from_json(policy.to_json()) == policy
    # Raising nothing breaks the floor that it cannot keep.
    (violation,) = policy.evaluate(*draw(1)).violations
    assert str(violation) == "recall: 0, at least 0.95 required"


def test_an_evaluation_counts_recall_and_says_where_it_is_broken() -> None:
    policy = ThresholdPolicy.from_validation(*draw(0), SCENARIO, strategy="single")
    y_true, y_score = draw(1, shift=0.2)
    tested = policy.evaluate(y_true, y_score)
    tp, _ = counted(y_true, y_score, policy.threshold())
    recall = tp / y_true.sum()
    assert recall < 0.7
    assert tested.mean_recall == pytest.approx(recall)
    broken = {violation.limit: violation for violation in tested.violations}
    assert broken["recall"].worst == pytest.approx(recall)
    assert broken["recall"].missed_by == pytest.approx(0.7 - recall)
    assert not tested.satisfied
    pytest.importorskip("pandas")
    assert tested.frame("pandas")["keeps_recall"].tolist() == [False]
    assert "at least 0.7" in repr(tested)
    low, high = tested.intervals.recall
    exact = stats.binomtest(tp, int(y_true.sum())).proportion_ci(0.95, "exact")
    assert (low, high) == pytest.approx((exact.low, exact.high))


def test_subgroups_have_a_verdict_on_recall() -> None:
    policy = ThresholdPolicy.from_validation(*draw(0), SCENARIO, strategy="single")
    good, bad, few = draw(2, 2000, 2.5), draw(3, 2000, 0.1), draw(4, 12)
    y_true, y_score = (np.concatenate(parts) for parts in zip(good, bad, few, strict=True))
    ward = np.repeat(["good", "bad", "few"], [2000, 2000, 12])
    tested = policy.evaluate(y_true, y_score, by={"ward": ward})
    verdicts = {r.subgroup: r.recall_floor for r in tested.by_subgroup}
    assert verdicts == {"good": "kept", "bad": "broken", "few": "too few to say"}
    for name, (y, s) in {"good": good, "bad": bad}.items():
        tp, _ = counted(y, s, policy.threshold())
        # Three subgroups, one threshold, two floors.
        low, high = stats.binomtest(tp, int(y.sum())).proportion_ci(1 - 0.05 / 6, "exact")
        assert (low >= 0.7, high < 0.7) == (name == "good", name == "bad")
    shown = repr(tested.by_subgroup)
    assert "recall floor 0.7 broken in: ward: bad" in shown
    assert "recall floor 0.7 open, with too few positives to say, in: ward: few" in shown
    without = ThresholdPolicy.from_validation(*draw(0), SCENARIO.changed(min_recall=None))
    plain = without.evaluate(y_true, y_score, by={"ward": ward}).by_subgroup
    assert "recall_floor" not in plain.values()[0]


def test_recall_is_the_same_at_every_prevalence() -> None:
    y_true, y_score = draw(5, 4000)
    lenient = SCENARIO.changed(min_precision=0.0, capacity=1.0)
    shifted = ThresholdPolicy.from_validation(y_true, y_score, lenient.changed(prevalence=0.05))
    for choice in shifted.choices:
        assert counted(y_true, y_score, choice.threshold)[0] >= 0.7 * y_true.sum()


def test_models_estimators_and_scorers_keep_the_floor() -> None:
    from sklearn.linear_model import LogisticRegression

    y_true, good = draw(7)
    scores = {"good": good, "noise": np.random.default_rng(0).normal(size=300)}
    selection = voros.select_model(y_true, scores, SCENARIO)
    assert selection.winner == "good"
    tp, _ = counted(y_true, good, selection.policy().threshold())
    assert tp >= 0.7 * y_true.sum()
    expected = voros.partial_voros_score(y_true, good, SCENARIO)
    assert selection.ranking[0].partial_voros == pytest.approx(expected)
    X = good[:, None]
    fitted = LogisticRegression().fit(X, y_true)
    assert voros.make_scorer(SCENARIO)(fitted, X, y_true) == pytest.approx(expected)
    classifier = voros.ConstrainedThresholdClassifier(fitted, SCENARIO, cv="prefit").fit(X, y_true)
    assert (classifier.predict(X) & y_true).sum() >= 0.7 * y_true.sum()


def test_what_would_not_keep_the_floor_refuses_it() -> None:
    y_true, y_score = draw(8)
    floor = Scenario(cost_ratio=0.1, min_recall=0.5)
    days = np.arange(300) // 30
    calls = {
        "allocations of a capacity": lambda: voros.allocate(
            y_true, y_score, floor, capacity=0.5, by=np.where(days > 4, "a", "b")
        ),
        "worklists": lambda: voros.worklist(
            y_true,
            y_score,
            Scenario(capacity=5, per="day", cost_ratio=0.1, min_recall=0.5),
            periods=days,
        ),
    }
    for what, call in calls.items():
        with pytest.raises(voros.exceptions.ArgumentError, match=f"{what} do not support"):
            call()
