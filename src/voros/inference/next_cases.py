"""Which thresholds keep both limits in the next cases, and how the allowed error is shared.

The capacity is safe up to a number of validation alarms (`voros.inference.capacity`); within that,
three walks look for thresholds that keep the precision floor (`voros.inference.prediction`). Each
has its own share of the error, so that the shares add up to all of it.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from voros.inference.capacity import most_alarms
from voros.inference.prediction import excess_needed, last_and_inner
from voros.inference.sequential import first_rank
from voros.inputs import AnyArray, BoolArray, FloatArray
from voros.roc import OperatingPoints
from voros.scenario import Scenario

EARLY_SHARE = 0.02
"""Share of the allowed error spent on a walk that starts among the very highest scores."""

LATE_SHARE = 0.05
"""Share spent on a walk that starts late, for when the very highest scores are false alarms."""

INNER_SHARE = 0.03
"""Share spent on thresholds well inside the limit, which a policy for several costs may use."""

CAPACITY_SHARE = 0.02
"""Share spent on the capacity where it does not bind."""

BOTH_BIND_SHARE = 0.5
"""Share left to each limit where the capacity comes within reach."""

MAIN_START, LATE_START = 1 / 16, 1 / 3
"""Walks start where a precision at the floor would have found this share of the positives."""

FEWEST_NEXT_ALARMS = 10
"""The main walk starts no earlier than where the next cases would raise about so many alarms:
with fewer, their own luck could break any floor."""


def certified_next(
    points: OperatingPoints, scenario: Scenario, horizon: int, level: float
) -> BoolArray:
    """Return the thresholds that may be deployed for the next ``horizon`` cases."""
    n_cases, floor = int(points.n_cases), scenario.min_precision

    def most(share: float) -> int:
        return most_alarms(n_cases, scenario, horizon, share * level)

    if floor == 0:
        return np.asarray(points.alarms <= most(1.0))
    reach = most(BOTH_BIND_SHARE)
    passed = np.zeros(len(points), dtype=np.bool_)
    within = int(np.searchsorted(points.alarms, reach, side="right"))
    if floor == 1 or within == 1:
        return passed
    tp, alarms = points.tp[:within], points.alarms[:within]
    needed = partial(excess_needed, alarms, n_cases, horizon, floor, most=reach)
    starts = _starts(points, floor, level, horizon)
    clear = alarms <= most(CAPACITY_SHARE)
    passed[:within] = _walks(tp, alarms, starts, floor, level, clear, needed)
    return passed


def _starts(
    points: OperatingPoints, floor: float, level: float, horizon: int
) -> tuple[int, int, int]:
    """Return the ranks at which the main, the late and the early walk start."""
    early = first_rank(floor, level)
    enough = max(early, int(np.ceil(FEWEST_NEXT_ALARMS * points.n_cases / horizon)))
    found = points.n_positive / floor
    return max(enough, int(MAIN_START * found)), max(enough, int(LATE_START * found)), early


def _walks(
    tp: AnyArray,
    alarms: AnyArray,
    starts: tuple[int, int, int],
    floor: float,
    level: float,
    clear: BoolArray,
    needed: partial[FloatArray],
) -> BoolArray:
    """Walk from three starts; ``clear`` says where the capacity is out of reach."""
    others = INNER_SHARE + EARLY_SHARE + LATE_SHARE
    main = np.where(
        clear,
        needed((1 - CAPACITY_SHARE - others) * level),
        needed((1 - BOTH_BIND_SHARE - others) * level),
    )
    margins = (main, needed(LATE_SHARE * level), needed(EARLY_SHARE * level))
    inner = needed(INNER_SHARE / len(starts) * level, inner=True)
    passed = np.zeros(len(alarms), dtype=np.bool_)
    for start, last in zip(starts, margins, strict=True):
        passed |= last_and_inner(tp, alarms, start, last, inner, floor)
    return passed
