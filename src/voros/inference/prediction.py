"""How many right alarms a walk needs so that the next cases keep a precision floor.

The risk of a walk (`voros.inference.walk_risk`) depends on how many right alarms it asks for. These
are the floor plus a margin, in standard deviations, that is fitted until the risk is the level at
every share of alarms, and then raised until it is kept from every start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.stats import norm

from voros.inference.walk_risk import Walk
from voros.inputs import AnyArray, FloatArray

START_WINDOW = 4
"""A start may be moved within so many ranks, to where rounding is in its favour."""

EARLY_MARGIN = 0.1
"""Margin added at the start, in standard deviations; it fades as the alarms grow in number."""

ROUNDS = 3
"""Rounds in which the margins are fitted, before they are all raised until the risk is kept."""

SMALLEST_STEP = 0.004
"""By which margins are raised at least, in standard deviations."""

PART_OF_AN_ALARM = 0.05
"""By which right alarms are raised at least: below one, but not by much where alarms are few."""

CAUTIOUS_PART = 0.4
"""Part of what is missing by which margins are raised: whole alarms make the risk fall in jumps."""

FELT_WITHIN = 3
"""A start is felt fully up to so many times its alarms."""

FELT_FAR = 0.1
"""Part of a raise at a start that is made far from it as well."""

HEADROOM = 0.97
"""Part of the risk that is used; the rest covers the grid, which misses at most 2.9 % of it."""


@dataclass(frozen=True)
class Requirement:
    """What a walk needs.

    Attributes
    ----------
    right : ndarray of int
        Right alarms at each number of alarms up to the most.
    starts : ndarray of int
        Ranks at which it may start.
    """

    right: AnyArray
    starts: AnyArray


def _rounded(walk: Walk, margins: FloatArray) -> Requirement:
    """Round the right alarms up, and move each start to where that raises them most."""
    wanted = walk.wanted(margins)
    right = np.maximum.accumulate(np.maximum(np.ceil(wanted), 1)).astype(np.int64)
    near = np.minimum(np.array(walk.starts)[:, None] + np.arange(START_WINDOW), walk.most)
    best = (right - wanted)[near].argmax(axis=1)
    return Requirement(right, np.unique(near[np.arange(len(near)), best]))


def rough_requirement(walk: Walk) -> Requirement:
    """Return about what a walk needs, at once: good enough to plan by, not to promise."""
    margin = float(norm.isf(walk.level)) + EARLY_MARGIN
    return _rounded(walk, np.full(len(walk.shares), margin))


@lru_cache(maxsize=256)
def requirement(walk: Walk) -> Requirement:
    """Return about the least that a walk needs to keep its level, from whichever start."""
    level = HEADROOM * walk.level
    margins, last = _fitted_margins(walk, level), 0
    needs = _rounded(walk, margins)
    while (risky := _risky_start(walk, needs, level, last)) is not None:
        last, risk = risky
        margins = margins + _raise(walk, int(needs.starts[last]), risk, level)
        needs = _rounded(walk, margins)
    return needs


def _risky_start(
    walk: Walk, needs: Requirement, level: float, last: int
) -> tuple[int, float] | None:
    """Return a start from which the risk exceeds the level, the last such tried first; and it."""
    tests = walk.tests(needs.right)
    for i in (min(last, len(needs.starts) - 1), *range(len(needs.starts))):
        if (risk := walk.risk(needs.right, tests, int(needs.starts[i]))) > level:
            return i, risk
    return None


def _raise(walk: Walk, start: int, risk: float, level: float) -> FloatArray:
    """By how much to raise the margins, mostly where this start is felt."""
    short = float(norm.isf(level) - norm.isf(min(risk, 0.5)))
    least = max(SMALLEST_STEP, PART_OF_AN_ALARM / float(walk.deviation(start)))
    felt = np.clip(FELT_WITHIN * start / (walk.shares * walk.n_cases), FELT_FAR, 1.0)
    return np.asarray(max(least, CAUTIOUS_PART * short) * felt)


def _fitted_margins(walk: Walk, level: float) -> FloatArray:
    """Margins with which the risk is the level at every share, and a little less at the start."""
    alarms = walk.shares * walk.n_cases
    inside = (alarms > 1.2 * walk.starts[0]) & (alarms < 0.9 * walk.most)
    margins = np.full(len(alarms), float(norm.isf(level)))
    for _ in range(ROUNDS if inside.any() else 0):
        tests = walk.tests(_rounded(walk, margins).right)
        margins += norm.isf(level) - norm.isf(np.clip(walk.risk_at_shares(tests), 1e-9, 0.5))
        margins = np.interp(np.log(alarms), np.log(alarms[inside]), margins[inside])
    return np.asarray(margins + EARLY_MARGIN * np.minimum(walk.starts[0] / alarms, 1.0))
