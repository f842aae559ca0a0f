"""Which thresholds keep both limits in the next cases, and how alpha is shared.

The capacity is safe up to a number of validation alarms (`binomial_tests.most_counted`). Within
that, thresholds that keep the precision floor are looked for in four ways, all fixed beforehand.
A main fixed-sequence test deploys the last threshold that passes; so does an early one, for few
alarms at a high precision (`voros.guarantee.prediction`). The threshold at one rank is tested by
itself, which takes less where there are few alarms (`voros.guarantee.rank_test`). A stricter
sequence deploys a few thresholds for costs that want fewer alarms. The shares of alpha add up to
all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import (
    alpha_shares,
    first_rank,
    most_counted,
    right_above,
    smallest_rank,
)
from voros.guarantee.prediction import requirement, rough_requirement
from voros.guarantee.rank_test import needed_above, rough_needed_above
from voros.guarantee.tuning import TUNING
from voros.guarantee.walk_risk import Walk
from voros.typing import AnyArray, BoolArray


@dataclass(frozen=True)
class Needs:
    """True positives that a sequence needs, and that the threshold at one rank needs."""

    walk: Callable[[Walk], AnyArray]
    rank: Callable[[Walk], int]


EXACT = Needs(requirement, needed_above)
"""What is promised by."""

ROUGH = Needs(rough_requirement, rough_needed_above)
"""About the same at once: good enough to plan by."""


def certified_next(
    points: OperatingPoints, scenario: Scenario, horizon: int, alpha: float, needs: Needs = EXACT
) -> BoolArray:
    """Return the thresholds that may be deployed for the next ``horizon`` cases."""
    n_cases, floor = int(points.n_cases), scenario.min_precision
    capacity = scenario.max_alarms(horizon)
    alpha, for_capacity = alpha_shares(alpha, floor, capacity, horizon)
    most = most_counted(n_cases, capacity, horizon, for_capacity)
    if floor == 0:
        return np.asarray(points.alarms <= most)
    passed = np.zeros(len(points), dtype=np.bool_)
    for way, plan in plans(n_cases, horizon, floor, alpha, most).items():
        if way == "rank":
            passed[at_rank(points, plan.start, needs.rank(plan))] = True
        elif way == "inner":
            passed[spaced(points.alarms, walk(points, plan, needs.walk(plan)))] = True
        else:
            passed[walk(points, plan, needs.walk(plan))][-1:] = True
    return passed


def plans(n_cases: int, horizon: int, floor: float, alpha: float, most: int) -> dict[str, Walk]:
    """Return the tests by what they are for; none if none can pass.

    Examples
    --------
    >>> tests = plans(2000, 2000, 0.4, 0.05, 400)
    >>> {way: (test.start, round(test.alpha / 0.05, 4)) for way, test in tests.items()}
    {'main': (108, 0.89), 'rank': (200, 0.075), 'inner': (207, 0.0006), 'early': (18, 0.03)}
    """
    if floor == 1 or most < 1:
        return {}
    shares = alpha_parts(most)
    if (least := shares["main"] * alpha) < TUNING.least_alpha:
        raise ValueError(
            f"a confidence that leaves an error of {least:.3g} is not proven for a horizon; "
            f"accepted are errors of at least {TUNING.least_alpha:g}, after the split over models"
        )
    # The risk of a test is that of the cases below its start: there is one at least.
    last = min(most, n_cases - 1)
    starts = {
        way: start
        for way, start in _starts(n_cases, horizon, floor, alpha, most).items()
        if start <= last and shares[way] * alpha >= TUNING.least_alpha
    }
    if "early" not in starts:
        shares["main"] += shares["early"]
    earliest = min(starts.values(), default=0)
    return {
        # Small shares of alpha are worth less time.
        way: Walk(
            n_cases, horizon, floor, shares[way] * alpha, start, most, earliest, way != "main"
        )
        for way, start in starts.items()
    }


def alpha_parts(most: int) -> dict[str, float]:
    """Return the share of alpha for each deployed threshold of each test.

    The fewer alarms, the more for the rank that is tested by itself.

    Examples
    --------
    >>> {way: round(share, 4) for way, share in alpha_parts(200).items()}
    {'main': 0.665, 'early': 0.03, 'rank': 0.3, 'inner': 0.0006}
    """
    rank = float(np.clip(TUNING.rank_share / max(most, 1) ** 2, *TUNING.rank_shares))
    return {
        "main": 1 - TUNING.early_walk_share - rank - TUNING.inner_share,
        "early": TUNING.early_walk_share,
        "rank": rank,
        "inner": TUNING.inner_share / TUNING.inner_thresholds,
    }


def _starts(n_cases: int, horizon: int, floor: float, alpha: float, most: int) -> dict[str, int]:
    """Return the rank at which each test starts."""
    shares = alpha_parts(most)
    # The next cases vary too, by as much as if there were fewer validation alarms.
    both = 1 + n_cases / horizon
    early, least = (
        int(np.ceil(both * smallest_rank(floor, shares[way] * alpha))) for way in ("early", "main")
    )
    later, inner = (
        TUNING.main_start * both * first_rank(floor, level)
        for level in (alpha, shares["inner"] * alpha)
    )
    main = max(least, int(min(later, most / TUNING.main_length)))
    starts = {
        "main": main,
        "rank": max(int(TUNING.rank_place * most), 2),
        "inner": max(main, int(min(inner, np.sqrt(main * most)))),
    }
    return starts | ({"early": early} if early < main else {})


def at_rank(points: OperatingPoints, rank: int, needed: int) -> AnyArray:
    """Return the threshold with as many alarms as the rank, if it passes; none between ties.

    Examples
    --------
    >>> points = OperatingPoints.from_counts([3, 4], [1, 5], 5, 10)
    >>> (
    ...     at_rank(points, 4, 2).tolist(),
    ...     at_rank(points, 4, 3).tolist(),
    ...     at_rank(points, 5, 1).tolist(),
    ... )
    ([1], [], [])
    """
    index = int(np.searchsorted(points.alarms, rank))
    if index == len(points) or points.alarms[index] != rank:
        return np.array([], dtype=np.int64)
    # Of tied cases any may be the last: one of the positives, at worst.
    above = points.tp[index] - (points.tp[index] > points.tp[index - 1])
    return np.array([index] if above >= needed else [], dtype=np.int64)


def walk(points: OperatingPoints, plan: Walk, needed: AnyArray) -> slice:
    """Return the run of thresholds from the start to before the first failure."""
    begin = int(np.searchsorted(points.alarms, plan.start))
    end = int(np.searchsorted(points.alarms, plan.most, side="right"))
    if begin >= end or right_above(points.tp, points.alarms, begin, plan.start) < needed[0]:
        return slice(end, end)
    failed = points.tp[begin:end] < needed[points.alarms[begin:end] - plan.start + 1]
    return slice(begin, begin + int(np.argmax(failed)) if failed.any() else end)


def spaced(alarms: AnyArray, run: slice) -> AnyArray:
    """Pick a few thresholds of a run, their alarms evenly apart on a scale of ratios.

    Examples
    --------
    >>> spaced(np.arange(0, 1000), slice(10, 81)).tolist()
    [10, 13, 18, 24, 33, 44, 59, 80]
    """
    if run.stop == run.start:
        return np.array([], dtype=np.int64)
    ends = alarms[run.start], alarms[run.stop - 1]
    wanted = np.minimum(np.geomspace(*ends, TUNING.inner_thresholds).round(), ends[1])
    return np.unique(run.start + np.searchsorted(alarms[run], wanted))
