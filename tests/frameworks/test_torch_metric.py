"""The torchmetrics metric gives the score of all cases, whatever the batches, types and ranks."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytest.importorskip("torch", reason="the torch extra")
pytest.importorskip("torchmetrics", reason="the torch extra")

import torch

import voros
from voros.core.decision import solve
from voros.devices.curve import DeviceCurve
from voros.exceptions import OneClassWarning
from voros.torch import PartialVOROS

SCENARIO = voros.Scenario(0.3, 0.2, (0.1, 0.3))

# Slow, for only those run where continuous integration has torch.
pytestmark = pytest.mark.slow


def draw(random_state, n_cases=2000, kind=torch.float32):
    rng = np.random.default_rng(random_state)
    labels = rng.random(n_cases) < 0.3
    scores = torch.tensor(rng.normal(size=n_cases) + labels).to(kind)
    return scores, torch.tensor(labels), torch.tensor(rng.random(n_cases) + 0.5)


def truth(scores, labels, weights=None, scenario=SCENARIO):
    return voros.partial_voros_score(
        labels.numpy(),
        scores.double().numpy(),
        scenario,
        sample_weight=None if weights is None else weights.numpy(),
    )


def fed(metric, *columns, batch=300):
    for start in range(0, len(columns[0]), batch):
        metric.update(*(column[start : start + batch] for column in columns))
    return metric


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_batches_give_the_score_of_all_cases(kind):
    scores, labels, weights = draw(0, kind=kind)
    found = fed(PartialVOROS(SCENARIO), scores, labels.long()).compute()
    assert found.item() == pytest.approx(truth(scores, labels), abs=1e-12)
    weighted = fed(PartialVOROS(SCENARIO, weighted=True), scores, labels, weights).compute()
    assert weighted.item() == pytest.approx(truth(scores, labels, weights), abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_cases_on_a_device_score_as_on_the_host(weighted):
    """The way taken on a device runs on the host too."""
    pytest.importorskip("array_api_compat")
    scores, labels, weights = draw(8)
    given = weights if weighted else None
    curve = DeviceCurve.from_cases(labels, scores, None, given)
    points = (
        voros.OperatingPoints.with_never_alarm(*curve.every_threshold())
        if weighted
        else curve.choosable(SCENARIO, every_cost=False)
    )
    found = solve(points, SCENARIO).partial_voros
    assert found == pytest.approx(truth(scores, labels, given), abs=1e-12)


def test_forward_scores_the_batch_and_keeps_all():
    scores, labels, _ = draw(3)
    metric = PartialVOROS(SCENARIO)
    batches = [metric(scores[i : i + 500], labels[i : i + 500]) for i in range(0, 2000, 500)]
    alone = fed(PartialVOROS(SCENARIO), scores[:500], labels[:500]).compute()
    assert batches[0] == alone
    assert metric.compute() == fed(PartialVOROS(SCENARIO), scores, labels).compute()
    metric.reset()
    metric.update(scores[:500], labels[:500])
    assert metric.compute() == alone


def test_gradients_are_cut_off():
    scores, labels, _ = draw(4, 200)
    leaf = scores.clone().requires_grad_()
    metric = PartialVOROS(SCENARIO)
    metric.update(leaf.sigmoid(), labels)
    assert not metric.compute().requires_grad


def test_one_class_has_no_score():
    metric = PartialVOROS(SCENARIO)
    metric.update(torch.rand(5), torch.zeros(5))
    with pytest.warns(OneClassWarning, match="one class only"):
        assert metric.compute().isnan()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.rand(3), torch.zeros(4)), r"preds has the shape \(3,\), and target \(4,\)"),
        ((torch.tensor([0.1, torch.nan]), torch.tensor([0, 1])), "preds holds NaN"),
        ((torch.rand(2), torch.tensor([0, 2])), "target must hold 0 and 1"),
        ((torch.tensor([1, 2]), torch.tensor([0, 1])), "preds must hold floats"),
        ((torch.rand(2), torch.tensor([0, 1]), torch.ones(2)), "weighted=False"),
    ],
)
def test_bad_batches_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        PartialVOROS(SCENARIO).update(*arguments)


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="capacity and a scenario were given"):
        PartialVOROS(SCENARIO, capacity=0.3)
    metric = PartialVOROS(SCENARIO, weighted=True)
    with pytest.raises(ValueError, match="sample_weight is missing"):
        metric.update(torch.rand(2), torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="finite and above 0"):
        metric.update(torch.rand(2), torch.tensor([0, 1]), torch.tensor([1.0, 0.0]))
    with pytest.raises(ValueError, match="sample_weight has 3 values, and preds 2"):
        metric.update(torch.rand(2), torch.tensor([0, 1]), torch.ones(3))


def test_a_metric_is_saved_with_a_model():
    scores, labels, _ = draw(6)
    metric, other = PartialVOROS(SCENARIO), PartialVOROS(SCENARIO)
    for one in (metric, other):
        one.persistent(True)
    fed(metric, scores, labels)
    other.load_state_dict(metric.state_dict())
    other.update(scores[:0], labels[:0])
    assert other.compute() == metric.compute()


WORKER = """
import os, sys
import numpy as np
import torch
import torch.distributed as dist
from voros import Scenario
from voros.torch import PartialVOROS

