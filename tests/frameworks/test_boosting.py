"""Boosting stops by the score that voros gives the validation predictions themselves."""

import numpy as np
import pytest

import voros
from voros.frameworks import CatBoostMetric, lightgbm_metric, xgboost_metric

SCENARIO = voros.Scenario(0.4, 0.2, (0.1, 0.3))
ROUNDS, STOP = 40, 10

# Warnings of the frameworks are theirs.
pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]


def draw(n_cases, random_state):
    rng = np.random.default_rng(random_state)
    x = rng.normal(size=(n_cases, 4))
    y = (rng.random(n_cases) < 1 / (1 + np.exp(2 - 2 * x[:, 0] + x[:, 1]))).astype(int)
    return x, y, rng.integers(1, 4, n_cases)


TRAIN, VALID = draw(800, 0), draw(700, 1)


def direct(scores, weighted):
    _, y, weights = VALID
    return voros.partial_voros_score(
        y, scores, SCENARIO, sample_weight=weights if weighted else None
    )


def repeated(scores):
    _, y, weights = VALID
    return voros.partial_voros_score(np.repeat(y, weights), np.repeat(scores, weights), SCENARIO)


def check(found, scores, weighted, digits=9):
    """The score is that of the predictions, and weights are repetitions."""
    error = 10.0**-digits
    assert found == pytest.approx(direct(scores, weighted), abs=error)
    if weighted:
        assert found == pytest.approx(repeated(scores), abs=error)
        assert found != pytest.approx(direct(scores, False), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_train(weighted):
    lgb = pytest.importorskip("lightgbm", reason="the boosting extra")
    train = lgb.Dataset(TRAIN[0], TRAIN[1])
    valid = lgb.Dataset(VALID[0], VALID[1], weight=VALID[2] if weighted else None, reference=train)
    settings = {"objective": "binary", "metric": "None", "verbose": -1, "num_threads": 1}
    booster = lgb.train(
        settings,
        train,
        ROUNDS,
        valid_sets=[valid],
        feval=lightgbm_metric(SCENARIO),
        callbacks=[lgb.early_stopping(STOP, verbose=False)],
    )
    scores = booster.predict(VALID[0], num_iteration=booster.best_iteration)
    check(booster.best_score["valid_0"]["partial_voros"], scores, weighted)
    every = [direct(booster.predict(VALID[0], num_iteration=i), weighted) for i in range(1, 20)]
    assert max(every) <= booster.best_score["valid_0"]["partial_voros"] + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_classifier(weighted):
    lgb = pytest.importorskip("lightgbm", reason="the boosting extra")
    model = lgb.LGBMClassifier(n_estimators=ROUNDS, metric="None", verbose=-1, n_jobs=1)
    model.fit(
        TRAIN[0],
        TRAIN[1],
        eval_set=[VALID[:2]],
        eval_sample_weight=[VALID[2]] if weighted else None,
        eval_metric=lightgbm_metric(SCENARIO),
        callbacks=[lgb.early_stopping(STOP, verbose=False)],
    )
    scores = model.predict_proba(VALID[0])[:, 1]
    check(model.best_score_["valid_0"]["partial_voros"], scores, weighted)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_train(weighted):
    xgb = pytest.importorskip("xgboost", reason="the boosting extra")
    train = xgb.DMatrix(TRAIN[0], TRAIN[1])
    valid = xgb.DMatrix(VALID[0], VALID[1], weight=VALID[2] if weighted else None)
    booster = xgb.train(
        {"objective": "binary:logistic", "disable_default_eval_metric": 1, "nthread": 1},
        train,
        ROUNDS,
        evals=[(valid, "valid")],
        custom_metric=xgboost_metric(SCENARIO),
        maximize=True,
        early_stopping_rounds=STOP,
        verbose_eval=False,
    )
    scores = booster.predict(valid, iteration_range=(0, booster.best_iteration + 1))
    check(booster.best_score, scores, weighted, digits=6)  # as many as XGBoost keeps


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_classifier(weighted):
    xgb = pytest.importorskip("xgboost", reason="the boosting extra")
    stop = xgb.callback.EarlyStopping(STOP, metric_name="partial_voros", maximize=True)
    model = xgb.XGBClassifier(
        n_estimators=ROUNDS, eval_metric=xgboost_metric(SCENARIO), callbacks=[stop], n_jobs=1
    )
    model.fit(
        TRAIN[0],
        TRAIN[1],
        eval_set=[VALID[:2]],
        sample_weight_eval_set=[VALID[2]] if weighted else None,
        verbose=False,
    )
    check(model.best_score, model.predict_proba(VALID[0])[:, 1], weighted, digits=6)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_catboost(weighted):
    cat = pytest.importorskip("catboost", reason="the boosting extra")
    model = cat.CatBoostClassifier(
        iterations=ROUNDS,
        eval_metric=CatBoostMetric(SCENARIO),
        early_stopping_rounds=STOP,
        verbose=False,
        thread_count=1,
        allow_writing_files=False,
        random_seed=0,
    )
    valid = cat.Pool(VALID[0], VALID[1], weight=VALID[2] if weighted else None)
    model.fit(cat.Pool(TRAIN[0], TRAIN[1]), eval_set=valid)
    scores = model.predict(VALID[0], prediction_type="RawFormulaVal")
    check(model.best_score_["validation"]["CatBoostMetric"], scores, weighted)


METRICS = {
    "lightgbm": lambda y, s, w: lightgbm_metric(SCENARIO)(y, s, w)[1],
    "xgboost": lambda y, s, w: xgboost_metric(SCENARIO)(y, s, sample_weight=w),
    "catboost": lambda y, s, w: CatBoostMetric(SCENARIO).evaluate([s], y, w)[0],
}


@pytest.mark.parametrize("framework", METRICS)
def test_weights_are_repetitions(framework):
    x, y, weights = VALID
    scores = x[:, 0].round(1)
    assert METRICS[framework](y, scores, None) == pytest.approx(direct(scores, False), abs=1e-12)
    assert METRICS[framework](y, scores, weights) == pytest.approx(repeated(scores), abs=1e-12)


def test_early_rounds_raise_no_warning():
    assert METRICS["lightgbm"](VALID[1], np.zeros(700), None) == 0


@pytest.mark.parametrize("make", [lightgbm_metric, xgboost_metric, CatBoostMetric])
def test_anything_but_a_scenario_is_refused(make):
    with pytest.raises(TypeError, match="scenario is a dict"):
        make({"capacity": 0.1})


def test_more_classes_are_refused():
    with pytest.raises(ValueError, match="scores of 3 classes"):
        CatBoostMetric(SCENARIO).evaluate([[0.1], [0.2], [0.3]], [1], None)
