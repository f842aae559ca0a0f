from __future__ import annotations

import itertools

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

import voros
import voros.inference
from voros import ConstrainedThresholdClassifier, Scenario, ThresholdPolicy

SCENARIO = Scenario(min_precision=0.4, capacity=0.3, cost_ratio=(1 / 20, 1 / 2))
HOPELESS = Scenario(min_precision=0.99, capacity=0.9, cost_ratio=(1 / 20, 1 / 2))
X, Y = make_classification(600, 8, weights=[0.8], flip_y=0.1, random_state=0)
X_NEW, Y_NEW = make_classification(600, 8, weights=[0.8], flip_y=0.1, random_state=0, shift=0.01)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


THRESHOLD_IS_NOT_ONE_HALF = {
    "check_classifiers_train": "expects the class of positive decisions, not the limits' threshold"
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("base", "cv", "expected"),
    [
        (LogisticRegression(), 3, {}),
        (LinearSVC(random_state=0), 0.3, THRESHOLD_IS_NOT_ONE_HALF),
    ],
)
def test_scikit_learns_own_checks(base, cv, expected):
    model = ConstrainedThresholdClassifier(base, Scenario(cost_ratio=0.5), cv=cv, random_state=0)
    results = check_estimator(model, expected_failed_checks=expected, on_skip=None, on_fail=None)
    by_status = {
        status: {r["check_name"] for r in results if r["status"] == status}
        for status in ("passed", "xfail", "failed")
    }
    assert by_status["failed"] == set()
    assert by_status["xfail"] == set(expected)
    assert len(by_status["passed"]) > 40


def proba(model, cases):
    return model.predict_proba(cases)[:, 1]


def test_folds_decide_the_thresholds_on_out_of_fold_scores_of_all_cases():
    folds = StratifiedKFold(4)
    model = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO, cv=4).fit(X, Y)
    out_of_fold = cross_val_predict(LogisticRegression(), X, Y, cv=folds, method="predict_proba")
    expected = ThresholdPolicy.from_validation(Y, out_of_fold[:, 1], SCENARIO)
    assert model.policy_ == expected
    np.testing.assert_allclose(
        model.predict_proba(X), LogisticRegression().fit(X, Y).predict_proba(X)
    )


@pytest.mark.parametrize("refit", [True, False])
def test_a_held_out_share_decides_the_thresholds(refit):
    model = ConstrainedThresholdClassifier(
        LogisticRegression(), SCENARIO, cv=0.4, refit=refit, random_state=3
    ).fit(X, Y)
    split = StratifiedShuffleSplit(1, test_size=0.4, random_state=3)
    ((train, held_out),) = split.split(X, Y)
    part = LogisticRegression().fit(X[train], Y[train])
    expected = ThresholdPolicy.from_validation(Y[held_out], proba(part, X[held_out]), SCENARIO)
    assert model.policy_ == expected
    final = LogisticRegression().fit(X, Y) if refit else part
    np.testing.assert_allclose(model.predict_proba(X), final.predict_proba(X))


def test_a_fitted_estimator_is_used_as_it_is():
    fitted = LogisticRegression().fit(X[:300], Y[:300])
    model = ConstrainedThresholdClassifier(fitted, SCENARIO, cv="prefit").fit(X[300:], Y[300:])
    assert model.estimator_ is fitted
    expected = ThresholdPolicy.from_validation(Y[300:], proba(fitted, X[300:]), SCENARIO)
    assert model.policy_ == expected
    with pytest.raises(NotFittedError, match="must be fitted"):
        ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO, cv="prefit").fit(X, Y)


