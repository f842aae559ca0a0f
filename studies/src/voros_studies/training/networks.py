"""Linear scores and small perceptrons, many side by side: one for each seed and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

HIDDEN = {"linear": 0, "perceptron": 16}
"""Hidden units of each architecture."""


@dataclass(frozen=True, eq=False)
class Networks:
    """Weights and biases in turn, each of shape (seeds, columns, ...).

    A linear score has weights (features) and one bias; a perceptron has weights (hidden, features),
    biases (hidden), weights (hidden) and one bias.
    """

    tensors: tuple[Tensor, ...]

    @classmethod
    def draw(cls, seeds: Sequence[int], n_columns: int, n_features: int, hidden: int) -> Networks:
        """Draw weights: small ones for a linear score, those of He et al. for rectified units.

        Examples
        --------
        >>> [tuple(one.shape) for one in Networks.draw([0, 1], 3, 5, hidden=0).tensors]
        [(2, 3, 5), (2, 3)]
        """
        drawn: list[tuple[Tensor, ...]] = []
        for seed in seeds:
            rng = torch.Generator().manual_seed(seed)
            if hidden:
                first = torch.randn(n_columns, hidden, n_features, generator=rng)
                second = torch.randn(n_columns, hidden, generator=rng)
                drawn.append((first * (2 / n_features) ** 0.5, second * hidden**-0.5))
            else:
                drawn.append((0.01 * torch.randn(n_columns, n_features, generator=rng),))
        tensors: list[Tensor] = []
        for weights in zip(*drawn, strict=True):
            stacked = torch.stack(weights)
            tensors += [stacked, torch.zeros(stacked.shape[:-1])]
        return cls(tuple(tensors))

    def to(self, device: str) -> Networks:
        """Move to a device."""
        return Networks(tuple(one.to(device) for one in self.tensors))

    def scores(self, X: Tensor) -> Tensor:
        """Return scores of shape (seeds, columns, cases) for X of shape (seeds, cases, features).

        Examples
        --------
        >>> networks = Networks((torch.tensor([[[2.0, 1.0]]]), torch.tensor([[0.5]])))
        >>> networks.scores(torch.tensor([[[1.0, 0.0], [0.0, 3.0]]])).tolist()
        [[[2.5, 3.5]]]
        """
        weights, bias = self.tensors[:2]
        seen = X.transpose(1, 2)
        if len(self.tensors) == 2:
            return torch.baddbmm(bias[..., None], weights, seen)
        n_seeds, n_columns, hidden, _ = weights.shape
        flat = torch.baddbmm(bias.flatten(1)[..., None], weights.flatten(1, 2), seen)
        units = flat.relu().view(n_seeds * n_columns, hidden, -1)
        out, last = self.tensors[2].flatten(0, 1)[:, None], self.tensors[3].flatten()
        return torch.baddbmm(last[:, None, None], out, units).view(n_seeds, n_columns, -1)

    def take(self, columns: Tensor) -> Networks:
        """Keep columns, which may differ by seed: an index of shape (seeds, kept)."""
        rows = torch.arange(len(columns), device=columns.device)[:, None]
        return Networks(tuple(one[rows, columns] for one in self.tensors))

    def detached(self) -> Networks:
        """Return a copy that training does not change."""
        return Networks(tuple(one.detach().clone() for one in self.tensors))

    @classmethod
    def joined(cls, parts: Sequence[Networks], dim: int = 1) -> Networks:
        """Put columns, or seeds where ``dim`` is 0, of several side by side."""
        return cls(tuple(torch.cat(t, dim) for t in zip(*(p.tensors for p in parts), strict=True)))
