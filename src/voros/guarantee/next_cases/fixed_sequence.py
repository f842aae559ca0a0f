"""A fixed-sequence test, and the precisions at which the next cases break its floor.

At a threshold that flags a share u of all cases with a precision of rho, the alarms among the next
cases are binomial, and so are the true positives among them. The chance f(u, rho) that the next
cases are below the floor falls with rho, but is not monotone in u. The bound on a sequence uses the
largest chance over this and all greater shares. All of this is fixed before any label is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv, betaln, ndtr

from voros.core.exact_limits import as_fraction
from voros.guarantee.binomial_tests import smallest_rank
from voros.guarantee.next_cases.closed_bounds import ManyCounts, tail_bound
from voros.guarantee.next_cases.tail_bounds import BinomialCounts, Means, TailTable, windows
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, BoolArray, FloatArray

FARTHEST = TUNING.far_off * TUNING.least_alpha / 2
"""Chance that a start, or an end, lies beyond the shares for which risky precisions are known."""


@dataclass(frozen=True, kw_only=True)
class FixedSequence:
    """A fixed-sequence test, as fixed before any label is seen.

    Attributes
    ----------
    n_cases, horizon : int
        Validation and next cases.
    min_precision, alpha : float
        The floor, and the allowed probability that a deployed threshold breaks it.
    start : int
        The rank at which it starts.
    most : int
        Validation alarms beyond which nothing is deployed.
    ranks : tuple of int, optional
        The first and last rank for which risky precisions are computed, so that several sequences
        share them; by default the start and `most`.
    """

    n_cases: int
    horizon: int
    min_precision: float
    alpha: float
    start: int
    most: int
    ranks: tuple[int, int] | None = None

    @cached_property
    def places(self) -> FloatArray:
        """Shares that the start may flag: the low ends of intervals."""
        levels = np.append(TUNING.far_off * self.alpha / 2, ndtr(TUNING.start_places))
        # The share that the k-th best of n scores flags is beta distributed.
        return np.asarray(betaincinv(self.start, self.n_cases - self.start + 1, levels))

    @cached_property
    def place_weights(self) -> FloatArray:
        """Probabilities of the intervals that begin at the places."""
        return np.diff(ndtr(TUNING.start_places), prepend=0.0, append=1.0)

    @cached_property
    def last_share(self) -> float:
        """The largest share that a deployed threshold flags."""
        return largest_share(self.n_cases, self.most, TUNING.far_off * self.alpha / 2)

    @cached_property
    def risky(self) -> RiskyPrecisions:
        """Precisions at which the next cases break the floor, for each share and chance."""
        first, last = self.ranks or (self.start, self.most)
        smallest = float(betaincinv(first, self.n_cases - first + 1, FARTHEST))
        shares = smallest, largest_share(self.n_cases, last, FARTHEST)
        return risky_precisions(shares, self.n_cases, self.horizon, self.min_precision)

    @cached_property
    def chances(self) -> tuple[FloatArray, FloatArray]:
        """Rising chances of a case below the start to lie above a threshold: few alarms, many."""
        below = self.n_cases - self.start
        least, last = TUNING.least_step / below, self.last_share
        split = (exact_up_to(self.min_precision) - self.start) / below
        split = min(max(split, 2 * least), last)
        few = np.append(0.0, rising_chances(least, split, below))
        if split == last:
            return few, np.array([last])
        alarms = growing_shares(self.start + below * split, self.start + below * last)
        return few, np.append(split, (alarms[1:] - self.start) / below)

    @cached_property
    def edges(self) -> FloatArray:
        """Chances at which parts begin, and the end of the last."""
        few, many = self.chances
        return np.append(parts_between(few)[:-1], many)

    @cached_property
    def risky_at_start(self) -> FloatArray:
        """Risky precisions for places of the start and chances; 0 where no precision is so bad."""
        return self.risky.at(self.places)

    def deviation(self, alarms: AnyArray | int) -> FloatArray:
        """Standard deviation of the difference between both numbers of true positives."""
        both = 1 + self.n_cases / self.horizon
        return np.asarray(np.sqrt(self.min_precision * (1 - self.min_precision) * both * alarms))

    @property
    def set_aside(self) -> float:
        """Probability added to the risk for small chances and improbable places of the start."""
        return self.risky.ignored + TUNING.far_off * self.alpha

    def start_risk(self, needed: int) -> float:
        """Bound the risk if the threshold at the start is risky already.

        ``needed`` are the true positives that the cases above the start must have.
        """
        if needed >= self.start:
            return 0.0
        passing = betainc(needed, self.start - needed, self.risky_at_start)
        return float(self.place_weights @ passing @ self.risky.weights)

    def needed_at_start(self) -> int:
        """Return the fewest true positives with which the start alone leaves a little of alpha."""
        low, high = int(self.min_precision * self.start), self.start
        while high - low > 1:
            middle = (low + high) // 2
            too_risky = self.start_risk(middle) > TUNING.start_part * self.alpha
            low, high = (middle, high) if too_risky else (low, middle)
        return high


def largest_share(n_cases: int, rank: int, far: float) -> float:
    """Return the share that the case at a rank is beyond with a probability of ``far``."""
    return 1.0 if rank >= n_cases else float(betainccinv(rank + 1, n_cases - rank, far))


@lru_cache(maxsize=1024)
def first_start(
    n_cases: int, horizon: int, floor: float, alpha: float, most: int, earliest: int | None = None
) -> int:
    """Return the first rank at which a sequence of true positives alone can start and go on.

    Risky precisions are computed from the rank ``earliest`` on, which other tests may share.

    Examples
    --------
    >>> first_start(1000, 1000, 0.9, 0.05, 200), first_start(1000, 10**6, 0.9, 0.05, 200)
    (57, 40)
    """
    lowest = least_rank(n_cases, horizon, floor, alpha)

    def fails(rank: int) -> bool:
        sequence = FixedSequence(
            n_cases=n_cases,
            horizon=horizon,
            min_precision=floor,
            alpha=alpha,
            start=rank,
            most=most,
            ranks=(min(earliest or lowest, lowest), most),
        )
        return sequence.start_risk(rank - 1) > TUNING.first_start_part * alpha

    low, high = lowest - 1, lowest
    while high < most and fails(high):
        low, high = high, min(high + high // 4 + 1, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


@lru_cache(maxsize=1024)
def least_rank(n_cases: int, horizon: int, floor: float, alpha: float) -> int:
    """Return a rank below which no precision passes, about.

    With b next alarms, c of which must be true, the precision at which they break the floor with
    a chance that is uniform is beta(c, b - c + 1) distributed. The risk of k - 1 true of k - 1 is
    its (k - 1)-th moment.

    Examples
    --------
    >>> least_rank(1000, 1000, 0.9, 0.05)
    40
    """
    enough = int(np.ceil((1 + n_cases / horizon) * smallest_rank(floor, alpha)))
    ranks = np.arange(2, enough + 1)
    alarms = np.maximum(np.rint(horizon * ranks / n_cases), 1.0)
    tp = needed_to_keep(alarms.astype(np.int64), floor)
    wrong = alarms - tp + 1
    moments = np.exp(betaln(tp + ranks - 1, wrong) - betaln(tp, wrong))
    return int(ranks[int(np.argmax(moments <= alpha))])


def needed_to_keep(alarms: AnyArray, min_precision: float) -> AnyArray:
    """Return the fewest true positives that keep a precision floor.

    Examples
    --------
    >>> needed_to_keep(np.array([0, 1, 2, 3, 4]), 0.5).tolist()
    [0, 1, 1, 2, 2]
    """
    floor = as_fraction(min_precision)
    return np.asarray(-(-floor.numerator * alarms // floor.denominator))


def precision_grid(min_precision: float, deviation: float) -> FloatArray:
    """Return precisions from 0 to 1, dense near the floor and near 1.

    Parameters
    ----------
    min_precision : float
        The floor.
    deviation : float
        The smallest standard deviation of an observed precision that matters.
    """
    half = (1 - min_precision) / 2
    nearest = min(TUNING.nearest * deviation, half)
    steps = int(np.ceil(np.log(half / nearest) / TUNING.precision_step)) + 1
    above = min_precision + np.geomspace(nearest, half, steps)
    towards_one = np.arange(1, TUNING.precisions_near_one) * TUNING.precision_step_near_one
    near_one = 1 - half * np.exp(-towards_one)
    below = min_precision - deviation * np.array(TUNING.below)
    low = min_precision * np.arange(10) / 10
    ends = [min_precision, 1.0]
    return np.unique(np.concatenate([low, below[below > 0], above, near_one, ends]))


def keeping_chance(
    shares: FloatArray, precision: FloatArray, horizon: int, min_precision: float
) -> Means:
    """Probability that the next cases keep the floor, at thresholds that flag rising shares.

    Examples
    --------
    One case, flagged by 1/2, wrong by 1/4:

    >>> keeping_chance(np.array([0.5]), np.array([0.75]), 1, 0.4).values.round(4).tolist()
    [[0.875]]
    """
    most = int(windows(horizon, shares)[1][-1])
    table = TailTable(0, needed_to_keep(np.arange(most + 1), min_precision), precision)
    return BinomialCounts(horizon, shares).means(table)


@dataclass(frozen=True, kw_only=True)
class RiskyPrecisions:
    """The precision at which the next cases break the floor with a given chance, or more.

    Attributes
    ----------
    precision : ndarray
        A grid of precisions.
    shares : ndarray
        Rising shares of alarms; a row holds from one share up to the next.
    weights : ndarray of shape (n_chances,)
        How much of all chances each stands for; the largest chance first.
    ignored : float
        Chances below all of them.
    index : ndarray of int, shape (n_shares, n_chances)
        Where in `precision` the risky one is, rounded up; 0 where no precision is so bad.
    back : ndarray of shape (n_shares, n_chances)
        How far the risky one lies back from there, as a part of the way to the precision before.
    """

    precision: FloatArray
    shares: FloatArray
    weights: FloatArray
    ignored: float
    index: AnyArray
    back: FloatArray

    def rows(self, shares: FloatArray) -> AnyArray:
        """Return which row of `index` and `back` holds at shares within the range."""
        row = np.searchsorted(self.shares, shares, side="right") - 1
        return np.asarray(np.clip(row, 0, len(self.index) - 1))

    def at(self, shares: FloatArray) -> FloatArray:
        """Return the risky precisions at any shares within the range; one row for each."""
        rows = self.rows(shares)
        index, back = self.index[rows], self.back[rows]
        before = self.precision[np.maximum(index - 1, 0)]
        return np.asarray((1 - back) * self.precision[index] + back * before)


@lru_cache(maxsize=64)
def risky_precisions(
    shares: tuple[float, float], n_cases: int, horizon: int, min_precision: float
) -> RiskyPrecisions:
    """Bound the risky precisions from above, over a range of shares of alarms."""
    variance = min_precision * (1 - min_precision) / (shares[1] * max(n_cases, horizon))
    precision = precision_grid(min_precision, float(np.sqrt(variance)))
    levels = ndtr(-chance_deviates())
    edges, chance = _falling_chance(shares, precision, horizon, min_precision)
    index = np.array([np.searchsorted(-row, -levels, side="left") for row in chance])
    index = np.minimum(index, len(precision) - 1)
    convex = precision >= _convex_from(edges[:-1], horizon, min_precision)[:, None]
    back = _way_back(chance, convex, index, levels)
    weights = -np.diff(levels, prepend=1.0)
    return RiskyPrecisions(
        precision=precision,
        shares=edges,
        weights=weights,
        ignored=float(levels[-1]),
        index=index,
        back=back,
    )


def chance_deviates() -> FloatArray:
    """Return the normal deviates of the chances of a broken floor, the largest chance first."""
    return np.unique(np.concatenate([np.arange(*part) for part in TUNING.deviates]).round(6))


def _falling_chance(
    shares: tuple[float, float], precision: FloatArray, horizon: int, min_precision: float
) -> tuple[FloatArray, FloatArray]:
    """Bound, from each share to the next, the chance at this and all greater shares."""
    low, high = shares
    split = min(max(exact_up_to(min_precision) / horizon, low), high)
    edges, bounds = np.array([high]), np.zeros((0, len(precision)))
    if split < high:
        edges = growing_shares(split, high)
        alarms = ManyCounts(horizon, edges)
        # Fewer than ceil(phi a) are true: more than a - ceil(phi a) are false.
        share = 1 - float(as_fraction(min_precision)) - 1 / alarms.begins
        bounds = alarms.mean_bounds(tail_bound((alarms.begins, alarms.ends), share, 1 - precision))
    if split > low:
        few = rising_chances(low, split, horizon)
        keeping = keeping_chance(few, precision, horizon, min_precision)
        within = Means(1.0 - keeping.values, keeping.slack).within_parts()
        edges, bounds = np.append(parts_between(few)[:-1], edges), np.concatenate([within, bounds])
    falling = np.maximum.accumulate(bounds[::-1], axis=0)[::-1]
    return edges, np.minimum.accumulate(falling + TUNING.cut_off, axis=1)


def _convex_from(shares: FloatArray, horizon: int, min_precision: float) -> FloatArray:
    """Return the precision from which on the chance of a broken floor is convex in it.

    With *a* alarms it is, where (a - 1) times the precision is at least ceil(phi a) - 1.
    """
    # With more alarms it hardly falls.
    least = np.clip(windows(horizon, shares)[0], 1, TUNING.most_convex)
    alarms = np.arange(2, int(least.max()) + 2)
    from_there = (needed_to_keep(alarms, min_precision) - 1) / (alarms - 1)
    # With more alarms than any of these it is below phi a / (a - 1).
    last = float(as_fraction(min_precision)) * (alarms[-1] + 1) / alarms[-1]
    latest = np.maximum.accumulate(np.append(from_there, last)[::-1])[::-1]
    return np.asarray(latest[np.maximum(least, 2) - 2])


def _way_back(
    chance: FloatArray, convex: BoolArray, index: AnyArray, levels: FloatArray
) -> FloatArray:
    """Return how far before the next grid point a line through the chances takes a level.

    Between two precisions a convex function lies below such a line.
    """
    before = np.maximum(index - 1, 0)
    at, earlier = (np.take_along_axis(chance, places, axis=1) for places in (index, before))
    between = np.take_along_axis(convex, before, axis=1) & (index > 0)
    way = np.divide(levels - at, earlier - at, out=np.zeros_like(at), where=earlier > at)
    return np.asarray(np.where(between, np.clip(way, 0.0, 1.0), 0.0))


def exact_up_to(min_precision: float) -> float:
    """Return the expected alarms beyond which closed bounds are near enough."""
    variance = TUNING.many_variance / (min_precision * (1 - min_precision))
    return max(TUNING.many_alarms, min(variance, TUNING.most_exact))


def growing_shares(low: float, high: float) -> FloatArray:
    """Return shares from ``low`` to ``high`` in ratios of at most `Tuning.ratio`."""
    steps = int(np.ceil(np.log(high / low) / np.log(TUNING.ratio)))
    return np.geomspace(low, high, max(steps, 1) + 1)


def rising_chances(low: float, high: float, trials: int) -> FloatArray:
    """Return chances from ``low`` to ``high``, closer together where counts vary little.

    Examples
    --------
    >>> rising_chances(0.1, 0.2, 10).round(3).tolist()
    [0.1, 0.119, 0.139, 0.161, 0.185, 0.2]
    """
    chances = [low]
    while chances[-1] < high:
        variance = trials * chances[-1] * (1 - chances[-1])
        growth = max(1.0, variance / TUNING.near) ** TUNING.near_power
        step = TUNING.step * math.sqrt(variance) * growth
        chances.append(min(chances[-1] + max(step, TUNING.least_step) / trials, high))
    return np.array(chances if len(chances) > 1 else [low, high])


def parts_between(values: FloatArray) -> FloatArray:
    """Return where each part between neighbours begins, and the end of the last."""
    steps = np.diff(values)[:, None] * np.arange(TUNING.parts) / TUNING.parts
    return np.append((values[:-1, None] + steps).ravel(), values[-1])