rank, folder = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", f"file://{folder}/meet", rank=rank, world_size=2)
cases = np.load(f"{folder}/cases.npz")
scores, labels, weights = (torch.tensor(cases[name]) for name in ("scores", "labels", "weights"))
scenario = Scenario(0.3, 0.2, (0.1, 0.3))
mine = slice(rank, None, 2)


def show(metric, *columns):
    for start in range(0, len(columns[0]), 250):
        metric.update(*(column[start : start + 250] for column in columns))
    print(repr(metric.compute().item()))


show(PartialVOROS(scenario), scores[mine], labels[mine])
show(PartialVOROS(scenario, weighted=True), scores[mine], labels[mine], weights[mine])
# One rank without a case, the other with float64 scores.
end = 0 if rank == 0 else len(scores)
show(PartialVOROS(scenario), scores[:end], labels[:end])
# Float32 scores on one rank, float64 on the other.
kind = torch.float32 if rank == 0 else torch.float64
show(PartialVOROS(scenario), scores.float()[mine].to(kind), labels[mine])
dist.destroy_process_group()
"""


def test_two_processes_give_the_score_of_one(tmp_path):
    scores, labels, weights = draw(7, 3001, torch.float64)
    columns = {"scores": scores.numpy(), "labels": labels.numpy(), "weights": weights.numpy()}
    np.savez(tmp_path / "cases.npz", **columns)
    (tmp_path / "worker.py").write_text(textwrap.dedent(WORKER))
    ranks = [
        subprocess.Popen(
            [sys.executable, tmp_path / "worker.py", str(rank), str(tmp_path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    answers = [process.communicate(timeout=120) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], answers
    assert answers[0][0] == answers[1][0]
    exact = truth(scores, labels), truth(scores, labels, weights)
    expected = [*exact, exact[0], truth(scores.float(), labels)]
    assert list(map(float, answers[0][0].split())) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_lightning_logs_it_and_keeps_the_best_checkpoint(tmp_path):
    lightning = pytest.importorskip("lightning")

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 1)
            self.metric = PartialVOROS(SCENARIO)
            self.seen = []

        def training_step(self, batch, _):
            x, y = batch
            logits = self.layer(x).squeeze(1)
            return torch.nn.functional.binary_cross_entropy_with_logits(logits, y.float())

        def validation_step(self, batch, _):
            x, y = batch
            self.metric.update(self.layer(x).squeeze(1), y)
            self.log("val_pv", self.metric, on_epoch=True)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.5)

    lightning.seed_everything(0)
    x = torch.randn(1200, 3)
    y = torch.rand(1200) < torch.sigmoid(3 * x[:, 0] - 1)
    train, valid = (
        torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[part], y[part]), 100)
        for part in (slice(0, 600), slice(600, None))
    )
    keep = lightning.pytorch.callbacks.ModelCheckpoint(
        dirpath=tmp_path, monitor="val_pv", mode="max", save_top_k=1
    )
    trainer = lightning.Trainer(
        max_epochs=4,
        accelerator="cpu",
        callbacks=[keep],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    net = Net()
    trainer.fit(net, train, valid)
    best = Net()
    best.load_state_dict(torch.load(keep.best_model_path, weights_only=True)["state_dict"])
    with torch.no_grad():
        scores = best.layer(x[600:]).squeeze(1)
    assert float(keep.best_model_score) == pytest.approx(truth(scores, y[600:]), abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_buffer_may_be_used_again(weighted):
    """Loops write every batch into the same memory."""
    columns = draw(4, kind=torch.float64)[: 2 + weighted]
    metric, buffers = PartialVOROS(SCENARIO, weighted=weighted), None
    for start in range(0, 2000, 500):
        batch = [column[start : start + 500] for column in columns]
        buffers = buffers or [torch.empty_like(part) for part in batch]
        for buffer, part in zip(buffers, batch, strict=True):
            buffer.copy_(part)
        metric.update(*buffers)
    assert metric.compute().item() == pytest.approx(truth(*columns), abs=1e-12)


@pytest.mark.parametrize("as_states", [False, True])
def test_metrics_of_the_same_settings_merge(as_states):
    scores, labels, _ = draw(5)
    whole, one, other = (PartialVOROS(SCENARIO) for _ in range(3))
    fed(whole, scores, labels)
    fed(one, scores[:900], labels[:900])
    fed(other, scores[900:], labels[900:])
    one.merge_state(other.metric_state if as_states else other)
    assert one.compute().item() == whole.compute().item()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"weighted": True}, "weighted=True"),
        ({"scenario": voros.Scenario(0.3, 0.2, (0.1, 0.4))}, "scenario=Scenario"),
    ],
)
def test_metrics_of_other_settings_do_not_merge(settings, named):
    scores, labels, weights = draw(5)
    one, other = PartialVOROS(SCENARIO), PartialVOROS(**({"scenario": SCENARIO} | settings))
    fed(one, scores, labels)
    fed(other, scores, labels, *([weights] if other.weighted else []))
    with pytest.raises(ValueError, match=f"incoming_state is a metric with {named}"):
        one.merge_state(other)
    assert one.compute().item() == pytest.approx(truth(scores, labels), abs=1e-12)


def test_states_of_other_settings_do_not_merge():
    metric, other = PartialVOROS(SCENARIO), PartialVOROS(SCENARIO, weighted=True)
    fed(other, *draw(5))
    with pytest.raises(ValueError, match="of a metric with weighted=False"):
        metric.merge_state(other.metric_state)
