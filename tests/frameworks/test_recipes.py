"""The recipes of docs/frameworks.md run where their framework is installed, and score alike."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import voros

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
BLOCK = re.compile(r"(?:<!-- needs: (.*?) -->\n)?```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def run(*wanted):
    """Run the blocks that need nothing else than what is wanted; return their names."""
    for package in wanted:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    names = {"__name__": "__main__"}
    for needs, block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if set(filter(None, needs.split(", "))) <= set(wanted):
            exec(compile(block, str(PAGE), "exec"), names)
    return names


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def direct(names, scores):
    return voros.partial_voros_score(names["y_valid"], np.asarray(scores), names["scenario"])


def test_torchmetrics():
    names = run("torch", "torchmetrics")
    expected = direct(names, names["X_valid"][:, 0])
    assert names["metric"].compute().item() == pytest.approx(expected, abs=1e-12)


def test_lightning():
    names = run("torch", "torchmetrics", "lightning")
    import torch

    saved = torch.load(names["best"].best_model_path, weights_only=True)["state_dict"]
    weights, bias = saved["layer.weight"].numpy(), saved["layer.bias"].numpy()
    scores = names["X_train"].astype(np.float32) @ weights[0] + bias
    expected = voros.partial_voros_score(names["y_train"], scores, names["scenario"])
    assert float(names["best"].best_model_score) == pytest.approx(expected, abs=1e-3)


def test_lightgbm():
    names = run("lightgbm")
    model = names["model"]
    scores = model.predict_proba(names["X_valid"])[:, 1]
    found = model.best_score_["valid_0"]["partial_voros"]
    assert found == pytest.approx(direct(names, scores), abs=1e-9)


def test_xgboost():
    names = run("xgboost")
    scores = names["model"].predict_proba(names["X_valid"])[:, 1]
    assert names["model"].best_score == pytest.approx(direct(names, scores), abs=1e-6)


def test_catboost():
    names = run("catboost")
    scores = names["model"].predict(names["X_valid"], prediction_type="RawFormulaVal")
    found = names["model"].best_score_["validation"]["CatBoostMetric"]
    assert found == pytest.approx(direct(names, scores), abs=1e-9)


def test_optuna():
    names = run("optuna")
    study = names["study"]
    model = names["SGDClassifier"](**study.best_params, random_state=0)
    for _ in range(10):
        model.partial_fit(names["X_train"], names["y_train"], classes=[0, 1])
    expected = direct(names, model.decision_function(names["X_valid"]))
    assert study.best_value == pytest.approx(expected, abs=1e-12)
    assert any(trial.state.name == "PRUNED" for trial in study.trials)


def test_mlflow():
    names = run("mlflow", "pandas")
    found, expected = names["result"], direct(names, names["X_valid"][:, 0])
    assert found.metrics["partial_voros"] == pytest.approx(expected, abs=1e-12)
    strict = names["MetricThreshold"](threshold=0.99, greater_is_better=True)
    with pytest.raises(Exception, match="partial_voros value threshold check failed"):
        names["mlflow"].validate_evaluation_results({"partial_voros": strict}, found)


def test_skore():
    names = run("skore")
    report = names["report"]
    scores = report.estimator_.predict_proba(names["X_valid"])[:, 1]
    assert report.metrics.partial_voros() == pytest.approx(direct(names, scores), abs=1e-12)


def test_every_block_is_run_by_a_test():
    needed = {needs for needs, _ in BLOCK.findall(PAGE.read_text(encoding="utf-8"))}
    source = Path(__file__).read_text(encoding="utf-8")
    asked = {
        ", ".join(re.findall(r'"(\w+)"', call)) for call in re.findall(r"run\((\".*?)\)", source)
    }
    assert needed - {""} <= asked
