"""LibAUC's losses of one-way partial AUC, with its own optimizers, one network at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voros_studies.training.fitting import KEPT, STARTS
from voros_studies.training.networks import HIDDEN, Networks
from voros_studies.training.splits import read_split

BATCH = (64, 192)
"""Positive and negative cases of a step."""

STEPS_PER_CASE = 0.04
FEWEST_STEPS = 400
"""Steps by the number of training cases: a negative case is drawn about eight times."""

DECAY = 1e-4
GRID = {
    "LibAUC pAUC_DRO": tuple({"Lambda": a, "lr": b} for a in (0.1, 1.0) for b in (0.003, 0.03)),
    "LibAUC pAUC_CVaR": tuple({"beta": a, "lr": b} for a in (0.1, 0.3) for b in (0.003, 0.03)),
}
"""Settings that validation chooses from; ``lr`` is the step size."""

Weights = tuple[np.ndarray, ...]


def _loss_and_optimizer(name: str, setting: dict[str, float], y: Any, tensors: Any) -> Any:
    from libauc import losses, optimizers

    own = {key: value for key, value in setting.items() if key != "lr"}
    where = torch.device("cpu")
    rest = {"mode": "adam", "lr": setting["lr"], "weight_decay": DECAY, "device": where}
    if name == "LibAUC pAUC_DRO":
        loss = losses.pAUC_DRO_Loss(data_len=len(y), device=where, **own)
        return loss, optimizers.SOPAs(tensors, verbose=False, **rest)
    loss = losses.pAUC_CVaR_Loss(data_len=len(y), pos_len=int(y.sum()), device=where, **own)
    return loss, optimizers.SOPA(tensors, **rest)


def fit_one(
    name: str, setting: dict[str, float], start: Networks, part: Any, n_steps: int, seed: int
) -> Iterator[Networks]:
    """Fit one network, and yield its weights after the shares of the steps in `KEPT`."""
    X, y = (torch.from_numpy(one) for one in part)
    tensors = [one.clone().requires_grad_() for one in start.tensors]
    networks = Networks(tuple(tensors))
    loss, optimizer = _loss_and_optimizer(name, setting, y, tensors)
    rng, groups = np.random.default_rng(seed), [np.flatnonzero(y == label) for label in (1, 0)]
    ends = [max(1, round(share * n_steps)) for share in KEPT]
    for step in range(n_steps):
        drawn = [rng.choice(group, n) for group, n in zip(groups, BATCH, strict=True)]
        index = torch.from_numpy(np.concatenate(drawn))
        risk = torch.sigmoid(networks.scores(X[index][None])[0, 0])
        optimizer.zero_grad()
        loss(risk, y[index], index).backward()
        optimizer.step()
        yield from [networks.detached()] * ends.count(step + 1)


def fit_seed(
    path: Path, n_train: int, architecture: str, n_steps: int | None, seed: int, best: Weights
) -> dict[str, Weights]:
    """Fit both losses from both starts on one seed; the columns are settings and kept steps."""
    torch.set_num_threads(1)
    train = read_split(path, n_train, seed)[0]
    n_steps = n_steps or max(FEWEST_STEPS, round(STEPS_PER_CASE * n_train))
    fresh = Networks.draw([seed], 1, train[0].shape[1], HIDDEN[architecture])
    warm = Networks(tuple(torch.from_numpy(one) for one in best))
    fitted = {}
    for name, grid in GRID.items():
        for start, networks in zip(STARTS, (fresh, warm), strict=True):
            kept = [n for one in grid for n in fit_one(name, one, networks, train, n_steps, seed)]
            columns = Networks.joined(kept)
            fitted[f"{name}, {start}"] = tuple(one.numpy() for one in columns.tensors)
    return fitted


def start_fits(
    executor: Executor,
    path: Path,
    n_train: int,
    seeds: Sequence[int],
    n_steps: int | None,
    architecture: str,
    best: Networks,
) -> Callable[[], dict[str, Networks]]:
    """Start fits of the seeds in other processes; return a function that waits for them."""
    one_each = [np.split(one.cpu().numpy(), len(seeds)) for one in best.tensors]
    fit = partial(fit_seed, path, n_train, architecture, n_steps)
    by_seed = executor.map(fit, seeds, zip(*one_each, strict=True))
    return lambda: _joined(list(by_seed))


def _joined(by_seed: list[dict[str, Weights]]) -> dict[str, Networks]:
    return {
        name: Networks.joined(
            [Networks(tuple(torch.from_numpy(one) for one in held[name])) for held in by_seed], 0
        )
        for name in by_seed[0]
    }
