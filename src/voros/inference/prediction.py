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
    margins = _fitted_margins(walk, level)
    while (worst := _first_risky_start(walk, needs := _rounded(walk, margins), level)) is not None:
        start, risk = worst
        short = float(norm.isf(level) - norm.isf(min(risk, 0.5)))
        # Mostly where this start is felt: a walk that starts late need not pay for it.
        felt = np.clip(3 * start / (walk.shares * walk.n_cases), FELT_FAR, 1.0)
        margins = margins + max(SMALLEST_STEP, 0.4 * short) * felt
    return needs


def _first_risky_start(walk: Walk, needs: Requirement, level: float) -> tuple[int, float] | None:
    """Return the first start from which the risk exceeds the level, and that risk."""
    tests = walk.tests(needs.right)
    for start in needs.starts.tolist():
        if (risk := walk.risk(needs.right, tests, start)) > level:
            return start, risk
    return None


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
