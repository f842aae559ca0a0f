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

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv, ndtr

from voros.guarantee.binomial_bounds import parts_between, rising_chances
from voros.guarantee.future_floor import (
    RiskyPrecisions,
    exact_up_to,
    growing_shares,
    risky_precisions,
)
from voros.guarantee.passing import Passing
from voros.guarantee.rising_paths import highest_path
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, FloatArray

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
    coarse : bool
        Whether its risk is bounded on coarser grids: much sooner, and a little higher.
    """

    n_cases: int
    horizon: int
    min_precision: float
    alpha: float
    start: int
    most: int
    earliest: int | None = None
    coarse: bool = False

    @cached_property
    def places(self) -> FloatArray:
        """Shares that the start may flag: the low ends of intervals."""
        levels = np.append(TUNING.far_off * self.alpha / 2, ndtr(TUNING.start_places))
        return np.array([self._start_share(level) for level in levels.tolist()])

    @cached_property
    def place_weights(self) -> FloatArray:
        """Probabilities of the intervals that begin at the places."""
        return np.diff(ndtr(TUNING.start_places), prepend=0.0, append=1.0)

    def _start_share(self, level: float, start: int | None = None) -> float:
        # The share that the k-th best of n scores flags is beta distributed.
        rank = start or self.start
        return float(betaincinv(rank, self.n_cases - rank + 1, level))

    def _last_share(self, far: float) -> float:
        if self.most >= self.n_cases:
            return 1.0
        return float(betainccinv(self.most + 1, self.n_cases - self.most, far))

    @cached_property
    def last_share(self) -> float:
        """The largest share that a deployed threshold flags."""
        return self._last_share(TUNING.far_off * self.alpha / 2)

    @cached_property
    def risky(self) -> RiskyPrecisions:
        """Precisions at which the next cases break the floor, for each share and chance."""
        shares = (self._start_share(FARTHEST, self.earliest), self._last_share(FARTHEST))
        fine = risky_precisions(shares, self.n_cases, self.horizon, self.min_precision)
        return fine.coarser if self.coarse else fine

    @cached_property
    def chances(self) -> tuple[FloatArray, FloatArray]:
        """Rising chances of a case below the start to lie above a threshold: few alarms, many."""
        below = self.n_cases - self.start
        least, last = TUNING.least_step / below, self.last_share
        split = (exact_up_to(self.min_precision) - self.start) / below
        split = min(max(split, 2 * least), last)
        near = TUNING.coarse_near if self.coarse else TUNING.near
        few = np.append(0.0, rising_chances(least, split, below, near))
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
    def alarms(self) -> FloatArray:
        """Expected validation alarms where each part begins."""
        return np.asarray(self.start + (self.n_cases - self.start) * self.edges[:-1])

    def deviation(self, alarms: AnyArray | int) -> FloatArray:
        """Standard deviation of the difference between both numbers of true positives."""
        both = 1 + self.n_cases / self.horizon
        return np.asarray(np.sqrt(self.min_precision * (1 - self.min_precision) * both * alarms))

    @property
    def set_aside(self) -> float:
        """What is counted in full: small chances, and places far from where they should be."""
        return self.risky.ignored + TUNING.far_off * self.alpha


@dataclass(frozen=True)
class LookUp:
    """Where to find the chance to pass at risky precisions, for one place of the start.

    Attributes
    ----------
    parts : slice
    index, back : ndarray of shape (n_parts, n_chances)
        As in `RiskyPrecisions`; the index counts on from row to row of the parts.
    """

    parts: slice
    index: AnyArray
    back: FloatArray

    def at_risky(self, passing: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Chance to pass at risky precisions, for each part and chance of a broken floor."""
        chance, drop = (each[self.parts].ravel().take(self.index) for each in passing)
        drop *= self.back
        return np.subtract(chance, drop, out=chance)

    def highest(self, passing: tuple[FloatArray, FloatArray]) -> FloatArray:
        """Return the highest of every few neighbouring parts."""
        firsts = np.arange(0, len(self.index), TUNING.path_parts)
        return np.asarray(np.maximum.reduceat(self.at_risky(passing), firsts, axis=0))