def test_overlapping_splits_pool_their_held_out_scores():
    splitter = ShuffleSplit(3, test_size=0.3, random_state=1)
    model = ConstrainedThresholdClassifier(GaussianNB(), SCENARIO, cv=splitter).fit(X, Y)
    labels, scores = [], []
    for train, held_out in splitter.split(X, Y):
        scores.append(proba(GaussianNB().fit(X[train], Y[train]), X[held_out]))
        labels.append(Y[held_out])
    expected = ThresholdPolicy.from_validation(
        np.concatenate(labels), np.concatenate(scores), SCENARIO
    )
    assert model.policy_ == expected


def test_predictions_are_the_policys_alarms_at_each_cost():
    model = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO).fit(X, Y)
    scores = proba(model, X_NEW)
    for ratio in (None, 1 / 20, 1 / 2, 5.0):
        alarms = scores >= model.policy_.threshold(ratio)
        np.testing.assert_array_equal(model.predict(X_NEW, cost_ratio=ratio), alarms.astype(int))


@pytest.mark.parametrize("base", [LogisticRegression(), LinearSVC(random_state=0), GaussianNB()])
@pytest.mark.parametrize("positive", ["ill", "well"])
def test_string_classes_either_way_round(base, positive):
    labels = np.where(Y == 1, positive, "other")
    named = ConstrainedThresholdClassifier(base, SCENARIO, pos_label=positive).fit(X, labels)
    plain = ConstrainedThresholdClassifier(base, SCENARIO).fit(X, Y)
    alarms = named.predict(X) == positive
    np.testing.assert_array_equal(alarms, plain.predict(X) == 1)
    assert set(named.predict(X)) <= {positive, "other"}
    assert named.pos_label_ == positive


def test_a_guessed_positive_class_is_said_out_loud():
    labels = np.where(Y == 1, "ill", "well")
    with pytest.warns(voros.PositiveClassWarning, match="'well'.*pass pos_label"):
        model = ConstrainedThresholdClassifier(LogisticRegression(), Scenario(cost_ratio=1.0)).fit(
            X, labels
        )
    assert model.pos_label_ == "well"
    with pytest.raises(
        ValueError, match="pos_label='sick' is not one of the classes 'ill', 'well'"
    ):
        ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO, pos_label="sick").fit(
            X, labels
        )


@pytest.mark.parametrize("labels", [Y.astype(bool), Y * 2 - 1, Y.astype(float)])
def test_usual_labels_need_no_positive_class(labels):
    model = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO).fit(X, labels)
    plain = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO).fit(X, Y)
    assert model.predict(X).dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(X) == labels.max(), plain.predict(X) == 1)


def uninformative_cases():
    """Five kinds of cases, of each about three in ten positive: no score can tell them apart."""
    kinds = np.tile(np.arange(5.0), 60)[:, None]
    labels = (np.random.default_rng(0).random(300) < 0.3).astype(int)
    return np.hstack([kinds, kinds**2]), labels


@pytest.mark.parametrize("cv", [3, 0.3, "prefit"])
@pytest.mark.parametrize("strategy", voros.policy.POLICY_STRATEGIES)
def test_an_infeasible_scenario_never_alarms_anything(cv, strategy):
    noise, labels = uninformative_cases()
    base = LogisticRegression().fit(noise, labels)
    model = ConstrainedThresholdClassifier(
        base, HOPELESS, cv=cv, strategy=strategy, on_infeasible="never_alarm", random_state=0
    ).fit(noise, labels)
    assert model.policy_.never_alarms
    far_out = np.vstack([noise, 1e6 * noise, -1e6 * noise])
    for ratio in (None, 0.0, 1e-9, 1.0):
        assert not model.predict(far_out, cost_ratio=ratio).any()


def test_an_infeasible_scenario_raises_or_warns_if_asked():
    noise, labels = uninformative_cases()
    model = ConstrainedThresholdClassifier(LogisticRegression(), HOPELESS)
    with pytest.raises(voros.InfeasibleError, match=r"floor binds.*on_infeasible='never_alarm'"):
        model.fit(noise, labels)
    model.set_params(on_infeasible="warn")
    with pytest.warns(voros.NeverAlarmWarning, match="precision floor binds"):
        model.fit(noise, labels)
    assert model.policy_.never_alarms


