from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.svm import LinearSVC

import voros
from voros import Scenario, make_scorer
from voros.core.decision import STRATEGIES

LIMITS = {"min_precision": 0.4, "capacity": 0.3, "cost_ratio": (1 / 20, 1 / 10)}
SCENARIO = Scenario(**LIMITS)
X, Y = make_classification(600, 8, weights=[0.8], flip_y=0.1, random_state=0)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def scores_by_hand(estimator, folds, response):
    for train, test in folds.split(X, Y):
        fitted = estimator.fit(X[train], Y[train])
        yield voros.partial_voros_score(Y[test], response(fitted, X[test]), **LIMITS)


@pytest.mark.parametrize(
    ("estimator", "response"),
    [
        (LogisticRegression(), lambda model, cases: model.decision_function(cases)),
        (LinearSVC(random_state=0), lambda model, cases: model.decision_function(cases)),
        (
            RandomForestClassifier(10, random_state=0),
            lambda model, cases: model.predict_proba(cases)[:, 1],
        ),
    ],
    ids=["both", "decision_function", "predict_proba"],
)
def test_cross_validation_scores_are_partial_voros_of_each_fold(estimator, response):
    folds = StratifiedKFold(3)
    scores = cross_val_score(estimator, X, Y, scoring=make_scorer(SCENARIO), cv=folds)
    np.testing.assert_allclose(scores, list(scores_by_hand(estimator, folds, response)), rtol=1e-12)


@pytest.mark.parametrize("positive", ["ill", "well"])
def test_string_classes_are_scored_by_the_positive_one(positive):
    labels = np.where(Y == 1, positive, "other")
    scorer = make_scorer(SCENARIO, pos_label=positive)
    scores = cross_val_score(LogisticRegression(), X, labels, scoring=scorer, cv=3)
    expected = cross_val_score(LogisticRegression(), X, Y, scoring=make_scorer(SCENARIO), cv=3)
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


def test_string_classes_without_the_positive_one_are_refused():
    labels = np.where(Y == 1, "ill", "well")
    model = LogisticRegression().fit(X, labels)
    with pytest.raises(ValueError, match="pass pos_label"):
        make_scorer(SCENARIO)(model, X, labels)


def test_a_search_over_several_strategies_refits_the_best_of_one():
    scoring = {name: make_scorer(SCENARIO, strategy=name) for name in STRATEGIES}
    search = GridSearchCV(
        LogisticRegression(), {"C": [1e-4, 1.0]}, scoring=scoring, refit="partial_voros", cv=3
    ).fit(X, Y)
    results = search.cv_results_
    assert search.best_index_ == np.argmax(results["mean_test_partial_voros"])
    scores = {s: getattr(row, s) for s in scoring for row in ranking_of(search)}
    for name, value in scores.items():
        assert scoring[name](search, X, Y) == pytest.approx(value, rel=1e-12)


def ranking_of(model):
    return voros.select_model(Y, {"model": model.decision_function(X)}, SCENARIO).ranking


def test_routed_weights_count_in_the_score(routing):
    weights = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
    scorer = make_scorer(SCENARIO).set_score_request(sample_weight=True)
    estimator = LogisticRegression().set_fit_request(sample_weight=False)
    folds = StratifiedKFold(3)
    scores = cross_validate(
        estimator, X, Y, scoring=scorer, cv=folds, params={"sample_weight": weights}
    )
    expected = [
        voros.partial_voros_score(
            Y[test],
            LogisticRegression().fit(X[train], Y[train]).decision_function(X[test]),
            sample_weight=weights[test],
            **LIMITS,
        )
        for train, test in folds.split(X, Y)
    ]
    np.testing.assert_allclose(scores["test_score"], expected, rtol=1e-12)


def test_weights_can_be_given_without_routing():
    model = LogisticRegression().fit(X, Y)
    weights = np.where(Y == 1, 2.0, 1.0)
    expected = voros.partial_voros_score(
        Y, model.decision_function(X), sample_weight=weights, **LIMITS
    )
    assert make_scorer(SCENARIO)(model, X, Y, sample_weight=weights) == pytest.approx(expected)


@pytest.mark.parametrize("strategy", ["partial_voros", "partial_auroc", "recall"])
def test_an_infeasible_fold_scores_zero_with_a_warning(strategy):
    model = LogisticRegression().fit(X, Y)
    scorer = make_scorer(Scenario(min_precision=1.0, capacity=2, cost_ratio=0.1), strategy=strategy)
    labels = np.where(np.arange(len(Y)) == np.argmax(model.decision_function(X)), 0, Y)
    with pytest.warns(voros.NeverAlarmWarning, match="precision floor binds"):
        assert scorer(model, X, labels) == 0


def test_an_unknown_strategy_is_refused_at_once():
    with pytest.raises(ValueError, match="strategy='auroc'; accepted are"):
        make_scorer(SCENARIO, strategy="auroc")