class RiskBound:
    """Bounds the risk of a walk; computes once what holds for all it may need.

    Parameters
    ----------
    walk : Walk
    """

    def __init__(self, walk: Walk) -> None:
        self.walk, self._risky = walk, walk.risky
        self._passing = Passing(
            walk.start,
            walk.n_cases - walk.start,
            walk.chances,
            walk.edges,
            self._risky.precision,
            self._columns(),
        )
        self._near = int(np.searchsorted(walk.alarms, TUNING.near_start * walk.start))

    def _rows(self, share: float, chances: FloatArray) -> AnyArray:
        return self._risky.rows(share + (1 - share) * chances)

    def _columns(self) -> AnyArray:
        """Return how many precisions matter from each part on; at the last everything passes."""
        index = self._risky.index[self._rows(self.walk.places[0], self.walk.edges[:-1])]
        last = len(self._risky.precision) - 1
        columns = np.where(index < last, index + 1, 0).max(axis=1)
        return np.asarray(np.maximum.accumulate(columns[::-1])[::-1])

    def _look_up(self, place: int, begin: int, end: int) -> LookUp:
        rows = self._rows(self.walk.places[place], self.walk.edges[begin:end])
        risky = self._risky
        index, back = (np.take(each, rows, axis=0) for each in (risky.index, risky.back))
        index += np.arange(len(rows))[:, None] * len(risky.precision)
        return LookUp(slice(begin, end), index, back)

    @cached_property
    def _look_ups(self) -> list[tuple[list[LookUp], LookUp]]:
        """Near the start for every place of it; far from it several are as the lowest of them."""
        last, n_places = len(self.walk.edges) - 1, len(self.walk.places)
        near = [self._look_up(place, 0, self._near) for place in range(n_places)]
        ends = (*TUNING.far_places[1:], n_places)
        return [
            (near[place:end], self._look_up(place, self._near, last))
            for place, end in zip(TUNING.far_places, ends, strict=True)
        ]

    def risk(self, needed: AnyArray) -> float:
        """Bound the probability that what is deployed breaks the floor in the next cases.

        ``needed`` are the true positives that the tests need: of the cases above the start, and
        then for each number of alarms from the start to the most. At least 1, rising by 0 or 1.
        """
        passing = self._passing.bounds(needed[1:])
        later = []
        for near, far in self._look_ups:
            beyond = far.highest(passing)
            later += [np.concatenate([each.highest(passing), beyond]) for each in near]
        at_start = passing_at_once(self.walk, int(needed[0]))[:, None]
        # Over chances of a broken floor: the greater, the later the first risky share.
        weighted = np.concatenate([at_start, np.array(later)], axis=1) * self._risky.weights
        worst = highest_path(np.ascontiguousarray(np.moveaxis(weighted[..., ::-1], -1, 0)))
        return float(self.walk.place_weights @ worst) + self.walk.set_aside

    def local_risk(self, needed: AnyArray) -> FloatArray:
        """Return the risk for each part, if the first risky threshold lay there."""
        middle = int(np.searchsorted(np.cumsum(self.walk.place_weights), 0.5))
        look_up = self._look_up(middle, 0, len(self.walk.edges) - 1)
        at_risky = look_up.at_risky(self._passing.bounds(needed[1:]))
        return np.asarray(at_risky @ self._risky.weights + self.walk.set_aside)


def start_risk(walk: Walk, needed: int) -> float:
    """Bound the risk of a sequence that starts at a threshold that is risky already.

    ``needed`` are the true positives that the cases above the start must have.
    """
    return float(walk.place_weights @ passing_at_once(walk, needed) @ walk.risky.weights)


def passing_at_once(walk: Walk, needed: int) -> FloatArray:
    """Chance that the cases above the start have enough positives, for places and chances."""
    above, risky = walk.start - 1, walk.risky
    precision = risky.at(walk.places)
    if needed > above:
        return np.zeros_like(precision)
    # Index 0 stands for no risky precision at all.
    some = risky.index[risky.rows(walk.places)] > 0
    return np.where(some, betainc(needed, above - needed + 1.0, precision), 0.0)
