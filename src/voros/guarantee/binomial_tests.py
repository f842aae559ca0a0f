"""Exact binomial tests, and which thresholds they certify for the population.

Tails come from SciPy's special functions: `scipy.stats` has the same numbers, but takes longer to
load than a guarantee takes to compute.

Capacity: consider the strictest threshold that breaks it. It does not depend on the validation
cases, and every threshold that breaks the capacity raises at least as many validation alarms. So
one tail probability covers all thresholds at once, without a correction for their number; ties make
the test more conservative.

Precision: thresholds are tested from strict to lenient, each on all validation cases that it flags,
and the first failure ends the sequence. The first threshold that breaks a limit is a fixed number,
so a binomial test of it is exact, and no other threshold adds to the error. Sequences start at
fixed ranks, each with its share of alpha. A sequence that has not failed before a later start takes
over the share of that start, as in the fallback procedure (Wiens 2003). The proof, which covers
ties, is in the documentation (theory/guarantees.md).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import bdtrik, betainc, betaln

from voros.core.operating_points import OperatingPoints
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, BoolArray, FloatArray

MOST_ALARMS = 1_000_000
"""The search for enough alarms ends here."""

SAW_TOOTH = 0.2
"""Most that the power can fall when one alarm is added; it falls most where alarms are few."""


def at_least(
    count: AnyArray | int, trials: AnyArray | int, chance: FloatArray | float
) -> FloatArray:
    """Return the probability of at least ``count`` of ``trials``; any count is accepted.

    Examples
    --------
    >>> at_least(np.array([-1, 0, 9, 11]), 10, 0.5).round(4).tolist()
    [1.0, 1.0, 0.0107, 0.0]
    """
    inside = np.clip(count, 1, np.maximum(trials, 1))
    tail = betainc(inside, np.maximum(trials - inside + 1.0, 1.0), chance)
    return np.asarray(
        np.where(np.less(count, 1), 1.0, np.where(np.greater(count, trials), 0.0, tail))
    )


def fewest_at(alpha: FloatArray | float, trials: AnyArray, chance: float) -> AnyArray:
    """Return the least counts that are reached with a probability of at most ``alpha``.

    Examples
    --------
    >>> fewest_at(0.05, np.array([4, 10, 100]), 0.5).tolist()
    [5, 9, 59]
    """
    about = np.nan_to_num(bdtrik(1.0 - alpha, trials, chance), nan=0.0)
    return fewest_near(np.clip(about, 0, trials).astype(np.int64), alpha, trials, chance)


def fewest_near(
    guess: AnyArray, alpha: FloatArray | float, trials: AnyArray, chance: float
) -> AnyArray:
    """Return the counts of `fewest_at` from any guess, by steps: SciPy's inverse is not exact."""
    fewest = guess
    while (high := at_least(fewest, trials, chance) > alpha).any():
        fewest = np.where(high, fewest + 1, fewest)
    while (low := (at_least(fewest - 1, trials, chance) <= alpha) & (fewest > 1)).any():
        fewest = np.where(low, fewest - 1, fewest)
    return np.asarray(fewest)


def passing(
    alarms: AnyArray, floor: float, true_precision: float, alpha: float
) -> tuple[AnyArray, FloatArray]:
    """Return the true positives that pass, and the probability of as many at the true precision."""
    needed = fewest_at(alpha, alarms, floor)
    return needed, at_least(needed, alarms, true_precision)


@lru_cache(maxsize=1024)
def fewest_alarms(floor: float, true_precision: float, alpha: float, power: float) -> int:
    """Return the least number of alarms at which the test has the power asked for.

    Examples
    --------
    >>> fewest_alarms(0.5, 0.75, alpha=0.05, power=0.8)
    23
    """

    def power_at(alarms: AnyArray) -> FloatArray:
        return passing(alarms, floor, true_precision, alpha)[1]

    low = 1
    while low < MOST_ALARMS:
        # The power is a saw-tooth: if it is nearly enough at one end, it may be enough before.
        if power_at(np.array([2 * low]))[0] >= power - SAW_TOOTH:
            alarms = np.arange(low, 2 * low)
            enough = power_at(alarms) >= power
            if enough.any():
                return int(alarms[np.argmax(enough)])
        low *= 2
    raise ValueError(
        f"true_precision={true_precision!r} is too close to min_precision={floor!r}: more than "
        f"{MOST_ALARMS:,} alarms would be needed"
    )


