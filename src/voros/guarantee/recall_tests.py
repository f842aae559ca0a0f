r"""Which thresholds are certified to keep a recall floor: one exact test on the positives.

Recall falls as the threshold rises, so a recall floor is a capacity of misses among the positives,
and is tested as a capacity of alarms among all cases is (`voros.guarantee.binomial_tests`).
Consider the most lenient threshold that breaks the floor. It does not depend on the validation
cases, and every other threshold that breaks the floor finds no more of their positives. So one tail
probability covers all thresholds at once, and ties make the test more conservative.

**Population.** Given their number, the positives are independent draws, and that threshold finds
each with a probability of at most the floor: its true positives are at most binomial.

**Next cases.** Of m positives among them f may be missed, where f is the whole part of
(1 - floor) m. A threshold breaks the floor if the (f + 1)-th lowest score of a positive is below
it, and the number of validation positives up to that score is beta-binomial, given m. The number m
is not known. Given the total of the positives of validation and of the next cases, those of
validation are hypergeometric. Part of the error excludes numbers m that would make them too few or
too many, and the test must pass with each of the other numbers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from scipy.special import gammaln

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import most_counted, share_risk
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, BoolArray, FloatArray


def recall_shares(alpha: float, scenario: Scenario, n_cases: float) -> tuple[float, float]:
    """Share alpha between the other limits and a recall floor; without other limits it has all.

    Examples
    --------
    >>> recall_shares(0.05, Scenario(0.5, cost_ratio=0.1, min_recall=0.8), 1000)
    (0.025, 0.025)
    >>> recall_shares(0.05, Scenario(cost_ratio=0.1, min_recall=0.8), 1000)
    (0.0, 0.05)
    """
    if scenario.min_recall is None:
        return alpha, 0.0
    alone = scenario.min_precision == 0 and scenario.max_alarms(n_cases, 0.0) >= n_cases
    share = 1.0 if alone else TUNING.recall_share
    return (1 - share) * alpha, share * alpha


def recall_kept(
    points: OperatingPoints, scenario: Scenario, horizon: int | None, alpha: float
) -> BoolArray:
    """Mark the thresholds that are certified to keep a recall floor; all where there is none."""
    if scenario.min_recall is None:
        return np.ones(len(points), dtype=np.bool_)
    most = most_missed(points, scenario.recall_floor, horizon, alpha)
    return np.asarray(points.n_positive - points.tp <= most)


def most_missed(points: OperatingPoints, floor: Fraction, horizon: int | None, alpha: float) -> int:
    """Return the most validation positives that a threshold may miss; -1 where none passes.

    Examples
    --------
    >>> points = OperatingPoints.from_counts([90], [50], 100, 900)
    >>> (
    ...     most_missed(points, Fraction(4, 5), None, 0.05),
    ...     most_missed(points, Fraction(1), None, 0.05),
    ... )
    (13, -1)
    >>> most_missed(points, Fraction(4, 5), 1000, 0.05)
    9
    """
    sizes = int(points.n_positive), int(points.n_cases)
    return misses_allowed(*sizes, floor, horizon, alpha)


@lru_cache(maxsize=1024)
def misses_allowed(
    n_positive: int, n_cases: int, floor: Fraction, horizon: int | None, alpha: float
) -> int:
    """Return the most misses with which a threshold passes; -1 where none passes."""
    if horizon is None:
        return most_counted(n_positive, float((1 - floor) * n_positive), None, alpha)
    low, high = possible_positives(n_positive, n_cases, horizon, TUNING.unlikely_share * alpha)
    left, missed = (1 - TUNING.unlikely_share) * alpha, n_positive
    for most in range(int((1 - floor) * low), int((1 - floor) * high) + 1):
        # At the same number of allowed misses, more positives are the greater risk.
        last = high if floor == 1 else min(high, ceil((most + 1) / (1 - floor)) - 1)
        if share_risk(np.array([missed]), n_positive, most, last)[0] > left:
            missed = min(missed, most_counted(n_positive, most, last, left))
    return missed


@lru_cache(maxsize=1024)
def possible_positives(
    n_positive: int, n_cases: int, horizon: int, alpha: float
) -> tuple[int, int]:
    """Return the fewest and the most positives among the next cases, with an error of ``alpha``.

    Examples
    --------
    >>> possible_positives(100, 1000, 1000, 0.01)
    (68, 138)
    """

    def tail(positives: int, *, more: bool) -> float:
        """Return the probability of the validation positives, or more (fewer), given the total."""
        total = n_positive + positives
        least, most = max(0, total - horizon), min(total, n_cases)
        counts = np.arange(n_positive, most + 1) if more else np.arange(least, n_positive + 1)
        both = _log_ways(n_cases, counts) + _log_ways(horizon, total - counts)
        return float(np.exp(both - _log_ways(n_cases + horizon, np.array([total]))).sum())

    numbers = range(horizon + 1)
    low = bisect_right(numbers, alpha / 2, key=lambda n: tail(n, more=True))
    high = bisect_left(numbers, -alpha / 2, key=lambda n: -tail(n, more=False)) - 1
    return low, high


def _log_ways(n: int, chosen: AnyArray) -> FloatArray:
    return np.asarray(gammaln(n + 1) - gammaln(chosen + 1) - gammaln(n - chosen + 1))


def recall_sentence(
    points: OperatingPoints,
    scenario: Scenario,
    horizon: int | None,
    alpha: float,
    others: BoolArray,
) -> str:
    """Say how far thresholds that pass the tests of the other limits are from the recall floor."""
    most = most_missed(points, scenario.recall_floor, horizon, alpha)
    if most < 0:
        return (
            f"The recall floor fails: with {points.n_positive:,} positives not even a threshold "
            "that finds all of them passes."
        )
    best = int(points.tp[others].max(initial=0))
    return (
        f"The recall floor fails: {points.n_positive - most:,} of {points.n_positive:,} positives "
        f"must be found, and thresholds that pass the tests of the other limits find at most "
        f"{best:,}."
    )
