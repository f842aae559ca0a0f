"""The study on a table of one's own: from rows with ids, words and gaps to saved alarms."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from voros import Scenario
from voros.cli.app import app
from voros.exceptions import VorosWarning
from voros.policy import ThresholdPolicy
from voros_studies.experiments import (
    ExperimentError,
    RunOptions,
    TableColumns,
    own_models,
    run_table,
)
from voros_studies.experiments.model_file import load_models
from voros_studies.experiments.table import table_cases

MODELS = """
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

models = {
    "logistic": LogisticRegression(max_iter=1000),
    "tree": DecisionTreeClassifier(max_depth=3),
    "stump": DecisionTreeClassifier(max_depth=1),
}
"""
LIMITS = """
[ward]
min_precision = 0.3
capacity = 0.2
miss_costs = 8
"""
COLUMNS = TableColumns(label="died", group="patient", ignore=("admitted",))


def ward(n=900, seed=1):
    rng = np.random.default_rng(seed)
    age, lactate = rng.normal(65, 15, n).round(), rng.gamma(2, 1, n).round(2)
    unit = rng.choice(["medical", "surgical", "cardiac"], n).astype(object)
    logit = -2.7 + 0.03 * (age - 65) + 0.9 * (lactate - 2) + 0.5 * (unit == "medical")
    died = rng.random(n) < 1 / (1 + np.exp(-logit))
    lactate[rng.random(n) < 0.2] = np.nan
    unit[rng.random(n) < 0.05] = None
    return pd.DataFrame(
        {
            "stay_id": 10_000 + rng.permutation(n),
            "patient": [f"P{i}" for i in rng.integers(0, n // 2, n)],
            "age": age,
            "lactate": lactate,
            "unit": unit,
            "admitted": "2026-01-02",
            "died": np.where(died, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    place = tmp_path_factory.mktemp("ward")
    ward().to_csv(place / "ward.csv", index=False)
    (place / "models.py").write_text(MODELS)
    scenarios = {"ward": Scenario(min_precision=0.3, capacity=0.2, cost_ratio=1 / 8)}
    options = RunOptions(
        models=own_models(str(place / "models.py")), scenarios=scenarios, jobs=1, progress=False
    )
    result = run_table(place / "ward.csv", place / "run", COLUMNS, options)
    return place, options, result


def plain_features(frame):
    """The features written out by hand."""
    columns = {"age": frame["age"], "lactate": frame["lactate"]}
    columns["recorded"] = frame["lactate"].notna().astype(float)
    for word in ("cardiac", "medical", "surgical"):
        columns[word] = (frame["unit"] == word).astype(float)
    return pd.DataFrame(columns)


@pytest.mark.slow
def test_scores_and_cost_are_those_of_a_plain_computation(study):
    place, _, result = study
    frame = ward()
    with np.load(place / "run" / "features.npz") as packed:
        patients = {part: packed[f"patient_{part}"] for part in ("train", "valid", "test")}
    codes = np.unique(frame["patient"], return_inverse=True)[1]
    parts = {part: np.isin(codes, held) for part, held in patients.items()}
    assert sum(held.sum() for held in parts.values()) == len(frame)
    X, y = plain_features(frame), (frame["died"] == "yes").to_numpy()
    train = X[parts["train"]]
    low, high = train.min(), train.max()
    X = (X.fillna(train.mean()) - low) / (high - low)
    model = LogisticRegression(max_iter=1000, random_state=0)
    model.fit(X[parts["train"]].to_numpy(), y[parts["train"]])
    score = model.predict_proba(X[parts["test"]].to_numpy())[:, 1]
    kept = pd.read_csv(place / "run" / "predictions" / "logistic_test.csv")
    assert kept["proba_y_eq_1"].to_numpy() == pytest.approx(score, abs=1e-9)

    # Of every model the threshold of least cost within the limits, by trying all of them.
    choices = []
    for model in ("logistic", "tree", "stump"):
        valid, test = predictions(place, model, "valid"), predictions(place, model, "test")
        for threshold in (np.inf, *valid["proba_y_eq_1"].unique()):
            alarm, cost = cost_of(valid, threshold)
            precise = valid["y_true"][alarm].mean() >= 0.3 or not alarm.any()
            if precise and alarm.sum() <= 0.2 * len(alarm):
                choices.append((cost, cost_of(test, threshold)[1]))
    table = pd.read_csv(place / "run" / "tables" / "main.csv").set_index("strategy")
    assert table.loc["max partial VOROS", "scenario_ward_cost"] == pytest.approx(min(choices)[1])
    (one,) = (choice for choice in result.deployed if choice.strategy == "recall")
    _, cost = cost_of(predictions(place, one.model, "test"), one.policy.thresholds[0])
    assert table.loc["max recall", "scenario_ward_cost"] == pytest.approx(cost)


def predictions(place, model, part):
    return pd.read_csv(place / "run" / "predictions" / f"{model}_{part}.csv")


def cost_of(scores, threshold):
    """Who raises an alarm, and the cost where a miss is worth 8 false alarms."""
    alarm, died = scores["proba_y_eq_1"] >= threshold, scores["y_true"] == 1
    false_alarms, missed = (alarm & ~died).sum(), (~alarm & died).sum()
    return alarm, (false_alarms / 8 + missed) / ((~died).sum() / 8 + died.sum())


def applied(place, rows, *words, policy="scenario_ward_recall"):
    """What ``voros apply`` makes of rows, by the policy of greatest recall."""
    rows.to_csv(place / "rows.csv", index=False)
    saved, out = place / "run" / "policies" / f"{policy}.json", place / "alarms.csv"
    asked = ["apply", saved, place / "rows.csv", "-o", out, "--force", *words]
    ran = CliRunner().invoke(app, [*map(str, asked)])
    return ran, pd.read_csv(out) if ran.exit_code == 0 else None


@pytest.mark.slow
def test_voros_apply_scores_rows_from_the_folder_as_the_study_did(study):
    place, _, _ = study
    ran, rows = applied(place, ward(), "--label", "died", "--pos-label", "yes")
    assert ran.exit_code == 0, ran.output
    policy = ThresholdPolicy.from_json(place / "run" / "policies" / "scenario_ward_recall.json")
    scores = pd.read_csv(place / "run" / "predictions" / f"{policy.model}_test.csv")
    codes = np.unique(rows["patient"], return_inverse=True)[1]
    tested = rows[np.isin(codes, scores["patient"])]
    assert tested[policy.model].to_numpy() == pytest.approx(scores["proba_y_eq_1"].to_numpy())
    assert rows["alarm"].tolist() == (rows[policy.model] >= policy.thresholds[0]).tolist()
    assert 0 < rows["alarm"].sum() < len(rows)


@pytest.mark.slow
def test_new_rows_may_have_new_words_and_no_outcome_but_need_the_features(study, monkeypatch):
    place, _, _ = study
    new = ward(300, seed=2).drop(columns="died")
    new.loc[0, "unit"] = "a unit that is new"
    assert len(applied(place, new)[1]) == 300
    ran, _ = applied(place, new.drop(columns="lactate"))
    assert "the table has no column 'lactate', which is a feature" in ran.output
    monkeypatch.setattr("voros.cli.app.added_commands", dict)
    ran, _ = applied(place, new)
    assert ran.exit_code == 2
    assert "needs voros-studies, which is not installed: pip install" in ran.output


@pytest.mark.slow
def test_the_folder_itself_is_answered_with_one_of_its_policies(study):
    place, _, _ = study
    ran = CliRunner().invoke(app, ["apply", str(place / "run"), str(place / "ward.csv")])
    assert ran.exit_code == 2
    assert "is a folder; name a policy in it, such as" in ran.output


@pytest.mark.slow
def test_the_same_command_again_fits_nothing_and_other_limits_are_refused(study):
    place, options, result = study
    before = (place / "run" / "fits" / "tree.json").stat().st_mtime_ns
    again = run_table(place / "ward.csv", place / "run", COLUMNS, options)
    assert again.text() == result.text()
    assert (place / "run" / "fits" / "tree.json").stat().st_mtime_ns == before
    other = RunOptions(models=options.models, jobs=1, progress=False)
    with pytest.raises(ExperimentError, match="another run, with a different scenarios"):
        run_table(place / "ward.csv", place / "run", COLUMNS, other)


def test_a_part_without_the_outcome_is_refused_before_fitting(tmp_path):
    frame = ward().assign(part=np.repeat(["train", "valid", "test"], 300)).drop(columns="patient")
    frame.loc[frame["part"] == "valid", "died"] = "no"
    frame.to_csv(tmp_path / "ward.csv", index=False)
    columns = TableColumns(label="died", split="part", ignore=("admitted",))
    with pytest.raises(ExperimentError, match="the valid part has 300 cases, none with the outc"):
        run_table(tmp_path / "ward.csv", tmp_path / "run", columns)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_the_card_names_the_file_that_lies_beside_it(study):
    place, _, result = study
    chosen = {one.model for one in result.deployed}
    from hashlib import sha256

    for name in chosen:
        card = (place / "run" / "models" / f"{name}.md").read_text()
        held = sha256((place / "run" / "models" / f"{name}.skops").read_bytes()).hexdigest()
        assert held in card


@pytest.mark.slow
def test_a_model_of_the_users_own_code_is_saved_with_it(tmp_path):
    """Skops would refuse the function when loading; the file of the models may be gone."""
    own = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

def root(X):
    return np.sqrt(np.abs(X))

models = {"rooted": make_pipeline(FunctionTransformer(root), LogisticRegression())}
"""
    (tmp_path / "models.py").write_text(own)
    ward().to_csv(tmp_path / "ward.csv", index=False)
    options = RunOptions(models=own_models(str(tmp_path / "models.py")), jobs=1, progress=False)
    with pytest.warns(VorosWarning, match="model rooted is saved by joblib"):
        run_table(tmp_path / "ward.csv", tmp_path / "run", COLUMNS, options)
    assert "since skops cannot hold <run_path>.root" in (
        tmp_path / "run" / "models" / "rooted.md"
    ).read_text(encoding="utf-8")
    (tmp_path / "models.py").unlink()
    ran, rows = applied(tmp_path, ward(), policy="scenario_1_recall")
    assert ran.exit_code == 0, ran.output
    scores = predictions(tmp_path, "rooted", "test")
    codes = np.unique(rows["patient"], return_inverse=True)[1]
    tested = rows[np.isin(codes, scores["patient"])]
    assert tested["rooted"].to_numpy() == pytest.approx(scores["proba_y_eq_1"].to_numpy())


