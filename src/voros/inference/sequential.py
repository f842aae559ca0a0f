"""Which thresholds keep the limits in the population: a fixed sequence of exact tests.

Thresholds are tested from strict to lenient, each with every validation case it flags, and the
walk stops at the first failure. The first threshold that breaks a limit is a fixed number, so a
binomial test of it is exact, and all thresholds together cost no more than that one test. Walks
start at fixed ranks, each with its share of the error; a walk that is alive collects the shares
it passes. The argument, ties included, is in the documentation (trust.md).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from voros.inputs import AnyArray, BoolArray, FloatArray

RANKS_PER_START = 4
"""Each walk starts at a rank so many times that of the one before."""

MOST_RANKS_TO_START = 100_000
"""Where the search for the first rank worth a test ends."""


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


def first_rank(min_precision: float, level: float) -> int:
    """Return the fewest alarms at which a precision half-way from the floor to 1 would pass.

    Examples
    --------
    >>> first_rank(0.5, 0.05), first_rank(0.9, 0.05)
    (12, 77)
    """
    cases = np.arange(1, MOST_RANKS_TO_START)
    half_way = np.ceil(cases * (1 + min_precision) / 2)
    enough = precision_risk(half_way, cases, min_precision) <= level
    return int(cases[np.argmax(enough)]) + 1 if enough.any() else MOST_RANKS_TO_START


def start_ranks(min_precision: float, level: float, most: int) -> AnyArray:
    """Return the ranks at which walks start, chosen before any label is seen."""
    if min_precision == 0:
        return np.array([1])
    first = first_rank(min_precision, level)
    steps = max(int(np.log(max(most, first) / first) / np.log(RANKS_PER_START)), 0)
    return np.asarray(first * RANKS_PER_START ** np.arange(steps + 1))


def certified(
    tp: AnyArray, alarms: AnyArray, risk: FloatArray, min_precision: float, level: float
) -> BoolArray:
    """Walk down the thresholds and return those that are certified.

    Parameters
    ----------
    tp, alarms : ndarray of int
        Counts at each threshold, from strict to lenient, never alarm first.
    risk : ndarray
        The larger of the two tail probabilities, of precision and of capacity, at each threshold.
    min_precision, level : float
    """
    starts = start_ranks(min_precision, level, int(alarms[-1]))
    share = level / len(starts)
    # Of several ranks within one group of ties the first alone is used.
    first, kept = np.unique(np.searchsorted(alarms, starts), return_index=True)
    end = np.append(first[1:], len(alarms))
    passed = np.zeros(len(alarms), dtype=np.bool_)
    alive = 0.0
    for rank, i, j in zip(starts[kept], first, end, strict=True):
        if i == len(alarms):
            break
        if alive == 0 and _start_risk(tp, alarms, i, rank, min_precision) <= share:
            levels = np.full(j - i, share)
            alive = share
        elif alive > 0:
            # A share joins a walk that is alive only after the threshold at its rank.
            levels = np.append(alive, np.full(j - i - 1, alive + share))
            alive += share
        else:
            continue
        failed = np.flatnonzero(risk[i:j] > levels)
        stop = i + failed[0] if len(failed) else j
        passed[i:stop] = True
        alive = 0.0 if len(failed) else alive
    return passed


def _start_risk(tp: AnyArray, alarms: AnyArray, i: int, rank: int, min_precision: float) -> float:
    """Test the cases above the one at this rank; among tied cases the negatives come first."""
    above, right_above = alarms[i - 1], tp[i - 1]
    tied_negative = (alarms[i] - tp[i]) - (above - right_above)
    right = right_above + max(0, rank - 1 - above - tied_negative)
    return float(precision_risk(np.array([right]), np.array([rank - 1]), min_precision)[0])