def beta_binomial_mass(count: AnyArray, trials: int, a: int, b: int) -> FloatArray:
    """Return the beta-binomial probabilities of counts.

    Examples
    --------
    >>> beta_binomial_mass(np.arange(3), 2, 1, 1).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    ways = -np.log(trials + 1) - betaln(trials - count + 1, count + 1)
    return np.asarray(np.exp(ways + betaln(count + a, trials - count + b) - betaln(a, b)))


def beta_binomial_moments(trials: int, a: int, b: int) -> tuple[float, float]:
    """Return mean and standard deviation of a beta-binomial count.

    Examples
    --------
    >>> beta_binomial_moments(2, 1, 1)
    (1.0, 0.816496580927726)
    """
    share, total = a / (a + b), a + b
    variance = trials * share * (1 - share) * (total + trials) / (total + 1)
    return trials * share, float(np.sqrt(variance))


def beta_binomial_cdf(count: AnyArray, trials: int, a: int, b: int) -> FloatArray:
    """Return beta-binomial probabilities of at most ``count`` of ``trials``, by one running sum.

    SciPy sums again for every count. Terms far from the mean, which are below rounding, are left
    out.

    Examples
    --------
    >>> beta_binomial_cdf(np.array([0, 1, 2]), 2, 1, 1).round(6).tolist()
    [0.333333, 0.666667, 1.0]
    """
    mean, deviation = beta_binomial_moments(trials, a, b)
    spread = TUNING.far * deviation + 1
    low, high = max(0, int(mean - spread)), min(trials, int(mean + spread) + 1)
    mass = np.append(0.0, beta_binomial_mass(np.arange(low, high + 1), trials, a, b))
    return np.asarray(np.minimum(np.cumsum(mass), 1.0)[np.clip(count - low + 1, 0, len(mass) - 1)])


def alpha_shares(
    alpha: float, min_precision: float, most: float, cases: int
) -> tuple[float, float]:
    """Share alpha between a precision floor and a capacity of ``most`` of the cases.

    A limit that is the only one has all of alpha.

    Examples
    --------
    >>> [round(share, 6) for share in alpha_shares(0.05, 0.5, 100, 1000)]
    [0.0475, 0.0025]
    """
    if min_precision == 0:
        return 0.0, alpha
    if most >= cases:
        return alpha, 0.0
    # A small number of alarms varies much: a small share would leave little of the capacity.
    share = TUNING.capacity_share * most**-0.5
    share = min(max(share, TUNING.least_capacity_share), TUNING.largest_capacity_share)
    return (1 - share) * alpha, share * alpha


def share_risk(alarms: AnyArray, n_cases: int, most: float, horizon: int | None) -> FloatArray:
    """Return the probability that a threshold that breaks a capacity has at most these alarms.

    The capacity is ``most`` of the cases, or of those of the horizon. For the population, the
    strictest threshold that breaks a share kappa flags a validation case with probability at least
    kappa. For the next cases and a capacity of C alarms, this threshold is the (C+1)-th largest
    future score, and the number of validation cases above it is beta-binomial.

    Examples
    --------
    >>> share_risk(np.array([80, 100]), 1000, 100, None).round(3).tolist()
    [0.018, 0.527]
    """
    if horizon is None:
        share = most / n_cases
        return (
            at_least(n_cases - alarms, n_cases, 1 - share) if share < 1 else np.zeros(len(alarms))
        )
    most_alarms = int(most)
    if most_alarms >= horizon:
        return np.zeros(len(alarms))
    return beta_binomial_cdf(alarms, n_cases, most_alarms + 1, horizon - most_alarms)


@lru_cache(maxsize=1024)
def most_counted(n_cases: int, most: float, horizon: int | None, alpha: float) -> int:
    """Return the largest count whose `share_risk` is at most ``alpha``; -1 where none is."""
    if horizon is None and most < n_cases:
        # The fewest cases without an alarm at which the test passes.
        return n_cases - int(fewest_at(alpha, np.array(n_cases), 1 - most / n_cases))
    if horizon is None or int(most) >= horizon:
        return n_cases
    # Far below the mean of a beta-binomial every count passes, far above it none does.
    mean, deviation = beta_binomial_moments(n_cases, int(most) + 1, horizon - int(most))
    spread = TUNING.far * deviation + 1
    count = np.arange(max(0, int(mean - spread)), min(n_cases, int(mean + spread)) + 1)
    return int(count[0] + np.count_nonzero(share_risk(count, n_cases, most, horizon) <= alpha)) - 1


def first_rank(min_precision: float, alpha: float) -> int:
    """Return the rank at which a precision half-way from the floor to 1 probably passes.

    Examples
    --------
    >>> first_rank(0.5, 0.05), first_rank(0.9, 0.05)
    (24, 180)
    """
    return fewest_alarms(min_precision, (1 + min_precision) / 2, alpha, TUNING.start_power) + 1


def smallest_rank(min_precision: float, alpha: float) -> int:
    """Return the first rank at which a perfect precision passes on the cases above it.

    Examples
    --------
    29 true positives in 29 alarms certify a floor of .9:

    >>> smallest_rank(0.9, 0.05)
    30
    """
    above = max(int(np.log(alpha) / np.log(min_precision)), 1)
    return above + 1 + int(min_precision**above > alpha)


def starts(min_precision: float, alpha: float, most: int) -> tuple[AnyArray, FloatArray]:
    """Return the ranks at which sequences start, and their shares of alpha.

    Both are fixed before any label is seen. Ranks double, from the smallest at which a perfect
    precision passes with a small share. The main sequence has most of alpha; the earlier ones are
    for few alarms at a high precision, the later ones for a moderate precision of many alarms.

    Examples
    --------
    >>> ranks, shares = starts(0.9, 0.05, 600)
    >>> ranks.tolist(), shares.round(4).tolist()
    ([57, 114, 228, 456], [0.003, 0.033, 0.007, 0.007])
    """
    if min_precision in (0, 1):
        return np.array([1]), np.array([alpha])
    main_share = 1 - TUNING.later_share
    latest = int(most / TUNING.main_length)
    first = max(
        min(smallest_rank(min_precision, TUNING.early_share * alpha), latest),
        smallest_rank(min_precision, main_share * alpha),
    )
    ranks = first * 2 ** np.arange(max(int(np.log2(max(most / first, 1))), 0) + 1)
    if 2 * first <= latest:
        latest = min(latest, int(TUNING.latest_main * first_rank(min_precision, alpha)))
    main = max(int(np.searchsorted(ranks, latest, side="right")) - 1, 0)
    shares = np.full(len(ranks), TUNING.early_share)
    shares[main:] = TUNING.later_share / max(len(ranks) - main - 1, 1)
    shares[main] = 0.0
    shares[main] = 1 - shares.sum()
    return ranks, alpha * shares


def certified(points: OperatingPoints, floor: float, capacity: float, alpha: float) -> BoolArray:
    """Return the thresholds that are certified to keep both limits in the population.

    The ``capacity`` is a number of alarms on the cases of the points, and ``alpha`` the error.
    """
    n_cases, alarms = int(points.n_cases), points.alarms
    for_floor, for_capacity = alpha_shares(alpha, floor, capacity, n_cases)
    most = most_counted(n_cases, capacity, None, for_capacity)
    within = np.asarray(alarms <= most)
    return within & sequence_passed(points.tp, alarms, floor, for_floor, most) if floor else within


def sequence_passed(
    tp: AnyArray, alarms: AnyArray, min_precision: float, alpha: float, most: int
) -> BoolArray:
    """Test thresholds in sequence and return those that keep a precision floor.

    Parameters
    ----------
    tp, alarms : ndarray of int
        Counts at each threshold, from strict to lenient, no alarm first.
    min_precision, alpha : float
    most : int
        The most alarms with which the capacity can be certified.
    """
    ranks, shares = starts(min_precision, alpha, most)
    risk = at_least(tp, alarms, min_precision)
    at = np.searchsorted(alarms, ranks)
    passed = np.zeros(len(alarms), dtype=np.bool_)
    level = 0.0  # of the sequence under way; 0 if none is
    for begin, end in pairwise(np.unique(np.append(at, len(alarms))).tolist()):
        # Of several starts within one group of ties, the first to pass takes over the later shares.
        for rank, share in zip(ranks[at == begin], shares[at == begin], strict=True):
            above = tp_above(tp, alarms, begin, rank)
            if level or at_least(above, rank - 1, min_precision) <= share:
                level += share
        failed = np.flatnonzero(risk[begin:end] > level)
        stop = begin + failed[0] if len(failed) else end
        passed[begin:stop] = True
        level = 0.0 if len(failed) else level
    return passed


def level_at(min_precision: float, alpha: float, alarms: AnyArray | int, most: int) -> FloatArray:
    """Return the level of the test at a number of alarms, in a sequence that passed every start.

    Examples
    --------
    >>> level_at(0.9, 0.05, np.array([56, 57, 300]), 600).round(4).tolist()
    [0.0, 0.003, 0.043]
    """
    ranks, shares = starts(min_precision, alpha, most)
    levels = np.append(0.0, np.cumsum(shares))
    return np.asarray(levels[np.searchsorted(ranks, alarms, side="right")])


def needed_in_sequence(min_precision: float, alpha: float, alarms: AnyArray, most: int) -> AnyArray:
    """Return the true positives that pass at `level_at`; more than alarms where nothing is tested.

    Examples
    --------
    >>> needed_in_sequence(0.9, 0.05, np.array([56, 57, 300]), 600).tolist()
    [57, 57, 280]
    """
    levels = level_at(min_precision, alpha, alarms, most)
    needed = fewest_at(np.maximum(levels, TUNING.least_alpha), alarms, min_precision)
    return np.asarray(np.where(levels > 0, needed, alarms + 1))


def tp_above(tp: AnyArray, alarms: AnyArray, i: int, rank: int) -> int:
    """Count the positives above the case at a rank; of tied cases the positives come first.

    Examples
    --------
    Three cases are tied at ranks 2 to 4, and one of them is positive. Above rank 3 lie the first
    case and that one:

    >>> tp_above(np.array([0, 1, 2]), np.array([0, 1, 4]), 2, 3)
    2
    """
    return int(min(tp[i], tp[i - 1] + rank - 1 - alarms[i - 1]))
