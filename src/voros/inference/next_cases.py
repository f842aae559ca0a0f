"""Which thresholds keep both limits in the next cases, and how the allowed error is shared.

The capacity is safe up to a number of validation alarms (`voros.inference.capacity`). Within that,
walks look for thresholds that keep the precision floor (`voros.inference.prediction`). The promise
is of each deployed threshold, so their number is settled beforehand: one for each of two walks,
and a few of a stricter walk for costs that want fewer alarms. The shares of the error add up to
all of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import beta, binom, hypergeom

from voros.inference.capacity import most_alarms, shared_alpha
from voros.inference.prediction import Requirement, requirement
from voros.inference.sequential import first_rank
from voros.inference.walk_risk import Walk
from voros.inputs import AnyArray, BoolArray
from voros.roc import OperatingPoints
from voros.scenario import Scenario

PREVALENCE_SHARE = 0.02
"""Share spent on how far the number of validation positives can be from what is usual."""

TIES_SHARE = 0.01
"""Share spent on the order of tied cases at the start of a walk."""

LATE_SHARE = 0.05
"""Share spent on a walk that starts late, for when the very highest scores are false alarms."""

INNER_SHARE = 0.04
"""Share spent on thresholds well inside the limit, which a policy for several costs may use."""

WALKS = 3
"""The main one, the late one, and the stricter one."""

MAIN_SHARE = 1 - PREVALENCE_SHARE - TIES_SHARE - LATE_SHARE - INNER_SHARE
"""Share left to the walk that usually has the last word."""

INNER_THRESHOLDS = 8
"""How many thresholds well inside the limit may be used."""

EARLIEST = 0.45
"""Walks start no earlier than at this part of the rank at which half-way precision would pass."""

RANK_RATIO = 1.25
"""Ranks at which walks may start are so far apart."""

MAIN_START, LATE_START = 1 / 32, 1 / 3
"""Walks start where a precision at the floor would have found this share of the positives."""


def certified_next(
    points: OperatingPoints,
    scenario: Scenario,
    horizon: int,
    level: float,
    needs: Callable[[Walk], Requirement] = requirement,
) -> BoolArray:
    """Return the thresholds that may be deployed for the next ``horizon`` cases."""
    n_cases, floor = int(points.n_cases), scenario.min_precision
    level, for_capacity = shared_alpha(n_cases, scenario, horizon, level)
    most = most_alarms(n_cases, scenario, horizon, for_capacity)
    if floor == 0:
        return np.asarray(points.alarms <= most)
    passed = np.zeros(len(points), dtype=np.bool_)
    if not (ranks := starting_ranks(n_cases, horizon, floor, level, most)):
        return passed
    positives = points.n_positive, most_usual(points, PREVALENCE_SHARE * level)

    def stretch(part: float, share: float) -> slice:
        plan = Walk(n_cases, horizon, floor, share * level, ranks, most)
        start, later = (part * count / floor for count in positives)
        return walk(points, plan, needs(plan), (start, later), TIES_SHARE * level / WALKS)

    passed[stretch(MAIN_START, MAIN_SHARE)][-1:] = True
    passed[stretch(LATE_START, LATE_SHARE)][-1:] = True
    inner = stretch(MAIN_START, INNER_SHARE / INNER_THRESHOLDS)
    passed[spaced(points.alarms, inner)] = True
    return passed


def starting_ranks(
    n_cases: int, horizon: int, floor: float, level: float, most: int
) -> tuple[int, ...]:
    """Return the ranks at which a walk may start; none where nothing can pass."""
    if floor == 1:
        return ()
    first = int(np.ceil(EARLIEST * first_rank(floor, level) * (1 + n_cases / horizon)))
    ranks = [first] if first <= most else []
    while ranks and 2 * RANK_RATIO * ranks[-1] <= most:
        ranks.append(int(np.ceil(RANK_RATIO * ranks[-1])))
    return tuple(ranks)


def most_usual(points: OperatingPoints, level: float) -> int:
    """Return the most positives that a validation from the same population usually has.

    Neither they nor the present ones are off by more than chance, but for the level: the prevalence
    is at most its exact upper bound, and so are the positives at that prevalence.
    """
    n_cases, found = int(points.n_cases), int(points.n_positive)
    prevalence = beta.isf(level / 2, found + 1, n_cases - found) if found < n_cases else 1.0
    return int(binom.isf(level / 2, n_cases, prevalence))


def walk(
    points: OperatingPoints,
    plan: Walk,
    needs: Requirement,
    ranks: tuple[float, float],
    ties_level: float,
) -> slice:
    """Return the stretch of thresholds that all pass.

    Parameters
    ----------
    points : OperatingPoints
    plan, needs : Walk, Requirement
    ranks : tuple of float
        Where these data ask to start, and where others like them might. The stretch counts from
        the latter: it is then one of a walk whose start does not depend on the data.
    ties_level : float
        Allowed probability that tied cases at a start, ordered by chance, have fewer right ones.
    """
    low, high = np.maximum(np.searchsorted(needs.starts, ranks, side="right") - 1, 0)
    starts = needs.starts[low : high + 1]
    begins = np.searchsorted(points.alarms, starts).tolist()
    end = int(np.searchsorted(points.alarms, plan.most, side="right"))
    if begins[-1] >= end or any(
        right_above(points, begin, rank, ties_level) < needs.right[rank]
        for begin, rank in zip(begins, starts.tolist(), strict=True)
    ):
        return slice(end, end)
    tested = slice(begins[0], end)
    failed = np.flatnonzero(points.tp[tested] < needs.right[points.alarms[tested]])
    stop = begins[0] + int(failed[0]) if len(failed) else end
    return slice(begins[-1], max(stop, begins[-1]))


def right_above(points: OperatingPoints, i: int, rank: int, level: float) -> int:
    """Return the right cases above the one at a rank, tied ones being ordered by chance.

    Parameters
    ----------
    points : OperatingPoints
    i, rank : int
        The first threshold with so many alarms, and the rank.
    level : float
        Allowed probability that chance leaves fewer.
    """
    above, right = int(points.alarms[i - 1]), int(points.tp[i - 1])
    tied, tied_right = int(points.alarms[i]) - above, int(points.tp[i]) - right
    return right + int(hypergeom.ppf(level, tied, tied_right, rank - 1 - above))


def spaced(alarms: AnyArray, stretch: slice) -> AnyArray:
    """Pick a few thresholds of a stretch, their alarms evenly apart on a scale of ratios.

    Examples
    --------
    >>> spaced(np.arange(0, 1000), slice(10, 81)).tolist()
    [10, 13, 18, 24, 33, 44, 59, 80]
    """
    if stretch.stop == stretch.start:
        return np.array([], dtype=np.int64)
    ends = alarms[stretch.start], alarms[stretch.stop - 1]
    wanted = np.minimum(np.geomspace(*ends, INNER_THRESHOLDS).round(), ends[1])
    return np.unique(stretch.start + np.searchsorted(alarms[stretch], wanted))
