"""Losses of many scores at once: log loss, and four that aim at the cost within limits.

A loss takes scores of shape (seeds, columns, cases) and the number of the step, and returns one
value for each seed and column. What depends on the order of the cases (thresholds, ranks) is
computed again after every `REFRESH` steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from voros_studies.training.counts import best_thresholds, cost_ratios

REFRESH = 5
N_NODES = 3
"""Cost ratios at which the smooth losses set thresholds."""

SOFT_THRESHOLDS = 100
SOFT_WIDTH = 0.02
"""Thresholds of a soft ROC curve, on the scale of the risk, and how soft a step is."""

PAIRED = (128, 256)
"""Positive and negative cases drawn in each step, to be compared in pairs."""


@dataclass(eq=False)
class Loss:
    """Base class of the losses.

    Attributes
    ----------
    y : Tensor of shape (seeds, 1, cases)
    limits : Tensor of shape (columns, 4)
    width, share : Tensor of shape (columns,)
        How soft a step is, in standard deviations of the scores, and the share of log loss that is
        mixed in; the smooth cost alone reads them.
    """

    y: Tensor
    limits: Tensor
    width: Tensor
    share: Tensor

    def __post_init__(self) -> None:
        self.n_positive = self.y.sum(-1)
        self.n_negative = self.y.shape[-1] - self.n_positive
        self.is_negative = 1 - self.y
        self._prepare()

    def _prepare(self) -> None:
        """Compute what stays the same in all steps."""

    def _refresh(self, scores: Tensor) -> None:
        """Compute what depends on the order of the cases."""

    def _value(self, scores: Tensor) -> Tensor:
        """Return the loss."""
        raise NotImplementedError

    def __call__(self, scores: Tensor, step: int) -> Tensor:
        """Return the loss, after a refresh where one is due."""
        if step % REFRESH == 0:
            with torch.no_grad():
                self._refresh(scores)
        return self._value(scores)


class LogLoss(Loss):
    """The mean log loss.

    Examples
    --------
    >>> y, unused = torch.tensor([[[1.0, 0.0]]]), torch.zeros(1)
    >>> LogLoss(y, torch.zeros(1, 4), unused, unused)(torch.zeros(1, 1, 2), 0).item()
    0.6931
    """

    def _value(self, scores: Tensor) -> Tensor:
        return (softplus(scores) - self.y * scores).mean(-1)


class SmoothCost(LogLoss):
    """Soft counts of alarms at the best thresholds within the limits.

    At such a threshold the cost plus the binding limit times its multiplier does not change with
    the threshold. This determines the weight of a false alarm against a miss, whichever limit
    binds. Where no threshold with alarms is within the limits, that of half the capacity is used.
    """

    def _refresh(self, scores: Tensor) -> None:
        thresholds = best_thresholds(scores, self.y, self.limits, N_NODES).thresholds
        half = (self.limits[:, 1] * scores.shape[-1] / 2).long()
        ranked = scores.sort(-1, descending=True).values
        at_half = ranked.gather(-1, half.expand(scores.shape[:2])[..., None])
        self.thresholds = torch.where(thresholds.isinf(), at_half, thresholds)
        self.scale = self.width * scores.std(-1) + 1e-6

    def _value(self, scores: Tensor) -> Tensor:
        total = torch.zeros_like(self.scale)
        for threshold in self.thresholds.unbind(-1):
            alarm = torch.sigmoid((scores - threshold[..., None]) / self.scale[..., None])
            slope = (alarm * (1 - alarm)).detach()
            ratio = (slope * self.y).sum(-1) / ((slope * self.is_negative).sum(-1) + 1e-6)
            tp, fp = (alarm * self.y).sum(-1), (alarm * self.is_negative).sum(-1)
            total = total + (ratio * fp - tp) / self.n_positive
        return (1 - self.share) * total / N_NODES + self.share * super()._value(scores)


class SoftROC(Loss):
    """The cost of the best point within the limits of a soft ROC curve, at fixed risks.

    A step of the curve is soft, the limits are not: where no point with alarms is within them,
    nothing is learned.
    """

    def _prepare(self) -> None:
        self.risks = torch.linspace(0.005, 0.995, SOFT_THRESHOLDS, device=self.y.device)
        self.ratios = cost_ratios(self.limits, N_NODES).to(self.y.dtype)

    def _soft_counts(self, risk: Tensor, threshold: Tensor) -> tuple[Tensor, Tensor]:
        alarm = torch.sigmoid((risk - threshold) / SOFT_WIDTH)
        return (alarm * self.y).sum(-1), (alarm * self.is_negative).sum(-1)

    def _cost(self, tp: Tensor, fp: Tensor, ratio: Tensor) -> Tensor:
        return (ratio * fp + self.n_positive - tp) / (ratio * self.n_negative + self.n_positive)

    def _refresh(self, scores: Tensor) -> None:
        risk = torch.sigmoid(scores)
        counts = [self._soft_counts(risk, threshold) for threshold in self.risks]
        tp, fp = (torch.stack(one, -1) for one in zip(*counts, strict=True))
        floor, capacity = self.limits[:, :1], self.limits[:, 1:2] * scores.shape[-1]
        outside = (tp + fp > capacity) | (tp < floor * (tp + fp))
        self.chosen, self.is_within = [], ~outside.all(-1)
        for ratio in self.ratios.unbind(-1):
            cost = (ratio[:, None] * fp - tp).masked_fill(outside, torch.inf)
            self.chosen.append(self.risks[cost.argmin(-1)][..., None])

    def _value(self, scores: Tensor) -> Tensor:
        risk = torch.sigmoid(scores)
        costs = [
            self._cost(*self._soft_counts(risk, threshold), ratio)
            for threshold, ratio in zip(self.chosen, self.ratios.unbind(-1), strict=True)
        ]
        return torch.stack(costs).mean(0) * self.is_within


class LambdaRank(Loss):
    """Pairs of a positive and a negative case, weighted by the NDCG that their exchange moves.

    The gain of a rank ends at the capacity. Pairs are drawn at random in each step.
    """

    def _prepare(self) -> None:
        self.rng = torch.Generator(self.y.device).manual_seed(0)
        self.weights = self.y[:, 0], self.is_negative[:, 0]

    def _refresh(self, scores: Tensor) -> None:
        rank = scores.argsort(-1, descending=True).argsort(-1) + 1
        in_capacity = rank <= self.limits[:, 1:2] * scores.shape[-1]
        self.gain = in_capacity / torch.log2(1.0 + rank)

    def _value(self, scores: Tensor) -> Tensor:
        (higher, up), (lower, down) = (
            self._drawn(scores, weights, n) for weights, n in zip(self.weights, PAIRED, strict=True)
        )
        weight = (up[..., :, None] - down[..., None, :]).abs()
        pairs = weight * softplus(lower[..., None, :] - higher[..., :, None])
        return pairs.sum((-1, -2)) / (weight.sum((-1, -2)) + 1e-6)

    def _drawn(self, scores: Tensor, weights: Tensor, n: int) -> tuple[Tensor, Tensor]:
        drawn = torch.multinomial(weights, n, replacement=True, generator=self.rng)
        at = drawn[:, None].expand(-1, scores.shape[1], -1)
        return scores.gather(-1, at), self.gain.gather(-1, at)