def test_a_capacity_of_less_than_one_case_is_infeasible_too():
    tiny = Scenario(capacity=0.001, cost_ratio=0.1)
    with pytest.raises(voros.InfeasibleError, match="fewer than one case"):
        ConstrainedThresholdClassifier(GaussianNB(), tiny).fit(X, Y)
    model = ConstrainedThresholdClassifier(GaussianNB(), tiny, on_infeasible="never_alarm")
    assert not model.fit(X, Y).predict(X).any()


def test_a_guarantee_is_passed_on_to_the_policy():
    guarantee = voros.inference.Guarantee(confidence=0.9)
    wide, big = make_classification(4000, 8, weights=[0.8], flip_y=0.05, random_state=0)
    plain = ConstrainedThresholdClassifier(GaussianNB(), SCENARIO).fit(wide, big)
    sure = ConstrainedThresholdClassifier(GaussianNB(), SCENARIO, guarantee=guarantee)
    sure.fit(wide, big)
    assert sure.policy_.guarantee == guarantee
    assert sure.policy_.default.alarms <= plain.policy_.default.alarms
    few = ConstrainedThresholdClassifier(GaussianNB(), SCENARIO, guarantee=guarantee, cv=0.05)
    with pytest.raises(voros.InfeasibleError, match=r"confidence 0\.9"):
        few.set_params(random_state=0).fit(X, Y)


def test_response_method_is_honoured():
    both = LogisticRegression()
    by_decision = ConstrainedThresholdClassifier(
        both, SCENARIO, response_method="decision_function"
    ).fit(X, Y)
    scores = by_decision.decision_function(X) >= by_decision.policy_.threshold()
    np.testing.assert_array_equal(by_decision.predict(X), scores.astype(int))
    with pytest.raises(ValueError, match="KNeighborsClassifier has no decision_function"):
        ConstrainedThresholdClassifier(
            KNeighborsClassifier(), SCENARIO, response_method="decision_function"
        ).fit(X, Y)


def test_methods_are_those_of_the_estimator():
    svc = ConstrainedThresholdClassifier(LinearSVC(), SCENARIO)
    assert not hasattr(svc, "predict_proba")
    assert hasattr(svc, "decision_function")
    bayes = ConstrainedThresholdClassifier(GaussianNB(), SCENARIO).fit(X, Y)
    assert not hasattr(bayes, "decision_function")
    np.testing.assert_allclose(np.exp(bayes.predict_log_proba(X)), bayes.predict_proba(X))


def test_weights_without_routing_count_in_thresholds_and_fit():
    weights = np.random.default_rng(1).integers(1, 4, len(Y)).astype(float)
    model = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO, cv=3)
    model.fit(X, Y, sample_weight=weights)
    scores = np.empty(len(Y))
    for train, test in StratifiedKFold(3).split(X, Y):
        part = LogisticRegression().fit(X[train], Y[train], sample_weight=weights[train])
        scores[test] = proba(part, X[test])
    expected = ThresholdPolicy.from_validation(Y, scores, SCENARIO, sample_weight=weights)
    np.testing.assert_allclose(model.policy_.thresholds, expected.thresholds, rtol=1e-12)
    whole = LogisticRegression().fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X))


def test_weights_go_only_to_thresholds_where_the_estimator_takes_none():
    weights = np.random.default_rng(1).integers(1, 4, len(Y)).astype(float)
    model = ConstrainedThresholdClassifier(KNeighborsClassifier(), SCENARIO)
    weighted, plain = clone(model).fit(X, Y, sample_weight=weights), clone(model).fit(X, Y)
    assert weighted.policy_.n_positive == weights[Y == 1].sum()
    assert plain.policy_.n_positive == Y.sum()


