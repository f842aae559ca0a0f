"""Which thresholds keep the precision floor in the next cases: exact two-sample bounds.

Put validation and future cases together. Which of them are the future ones is a matter of chance,
so that, given the labels of the pooled cases above a threshold, the right alarms among validation
are hypergeometric. A walk from strict to lenient thresholds keeps going while the validation
excess ``TP - alpha * alarms`` stays above a margin. If it stops at a threshold at which the future
is below the floor, then the pooled excess is below the margin there; so the walk passed the first
pooled rank at which it was, and one hypergeometric tail covers every threshold tried. The
argument and what it leaves out are in the documentation (guarantees.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from voros.inputs import AnyArray, BoolArray, FloatArray
from voros.scenario import as_fraction

ALARM_COUNT_SPREAD = 2.0
"""Standard deviations by which the share of the pooled alarms that are validation's may be off."""

TAIL_SPREAD = 7.0
"""Standard deviations after which a tail is left out: less than 1e-11 lies beyond."""

RUNG = 0.25
"""Step between the margins that together cover all thresholds well inside the limit."""

LARGEST_MARGIN = 64.0
"""Where the search for a margin ends, in standard deviations."""

MARGIN_STEPS = 8
"""Halvings of that search, which ends within 0.004 above the smallest margin."""

FEWEST_ALARMS = 8
"""The smallest rank at which a margin is computed."""

RANK_RATIO = 3.0
"""Margins are computed at ranks so far apart, and interpolated between."""

NEGLIGIBLE_PART = 1e-3
"""Where a sum of risks that fall ever faster is cut off."""

Problem: TypeAlias = tuple[int, int, int, float]
"""Validation alarms, validation cases, future cases, precision floor."""


