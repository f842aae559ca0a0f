"""Fit every loss on every seed of a task, choose on validation, and count alarms on test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import cos, pi
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from voros_studies.training.counts import choose_columns, count_alarms
from voros_studies.training.losses import LambdaRank, LogLoss, Loss, SmoothCost, SoftROC
from voros_studies.training.networks import HIDDEN, Networks
from voros_studies.training.splits import Task, read_split, read_splits

N_STEPS = 400
KEPT = (0.1, 0.3, 0.6, 1.0)
"""Shares of the steps after which weights are kept; validation chooses among them."""

BETAS = (0.9, 0.99)
LOG_LOSS = "log loss"
STARTS = ("scratch", "log loss")
"""Random weights, or those of least validation log loss."""


@dataclass(frozen=True)
class Settings:
    """The step size and the weight decay of a fit; ``width`` and ``share`` as in `Loss`."""

    step: float
    decay: float
    width: float = 1.0
    share: float = 0.0


@dataclass(frozen=True)
class Recipe:
    """A loss and the settings to choose from; one with limits is fitted for each scenario."""

    loss: type[Loss]
    grid: tuple[Settings, ...]
    by_scenario: bool = True


RECIPES = {
    LOG_LOSS: Recipe(
        LogLoss,
        tuple(Settings(*one) for one in product((0.01, 0.05), (1e-5, 1e-3, 1e-2))),
        by_scenario=False,
    ),
    "smooth cost": Recipe(
        SmoothCost,
        tuple(Settings(0.02, 1e-3, *one) for one in product((0.1, 0.3, 1.0), (0.0, 0.5))),
    ),
    "soft ROC": Recipe(
        SoftROC, tuple(Settings(*one) for one in product((0.003, 0.01, 0.03), (1e-5, 1e-3)))
    ),
    "lambdarank": Recipe(
        LambdaRank, tuple(Settings(*one) for one in product((0.01, 0.05), (1e-5, 1e-3, 1e-2)))
    ),
}
"""Six settings for every loss, so that none has more to choose from; log loss is the first."""


def train(
    networks: Networks, X: Tensor, loss: Loss, settings: Sequence[Settings], n_steps: int
) -> Networks:
    """Take full steps of Adam; return the weights kept after `KEPT` shares of them, as columns.

    The step size falls to 0 along a cosine. The columns kept first come first.
    """
    tensors = [one.clone().requires_grad_() for one in networks.tensors]
    moving = Networks(tuple(tensors))
    moments = [(torch.zeros_like(one), torch.zeros_like(one)) for one in tensors]
    size, decay = (
        torch.tensor(values, device=X.device, dtype=X.dtype)
        for values in zip(*((one.step, one.decay) for one in settings), strict=True)
    )
    ends, kept = [max(1, round(share * n_steps)) for share in KEPT], []
    for step in range(n_steps):
        slopes = torch.autograd.grad(loss(moving.scores(X), step).sum(), tensors)
        now = size * (1 + cos(pi * step / n_steps)) / 2
        with torch.no_grad():
            for place, (one, slope, pair) in enumerate(zip(tensors, slopes, moments, strict=True)):
                along = (1, -1) + (1,) * (one.dim() - 2)
                # Weights and biases take turns; biases do not decay.
                full = slope if place % 2 else slope + decay.view(along) * one
                one.sub_(now.view(along) * _direction(full, pair, step + 1))
        kept += [moving.detached()] * ends.count(step + 1)
    return Networks.joined(kept)


def _direction(slope: Tensor, moments: tuple[Tensor, Tensor], n: int) -> Tensor:
    """Update the moments of Adam, and return the direction of the step."""
    first, second = moments
    first.lerp_(slope, 1 - BETAS[0])
    second.lerp_(slope * slope, 1 - BETAS[1])
    return first / (1 - BETAS[0] ** n) / ((second / (1 - BETAS[1] ** n)).sqrt() + 1e-8)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fitter:
    """The parts of a task, for all seeds: features (seeds, cases, features) and outcomes."""

    seeds: tuple[int, ...]
    train: tuple[Tensor, Tensor]
    valid: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]
    limits: Tensor

    @classmethod
    def read(cls, folder: Path, task: Task, seeds: Sequence[int], device: str) -> Fitter:
        """Read the splits of a task."""
        path = folder / f"{task.data}.npz"
        by_seed = [read_split(path, task.n_train, seed) for seed in seeds]
        parts = []
        for same_part in zip(*by_seed, strict=True):
            X, y = (np.stack(one) for one in zip(*same_part, strict=True))
            parts.append((torch.from_numpy(X).to(device), torch.from_numpy(y[:, None]).to(device)))
        limits = torch.from_numpy(read_splits(path)["limits"]).to(device)
        names = ("train", "valid", "test")
        return cls(seeds=tuple(seeds), limits=limits, **dict(zip(names, parts, strict=True)))

    @property
    def device(self) -> str:
        """Device of the cases."""
        return str(self.limits.device)

    @property
    def n_cases(self) -> np.ndarray:
        """Positive and negative cases of validation and of test, by seed."""
        y = [part[1][:, 0] for part in (self.valid, self.test)]
        counts = torch.stack([c.sum(-1) for one in y for c in (one, 1 - one)], -1)
        n_cases: np.ndarray = counts.int().cpu().numpy()
        return n_cases

    def fit(self, name: str, start: Networks | int, n_steps: int) -> tuple[Networks, Tensor | None]:
        """Fit a loss, from random weights with hidden units or from one network for each seed.

        Returns
        -------
        Networks
            A column for each scenario (where the loss has limits), setting and kept step.
        Tensor or None
            The scenario of each column.
        """
        recipe = RECIPES[name]
        numbers = range(len(self.limits)) if recipe.by_scenario else (0,)
        columns = [(number, one) for number in numbers for one in recipe.grid]
        scenario, settings = zip(*columns, strict=True)
        of = torch.tensor(scenario, device=self.limits.device)
        X, y = self.train
        width, share = (
            torch.tensor(values, device=X.device, dtype=X.dtype)
            for values in zip(*((one.width, one.share) for one in settings), strict=True)
        )
        if isinstance(start, int):
            start = Networks.draw(self.seeds, len(columns), X.shape[-1], start).to(self.device)
            start.tensors[-1].add_(torch.logit(y.mean(-1)))
        else:
            start = start.take(torch.zeros_like(of).expand(len(self.seeds), -1))
        loss = recipe.loss(y, self.limits[of], width, share)
        networks = train(start, X, loss, settings, n_steps)
        return networks, of.repeat(len(KEPT)) if recipe.by_scenario else None

    @torch.no_grad()  # type: ignore[misc, untyped-decorator, unused-ignore]
    def counts(self, networks: Networks, scenario_of: Tensor | None = None) -> np.ndarray:
        """Choose a column for each scenario on validation; see `count_alarms`."""
        (X, y), (X_test, y_test) = self.valid, self.test
        columns = choose_columns(networks.scores(X), y, self.limits, scenario_of)
        chosen = networks.take(columns)
        parts = (chosen.scores(X), y), (chosen.scores(X_test), y_test)
        counts: np.ndarray = count_alarms(*parts, self.limits).cpu().numpy()
        return counts

    @torch.no_grad()  # type: ignore[misc, untyped-decorator, unused-ignore]
    def least_log_loss(self, networks: Networks) -> Networks:
        """Return the column of least log loss on validation, one for each seed."""
        X, y = self.valid
        unused = torch.zeros(1, device=X.device)
        loss = LogLoss(y, self.limits[:1], unused, unused)(networks.scores(X), 0)
        return networks.take(loss.argmin(-1, keepdim=True))


Rival = Callable[[str, Networks], Callable[[], dict[str, Networks]]]
"""Starts fits in other processes, and returns a function that waits for them."""


def fit_task(fitter: Fitter, rival: Rival | None, n_steps: int) -> dict[str, np.ndarray]:
    """Fit all losses with both architectures; return counts by ``architecture, loss, start``."""
    results, pending = {}, {}
    for architecture, hidden in HIDDEN.items():
        networks, _ = fitter.fit(LOG_LOSS, hidden, n_steps)
        results[f"{architecture}, {LOG_LOSS}, scratch"] = fitter.counts(networks)
        best = fitter.least_log_loss(networks)
        if rival is not None:
            pending[architecture] = rival(architecture, best)
        starts: dict[str, Networks | int] = dict(zip(STARTS, (hidden, best), strict=True))
        for name, start in product(list(RECIPES)[1:], STARTS):
            fitted = fitter.fit(name, starts[start], n_steps)
            results[f"{architecture}, {name}, {start}"] = fitter.counts(*fitted)
    for architecture, wait in pending.items():
        for name, networks in wait().items():
            results[f"{architecture}, {name}"] = fitter.counts(networks.to(fitter.device))
    return results
