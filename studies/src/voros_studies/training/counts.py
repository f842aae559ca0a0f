"""Best thresholds within limits for many scores at once, and their alarms."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

N_COSTS = 21
"""Cost ratios at which thresholds are set: midpoints of equal parts of the range."""

ROUNDING = 1e-9
"""Slack of comparisons with limits; counts are whole, so it changes no comparison."""


@dataclass(frozen=True, eq=False)
class BestThresholds:
    """Thresholds of least cost within limits, of shape (seeds, columns, costs), and their counts.

    A threshold is infinite where raising no alarm costs least. ``cost`` has one value for each seed
    and column: the mean over the cost ratios.
    """

    thresholds: Tensor
    tp: Tensor
    fp: Tensor
    cost: Tensor


def cost_ratios(limits: Tensor, n_costs: int = N_COSTS) -> Tensor:
    """Return the cost ratios of every row of limits.

    A row of limits holds the precision floor, the capacity as a share of the cases, and the lowest
    and the highest cost ratio.

    Examples
    --------
    >>> cost_ratios(torch.tensor([[0.15, 0.5, 0.1, 0.3]]), 2)
    tensor([[0.1500, 0.2500]])
    """
    low, high = limits[..., 2:3], limits[..., 3:4]
    share = (torch.arange(n_costs, dtype=limits.dtype, device=limits.device) + 0.5) / n_costs
    return low + (high - low) * share


@torch.no_grad()  # type: ignore[misc, untyped-decorator, unused-ignore]
def best_thresholds(
    scores: Tensor, y: Tensor, limits: Tensor, n_costs: int = N_COSTS
) -> BestThresholds:
    """Set thresholds on cases, within limits.

    Parameters
    ----------
    scores : Tensor of shape (seeds, columns, cases)
    y : Tensor of shape (seeds, 1, cases)
        1 for a positive case and 0 for a negative one.
    limits : Tensor of shape (columns, 4)

    Examples
    --------
    >>> limits = torch.tensor([[0.5, 0.5, 0.1, 0.1]], dtype=torch.float64)
    >>> scores, y = torch.tensor([[[4.0, 3.0, 2.0, 1.0]]]), torch.tensor([[[1.0, 0.0, 1.0, 0.0]]])
    >>> best = best_thresholds(scores, y, limits, 1)
    >>> best.thresholds.item(), best.tp.item(), best.fp.item(), round(best.cost.item(), 4)
    (4.0, 1.0, 0.0, 0.4545)
    """
    ranked, order = scores.sort(-1, descending=True)
    tp = y.expand_as(scores).gather(-1, order).cumsum(-1)
    alarms = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=limits.dtype)
    within = (alarms <= limits[:, 1:2] * len(alarms) + ROUNDING) & (
        tp >= limits[:, :1] * alarms - ROUNDING
    )
    # Cases of equal scores raise alarms together.
    within[..., :-1] &= ranked[..., 1:] != ranked[..., :-1]
    n_positive = y.sum(-1)
    by_cost = []
    for ratio in cost_ratios(limits, n_costs).unbind(-1):
        gain = torch.where(within, tp - ratio[:, None] * (alarms - tp), 0.0)
        best, at = gain.max(-1, keepdim=True)
        alarm = best > 0
        threshold = torch.where(alarm, ranked.gather(-1, at), torch.inf)
        n_tp = torch.where(alarm, tp.gather(-1, at), 0.0)
        n_fp = torch.where(alarm, at + 1 - n_tp, 0.0)
        cost = (n_positive - best[..., 0]) / (n_positive + ratio * (len(alarms) - n_positive))
        by_cost.append((threshold[..., 0], n_tp[..., 0], n_fp[..., 0], cost))
    thresholds, tps, fps, costs = (torch.stack(one, -1) for one in zip(*by_cost, strict=True))
    return BestThresholds(thresholds, tps, fps, costs.mean(-1))


@torch.no_grad()  # type: ignore[misc, untyped-decorator, unused-ignore]
def counts_at(scores: Tensor, y: Tensor, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """Return the true and the false positives at thresholds of shape (seeds, columns, costs)."""
    tp, alarms = [], []
    for threshold in thresholds.unbind(-1):
        alarm = scores >= threshold[..., None]
        tp.append((alarm * y).sum(-1))
        alarms.append(alarm.sum(-1))
    true = torch.stack(tp, -1)
    return true, torch.stack(alarms, -1) - true


def choose_columns(
    scores: Tensor, y: Tensor, limits: Tensor, scenario_of: Tensor | None = None
) -> Tensor:
    """Return the column of least cost within the limits of each scenario: (seeds, scenarios).

    Parameters
    ----------
    scenario_of : Tensor of shape (columns,), optional
        The scenario that each column was trained for; by default all columns serve all scenarios.
    """
    chosen = []
    for number, row in enumerate(limits):
        cost = best_thresholds(scores, y, row[None]).cost
        if scenario_of is not None:
            cost = torch.where(scenario_of == number, cost, torch.inf)
        chosen.append(cost.argmin(-1))
    return torch.stack(chosen, -1)


def count_alarms(
    valid: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], limits: Tensor
) -> Tensor:
    """Count alarms on validation and test by validation thresholds, and on test by its own.

    ``valid`` and ``test`` are scores, with one column for each scenario, and outcomes.

    Returns
    -------
    Tensor of int32, shape (seeds, scenarios, 6, costs)
        True and false positives on validation, on test, and on test with its own thresholds.
    """
    set_there = best_thresholds(*valid, limits)
    own = best_thresholds(*test, limits)
    deployed = counts_at(*test, set_there.thresholds)
    rows = (set_there.tp, set_there.fp, *deployed, own.tp, own.fp)
    return torch.stack([row.to(torch.int32) for row in rows], 2)
