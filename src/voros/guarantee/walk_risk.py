"""The risk that a threshold deployed by a fixed-sequence test breaks a precision floor.

A walk is a fixed-sequence test: thresholds are tested from strict to lenient, from a fixed rank on,
and the first failure ends it. Whatever threshold is deployed, the next cases are independent of
that choice; so the risk is the mean, over chances b, of how often the deployed threshold is one at
which the next cases break the floor with a chance above b. For that, the test of the first such
threshold must have passed, which is a single test. Every number here is an upper bound: over shares
between the computed ones, over places of the start, over precisions and over chances. The argument
is in the documentation (guarantees.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.special import bdtrc
from scipy.stats import beta

from voros.core.arrays import AnyArray, FloatArray
from voros.guarantee.binomial_bounds import (
    TailTable,
    means,
    parts_between,
    rising_chances,
    window,
)
from voros.guarantee.closed_bounds import count_ranges, mean_bound, tail_bound
from voros.guarantee.future_floor import (
    RiskyPrecisions,
    exact_up_to,
    growing_shares,
    risky_precisions,
)
from voros.guarantee.tuning import TUNING

FARTHEST = TUNING.far_off * TUNING.least_alpha / 2
"""Chance that a start, or an end, lies beyond the shares for which risky precisions are known."""


@dataclass(frozen=True)
class Walk:
    """What is settled about a fixed-sequence test before any label is seen.

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
    earliest : int, optional
        The rank from which on risky precisions are computed, so that several sequences share
        them; by default the start.
    """

    n_cases: int
    horizon: int
    min_precision: float
    alpha: float
    start: int
    most: int
    earliest: int | None = None

    @cached_property
    def places(self) -> FloatArray:
        """Shares that the start may flag: the low ends of intervals of equal probability."""
        level = np.arange(TUNING.start_places) / TUNING.start_places
        level[0] = TUNING.far_off * self.alpha / 2
        # The share that the k-th best of n scores flags is beta distributed.
        return np.asarray(beta.ppf(level, self.start, self.n_cases - self.start + 1))

    def _last_share(self, far: float) -> float:
        if self.most >= self.n_cases:
            return 1.0
        return float(beta.isf(far, self.most + 1, self.n_cases - self.most))

    @cached_property
    def last_share(self) -> float:
        """The largest share that a deployed threshold flags."""
        return self._last_share(TUNING.far_off * self.alpha / 2)

    @cached_property
    def risky(self) -> RiskyPrecisions:
        """Precisions at which the next cases break the floor, for each share and chance."""
        first = self.earliest or self.start
        low = float(beta.ppf(FARTHEST, first, self.n_cases - first + 1))
        shares = (low, self._last_share(FARTHEST))
        return risky_precisions(shares, self.n_cases, self.horizon, self.min_precision)

    @cached_property
    def _chances(self) -> tuple[FloatArray, FloatArray]:
        """Rising chances of a case below the start to lie above a threshold: few alarms, many."""
        below = self.n_cases - self.start
        least = TUNING.least_step / below
        last = max(self.last_share, 2 * least)
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
        few, many = self._chances
        return np.append(parts_between(few)[:-1], many)

    @cached_property
    def alarms(self) -> FloatArray:
        """Expected validation alarms where each part begins."""
        return np.asarray(self.start + (self.n_cases - self.start) * self.edges[:-1])

    def deviation(self, alarms: AnyArray | int) -> FloatArray:
        """Standard deviation of the difference between both numbers of true positives."""
        both = 1 + self.n_cases / self.horizon
        return np.asarray(np.sqrt(self.min_precision * (1 - self.min_precision) * both * alarms))

    def risk(self, needed: AnyArray) -> float:
        """Bound the probability that what is deployed breaks the floor in the next cases.

        Parameters
        ----------
        needed : ndarray of int
            True positives that the tests need, for each number of alarms from the start to the
            most; at least 1, rising by 0 or 1.
        """
        passing = self._passing(needed)
        worst = self._passing_at_once(int(needed[0]))
        near = int(np.searchsorted(self.alarms, TUNING.near_start * self.start))
        for place, row in enumerate(worst):
            np.maximum(row, self._highest(passing, place, slice(0, near)), out=row)
        # Far from the start its place hardly matters: several are represented by the lowest.
        ends = (*TUNING.far_places[1:], len(worst))
        for place, end in zip(TUNING.far_places, ends, strict=True):
            rows = worst[place:end]
            np.maximum(rows, self._highest(passing, place, slice(near, None)), out=rows)
        return float(worst.mean(axis=0) @ self.risky.weights) + self.set_aside

    def local_risk(self, needed: AnyArray) -> FloatArray:
        """Return the same for each part of `alarms`, if the first risky threshold lay there."""
        place = TUNING.start_places // 2
        passing = self._at_risky(self._passing(needed), place, slice(0, None))
        return np.asarray(passing @ self.risky.weights + self.set_aside)

    @property
    def set_aside(self) -> float:
        """What is counted in full: small chances, and places far from where they should be."""
        return self.risky.ignored + TUNING.far_off * self.alpha

    def _at_risky(
        self, passing: tuple[FloatArray, FloatArray], place: int, parts: slice
    ) -> FloatArray:
        """Chance to pass at risky precisions, for each part and chance of a broken floor."""
        share = self.places[place]
        rows = self.risky.rows(share + (1 - share) * self.edges[:-1][parts])
        index, (chance, drop) = self.risky.index[rows], passing
        found = np.take_along_axis(chance[parts], index, axis=1)
        return np.asarray(
            found - self.risky.back[rows] * np.take_along_axis(drop[parts], index, axis=1)
        )

    def _highest(
        self, passing: tuple[FloatArray, FloatArray], place: int, parts: slice
    ) -> FloatArray:
        return np.asarray(self._at_risky(passing, place, parts).max(axis=0, initial=0.0))

    def _passing(self, needed: AnyArray) -> tuple[FloatArray, FloatArray]:
        """Bound the chance to pass within each part, and how much it drops, for each precision.

        The drop is to the precision before, along a line. It is 0 where the chance might lie above
        that line: where it is not known to be convex.
        """
        few, many = self._chances
        table = TailTable(self.start, needed, self.risky.precision)
        below = self.n_cases - self.start
        found = [means(table, self.start, below, few).within_parts()]
        shares = (needed - 1) / np.arange(self.start, self.start + len(needed))
        found += [self._passing_many(shares, pair)[None] for pair in pairwise(many.tolist())]
        passing = np.maximum.accumulate(np.concatenate(found), axis=1)
        passing[:, 0] = 0.0
        convex = self.risky.precision <= self._convex_up_to(needed)[:, None]
        return passing, np.where(convex, np.diff(passing, axis=1, prepend=0.0), 0.0)

    def _passing_many(self, shares: FloatArray, chances: tuple[float, float]) -> FloatArray:
        """Bound the chance to pass between two chances, with many alarms.

        One less than the needed true positives, as a share of the alarms, is all that matters.
        """
        below = self.n_cases - self.start
        low, high = window(below, chances[0])[0], window(below, chances[1])[1]
        begins = count_ranges(self.start + low, self.start + high) - self.start
        ends = np.append(begins[1:] - 1, high)
        tails = np.zeros((len(begins), len(self.risky.precision)))
        inside = begins < len(shares)
        share = np.minimum.reduceat(shares, begins[inside])
        alarms = (self.start + begins[inside], self.start + ends[inside])
        tails[inside] = tail_bound(alarms, share, self.risky.precision)
        return mean_bound(tails, begins, below, chances)

    def _convex_up_to(self, needed: AnyArray) -> FloatArray:
        """Return, for each part, the precision up to which the chance to pass is convex in it.

        With *a* alarms it is, where (a - 1) times the precision is at most one less than needed.
        """
        below = self.n_cases - self.start
        lows = [window(below, float(chance))[0] for chance in self.edges[:-1]]
        highs = [window(below, float(chance))[1] for chance in self.edges[1:]]
        alarms = np.arange(self.start, self.start + len(needed))
        up_to = (needed - 1) / np.maximum(alarms - 1, 1)
        last = len(needed) - 1
        return np.array(
            [
                up_to[min(low, last) : max(high, low) + 1].min()
                for low, high in zip(lows, highs, strict=True)
            ]
        )

    def _passing_at_once(self, needed: int) -> FloatArray:
        """Chance that the cases above the start have enough positives, for places and chances."""
        above, risky = self.start - 1, self.risky.at(self.places)
        if needed > above:
            return np.zeros_like(risky)
        # Index 0 stands for no risky precision at all.
        some = self.risky.index[self.risky.rows(self.places)] > 0
        return np.where(some, bdtrc(needed - 1.0, above, risky), 0.0)
