"""Which thresholds keep both limits in the next cases, and how alpha is shared.

The capacity is safe up to a number of validation alarms (`voros.guarantee.capacity`). Within that,
walks look for thresholds that keep the precision floor (`voros.guarantee.prediction`). Each starts
at a rank that is settled beforehand. The promise is of each deployed threshold, so their number is
settled too: one for each of two walks, and a few of a stricter walk for costs that want fewer
alarms. The shares of alpha add up to all of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from voros.core.arrays import AnyArray, BoolArray
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.capacity import most_alarms, shared_alpha
from voros.guarantee.prediction import requirement
from voros.guarantee.sequential import first_rank, right_above
from voros.guarantee.walk_risk import Walk

LATE_SHARE = 0.02
"""Share spent on a walk that starts late, for when the very highest scores are false alarms."""

INNER_SHARE = 0.02
"""Share spent on thresholds well inside the limit, which a policy for several costs may use."""

MAIN_SHARE = 1 - LATE_SHARE - INNER_SHARE
"""Share left to the walk that usually has the last word."""

INNER_THRESHOLDS = 8
"""How many thresholds well inside the limit may be used."""

EARLIEST = 0.45
"""Walks start no earlier than at this part of the rank at which half-way precision would pass."""

MAIN_START, LEAST_WALK = 3.0, 4.0
"""The main walk starts at so many times the earliest rank, if it can go on for so many times."""

LEAST_ALPHA = 1e-7
"""Below this the bound on a walk is not proven: rounding could matter."""


def certified_next(
    points: OperatingPoints,
    scenario: Scenario,
    horizon: int,
    alpha: float,
    needs: Callable[[Walk], AnyArray] = requirement,
) -> BoolArray:
    """Return the thresholds that may be deployed for the next ``horizon`` cases."""
    n_cases, floor = int(points.n_cases), scenario.min_precision
    alpha, for_capacity = shared_alpha(n_cases, scenario, horizon, alpha)
    most = most_alarms(n_cases, scenario, horizon, for_capacity)
    if floor == 0:
        return np.asarray(points.alarms <= most)
    _check_alpha(MAIN_SHARE * alpha)
    passed = np.zeros(len(points), dtype=np.bool_)

    def stretch(start: int, share: float) -> slice:
        if share * alpha < LEAST_ALPHA:
            return slice(0, 0)
        plan = Walk(n_cases, horizon, floor, share * alpha, start, most)
        return walk(points, plan, needs(plan))

    starts = walk_starts(n_cases, horizon, floor, alpha, most)
    for start, share in starts.items():
        passed[stretch(start, share)][-1:] = True
    for start in list(starts)[:1]:
        inner = stretch(start, INNER_SHARE / INNER_THRESHOLDS)
        passed[spaced(points.alarms, inner)] = True
    return passed


def walk_starts(
    n_cases: int, horizon: int, floor: float, alpha: float, most: int
) -> dict[int, float]:
    """Return the ranks at which walks start and their shares of alpha; none if nothing can pass.

    Examples
    --------
    >>> walk_starts(2000, 2000, 0.4, 0.05, 400)
    {54: 0.96, 146: 0.02}
    """
    if floor == 1:
        return {}
    earliest = int(np.ceil(EARLIEST * first_rank(floor, alpha) * (1 + n_cases / horizon)))
    if earliest > most:
        return {}
    main = int(max(earliest, min(MAIN_START * earliest, most / LEAST_WALK)))
    late = int(np.sqrt(main * most))
    return {main: MAIN_SHARE} | ({late: LATE_SHARE} if late > main else {})


def _check_alpha(alpha: float) -> None:
    if alpha < LEAST_ALPHA:
        raise ValueError(
            f"a confidence that leaves an error of {alpha:.3g} is not proven for a horizon; "
            f"accepted are errors of at least {LEAST_ALPHA:g}, after the split over models"
        )


def walk(points: OperatingPoints, plan: Walk, needed: AnyArray) -> slice:
    """Return the stretch of thresholds from the start to before the first failure."""
    begin = int(np.searchsorted(points.alarms, plan.start))
    end = int(np.searchsorted(points.alarms, plan.most, side="right"))
    if begin >= end or right_above(points.tp, points.alarms, begin, plan.start) < needed[0]:
        return slice(end, end)
    failed = points.tp[begin:end] < needed[points.alarms[begin:end] - plan.start]
    return slice(begin, begin + int(np.argmax(failed)) if failed.any() else end)


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
