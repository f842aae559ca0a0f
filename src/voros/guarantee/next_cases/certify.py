"""Which thresholds keep both limits in the next cases, and how alpha is shared.

The capacity is safe up to a number of validation alarms (`binomial_tests.most_counted`). Within
that, thresholds that keep the precision floor are looked for in five ways, all fixed beforehand.
A main fixed-sequence test deploys the last threshold that passes; so does an early one, for few
alarms at a high precision (`needed`). The thresholds at two ranks are tested by themselves, which
takes less where there are few alarms (`rank_test`). A stricter sequence deploys a few thresholds
for costs that want fewer alarms. The shares of alpha add up to all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import alpha_shares, first_rank, most_counted, right_above
from voros.guarantee.next_cases.fixed_sequence import (
    FixedSequence,
    first_start,
    least_rank,
    rough_first_start,
)
from voros.guarantee.next_cases.needed import requirement, rough_requirement
from voros.guarantee.next_cases.rank_test import needed_above, rough_needed_above
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, BoolArray

RANKS = ("rank", "later rank")
"""Tests of the threshold at one rank."""


@dataclass(frozen=True)
class Needs:
    """True positives that sequences and the threshold at one rank need, and the first start."""

    sequence: Callable[[FixedSequence], AnyArray]
    rank: Callable[[FixedSequence], int]
    first: Callable[[int, int, float, float, int, int], int]


def certified_next(
    points: OperatingPoints,
    scenario: Scenario,
    horizon: int,
    alpha: float,
    needs: Needs | None = None,
) -> BoolArray:
    """Return the thresholds that may be deployed for the next ``horizon`` cases."""
    needs = needs or EXACT
    n_cases, floor = int(points.n_cases), scenario.min_precision
    capacity = scenario.max_alarms(horizon)
    alpha, for_capacity = alpha_shares(alpha, floor, capacity, horizon)
    most = most_counted(n_cases, capacity, horizon, for_capacity)
    if floor == 0:
        return np.asarray(points.alarms <= most)
    passed = np.zeros(len(points), dtype=np.bool_)
    for way, plan in plans(n_cases, horizon, floor, alpha, most, needs).items():
        if way in RANKS:
            passed[at_rank(points, plan.start, needs.rank(plan))] = True
        elif way == "inner":
            run = certified_run(points, plan, needs.sequence(plan))
            passed[spaced(points.alarms, run)] = True
        else:
            passed[certified_run(points, plan, needs.sequence(plan))][-1:] = True
    return passed


def needed_next(
    n_cases: int, horizon: int, floor: float, alpha: float, most: int, alarms: AnyArray
) -> AnyArray:
    """Return the fewest true positives with which thresholds pass one of the tests.

    One more than the alarms where nothing is tested.
    """
    needed = alarms + 1
    for way, plan in plans(n_cases, horizon, floor, alpha, most).items():
        if way in RANKS:
            needed = np.where(
                alarms == plan.start, np.minimum(needed, EXACT.rank(plan) + 1), needed
            )
        else:
            in_sequence = EXACT.sequence(plan)[np.maximum(alarms - plan.start, 0) + 1]
            needed = np.where(alarms >= plan.start, np.minimum(needed, in_sequence), needed)
    return np.asarray(needed)


def plans(
    n_cases: int, horizon: int, floor: float, alpha: float, most: int, needs: Needs | None = None
) -> dict[str, FixedSequence]:
    """Return the tests by what they are for; none if none can pass.

    Examples
    --------
    >>> tests = plans(2000, 2000, 0.4, 0.05, 400)
    >>> [(way, test.start, round(test.alpha / 0.05, 3)) for way, test in tests.items()][-2:]
    [('rank', 140, 0.06), ('later rank', 240, 0.034)]
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
    ranks = {
        way: max(int(place * most), 2) for way, place in zip(RANKS, TUNING.rank_places, strict=True)
    }
    # The same for all, so that they share what is computed from there on.
    levels = (alpha * max(shares.values()), alpha * shares["early"])
    earliest = min(*(least_rank(n_cases, horizon, floor, a) for a in levels), *ranks.values())
    sequences = _starts(n_cases, horizon, floor, alpha, most, earliest, needs or EXACT)
    starts = {
        way: start
        for way, start in (sequences | ranks).items()
        if start <= last and shares[way] * alpha >= TUNING.least_alpha
    }
    if not starts:
        return {}
    if "early" not in starts:
        shares["main"] += shares["early"]
    return {
        # Small shares of alpha are worth less time.
        way: FixedSequence(
            n_cases=n_cases,
            horizon=horizon,
            min_precision=floor,
            alpha=shares[way] * alpha,
            start=start,
            most=most,
            earliest=earliest,
            coarse=way != "main",
        )
        for way, start in starts.items()
    }


def alpha_parts(most: int) -> dict[str, float]:
    """Return the share of alpha for each deployed threshold of each test.

    The fewer alarms, the more for the ranks that are tested by themselves.

    Examples
    --------
    >>> {way: round(share, 4) for way, share in alpha_parts(200).items()}
    {'main': 0.59, 'early': 0.03, 'inner': 0.0006, 'rank': 0.24, 'later rank': 0.135}
    """
    rank = float(np.clip(TUNING.rank_share / max(most, 1) ** 2, *TUNING.rank_shares))
    return {
        "main": 1 - TUNING.early_walk_share - rank - TUNING.inner_share,
        "early": TUNING.early_walk_share,
        "inner": TUNING.inner_share / TUNING.inner_thresholds,
        **{way: part * rank for way, part in zip(RANKS, TUNING.rank_parts, strict=True)},
    }


def _starts(
    n_cases: int,
    horizon: int,
    floor: float,
    alpha: float,
    most: int,
    earliest: int,
    needs: Needs,
) -> dict[str, int]:
    """Return the rank at which each sequence starts."""
    shares = alpha_parts(most)
    early, least = (
        needs.first(n_cases, horizon, floor, shares[way] * alpha, most, earliest)
        for way in ("early", "main")
    )
    # The next cases vary too, by as much as if there were fewer validation alarms.
    both = 1 + n_cases / horizon
    later, inner = (
        TUNING.main_start * both * first_rank(floor, level)
        for level in (alpha, shares["inner"] * alpha)
    )
    main = max(least, int(min(later, most / TUNING.main_length)))
    starts = {"main": main, "inner": max(main, int(min(inner, np.sqrt(main * most))))}
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


def certified_run(points: OperatingPoints, plan: FixedSequence, needed: AnyArray) -> slice:
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


EXACT = Needs(requirement, needed_above, first_start)
"""What is promised by."""

ROUGH = Needs(rough_requirement, rough_needed_above, rough_first_start)
"""About the same at once: good enough to plan by."""
