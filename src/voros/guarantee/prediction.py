"""How many right alarms a walk needs so that the next cases keep a precision floor.

The risk of a walk (`voros.guarantee.walk_risk`) depends on how many right alarms it asks for. These
are the floor plus a margin, in standard deviations. Margins are fitted until the risk is alike
wherever the first risky threshold lies, and then moved together until the bound is within alpha.
Only the last step matters to validity.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np
from scipy.stats import norm

from voros.core.arrays import AnyArray, FloatArray
from voros.core.scenario import as_fraction
from voros.guarantee.walk_risk import Walk

EARLY_MARGIN = 0.2
"""Margin added at the start, in standard deviations; it fades as the alarms grow in number."""

MARGIN_NODES = 14
"""Numbers of alarms between which margins are interpolated."""

ROUNDS = 2
"""Rounds in which the margins are fitted."""

FITTED_UP_TO = 10_000
"""Alarms beyond which margins are near enough to those of a normal test without a fit."""

SMOOTHED = 13
"""Parts over which what is missing is averaged: whole alarms make the risk jump."""

AIMED_AT, LEAST_USED = 0.988, 0.97
"""Parts of alpha: what the search aims at, and what ends it."""

MOST_STEPS = 6
"""Steps after which anything within alpha ends the search."""

SMALLEST_STEP = 0.002
"""By which margins are raised at least, in standard deviations, doubled at every step."""

SLOPES = (0.1, 1.5)
"""Bounds on how fast the risk follows the margins."""


def rough_requirement(walk: Walk) -> AnyArray:
    """Return about what a walk needs, at once: good enough to plan by, not to promise."""
    return _needed(walk, _first_margins(walk))


@lru_cache(maxsize=256)
def requirement(walk: Walk) -> AnyArray:
    """Return about the least right alarms that a walk needs to keep its alpha.

    One number for each number of alarms from the start to the most; it rises by 0 or 1.
    """
    margins, aim = _fitted_margins(walk), float(norm.isf(AIMED_AT * walk.alpha))
    shift, slope, kept = 0.0, 1.0, (0.0, np.zeros(0, dtype=np.int64))
    before: tuple[float, float] | None = None
    for step in count():
        needed = _needed(walk, margins + shift)
        risk = walk.risk(needed)[0]
        if kept[0] < risk <= walk.alpha:
            kept = (risk, needed)
        if kept[0] >= LEAST_USED * walk.alpha or (kept[0] > 0 and step >= MOST_STEPS):
            break
        now = (shift, float(norm.isf(min(risk, 0.5))))
        slope = slope if before is None else _slope(before, now)
        move = (aim - now[1]) / slope
        shift += move if risk <= walk.alpha else max(move, SMALLEST_STEP * 2**step)
        before = now
    return kept[1]


def _slope(before: tuple[float, float], now: tuple[float, float]) -> float:
    """How fast the risk, as a normal deviate, follows the margins."""
    moved = now[0] - before[0]
    return float(np.clip((now[1] - before[1]) / moved, *SLOPES)) if moved else 1.0


def _nodes(walk: Walk) -> FloatArray:
    return np.geomspace(walk.start, max(walk.most, walk.start + 1), MARGIN_NODES)


def _first_margins(walk: Walk) -> FloatArray:
    return np.asarray(norm.isf(walk.alpha) + EARLY_MARGIN * walk.start / _nodes(walk))


def _needed(walk: Walk, margins: FloatArray) -> AnyArray:
    """Round the right alarms up; one more alarm never needs more than one more right one."""
    alarms = np.arange(walk.start, walk.most + 1)
    margin = np.interp(np.log(alarms), np.log(_nodes(walk)), margins)
    floor = float(as_fraction(walk.min_precision))
    wanted = np.ceil(floor * alarms + margin * walk.deviation(alarms)).astype(np.int64)
    rising = np.maximum.accumulate(np.maximum(wanted, 1))
    # From the right: what is needed later less the alarms until then.
    return np.asarray(np.maximum.accumulate((rising - alarms)[::-1])[::-1] + alarms)


def _fitted_margins(walk: Walk) -> FloatArray:
    """Margins with which the risk is alike everywhere, and a little less at the start."""
    margins, alarms = _first_margins(walk), walk.alarms
    inside = (alarms > 1.15 * walk.start) & (alarms < 0.93 * walk.most)
    fits = np.count_nonzero(inside) > SMOOTHED and walk.most <= FITTED_UP_TO
    for _ in range(ROUNDS if fits else 0):
        total, local = walk.risk(_needed(walk, margins))
        wanted = norm.isf(walk.alpha * local.max() / total) + EARLY_MARGIN * walk.start / alarms
        missing = (wanted - norm.isf(np.clip(local, 1e-12, 0.5)))[inside]
        around = np.pad(missing, SMOOTHED // 2, mode="edge")
        smooth = np.convolve(around, np.full(SMOOTHED, 1 / SMOOTHED), "valid")
        margins = margins + np.interp(np.log(_nodes(walk)), np.log(alarms[inside]), smooth)
    return margins
