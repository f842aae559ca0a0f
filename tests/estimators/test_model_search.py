"""From a model search on real patients to a classifier that keeps its limits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import voros
from voros import ConstrainedThresholdClassifier, Scenario, ThresholdPolicy

SCENARIO = Scenario(min_precision=0.3, capacity=0.1, cost_ratio=(1 / 40, 1 / 20))


@pytest.fixture(scope="module")
def patients():
    data = voros.datasets.load_support2()
    numbers = [values for values in data.features.values() if values.dtype.kind == "f"]
    died = data.outcome("hospital_death_within_7_days").astype(int)
    return train_test_split(
        np.column_stack(numbers), died, test_size=0.5, stratify=died, random_state=0
    )


@pytest.fixture(scope="module")
def search(patients):
    X_train, _, y_train, _ = patients
    pipeline = make_pipeline(
        SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression(max_iter=200)
    )
    return GridSearchCV(
        pipeline,
        {"logisticregression__C": [1e-5, 1e-2, 1.0]},
        scoring=voros.make_scorer(SCENARIO),
        cv=3,
    ).fit(X_train, y_train)


def test_the_search_picks_a_model_that_the_limits_like(search):
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == scores.max() > 0.1
    assert search.best_params_["logisticregression__C"] > 1e-5


def test_the_found_pipeline_predicts_within_its_limits(search, patients):
    X_train, X_test, y_train, y_test = patients
    model = ConstrainedThresholdClassifier(search.best_estimator_, SCENARIO).fit(X_train, y_train)
    alarms = model.predict(X_test)
    assert 0 < alarms.sum() < 0.15 * len(alarms)
    assert y_test[alarms == 1].mean() > 2.5 * y_test.mean()
    account = model.policy_.evaluate(y_test, model.predict_proba(X_test)[:, 1], by_cost=True)
    never = ThresholdPolicy.never_alarm(
        voros.OperatingPoints.from_scores(y_test, np.zeros(len(y_test))), SCENARIO
    )
    nothing = never.evaluate(y_test, np.zeros(len(y_test)), by_cost=True)
    assert account.expected_cost < 0.95 * nothing.expected_cost


def test_without_limits_the_same_cost_would_flood_the_ward(search, patients):
    # What the limits are for: at these costs an unlimited threshold alarms most patients.
    X_train, X_test, y_train, _ = patients
    free = Scenario(cost_ratio=(1 / 40, 1 / 20))
    model = ConstrainedThresholdClassifier(search.best_estimator_, free).fit(X_train, y_train)
    assert model.predict(X_test).mean() > 0.3
