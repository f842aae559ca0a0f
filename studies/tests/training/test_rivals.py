"""LibAUC's losses, LightGBM's trees, and the table of all: each against an independent way."""

from __future__ import annotations

import csv

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch")

import torch
from sklearn.metrics import roc_auc_score

from voros_studies.evidence.sources import DataSet
from voros_studies.experiments.cases import LabelledCases
from voros_studies.training.networks import Networks
from voros_studies.training.partial_auc import GRID, fit_one
from voros_studies.training.prepare import MADE_UP, made_up_top, write_splits
from voros_studies.training.run import run_training
from voros_studies.training.splits import Task, read_split
from voros_studies.training.summary import losses_table
from voros_studies.training.trees import LIST_LENGTH, count_trees, fit_trees

LINEAR = "linear, log loss, scratch"

# Slow, for only those run where continuous integration has torch.
pytestmark = pytest.mark.slow


def ward(n=1200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[::7, 1] = np.nan
    y = rng.random(n) < 1 / (1 + np.exp(2 - X[:, 0]))
    return DataSet("ward", "a ward", LabelledCases(X, y, np.arange(n), tuple("abc")))


@pytest.mark.parametrize("name", GRID)
def test_a_partial_auc_loss_learns_to_rank(name):
    pytest.importorskip("libauc", reason="its losses are LibAUC's")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)).astype(np.float32)
    y = (rng.random(500) < 1 / (1 + np.exp(2 - 2 * X[:, 0]))).astype(np.float32)
    start = Networks((torch.tensor([[[-0.3, 0.5, 0.5]]]), torch.zeros(1, 1)))
    kept = list(fit_one(name, GRID[name][-1], start, (X, y), n_steps=60, seed=0))
    before, after = (
        roc_auc_score(y, one.scores(torch.from_numpy(X)[None])[0, 0].numpy())
        for one in (start, kept[-1])
    )
    assert before < 0.6
    assert after > 0.8


def test_boosted_trees_are_counted_as_by_hand(tmp_path):
    pytest.importorskip("lightgbm", reason="the trees are LightGBM's")
    write_splits([made_up_top(1600)], tmp_path, n_seeds=1)
    counts = count_trees(tmp_path, Task(MADE_UP, 800), [0])
    train, _, (X, y) = read_split(tmp_path / "made_up.npz", 800, 0)
    assert counts["cases"][0, 2:].tolist() == [y.sum(), (1 - y).sum()]
    first, *_ = fit_trees(train, 0, capacity=0.1)
    assert first.params["lambdarank_truncation_level"] == round(0.1 * LIST_LENGTH * 800 / 500)
    assert roc_auc_score(y, first.predict(X)) > 0.7
    by_log_loss = counts["trees, log loss, scratch"]
    assert by_log_loss.shape == (1, 3, 6, 21)
    tp, fp = by_log_loss[0, 1, 4:]
    # Scenario 2: half of the alarms are correct, and at most a tenth of the cases are alarms.
    assert (tp >= fp).all()
    assert (tp + fp <= 0.1 * len(y)).all()
    assert (tp > 0).all()


def test_differences_are_means_over_data_sets_without_the_made_up_one():
    values = {"a": 0.1, "b": 0.3, MADE_UP: 9.0}
    costs = {}
    for data, above in values.items():
        costs[data, 2500, LINEAR] = np.full((4, 3, 3), 0.5)
        costs[data, 2500, "linear, soft ROC, log loss"] = np.full((4, 3, 3), 0.5 + above)
    rows = list(csv.DictReader(losses_table(costs).csv().splitlines()))
    mean = next(row for row in rows if row["data set"] == "mean of 2" and "soft" in row["loss"])
    assert mean["scenario"] == "all"
    assert float(mean["above"]) == pytest.approx(0.2)
    # Both sets drawn twice are the extremes.
    assert (float(mean["low"]), float(mean["high"])) == pytest.approx((0.1, 0.3))
    assert float(mean["deployed above"]) == pytest.approx(0.2)
    # Two methods; the mean has a row for each of three scenarios too.
    assert len(rows) == 2 * (4 + 3)


def test_the_whole_study_writes_its_table(tmp_path):
    said = []
    options = {"n_seeds": 1, "sizes": (300,), "n_steps": 3}
    table = run_training([ward()], tmp_path, announce=said.append, **options)
    rows = list(csv.DictReader((tmp_path / "training.csv").read_text().splitlines()))
    assert {row["data set"] for row in rows} == {"ward", MADE_UP}
    assert {row["less log loss of"] for row in rows} >= {"linear", "perceptron"}
    again = run_training([ward()], tmp_path, **options)
    assert again.csv() == table.csv()
