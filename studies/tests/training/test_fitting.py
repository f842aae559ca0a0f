"""Losses find what they aim at: logistic regression, and thresholds within limits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch")

import torch
from sklearn.linear_model import LogisticRegression

from voros_studies.experiments.errors import ExperimentError
from voros_studies.training.counts import best_thresholds
from voros_studies.training.fitting import KEPT, LOG_LOSS, RECIPES, Fitter, Settings, train
from voros_studies.training.losses import LambdaRank, LogLoss, SmoothCost, SoftROC
from voros_studies.training.networks import Networks
from voros_studies.training.prepare import made_up_top, write_splits
from voros_studies.training.splits import Task, find_tasks, part_sizes, read_split
from voros_studies.training.tasks import count_networks, count_tasks, read_counts

LIMITS = torch.tensor([[0.5, 0.1, 1 / 40, 1 / 20]], dtype=torch.float64)

# Slow, because continuous integration has torch only for the slow tests.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("splits")
    write_splits([made_up_top(1200)], folder, n_seeds=2)
    return folder


def loss_of(kind, y, width=0.3, share=0.0):
    return kind(y, LIMITS, torch.tensor([width]), torch.tensor([share]))


def simulated(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1, n, 3)).astype(np.float32)
    y = rng.random(n) < 1 / (1 + np.exp(2 - X[0, :, 0] - 0.5 * X[0, :, 1]))
    return torch.from_numpy(X), torch.from_numpy(y[None, None].astype(np.float32))


def test_log_loss_finds_the_logistic_regression():
    X, y = simulated()
    decay = 0.01
    start = Networks.draw([0], 1, 3, 0)
    fitted = train(start, X, loss_of(LogLoss, y), [Settings(0.05, decay)], 400)
    # scikit-learn sums the losses and weighs them by C.
    peer = LogisticRegression(C=1 / (decay * X.shape[1])).fit(X[0].numpy(), y[0, 0].numpy())
    weights = fitted.take(torch.tensor([[len(KEPT) - 1]])).tensors[0][0, 0].numpy()
    assert weights == pytest.approx(peer.coef_[0], abs=2e-3)


def test_the_weights_are_kept_on_the_way():
    X, y = simulated()
    settings = [Settings(0.05, 1e-3), Settings(0.0, 0.0)]
    start = Networks.draw([0], 2, 3, 4)
    fitted = train(start, X, loss_of(LogLoss, y), settings, 20)
    first = fitted.tensors[0][0, 0::2]
    assert len({tuple(one.flatten().tolist()) for one in first}) == len(KEPT)
    assert all(torch.equal(one, start.tensors[0][0, 1]) for one in fitted.tensors[0][0, 1::2])


@pytest.mark.parametrize("kind", [LogLoss, SmoothCost, LambdaRank])
def test_a_loss_falls_when_a_positive_case_is_scored_higher(kind):
    _, y = simulated()
    scores = torch.randn(1, 1, y.shape[-1], generator=torch.Generator().manual_seed(0))
    scores.requires_grad_()
    loss = loss_of(kind, y)
    slope = torch.autograd.grad(loss(scores, 0).sum(), scores)[0]
    assert (slope[y == 1] <= 0).all()
    assert (slope[y == 0] >= 0).all()
    assert slope.abs().sum() > 0


def test_the_smooth_cost_does_not_move_with_the_threshold():
    _, y = simulated()
    scores = torch.randn(1, 1, y.shape[-1], generator=torch.Generator().manual_seed(1))
    scores.requires_grad_()
    slope = torch.autograd.grad(loss_of(SmoothCost, y)(scores, 0).sum(), scores)[0]
    assert float(slope.sum()) == pytest.approx(0, abs=1e-5)


def test_a_soft_roc_curve_outside_the_limits_teaches_nothing():
    _, y = simulated()
    scores = torch.zeros(1, 1, y.shape[-1], requires_grad=True)
    slope = torch.autograd.grad(loss_of(SoftROC, y)(scores, 0).sum(), scores)[0]
    assert not slope.any()


def test_the_soft_roc_cost_is_that_of_its_best_point():
    _, y = simulated()
    rng = torch.Generator().manual_seed(0)
    scores = 6 * y - 4 + 0.5 * torch.randn(1, 1, y.shape[-1], generator=rng)
    limits = torch.tensor([[0.1, 1.0, 0.1, 0.1]], dtype=torch.float64)
    loss = SoftROC(y, limits, torch.ones(1), torch.zeros(1))
    # Positives and negatives are far apart, so that soft counts are nearly whole.
    assert float(loss(scores, 0)) == pytest.approx(
        float(best_thresholds(scores, y, limits).cost), abs=0.01
    )


def test_splits_keep_their_sizes_and_scale_by_training_cases(splits):
    path = splits / "made_up.npz"
    assert part_sizes(path, 400) == (400, 200, 300)
    (X, y), (X_valid, _), (_, y_test) = read_split(path, 400, seed=1)
    assert (X.shape, X_valid.shape, y_test.shape) == ((400, 8), (200, 8), (300,))
    assert X.mean(axis=0) == pytest.approx(0, abs=1e-3)
    assert set(y.tolist()) == {0.0, 1.0}
    assert find_tasks(splits, (400, 5000)) == [Task("made_up", 400)]


def test_other_splits_in_the_folder_are_refused(splits):
    write_splits([made_up_top(1200)], splits, n_seeds=2)
    with pytest.raises(ExperimentError, match="holds 2 splits of 1200 cases, not 3 of 1200"):
        write_splits([made_up_top(1200)], splits, n_seeds=3)


def test_a_run_is_taken_up_again(splits, tmp_path):
    path, tasks = tmp_path / "counts.npz", [Task("made_up", 200), Task("made_up", 300)]
    count = partial(count_networks, splits, seeds=[0], n_steps=2)
    count_tasks(path, tasks[:1], count)
    counts = read_counts(path)
    assert counts["made_up-200, linear, soft ROC, log loss"].shape == (1, 3, 6, 21)
    assert counts["made_up-200, cases"].sum() == 100 + 300
    assert len([name for name in counts if "perceptron" in name]) >= 2 * len(RECIPES) - 1
    said = []
    count_tasks(path, tasks, lambda task: {"cases": np.array(task.n_train)}, said.append)
    assert [line.split(":")[0] for line in said] == ["counts of made_up-300"]
    assert read_counts(path).keys() == {*counts, "made_up-300, cases"}


def test_a_linear_score_by_smooth_cost_finds_a_top_that_log_loss_misses(splits):
    fitter = Fitter.read(splits, Task("made_up", 600), [0, 1], "cpu")
    recall = {}
    for name in (LOG_LOSS, "smooth cost"):
        counts = fitter.counts(*fitter.fit(name, 0, 100))
        recall[name] = counts[:, 1, 4].mean() / fitter.n_cases[:, 2].mean()
    assert recall["smooth cost"] > recall[LOG_LOSS] + 0.1
