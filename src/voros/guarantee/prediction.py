"""The true positives a fixed-sequence test needs so that the next cases keep a precision floor.

The risk of a sequence (`voros.guarantee.walk_risk`) depends on the true positives it needs at each
number of alarms. These are the floor plus a margin, in standard deviations. Margins are solved
for at a few numbers of alarms, in a normal form of the risk there, and then moved together until
the bound is within alpha. Only the last step matters to validity.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np
from scipy.special import ndtr, xlogy
from scipy.stats import norm

from voros.core.arrays import AnyArray, FloatArray
from voros.core.scenario import as_fraction
from voros.guarantee.future_floor import exact_up_to
from voros.guarantee.tuning import TUNING
from voros.guarantee.walk_risk import Walk

HALVINGS = 24
"""Halvings of the interval in which a margin is sought."""


def rough_requirement(walk: Walk) -> AnyArray:
    """Return about what a sequence needs, at once: good enough to plan by, not to promise."""
    return _needed(walk, np.full(TUNING.margin_nodes, norm.isf(walk.alpha)))


@lru_cache(maxsize=256)
def requirement(walk: Walk) -> AnyArray:
    """Return about the fewest true positives that a sequence needs to keep its alpha.

    One number for each number of alarms from the start to the most; it rises by 0 or 1.
    """
    margins, aim = _solved_margins(walk), float(norm.isf(TUNING.aimed_at * walk.alpha))
    shift, slope, kept = TUNING.first_shift, 1.0, (0.0, np.zeros(0, dtype=np.int64))
    before: tuple[float, float] | None = None
    for step in count():
        needed = _needed(walk, margins + shift)
        risk = walk.risk(needed)
        if kept[0] < risk <= walk.alpha:
            kept = (risk, needed)
        if kept[0] > 0 and kept[0] >= _least_used(step) * walk.alpha:
            break
        now = (shift, float(norm.isf(min(risk, 0.5))))
        slope = slope if before is None else _slope(before, now)
        move = (aim - now[1]) / slope
        shift += move if risk <= walk.alpha else max(move, TUNING.smallest_step * 2**step)
        before = now
    return kept[1]


def _least_used(step: int) -> float:
    """Return the part of alpha that ends the search: less with every step."""
    return TUNING.least_used[min(step, len(TUNING.least_used) - 1)]


def _slope(before: tuple[float, float], now: tuple[float, float]) -> float:
    """How fast the risk, as a normal deviate, follows the margins."""
    moved = now[0] - before[0]
    return float(np.clip((now[1] - before[1]) / moved, *TUNING.slopes)) if moved else 1.0


def _nodes(walk: Walk) -> FloatArray:
    return np.geomspace(walk.start, max(walk.most, walk.start + 1), TUNING.margin_nodes)


def _needed(walk: Walk, margins: FloatArray) -> AnyArray:
    """Round the true positives; one more alarm never needs more than one more of them."""
    alarms = np.arange(walk.start, walk.most + 1)
    margin = np.interp(np.log(alarms), np.log(_nodes(walk)), margins)
    floor = float(as_fraction(walk.min_precision))
    # Closed bounds count half a true positive less than there is.
    half = np.where(alarms < exact_up_to(walk.min_precision), 0.0, 0.5)
    wanted = np.rint(floor * alarms + margin * walk.deviation(alarms) + half).astype(np.int64)
    rising = np.maximum.accumulate(np.maximum(wanted, 1))
    # From the right: what is needed later less the alarms until then.
    return np.asarray(np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms)


def _solved_margins(walk: Walk) -> FloatArray:
    """Margins with which the risk at each node is alpha, as if there were as many alarms."""
    nodes = _nodes(walk)
    risky = walk.risky.at(nodes / walk.n_cases)
    unit, floor = walk.deviation(nodes), float(as_fraction(walk.min_precision))
    low, high = np.full(len(nodes), -1.0), (1 - floor) * nodes / unit
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        passing = _tail(floor * nodes + middle * unit, nodes, risky)
        too_risky = passing @ walk.risky.weights > walk.alpha
        low, high = np.where(too_risky, middle, low), np.where(too_risky, high, middle)
    # At a start that is too early for alpha the margin could only rule everything out.
    early = TUNING.early_margin * (walk.start / nodes) ** TUNING.early_power
    return np.asarray(np.minimum(high, high[TUNING.early_node]) + early)


def _tail(needed: FloatArray, alarms: FloatArray, precision: FloatArray) -> FloatArray:
    """About the chance of the needed true positives, by the root of the relative entropy."""
    x = np.clip((needed - 0.5) / alarms, 0.0, 1.0)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = xlogy(x, x / precision) + xlogy(1 - x, (1 - x) / (1 - precision))
    root = np.sqrt(2 * alarms[:, None] * np.maximum(np.nan_to_num(entropy, posinf=1e9), 0.0))
    return np.asarray(ndtr(np.where(x > precision, -root, root)))
