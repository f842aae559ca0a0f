"""Which thresholds keep both limits in the next cases, and how alpha is shared.

The capacity is safe up to a number of validation alarms (`binomial_tests.most_counted`). Up to
there, tests that are fixed beforehand certify the precision floor. A main fixed-sequence test
deploys the last threshold that passes; so does an early one, for few alarms at a high precision
(`needed`). The thresholds at a few ranks are tested by themselves: with few alarms that needs fewer
true positives, and other costs ask for fewer alarms (`rank_test`). The shares of alpha sum to it.
"""

from __future__ import annotations

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import alpha_shares, first_rank, most_counted, tp_above
from voros.guarantee.next_cases.fixed_sequence import FixedSequence, first_start, least_rank
from voros.guarantee.next_cases.needed import requirement
from voros.guarantee.next_cases.rank_test import needed_above
from voros.guarantee.tuning import TUNING
from voros.text.numbers import short
from voros.typing import AnyArray, BoolArray

RANKS = tuple(f"rank at {place:g}" for place in TUNING.rank_places)
"""Tests of the threshold at one rank, a part of the most alarms."""


def certified_next(
    points: OperatingPoints,
    scenario: Scenario,
    horizon: int,
    alpha: float,
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
        if way in RANKS:
            passed[at_rank(points, plan.start, needed_above(plan))] = True
        else:
            passed[certified_run(points, plan, requirement(plan))][-1:] = True
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
                alarms == plan.start, np.minimum(needed, needed_above(plan) + 1), needed
            )
        else:
            tested = (alarms >= plan.start) & (alarms <= plan.most)
            in_sequence = requirement(plan)[np.where(tested, alarms - plan.start + 1, 0)]
            needed = np.where(tested, np.minimum(needed, in_sequence), needed)
    return np.asarray(needed)


def plans(
    n_cases: int, horizon: int, floor: float, alpha: float, most: int
) -> dict[str, FixedSequence]:
    """Return the tests by what they are for; none if none can pass.

    Examples
    --------
    >>> tests = plans(2000, 2000, 0.4, 0.05, 400)
    >>> [(way, test.start, round(test.alpha / 0.05, 3)) for way, test in tests.items()][-2:]
    [('rank at 0.35', 140, 0.034), ('rank at 0.6', 240, 0.019)]
    """
    if floor == 1 or most < 1:
        return {}
    shares = alpha_parts(most)
    if (least := shares["main"] * alpha) < TUNING.least_alpha:
        raise ValueError(
            f"a confidence that leaves an error of {short(least)} is not proven for a horizon; "
            f"accepted are errors of at least {TUNING.least_alpha:g}, after the split over models"
        )
    ranks = {
        way: max(int(place * most), 2) for way, place in zip(RANKS, TUNING.rank_places, strict=True)
    }
    starts = {
        way: rank
        for way, rank in ranks.items()
        if rank >= least_rank(n_cases, horizon, floor, shares[way] * alpha)
    }
    # Where no precision passes at a rank, its share is the main sequence's.
    shares["main"] += sum(shares.pop(way) for way in RANKS if way not in starts)
    lowest = [least_rank(n_cases, horizon, floor, shares[way] * alpha) for way in ("early", "main")]
    # All tests share the risky precisions from there on.
    earliest = min(*lowest, *starts.values())
    early, least_main = (
        first_start(n_cases, horizon, floor, shares[way] * alpha, most, earliest)
        for way in ("early", "main")
    )
    # The next cases vary too, by as much as if there were fewer validation alarms.
    later = TUNING.main_start * (1 + n_cases / horizon) * first_rank(floor, alpha)
    starts["main"] = max(least_main, int(min(later, most / TUNING.main_length)))
    # A few ranks before the main start are not worth a test.
    if early + early // 8 < starts["main"]:
        starts["early"] = early
    else:
        shares["main"] += shares["early"]
    # The risk of a test is that of the cases below its start: there is one at least.
    last = min(most, n_cases - 1)
    return {
        way: FixedSequence(
            n_cases=n_cases,
            horizon=horizon,
            min_precision=floor,
            alpha=part * alpha,
            start=starts[way],
            # The early sequence ends where the main one starts.
            most=starts["main"] if way == "early" else most,
            ranks=(earliest, most),
        )
        for way, part in shares.items()
        if way in starts and starts[way] <= last and part * alpha >= TUNING.least_alpha
    }


def alpha_parts(most: int) -> dict[str, float]:
    """Return the share of alpha for each test.

    The fewer alarms, the more for the ranks that are tested by themselves.

    Examples
    --------
    >>> {way: round(share, 4) for way, share in alpha_parts(200).items()}
    {'main': 0.77, 'early': 0.005, 'rank at 0.15': 0.0135, 'rank at 0.35': 0.135,
    'rank at 0.6': 0.0765}
    """
    ranks = float(np.clip(TUNING.rank_share / max(most, 1) ** 2, *TUNING.rank_shares))
    parts = zip(RANKS, TUNING.rank_parts, strict=True)
    shares = {"early": TUNING.early_share_next} | {way: part * ranks for way, part in parts}
    return {"main": 1 - sum(shares.values())} | shares


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
    if begin >= end or tp_above(points.tp, points.alarms, begin, plan.start) < needed[0]:
        return slice(end, end)
    failed = points.tp[begin:end] < needed[points.alarms[begin:end] - plan.start + 1]
    return slice(begin, begin + int(np.argmax(failed)) if failed.any() else end)
