"""The risk that what a walk deploys breaks a precision floor in the next cases.

A walk goes from strict to lenient thresholds, from a fixed rank on, while validation has the right
alarms it needs. Whatever threshold of it is deployed, the next cases are independent of that
choice; so the risk is the mean, over chances b, of how often the deployed threshold is one at which
the next cases break the floor with a chance above b. For that, the walk must have passed the first
such threshold, which is a single test. The argument is in the documentation (guarantees.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.special import bdtrc
from scipy.stats import beta, binom, norm

from voros.inference.future_floor import CHANCES, likely_counts, risky_precisions
from voros.inputs import AnyArray, FloatArray
from voros.scenario import as_fraction

SHARE_RATIO = 1.2
"""Shares of alarms at which a walk is looked at are so far apart."""

START_PLACES = 24
"""Places at which a walk may start that are looked at."""

FAR_OFF = 1e-3
"""Part of the risk that is set aside for walks that start, or end, far from where they should."""


Test: TypeAlias = tuple[AnyArray, int, FloatArray]
"""Numbers of alarms, the step between them, and for each the chance to pass, at each chance."""


@dataclass(frozen=True)
class Walk:
    """What is settled about a walk before any label is seen.

    Attributes
    ----------
    n_cases, horizon : int
        Validation and next cases.
    min_precision, level : float
        The floor, and the allowed probability that a deployed threshold breaks it.
    starts : tuple of int
        Ranks at one of which it starts.
    most : int
        Validation alarms beyond which nothing is deployed.
    """

    n_cases: int
    horizon: int
    min_precision: float
    level: float
    starts: tuple[int, ...]
    most: int

    @cached_property
    def shares(self) -> FloatArray:
        """Shares of alarms in the population, from the earliest start to the last threshold."""
        far = FAR_OFF * self.level / 2
        # The share that the k-th best of n scores flags is beta distributed.
        first = beta.ppf(far, self.starts[0], self.n_cases - self.starts[0] + 1)
        last = beta.isf(far, self.most + 1, max(self.n_cases - self.most, 1))
        count = int(np.ceil(np.log(last / first) / np.log(SHARE_RATIO))) + 2
        return np.asarray(np.geomspace(first, min(last, 1 - 1e-9), count))

    @cached_property
    def risky(self) -> FloatArray:
        """Precision, for each share and chance, at which the next cases break the floor."""
        return np.array(
            [risky_precisions(s, self.horizon, self.min_precision) for s in self.shares]
        )

    @cached_property
    def passing_precision(self) -> FloatArray:
        """The same at `shares`, raised to cover walks that start between risky thresholds.

        Cases between two of them have the precision that leads from one to the other, which is
        larger than at either where the risky precision rises with the share.
        """
        risky = self.risky
        right = risky * self.shares[:, None]
        between = np.zeros_like(right)
        for later in range(1, len(self.shares)):
            gap = (self.shares[later] - self.shares[:later])[:, None]
            slope = np.where(risky[:later] > 0, (right[later] - right[:later]) / gap, 0.0)
            between[later] = slope.max(axis=0)
            # For two that touch: the slope just after, where the precision rises.
            between[later - 1] = np.maximum(between[later - 1], slope[-1])
        return np.where(risky > 0, np.clip(between, risky, 1.0), 0.0)

    def wanted(self, margins: FloatArray) -> FloatArray:
        """Right alarms wanted at each number of alarms, with a margin for each of the shares."""
        alarms, at = np.arange(self.most + 1), np.log(self.shares * self.n_cases)
        margin = np.interp(np.log(np.maximum(alarms, 1)), at, margins)
        floor = float(as_fraction(self.min_precision))
        return np.asarray(floor * alarms + margin * self.deviation(alarms))

    def deviation(self, alarms: AnyArray | int) -> FloatArray:
        """Standard deviation of the difference between both numbers of right alarms."""
        both = 1 + self.n_cases / self.horizon
        return np.asarray(np.sqrt(self.min_precision * (1 - self.min_precision) * both * alarms))

    def tests(self, needed: AnyArray) -> list[Test]:
        """Return the chance to pass at each share, for each number of alarms likely there."""
        found = []
        for share, precision in zip(self.shares, self.passing_precision, strict=True):
            alarms, step = likely_counts(self.n_cases, share)
            alarms = alarms[(alarms >= self.starts[0]) & (alarms <= self.most)]
            found.append((alarms, step, _enough_right(alarms, needed[alarms], precision)))
        return found

    def risk(self, needed: AnyArray, tests: list[Test], start: int) -> float:
        """Bound on the probability that what a walk from this start deploys breaks the floor."""
        middle = (np.arange(START_PLACES) + 0.5) / START_PLACES
        places = beta.ppf(middle, start, self.n_cases - start + 1)
        worst = self._passing_at_once(needed, start, places)
        for share, (alarms, step, passing) in zip(self.shares, tests, strict=True):
            kept, started = alarms >= start, places < share
            rest = (share - places[started]) / (1 - places[started])
            mass = step * binom.pmf(alarms[kept] - start, self.n_cases - start, rest[:, None])
            worst[started] = np.maximum(worst[started], mass @ passing[kept])
        return mean_over_chances(worst.mean(axis=0)) + FAR_OFF * self.level

    def _passing_at_once(self, needed: AnyArray, start: int, places: FloatArray) -> FloatArray:
        """Chance to pass the first test, for each place of the start and each chance."""
        at, place = np.log(self.shares), np.log(places)
        precision = np.array([np.interp(place, at, p) for p in self.passing_precision.T]).T
        if needed[start] > start:
            return np.zeros_like(precision)
        return np.asarray(bdtrc(needed[start] - 1.0, start, precision))

    def risk_at_shares(self, tests: list[Test]) -> FloatArray:
        """Risk if the first risky threshold is at the same share for all chances."""
        return np.array(
            [
                mean_over_chances(step * binom.pmf(alarms, self.n_cases, share) @ passing)
                for share, (alarms, step, passing) in zip(self.shares, tests, strict=True)
            ]
        )


def _enough_right(alarms: AnyArray, needed: AnyArray, precision: FloatArray) -> FloatArray:
    """Probability of enough right alarms, for each number of alarms and each precision."""
    chance = bdtrc(needed[:, None] - 1.0, np.maximum(alarms, needed)[:, None], precision)
    return np.where((needed <= alarms)[:, None], chance, 0.0)


def mean_over_chances(values: FloatArray) -> float:
    """Integrate over all chances from 0 to 1, given the values at `CHANCES`.

    Examples
    --------
    >>> round(mean_over_chances(norm.sf(CHANCES)), 4)
    0.5
    """
    weights = norm.pdf(CHANCES) * np.gradient(CHANCES)
    weights[0] += norm.cdf(CHANCES[0])
    return float(values @ weights + norm.sf(CHANCES[-1]))
