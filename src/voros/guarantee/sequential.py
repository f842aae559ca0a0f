"""Which thresholds keep the limits in the population: a fixed sequence of exact tests.

Thresholds are tested from strict to lenient, each with every validation case it flags, and the
first failure ends the sequence. The first threshold that breaks a limit is a fixed number, so a
binomial test of it is exact, and all thresholds together cost no more than that one test. Sequences
start at fixed ranks, each with its share of alpha. One that has not failed when it reaches a later
start collects the share of that start. The argument, ties included, is in the documentation
(guarantees.md).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.capacity import most_alarms, shared_alpha
from voros.guarantee.planning import fewest_alarms
from voros.guarantee.tuning import TUNING


def precision_risk(tp: AnyArray, alarms: AnyArray, min_precision: float) -> FloatArray:
    """Probability of at least ``tp`` right of ``alarms`` when the precision is just the floor.

    Examples
    --------
    >>> precision_risk(np.array([9]), np.array([10]), 0.5).round(4).tolist()
    [0.0107]
    """
    if min_precision == 0:
        return np.zeros(len(tp))
    return np.asarray(binom.sf(np.asarray(tp) - 1, alarms, min_precision))


def first_rank(min_precision: float, alpha: float) -> int:
    """Return the rank at which a precision half-way from the floor to 1 would probably pass.

    Examples
    --------
    >>> first_rank(0.5, 0.05), first_rank(0.9, 0.05)
    (24, 180)
    """
    return fewest_alarms(min_precision, (1 + min_precision) / 2, alpha, TUNING.start_power) + 1


def starts(min_precision: float, alpha: float, most: int) -> tuple[AnyArray, FloatArray]:
    """Return the ranks at which sequences start, and their shares of alpha.

    Both are settled before any label is seen. The first sequence has most of alpha; the later
    ones, for classifiers whose precision is moderate but lasting, share the rest.
    """
    if min_precision in (0, 1):
        return np.array([1]), np.array([alpha])
    first = first_rank(min_precision, TUNING.first_share * alpha)
    later = first * TUNING.ranks_per_start ** np.arange(1, 40, dtype=np.float64)
    later = later[later <= most].astype(np.int64)
    if len(later) == 0:
        return np.array([first_rank(min_precision, alpha)]), np.array([alpha])
    rest = np.full(len(later), (1 - TUNING.first_share) * alpha / len(later))
    return np.append(first, later), np.append(TUNING.first_share * alpha, rest)


def certified(points: OperatingPoints, scenario: Scenario, alpha: float) -> BoolArray:
    """Return the thresholds that keep both limits in the population, but for ``alpha``."""
    n_cases, floor = int(points.n_cases), scenario.min_precision
    for_floor, for_capacity = shared_alpha(n_cases, scenario, None, alpha)
    most = most_alarms(n_cases, scenario, None, for_capacity)
    within = np.asarray(points.alarms <= most)
    return within & walked(points.tp, points.alarms, floor, for_floor, most) if floor else within


def walked(
    tp: AnyArray, alarms: AnyArray, min_precision: float, alpha: float, most: int
) -> BoolArray:
    """Test thresholds in sequence and return those that keep a precision floor.

    Parameters
    ----------
    tp, alarms : ndarray of int
        Counts at each threshold, from strict to lenient, never alarm first.
    min_precision, alpha : float
    most : int
        Alarms beyond which the capacity leaves nothing to certify.
    """
    ranks, shares = starts(min_precision, alpha, most)
    risk = precision_risk(tp, alarms, min_precision)
    # Of several ranks within one group of ties the first alone is used.
    first, kept = np.unique(np.searchsorted(alarms, ranks), return_index=True)
    end = np.append(first[1:], len(alarms))
    passed = np.zeros(len(alarms), dtype=np.bool_)
    level = 0.0  # of the sequence under way; 0 if none is
    for rank, share, i, j in zip(ranks[kept], shares[kept], first, end, strict=True):
        if i == len(alarms):
            break
        if level == 0 and _start_risk(tp, alarms, i, rank, min_precision) <= share:
            levels = np.full(j - i, share)
            level = share
        elif level > 0:
            # A share joins a sequence under way only after the threshold at its rank.
            levels = np.append(level, np.full(j - i - 1, level + share))
            level += share
        else:
            continue
        failed = np.flatnonzero(risk[i:j] > levels)
        stop = i + failed[0] if len(failed) else j
        passed[i:stop] = True
        level = 0.0 if len(failed) else level
    return passed


def right_above(tp: AnyArray, alarms: AnyArray, i: int, rank: int) -> int:
    """Count the right cases above the one at a rank; among tied cases the positives come first.

    Examples
    --------
    Three cases tied at ranks 2 to 4, one of them right; above rank 3 are the first and that one:

    >>> right_above(np.array([0, 1, 2]), np.array([0, 1, 4]), 2, 3)
    2
    """
    return int(min(tp[i], tp[i - 1] + rank - 1 - alarms[i - 1]))


def _start_risk(tp: AnyArray, alarms: AnyArray, i: int, rank: int, min_precision: float) -> float:
    right = right_above(tp, alarms, i, rank)
    return float(precision_risk(np.array([right]), np.array([rank - 1]), min_precision)[0])