@pytest.mark.parametrize(
    ("change", "columns", "complaint"),
    [
        ({}, {"ignore": ()}, "column 'admitted' holds dates or times, such as '2026-01-02'"),
        ({"seen": ["2 Jan 2026", "9/1/2026", "not yet"] * 300}, {}, "such as '2 Jan 2026'"),
        ({"seen": ["10:45", "23:10"] * 450}, {}, "'seen' holds dates or times, such as '10:45'"),
        ({"seen": pd.Timestamp("2026-01-02")}, {}, "'seen' holds dates or times"),
        ({"subject_id": np.arange(900) // 2}, {"group": None}, "an id and has 450 values"),
        ({"name": [f"n{i}" for i in range(900)]}, {}, "'name' has 900 different words"),
        ({}, {"label": "dead"}, "there is no column 'dead'"),
        ({}, {"positive": "1"}, "positive='1' is not a value of 'died'; it has 'no', 'yes'"),
        ({"died": ["a", "b"] * 450}, {}, "name the one to predict with positive"),
        ({"part": "train"}, {"split": "part"}, "gives no case to valid"),
        ({"part": ["train", "valid", "test"] * 300}, {"split": "part"}, "more than one part"),
        ({"part": "fold 1"}, {"split": "part"}, "holds 'fold 1'; accepted are train"),
        ({"patient": None}, {}, "names no patient in 900 rows"),
    ],
)
def test_a_table_that_cannot_be_studied_is_refused_by_name(change, columns, complaint):
    asked = {"label": "died", "group": "patient", "ignore": ("admitted",), **columns}
    with pytest.raises(ExperimentError, match=complaint):
        table_cases(ward().assign(**change), TableColumns(**asked))


def test_rows_without_an_outcome_and_columns_of_ids_are_left_out_and_counted():
    frame = ward().astype({"died": object})
    frame.loc[:9, "died"] = None
    table = table_cases(frame, COLUMNS)
    assert table.flow[-1].left_out == 10
    assert table.notes == ("column stay_id is an id: left out",)
    assert "stay_id" not in table.cases.feature_names
    table = table_cases(frame.assign(hadm_id=np.arange(900) // 2), COLUMNS)
    assert table.notes[-1] == "column hadm_id is an id: left out"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1", "does not define 'models'"),
        ("models = []", "models is a list; accepted is a dict"),
        ("models = {'a b': 1}", "cannot be part of a file name"),
        ("models = {'a': 1}", "'a' is a int without fit"),
    ],
)
def test_models_that_cannot_be_used_are_refused_by_name(tmp_path, text, complaint):
    (tmp_path / "models.py").write_text(text)
    with pytest.raises(ExperimentError, match=complaint):
        load_models(f"{tmp_path / 'models.py'}:models")


def test_limits_that_a_study_cannot_keep_are_refused():
    with pytest.raises(ValueError, match="capacity of 40 alarms; accepted is a share"):
        RunOptions(scenarios={"ward": Scenario(capacity=40, cost_ratio=0.1)})
    with pytest.raises(ValueError, match="names of letters"):
        RunOptions(scenarios={"ward/night": Scenario(cost_ratio=0.1)})


@pytest.mark.slow
def test_test_data_and_splits(study, tmp_path):
    place, options, _ = study
    later = ward(400, seed=5).assign(patient=lambda frame: "L" + frame["patient"])
    later.to_csv(tmp_path / "later.csv", index=False)
    result = run_table(
        *(place / "ward.csv", tmp_path / "run", COLUMNS, options),
        n_splits=2,
        test_data=tmp_path / "later.csv",
    )
    assert len(result.splits) == 2
    sizes = json.loads((tmp_path / "run" / "split-00" / "run.json").read_text())["sizes"]
    assert sizes["test"] == 400


@pytest.mark.slow
def test_a_killed_run_is_taken_up_and_gives_what_an_unbroken_one_gives(study, tmp_path):
    place, _, _ = study
    (tmp_path / "limits.toml").write_text(LIMITS)
    asked = ["--data", place / "ward.csv", "--label", "died", "--group", "patient"]
    asked += ["--ignore", "admitted", "--models", place / "models.py", "--jobs", "1"]
    asked += ["--scenarios", tmp_path / "limits.toml", "--out", tmp_path / "run"]
    command = [sys.executable, "-m", "voros", "experiment", "table", *map(str, asked)]
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fits = tmp_path / "run" / "fits"
    while not (fits.is_dir() and any(fits.glob("*.json"))):
        assert started.poll() is None
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    assert not (tmp_path / "run" / "summary.html").exists()
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "everything is in" in ended.stderr
    for name in ("logistic", "tree", "stump"):
        for part in ("valid", "test"):
            held = (tmp_path / "run" / "predictions" / f"{name}_{part}.csv").read_bytes()
            assert held == (place / "run" / "predictions" / f"{name}_{part}.csv").read_bytes()
    for table in ("main.csv", "scenario_ward.csv", "scenario_ward_differences.csv"):
        held = (tmp_path / "run" / "tables" / table).read_bytes()
        assert held == (place / "run" / "tables" / table).read_bytes()
