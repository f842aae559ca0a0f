"""Partial VOROS as a torchmetrics metric."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities.distributed import gather_all_tensors

from voros.core.costs import CostLike
from voros.core.decision import decide
from voros.core.scenario import Scenario
from voros.exceptions import OneClassWarning
from voros.metrics import read_scenario
from voros.models import read_points

STATES = ("preds", "target", "weights")
"""What is kept of every batch."""


class PartialVOROS(Metric):
    """Partial VOROS of the cases of an epoch; higher is better.

    Parameters
    ----------
    scenario : Scenario, optional
        Limits and costs. Give a scenario or its parts below, not both.
    min_precision, min_recall, capacity, cost_ratio, prevalence
        As in `voros.partial_voros_score`.
    weighted : bool, default False
        Whether `update` is given a weight for every case.
    **kwargs
        Those of `torchmetrics.Metric`.

    Notes
    -----
    Scores are detached: the metric has no gradient. An epoch with cases of one class only, such as
    a sanity check, has no score: the result is NaN, with a `OneClassWarning`. The number of cases
    is that of all ranks together, and so is the capacity.

    Examples
    --------
    >>> from voros.torch import PartialVOROS
    >>> metric = PartialVOROS(min_precision=0.5, capacity=0.5, cost_ratio=(0.1, 0.2))
    >>> metric.update(torch.tensor([0.1, 0.2, 0.3, 0.35]), torch.tensor([0, 0, 0, 1]))
    >>> metric.update(torch.tensor([0.4, 0.6, 0.7, 0.9]), torch.tensor([0, 1, 0, 1]))
    >>> round(metric.compute().item(), 4)
    0.5686
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    preds: list[Tensor]
    target: list[Tensor]
    weights: list[Tensor]

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
        capacity: float | None = None,
        cost_ratio: CostLike | None = None,
        prevalence: float | None = None,
        weighted: bool = False,
        **kwargs: Any,
    ) -> None:
        """Make the states: the columns of every batch."""
        super().__init__(**kwargs)
        parts = {
            "min_precision": min_precision,
            "min_recall": min_recall,
            "capacity": capacity,
            "cost_ratio": cost_ratio,
            "prevalence": prevalence,
        }
        self.scenario = read_scenario(scenario, parts)
        self.weighted = weighted
        for name in STATES[: 3 if weighted else 2]:
            self.add_state(name, [], dist_reduce_fx="cat")

    def update(self, preds: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> None:
        """Add cases.

        Parameters
        ----------
        preds : Tensor of floats
            Scores: probabilities, logits or any other; higher means more likely positive.
        target : Tensor of the same shape
            Labels: 0 and 1, or bool.
        sample_weight : Tensor of the same shape, optional
            How many cases each stands for; needed where the metric is ``weighted``.
        """
        scores, positive = _read(preds, target)
        weights = self._read_weights(sample_weight, scores)
        # Copies: the caller may write the next batch into the same memory.
        self.preds.append(scores.clone())
        self.target.append(positive.to(torch.uint8))
        if weights is not None:
            self.weights.append(weights.clone())

    def _read_weights(self, sample_weight: Tensor | None, scores: Tensor) -> Tensor | None:
        if (sample_weight is not None) != self.weighted:
            raise ValueError(
                f"sample_weight is {'given' if sample_weight is not None else 'missing'}, and the "
                f"metric was made with weighted={self.weighted}"
            )
        if sample_weight is None:
            return None
        weights = sample_weight.detach().flatten().to(scores.device, torch.float64)
        if weights.shape != scores.shape:
            raise ValueError(
                f"sample_weight has {len(weights)} values, and preds {len(scores)}; one for each "
                "case is accepted"
            )
        if not bool(((weights > 0) & weights.isfinite()).all()):
            raise ValueError("sample_weight must be finite and above 0")
        return weights

    def merge_state(self, incoming_state: dict[str, Any] | Metric) -> None:
        """Add the cases of another metric, or of its `metric_state`.

        Raises
        ------
        ValueError
            Where scenario or ``weighted`` of the other metric differ, or the states are not those
            of this one.
        """
        if isinstance(incoming_state, PartialVOROS):
            for name in ("scenario", "weighted"):
                mine, theirs = getattr(self, name), getattr(incoming_state, name)
                if mine != theirs:
                    raise ValueError(
                        f"incoming_state is a metric with {name}={theirs!r}, and this one has "
                        f"{name}={mine!r}; metrics of the same settings are accepted"
                    )
        elif isinstance(incoming_state, dict) and set(incoming_state) != set(self.metric_state):
            raise ValueError(
                f"incoming_state has the states {sorted(incoming_state)}; accepted are "
                f"{sorted(self.metric_state)}, of a metric with weighted={self.weighted}"
            )
        super().merge_state(incoming_state)

    def compute(self) -> Tensor:
        """Return the score of all cases since the last reset."""
        return torch.tensor(self._score(), dtype=torch.float64).to(self.device)

    def _score(self) -> float:
        """Score the cases where they lie: only counts leave a device."""
        positive = _joined(self.target) == 1
        if not len(positive) or bool(positive.all()) or not bool(positive.any()):
            warnings.warn(
                "the cases are of one class only, so there is no partial VOROS; the result is NaN",
                OneClassWarning,
                stacklevel=4,
            )
            return float("nan")
        weights = _joined(self.weights) if self.weighted else None
        points = read_points(positive, _joined(self.preds), self.scenario, sample_weight=weights)
        return decide(points, self.scenario, every_cost=False).partial_voros

    def _sync_dist(
        self, dist_sync_fn: Any = gather_all_tensors, process_group: Any | None = None
    ) -> None:
        """Give every rank's scores one type before they are gathered; a rank may have none."""
        group = process_group or self.process_group
        mine = torch.tensor(
            [any(scores.dtype == torch.float64 for scores in self.preds)], device=self.device
        )
        wide = any(map(bool, dist_sync_fn(mine.to(torch.uint8), group=group)))
        kinds = (torch.float64 if wide else torch.float32, torch.uint8, torch.float64)
        for name, kind in zip(self.metric_state, kinds, strict=False):
            setattr(self, name, [_joined(getattr(self, name)).to(self.device, kind)])
        super()._sync_dist(dist_sync_fn, process_group)


def _read(preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Check one batch; float16 and bfloat16 scores become float32, which holds them exactly."""
    if preds.shape != target.shape:
        raise ValueError(
            f"preds has the shape {tuple(preds.shape)}, and target {tuple(target.shape)}; accepted "
            "is one score for each label"
        )
    if not preds.is_floating_point():
        raise ValueError(f"preds must hold floats; its type is {preds.dtype}")
    scores, labels = preds.detach().flatten(), target.detach().flatten()
    if scores.dtype not in (torch.float32, torch.float64):
        scores = scores.to(torch.float32)
    positive = labels == 1
    if not bool((positive | (labels == 0)).all()):
        raise ValueError("target must hold 0 and 1, or bool; it holds other labels")
    if bool(scores.isnan().any()):
        raise ValueError("preds holds NaN; a model that diverged has no score")
    return scores, positive


def _joined(state: Any) -> Tensor:
    """Return a state as one tensor, whether it is a list of batches or synced already."""
    if isinstance(state, Tensor):
        return state
    return torch.cat(state) if state else torch.empty(0)
