"""The risk that what a walk deploys breaks a precision floor in the next cases.

A walk goes from strict to lenient thresholds, from a fixed rank on, while validation has the right
alarms it needs. Whatever threshold of it is deployed, the next cases are independent of that
choice; so the risk is the mean, over chances b, of how often the deployed threshold is one at which
the next cases break the floor with a chance above b. For that, the walk must have passed the first
such threshold, which is a single test. Every number here is an upper bound: over shares between the
computed ones, over places of the start, and over chances. The argument is in the documentation
(guarantees.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import bdtrc
from scipy.stats import beta

from voros.core.arrays import AnyArray, FloatArray
from voros.guarantee.binomial_bounds import (
    LEAST_STEP,
    TailTable,
    means,
    parts_between,
    rising_chances,
)
from voros.guarantee.future_floor import RiskyPrecisions, risky_precisions

START_PLACES = 24
"""Intervals of equal probability into which the place of the start is divided."""

FAR_OFF = 1e-3
"""Part of alpha that is set aside for walks that start, or end, far from where they should."""


@dataclass(frozen=True)
class Walk:
    """What is settled about a walk before any label is seen.

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
    """

    n_cases: int
    horizon: int
    min_precision: float
    alpha: float
    start: int
    most: int

    @cached_property
    def places(self) -> FloatArray:
        """Shares that the start may flag: the low ends of intervals of equal probability."""
        level = np.arange(START_PLACES) / START_PLACES
        level[0] = FAR_OFF * self.alpha / 2
        # The share that the k-th best of n scores flags is beta distributed.
        return np.asarray(beta.ppf(level, self.start, self.n_cases - self.start + 1))

    @cached_property
    def last_share(self) -> float:
        """The largest share that a deployed threshold flags."""
        if self.most >= self.n_cases:
            return 1.0
        far = FAR_OFF * self.alpha / 2
        return float(beta.isf(far, self.most + 1, self.n_cases - self.most))

    @cached_property
    def risky(self) -> RiskyPrecisions:
        """Precisions at which the next cases break the floor, for each share and chance."""
        shares = (float(self.places[0]), self.last_share)
        return risky_precisions(shares, self.n_cases, self.horizon, self.min_precision, self.alpha)

    @cached_property
    def chances(self) -> FloatArray:
        """Rising chances of a case below the start to lie above a threshold."""
        below = self.n_cases - self.start
        least = LEAST_STEP / below
        return np.append(0.0, rising_chances(least, max(self.last_share, 2 * least), below))

    @cached_property
    def alarms(self) -> FloatArray:
        """Expected validation alarms where each part between the chances begins."""
        return self.start + (self.n_cases - self.start) * parts_between(self.chances)[:-1]

    @cached_property
    def _index(self) -> list[AnyArray]:
        """Risky precisions of each part, for each place of the start."""
        begin = parts_between(self.chances)[:-1]
        return [self.risky.at(place + (1 - place) * begin) for place in self.places]

    def deviation(self, alarms: AnyArray | int) -> FloatArray:
        """Standard deviation of the difference between both numbers of right alarms."""
        both = 1 + self.n_cases / self.horizon
        return np.asarray(np.sqrt(self.min_precision * (1 - self.min_precision) * both * alarms))

    def risk(self, needed: AnyArray) -> tuple[float, FloatArray]:
        """Bound the risk of a walk.

        Parameters
        ----------
        needed : ndarray of int
            Right alarms that it needs, for each number of alarms from the start to the most.

        Returns
        -------
        float
            Bound on the probability that what it deploys breaks the floor.
        ndarray
            The same for each part of `alarms`, if the first risky threshold lay there.
        """
        passing = self._passing(needed)
        rows = np.arange(len(passing))[:, None]
        worst = np.take(self._passing_at_once(int(needed[0])), self.risky.at(self.places))
        for at_start, index in zip(worst, self._index, strict=True):
            np.maximum(at_start, passing[rows, index].max(axis=0), out=at_start)
        middle = passing[rows, self._index[START_PLACES // 2]]
        extra = self.risky.ignored + FAR_OFF * self.alpha
        weights = self.risky.weights
        return float(worst.mean(axis=0) @ weights) + extra, middle @ weights + extra

    def _passing(self, needed: AnyArray) -> FloatArray:
        """Bound the chance to pass within each part, for each precision."""
        table = TailTable(self.start, needed, self.risky.precision)
        below = self.n_cases - self.start
        passing = means(table, self.start, below, self.chances).within_parts()
        return _none_at_first(np.maximum.accumulate(passing, axis=1))

    def _passing_at_once(self, needed: int) -> FloatArray:
        """Chance that the cases above the start have enough right ones, for each precision."""
        above = self.start - 1
        if needed > above:
            return np.zeros(len(self.risky.precision))
        return _none_at_first(np.asarray(bdtrc(needed - 1.0, above, self.risky.precision)))


def _none_at_first(passing: FloatArray) -> FloatArray:
    """Index 0 stands for no risky precision at all."""
    passing[..., 0] = 0.0
    return passing