def binomials(n: FloatArray | float, k: AnyArray) -> FloatArray:
    """Logarithm of n choose k."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def pooled_tail(
    rank: int,
    right: int,
    n_cases: int,
    horizon: int,
    needed: Callable[[AnyArray], AnyArray],
) -> float:
    """Probability that validation passes at a pooled rank.

    Parameters
    ----------
    rank : int
        Alarms among validation and future cases together.
    right : int
        How many of them are right.
    n_cases, horizon : int
        Validation and future cases.
    needed : callable
        Right alarms that validation needs at so many alarms of its own.

    Examples
    --------
    With as many future as validation cases, each of 10 alarms is validation's with chance 1/2:

    >>> all_right = pooled_tail(10, 10, 10**6, 10**6, lambda alarms: np.full(len(alarms), 10))
    >>> round(all_right * 2**10, 3)
    1.0
    """
    spread = np.sqrt(rank * n_cases * horizon) / (n_cases + horizon)
    middle = rank * n_cases / (n_cases + horizon)
    reach = TAIL_SPREAD * spread + 1
    low, high = max(0, rank - horizon, int(middle - reach)), min(rank, n_cases, int(middle + reach))
    alarms = np.arange(low, high + 1)
    of_alarms = np.exp(
        binomials(rank, alarms)
        + binomials(n_cases + horizon - rank, n_cases - alarms)
        - binomials(n_cases + horizon, np.asarray(n_cases))
    )
    return float(np.dot(of_alarms, _right_tail(rank, right, alarms, needed(alarms))))


def _right_tail(rank: int, right: int, alarms: AnyArray, needed: AnyArray) -> FloatArray:
    """Hypergeometric probability of at least ``needed`` right alarms, for each count of alarms."""
    reach = int(TAIL_SPREAD * np.sqrt(rank) / 2) + 2
    counts = np.maximum(needed, 0)[:, None] + np.arange(reach)
    wrong = alarms[:, None] - counts
    possible = (counts <= right) & (wrong >= 0) & (wrong <= rank - right)
    # Looked up rather than evaluated for every pair: this is the inner loop.
    of_right = binomials(right, np.arange(right + 1))[np.minimum(counts, right)]
    of_wrong = binomials(rank - right, np.arange(rank - right + 1))[np.clip(wrong, 0, rank - right)]
    log_mass = of_right + of_wrong - binomials(rank, alarms)[:, None]
    return np.asarray(np.exp(np.where(possible, log_mass, -np.inf)).sum(axis=1))


def scale(alarms: FloatArray, n_cases: int, horizon: int, min_precision: float) -> FloatArray:
    """Standard deviation of the difference between validation's and the future's excess."""
    variance = min_precision * (1 - min_precision) * (1 + n_cases / horizon)
    return np.asarray(np.sqrt(variance * np.asarray(alarms, dtype=np.float64)))


def _passing_risk(
    margin: float, gap: float, alarms: int, n_cases: int, horizon: int, min_precision: float
) -> float:
    """Risk of passing with ``margin`` where the pooled excess is below ``margin + gap``."""
    share = n_cases / (n_cases + horizon)
    rank = round(alarms / share)
    most = rank * share + ALARM_COUNT_SPREAD * np.sqrt(rank * share * (1 - share))
    line = (margin + gap) * float(scale(most, n_cases, horizon, min_precision))
    floor = float(as_fraction(min_precision))
    right = min(int(np.ceil(floor * rank + line)) - 1, rank)

    def needed(taken: AnyArray) -> AnyArray:
        excess = margin * scale(taken, n_cases, horizon, min_precision)
        # A walk is never at a threshold without alarms.
        return np.maximum(np.ceil(floor * taken + excess), 1).astype(np.int64)

    return pooled_tail(rank, right, n_cases, horizon, needed)


def last_risk(margin: float, problem: Problem) -> float:
    """Risk of the last threshold of a walk with this margin, in units of `scale`."""
    return _passing_risk(margin, 0.0, *problem)


def inner_risk(margin: float, problem: Problem) -> float:
    """Risk of all thresholds of a walk that lie at least this far inside the limit together."""
    total, risk, rung = 0.0, 1.0, margin
    while risk > NEGLIGIBLE_PART * total and risk > 0:
        risk = _passing_risk(rung, RUNG, *problem)
        total += risk
        rung += RUNG
    return total


@lru_cache(maxsize=256)
def margins(
    n_cases: int, horizon: int, min_precision: float, level: float, inner: bool, most: int
) -> tuple[FloatArray, FloatArray]:
    """Return ranks (as logarithms), and the margin each needs for a risk of at most ``level``."""
    steps = np.arange(np.ceil(np.log(max(most / FEWEST_ALARMS, 1)) / np.log(RANK_RATIO)) + 1)
    ranks = (FEWEST_ALARMS * RANK_RATIO**steps).astype(int)
    ranks = np.unique(np.minimum(ranks, max(most, FEWEST_ALARMS)))
    risk = inner_risk if inner else last_risk
    found = [
        _smallest_margin(risk, level, (int(rank), n_cases, horizon, min_precision))
        for rank in ranks
    ]
    return np.log(ranks), np.array(found)


def _smallest_margin(
    risk: Callable[[float, Problem], float], level: float, problem: Problem
) -> float:
    low, high = 0.0, float(norm.isf(level)) + 0.5
    while high < LARGEST_MARGIN and risk(high, problem) > level:
        low, high = high, high + 0.5
    low = max(low, high - 1.0)
    for _ in range(MARGIN_STEPS):
        middle = (low + high) / 2
        if risk(middle, problem) <= level:
            high = middle
        else:
            low = middle
    return high


def walk(
    tp: AnyArray,
    alarms: AnyArray,
    start: int,
    needed: FloatArray,
    min_precision: float,
) -> slice:
    """Return the stretch of thresholds, from a starting rank on, that all pass."""
    first = int(np.searchsorted(alarms, start))
    enough = tp[first:] - float(as_fraction(min_precision)) * alarms[first:] >= needed[first:]
    failed = np.flatnonzero(~enough)
    return slice(first, first + int(failed[0]) if len(failed) else len(alarms))


def excess_needed(
    alarms: AnyArray,
    n_cases: int,
    horizon: int,
    min_precision: float,
    level: float,
    *,
    most: int,
    inner: bool = False,
) -> FloatArray:
    """Return the excess of right alarms that each threshold, of ``most`` at most, needs."""
    ranks, found = margins(n_cases, horizon, min_precision, level, inner, most)
    margin = np.interp(np.log(np.maximum(alarms, 1)), ranks, found)
    return margin * scale(alarms, n_cases, horizon, min_precision)


def last_and_inner(
    tp: AnyArray, alarms: AnyArray, start: int, last: FloatArray, inner: FloatArray, floor: float
) -> BoolArray:
    """Return the last threshold of a walk, and those well inside the limit."""
    stretch = walk(tp, alarms, start, last, floor)
    chosen = np.zeros(len(alarms), dtype=np.bool_)
    excess = tp - float(as_fraction(floor)) * alarms
    chosen[stretch] = excess[stretch] >= inner[stretch]
    if stretch.stop > stretch.start:
        chosen[stretch.stop - 1] = True
    return chosen
