"""Which thresholds keep both limits in the next cases, and how alpha is shared.

The capacity is safe up to a number of validation alarms (`binomial_tests.most_counted`). Within
that, fixed-sequence tests look for thresholds that keep the precision floor
(`voros.guarantee.prediction`). Each starts at a rank that is settled beforehand. The promise is of
each deployed threshold, so their number is settled too: the last of each of two sequences, and a
few of a stricter one for costs that want fewer alarms. The shares of alpha add up to all of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from voros.core.arrays import AnyArray, BoolArray
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import alpha_shares, first_rank, most_counted, right_above
from voros.guarantee.prediction import requirement
from voros.guarantee.tuning import TUNING
from voros.guarantee.walk_risk import Walk


def certified_next(
    points: OperatingPoints,
    scenario: Scenario,
    horizon: int,
    alpha: float,
    needs: Callable[[Walk], AnyArray] = requirement,
) -> BoolArray:
    """Return the thresholds that may be deployed for the next ``horizon`` cases."""
    n_cases, floor = int(points.n_cases), scenario.min_precision
    capacity = scenario.max_alarms(horizon)
    alpha, for_capacity = alpha_shares(alpha, floor, capacity, horizon)
    most = most_counted(n_cases, capacity, horizon, for_capacity)
    if floor == 0:
        return np.asarray(points.alarms <= most)
    if (least := TUNING.main_share * alpha) < TUNING.least_alpha:
        raise ValueError(
            f"a confidence that leaves an error of {least:.3g} is not proven for a horizon; "
            f"accepted are errors of at least {TUNING.least_alpha:g}, after the split over models"
        )
    passed = np.zeros(len(points), dtype=np.bool_)

    starts = walk_starts(n_cases, horizon, floor, alpha, most)

    def stretch(start: int, share: float) -> slice:
        if share * alpha < TUNING.least_alpha:
            return slice(0, 0)
        # Small shares of alpha are worth less time.
        coarse = share < TUNING.main_share
        plan = Walk(n_cases, horizon, floor, share * alpha, start, most, min(starts), coarse)
        return walk(points, plan, needs(plan))

    for start, share in starts.items():
        passed[stretch(start, share)][-1:] = True
    if starts:
        share = TUNING.inner_share / TUNING.inner_thresholds
        earliest = _earliest_rank(n_cases, horizon, floor, share * alpha)
        start = inner_start(min(starts), earliest, most)
        passed[spaced(points.alarms, stretch(start, share))] = True
    return passed


def walk_starts(
    n_cases: int, horizon: int, floor: float, alpha: float, most: int
) -> dict[int, float]:
    """Return the ranks at which sequences start and their shares of alpha; none if none can pass.

    Examples
    --------
    >>> walk_starts(2000, 2000, 0.4, 0.05, 400)
    {100: 0.965, 200: 0.03}
    """
    if floor == 1:
        return {}
    earliest = _earliest_rank(n_cases, horizon, floor, alpha)
    # The risk of a sequence is that of the cases below its start: there is one at least.
    last = min(most, n_cases - 1)
    if earliest > last:
        return {}
    main = int(max(earliest, min(TUNING.main_start * earliest, most / TUNING.least_length)))
    late = int(np.sqrt(main * most))
    late = max(late, _earliest_rank(n_cases, horizon, floor, TUNING.late_share * alpha))
    return {main: TUNING.main_share} | ({late: TUNING.late_share} if main < late <= last else {})


def inner_start(main: int, earliest: int, most: int) -> int:
    """Return the rank at which the stricter sequence starts: where it may pass, but not too late.

    Examples
    --------
    >>> inner_start(54, 51, 400)
    146
    """
    return max(main, int(min(TUNING.main_start * earliest, np.sqrt(main * most))))


def _earliest_rank(n_cases: int, horizon: int, floor: float, alpha: float) -> int:
    """Return the first rank at which a good precision may pass at this level."""
    rank = first_rank(floor, alpha) * (1 + n_cases / horizon)
    return int(np.ceil(TUNING.earliest * rank))


def walk(points: OperatingPoints, plan: Walk, needed: AnyArray) -> slice:
    """Return the stretch of thresholds from the start to before the first failure."""
    begin = int(np.searchsorted(points.alarms, plan.start))
    end = int(np.searchsorted(points.alarms, plan.most, side="right"))
    if begin >= end or right_above(points.tp, points.alarms, begin, plan.start) < needed[0]:
        return slice(end, end)
    failed = points.tp[begin:end] < needed[points.alarms[begin:end] - plan.start + 1]
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
    wanted = np.minimum(np.geomspace(*ends, TUNING.inner_thresholds).round(), ends[1])
    return np.unique(stretch.start + np.searchsorted(alarms[stretch], wanted))