@pytest.mark.parametrize(("own", "estimators"), list(itertools.product([True, False], repeat=2)))
def test_routed_weights_go_where_they_are_requested(routing, own, estimators):
    weights = np.random.default_rng(1).integers(1, 4, len(Y)).astype(float)
    base = LogisticRegression().set_fit_request(sample_weight=estimators)
    model = ConstrainedThresholdClassifier(base, SCENARIO, cv=3)
    model.set_fit_request(sample_weight=own)
    if not own and not estimators:
        with pytest.raises(TypeError, match="sample_weight"):
            model.fit(X, Y, sample_weight=weights)
        return
    model.fit(X, Y, sample_weight=weights)
    assert model.policy_.n_positive == (weights[Y == 1].sum() if own else Y.sum())
    final = LogisticRegression().fit(X, Y, sample_weight=weights if estimators else None)
    np.testing.assert_allclose(model.predict_proba(X), final.predict_proba(X))


def test_routed_groups_reach_the_splitter(routing):
    groups = np.arange(len(Y)) % 5
    splitter = GroupKFold(5)
    model = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO, cv=splitter)
    model.fit(X, Y, groups=groups)
    out_of_fold = cross_val_predict(
        LogisticRegression(), X, Y, cv=splitter, method="predict_proba", params={"groups": groups}
    )
    assert model.policy_ == ThresholdPolicy.from_validation(Y, out_of_fold[:, 1], SCENARIO)


def test_other_metadata_needs_routing():
    model = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO)
    with pytest.raises(ValueError, match="fit got groups; accepted is sample_weight"):
        model.fit(X, Y, groups=np.arange(len(Y)))


def test_it_searches_and_pipes_like_any_classifier():
    pipeline = make_pipeline(
        StandardScaler(), ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO)
    )
    search = GridSearchCV(
        pipeline,
        {"constrainedthresholdclassifier__estimator__C": [0.01, 1.0]},
        scoring=voros.make_scorer(SCENARIO),
        cv=3,
    ).fit(X, Y)
    assert set(search.predict(X)) == {0, 1}
    fewer = search.best_estimator_.predict(X, cost_ratio=100.0)
    assert fewer.sum() < search.predict(X).sum()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "f1"}, "strategy='f1'; accepted are 'partial_voros'"),
        ({"on_infeasible": "ignore"}, "on_infeasible='ignore'; accepted are 'raise', 'warn'"),
        ({"response_method": "predict"}, "response_method='predict'; accepted are 'auto'"),
        ({"cv": 1.5}, r"cv=1\.5; accepted as a held-out share"),
        ({"cv": 5, "refit": False}, "refit=False needs a single split"),
        ({"scenario": {"min_precision": 0.5}}, r"accepted is a voros\.Scenario"),
    ],
)
def test_bad_parameters_are_refused_in_fit(arguments, message):
    parameters = {"estimator": LogisticRegression(), "scenario": SCENARIO} | arguments
    with pytest.raises(ValueError, match=message):
        ConstrainedThresholdClassifier(**parameters).fit(X, Y)


def test_labels_must_be_of_two_classes():
    model = ConstrainedThresholdClassifier(LogisticRegression(), SCENARIO)
    with pytest.raises(ValueError, match="Only binary classification"):
        model.fit(X, np.arange(len(Y)) % 3)
    with pytest.raises(ValueError, match="one class only"):
        model.fit(X, np.zeros(len(Y)))
    with pytest.raises(ValueError, match="sample_weight leaves one class only"):
        model.fit(X, Y, sample_weight=Y.astype(float))


def test_a_fold_fitted_on_one_class_is_named():
    splits = [(np.flatnonzero(Y == 0), np.flatnonzero(Y == 1))]
    model = ConstrainedThresholdClassifier(GaussianNB(), SCENARIO, cv=splits)
    with pytest.raises(ValueError, match="fitted on one class only"):
        model.fit(X, Y)
