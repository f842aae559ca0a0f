"""Slips of new users: each is said once, as what it is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import voros
from voros.exceptions import DoubtfulColumnWarning, FewAlarmsWarning, NeverAlarmWarning
from voros.policy import Worklist

pd = pytest.importorskip("pandas", reason="frames are pandas' here")
pl = pytest.importorskip("polars", reason="and polars'")

SCENARIO = voros.Scenario(min_precision=0.4, capacity=0.1, cost_ratio=0.1)


def ward(n: int = 600, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = pd.Series((rng.random(n) < 0.2).astype(int), name="died")
    scores = {"good": 2 * y + rng.normal(size=n), "fair": y + rng.normal(size=n)}
    return y, pd.DataFrame(scores)


def of_worklist(y, column):
    daily = voros.Scenario(0.2, 3, cost_ratio=0.1, per="day")
    return voros.worklist(y, column, daily, periods=np.arange(len(y)) // 30, model="good")


def periods(policy, y):
    return {"periods": np.arange(len(y)) // 30} if isinstance(policy, Worklist) else {}


@pytest.fixture(params=["thresholds", "worklist"])
def policy(request):
    y, scores = ward()
    if request.param == "worklist":
        return of_worklist(y, scores["good"])
    return voros.select_model(y, scores, SCENARIO).policy()


def test_a_policy_takes_the_column_of_its_model(policy) -> None:
    y, scores = ward(seed=1)
    when = periods(policy, y)
    alone = policy.predict(scores["good"].to_numpy(), **when)
    assert alone.any()
    for frame in (scores, scores[["fair", "good"]], pl.DataFrame(dict(scores)), dict(scores)):
        assert np.array_equal(policy.predict(frame, **when), alone)
        evaluated = policy.evaluate(y, frame, **when)
        assert repr(evaluated) == repr(policy.evaluate(y, scores["good"].to_numpy(), **when))
    monitor = voros.Monitor(policy)
    days = [f"2026-03-{1 + i // 30:02d}" for i in range(len(y))]
    update = monitor.update(scores, cases=range(len(y)), times=days)
    assert np.array_equal(update.alarms, alone)


def test_scores_of_another_model_are_refused(policy) -> None:
    y, scores = ward(seed=1)
    when = periods(policy, y)
    for column in (scores["fair"], pl.Series("fair", scores["fair"].to_numpy())):
        with pytest.raises(ValueError, match=r"is named 'fair', and the policy is for .* 'good'"):
            policy.predict(column, **when)
        with pytest.raises(ValueError, match="is named 'fair'"):
            policy.evaluate(y, column, **when)
    with pytest.raises(ValueError, match="has the columns 'fair', and the policy is for"):
        policy.predict(scores[["fair"]], **when)
    unnamed = policy.predict(scores["good"].rename(None), **when)
    assert np.array_equal(unnamed, policy.predict(scores["good"], **when))


def test_an_inverted_ranking_is_noticed_wherever_nothing_is_feasible() -> None:
    y, scores = ward()
    calls = {
        "score": lambda: voros.partial_voros_score(y, -scores["good"], SCENARIO),
        "evaluate": lambda: voros.evaluate(y, -scores["good"], SCENARIO),
        "select": lambda: voros.select_model(y, -scores, SCENARIO),
        "policy": lambda: voros.ThresholdPolicy.from_validation(y, -scores["good"], SCENARIO),
        "label": lambda: voros.partial_voros_score(
            y,
            scores["good"],
            voros.Scenario(0.95, 0.1, cost_ratio=0.1),
            pos_label=0,
        ),
    }
    for call in calls.values():
        with pytest.warns(NeverAlarmWarning, match="The ranking is inverted: the AUROC is 0"):
            call()
    # A model that says little is not called inverted.
    rng = np.random.default_rng(3)
    strict = voros.Scenario(min_precision=0.99, capacity=0.1, cost_ratio=0.1)
    with pytest.warns(NeverAlarmWarning) as caught:
        voros.partial_voros_score(y, scores["fair"] + rng.normal(size=600), strict)
    assert "inverted" not in str(caught[0].message)


def test_a_few_alarms_of_thousands_of_cases_are_said() -> None:
    y, scores = ward(3000)
    eight = voros.Scenario(min_precision=0.2, capacity=8, cost_ratio=0.1)
    with pytest.warns(FewAlarmsWarning, match=r"8 alarms in 3,000 cases. For 8 % .* write 0.08"):
        voros.select_model(y, scores, eight)
    with warnings.catch_warnings(action="error"):
        voros.select_model(y, scores, voros.Scenario(0.2, 300, cost_ratio=0.1))
        voros.select_model(y[:500], scores[:500], eight)


def test_labels_and_identifiers_in_a_frame_are_no_models() -> None:
    y, scores = ward()
    frame = scores.assign(died=y, patient=np.arange(600) // 3, nth=np.arange(600))
    with pytest.warns(DoubtfulColumnWarning) as caught:
        selection = voros.select_model(y, frame, SCENARIO)
    assert [row.model for row in selection.ranking] == ["good", "fair"]
    texts = [str(warning.message) for warning in caught]
    assert ["holds the labels" in text for text in texts] == [True, False, False]
    assert ["looks like an identifier" in text for text in texts] == [False, True, True]
    copied = scores.assign(outcome=y)
    with pytest.warns(DoubtfulColumnWarning, match="'outcome' holds the labels"):
        voros.select_model(y.to_numpy(), copied, SCENARIO)
    # What is named one by one is taken.
    named = {"good": scores["good"], "patient": scores["fair"]}
    assert set(voros.select_model(y, named, SCENARIO).allowed) == {"good", "patient"}


def test_a_map_takes_a_scenario() -> None:
    y, scores = ward()
    whole = voros.winner_map(
        y, scores, min_precisions=[0.3, 0.4], capacities=[0.1, 0.2], cost_ratio=0.1
    )
    grid = voros.winner_map(y, scores, SCENARIO, min_precisions=[0.3, 0.4], capacities=[0.1, 0.2])
    np.testing.assert_array_equal(whole.scores, grid.scores)
    one = voros.winner_map(y, scores, SCENARIO)
    np.testing.assert_array_equal(one.scores[0, 0], whole.scores[1, 0])
    with pytest.raises(TypeError, match="cost_ratio and a scenario were given"):
        voros.winner_map(y, scores, SCENARIO, cost_ratio=0.1)
    with pytest.raises(ValueError, match="min_precisions"):
        voros.winner_map(y, scores, cost_ratio=0.1, capacities=[0.1])


def test_a_scorer_within_a_tuned_threshold_explains_the_mistake_once() -> None:
    sklearn = pytest.importorskip("sklearn", minversion="1.5")
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import TunedThresholdClassifierCV

    y, scores = ward()
    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=voros.make_scorer(SCENARIO), cv=2
    )
    with pytest.raises(ValueError, match="these are class labels, as TunedThresholdClassifierCV"):
        tuned.fit(scores, y)
    assert sklearn.__version__


def test_a_classifier_is_evaluated_against_its_limits() -> None:
    from sklearn.linear_model import LogisticRegression

    y, scores = ward()
    model = voros.ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO).fit(scores, y)
    later, features = ward(seed=1)
    evaluated = model.evaluate(features, later)
    alarms = model.predict(features) == 1
    assert evaluated.mean_alarms == alarms.sum()
    assert evaluated.mean_precision == pytest.approx(later[alarms].mean())
    words = later.map({0: "well", 1: "ill"})
    named = voros.ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO, pos_label="ill")
    named.fit(scores, y.map({0: "well", 1: "ill"}))
    assert named.evaluate(features, words).mean_alarms == alarms.sum()
