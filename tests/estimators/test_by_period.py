"""A capacity per period in the score, the scorer and the classifier."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_validate

import voros
from voros.core.periods import Periods
from voros.exceptions import ArgumentError

X, Y = make_classification(600, 8, weights=[0.8], flip_y=0.1, random_state=0)
DAYS = np.sort(np.random.default_rng(0).integers(0, 50, 600))
TIMES = np.datetime64("2024-01-01T08:00") + DAYS * np.timedelta64(1, "D")
DAILY = voros.Scenario(0.3, 2, cost_ratio=(1 / 20, 1 / 10), per="day", exceed=0.1)


@pytest.mark.parametrize("exceed", [None, 0.0, 0.1])
def test_the_score_is_that_of_the_evaluation(exceed) -> None:
    scenario = DAILY.changed(exceed=exceed)
    scores = LogisticRegression().fit(X, Y).decision_function(X)
    expected = voros.evaluate(Y, scores, scenario, times=TIMES).score
    assert voros.partial_voros_score(Y, scores, scenario, times=TIMES) == expected
    assert voros.partial_voros_score(Y, scores, scenario, periods=DAYS) == expected


def test_a_score_without_periods_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="per='day' needs the period of each case"):
        voros.partial_voros_score([1, 0], [2, 1], DAILY)
    with pytest.raises(ArgumentError, match="times needs a capacity per period"):
        voros.partial_voros_score([1, 0], [2, 1], cost_ratio=0.1, times=TIMES[:2])


def test_the_scorer_gets_times_through_metadata_routing() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = voros.make_scorer(DAILY).set_score_request(times=True)
        by_fold = cross_validate(
            LogisticRegression(),
            X,
            Y,
            scoring=scorer,
            cv=GroupKFold(5),
            params={"times": TIMES, "groups": DAYS},
        )["test_score"]
    expected = []
    for train, test in GroupKFold(5).split(X, Y, DAYS):
        model = LogisticRegression().fit(X[train], Y[train])
        scores = model.decision_function(X[test])
        expected.append(voros.evaluate(Y[test], scores, DAILY, times=TIMES[test]).score)
    np.testing.assert_allclose(by_fold, expected)


@pytest.mark.parametrize("when", [{"times": TIMES}, {"periods": DAYS}])
def test_the_classifier_keeps_the_capacity_of_each_day(when) -> None:
    model = LogisticRegression().fit(X, Y)
    kept = voros.ConstrainedThresholdClassifier(model, DAILY, cv="prefit").fit(X, Y, **when)
    alarms = np.bincount(DAYS[kept.predict(X) == 1], minlength=50)
    assert (alarms > 2).sum() <= 5
    assert kept.policy_.default.recall > 0
    folds = voros.ConstrainedThresholdClassifier(LogisticRegression(), DAILY).fit(X, Y, **when)
    assert folds.policy_.scenario == DAILY
    assert folds.policy_.origin.n_periods == 50


def test_a_share_holds_out_whole_days() -> None:
    model = voros.ConstrainedThresholdClassifier(
        LogisticRegression(), DAILY, cv=0.4, random_state=0
    )
    model.fit(X, Y, times=TIMES)
    assert model.policy_.origin.n_periods == 20
    with pytest.raises(ValueError, match="holds out whole periods, and groups may have cases"):
        model.fit(X, Y, times=TIMES, groups=np.arange(600))


def test_later_days_are_held_out_by_a_splitter_of_the_users_own() -> None:
    splits = list(TimeSeriesSplit(2).split(X))
    model = voros.ConstrainedThresholdClassifier(LogisticRegression(), DAILY, cv=splits)
    model.fit(X, Y, times=TIMES)
    rows = np.concatenate([held_out for _, held_out in splits])
    assert model.policy_.origin.n_periods == len(np.unique(DAYS[rows]))


def test_a_classifier_without_periods_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="per='day' needs the period of each case"):
        voros.ConstrainedThresholdClassifier(LogisticRegression(), DAILY).fit(X, Y)
    with pytest.raises(ValueError, match="fit got day; accepted are sample_weight, groups"):
        voros.ConstrainedThresholdClassifier(LogisticRegression(), DAILY).fit(X, Y, day=DAYS)


def test_periods_of_some_cases_leave_out_those_of_the_others() -> None:
    days = Periods.from_times(["2024-01-01", "2024-01-03", "2024-01-05"], "day")
    assert days.of_cases(np.array([2, 0, 1])).n_periods == 5
    some = days.of_cases(np.array([2, 0]))
    assert some.names.tolist() == ["2024-01-01", "2024-01-05"]
    assert some.codes.tolist() == [1, 0]
