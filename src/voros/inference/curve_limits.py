r"""Intervals of scores and costs from the exact limits of their curve.

At any one threshold the recall and the false positive rate are binomial shares with Clopper-Pearson
limits (of groups, with those of Korn and Graubard, `voros.core.clusters`). At the slope m of the
lines of equal cost, the two distances d to these limits add as standard deviations do: each rate is
moved by its part of :math:`\sqrt{d_{tpr}^2 + m^2 d_{fpr}^2}`. Done at every threshold this gives a
pessimistic and an optimistic curve, and their scores are the ends of the interval. Nothing is
resampled, an interval always has width, and close to 0 and to 1 it is no less exact than elsewhere.

**High end.** The threshold that is best in the population is fixed, so its own limits hold, and the
best of all optimistic thresholds is no worse.

**Low end.** The best threshold of a sample was chosen on it and is optimistic. Where thresholds
compete, the limits are those of a maximally selected statistic (Miller and Siegmund, 1982): the
largest of normal deviations at thresholds between the rates u and v exceeds z with a probability
of about

.. math:: \Phi(-z) + \tfrac12\, z\, \varphi(z)\, (\operatorname{logit} v - \operatorname{logit} u),

and never more than their number times that of one of them. The best of several is rarely too low,
so the low end then has the whole error.

**Prevalence.** The score also moves with the share of positives, not always in one direction. Over
its own limits, the farthest that either the curve or the moved curve falls (or rises) is added, as
standard deviations are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import logit, ndtr, ndtri

from voros.core.clusters import GroupedShare, allowance, effective_groups, groups_in_variance
from voros.core.decision import solve
from voros.core.exact_intervals import binomial_limits
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.volume import NO_SWITCH, TINY, cost_moments
from voros.inference.resampling import Ranked
from voros.typing import AnyArray, FloatArray

MOST_THRESHOLDS = 2000
"""Of longer curves this many evenly spaced thresholds are moved: far finer than the limits."""

PREVALENCES = 9
"""Prevalences between their limits at which a curve is scored."""

COMPETING = 1.0
"""Thresholds compete where their limits, this many times as far, reach those of the best."""

NEAREST, FARTHEST = 1.0, 9.0
"""Standard errors between which the selected statistic is solved for; below one its approximate
probability no longer falls."""

LEAST_PREVALENCE = 1e-9
"""Prevalences are kept this far from 0 and 1, where there is no curve to score."""

ABOVE_ALL_SCORES = float(np.finfo(np.float64).max)
"""The threshold at which no case was flagged although one might be."""

Ends: TypeAlias = tuple[FloatArray, FloatArray]
"""Low and high ends."""

Gains: TypeAlias = Callable[[list[OperatingPoints]], FloatArray]
"""From several curves to a number for each; more is better."""


@dataclass(frozen=True, eq=False)
class CountedCurve:
    """One model's counts at falling thresholds, from no alarm to an alarm for everybody.

    Attributes
    ----------
    ranked : Ranked
        The cases.
    grouped : bool
        Whether cases of one unit are not independent of each other.
    ends : ndarray of int, shape (n_rows,)
        How many cases each row flags. The second row is a threshold above all scores, at which no
        case was flagged although one might be.
    thresholds : ndarray of shape (n_rows,)
    """

    ranked: Ranked
    grouped: bool
    ends: AnyArray
    thresholds: FloatArray

    @classmethod
    def from_ranked(cls, ranked: Ranked, rows: AnyArray | None, *, grouped: bool) -> CountedCurve:
        """Take some rows of a model's thresholds, or as many as are worth moving."""
        if rows is None:
            n_rows = len(ranked.ends) - 1
            rows = np.linspace(1, n_rows, min(n_rows, MOST_THRESHOLDS)).round().astype(np.intp)
        rows = np.unique(rows[rows > 0])
        ends = np.concatenate([[0, 0], ranked.ends[rows], [len(ranked.positive)]])
        levels = [np.inf, ABOVE_ALL_SCORES], ranked.thresholds[rows], [-np.inf]
        return cls(ranked, grouped, ends, np.concatenate(levels))

    @cached_property
    def n_positive(self) -> int:
        """Number of positives."""
        return int(np.count_nonzero(self.ranked.positive))

    @cached_property
    def n_negative(self) -> int:
        """Number of negatives."""
        return len(self.ranked.positive) - self.n_positive

    @cached_property
    def tp(self) -> AnyArray:
        """True positives of each row."""
        return _running(self.ranked.positive, self.ends)

    @cached_property
    def n_groups(self) -> float:
        """How many equal groups there are; infinite of independent cases."""
        if not self.grouped:
            return np.inf
        units, positive = self.ranked.units, self.ranked.positive
        return effective_groups(np.bincount(units, positive), np.bincount(units, ~positive))

    @property
    def counts(self) -> tuple[tuple[AnyArray, int], tuple[AnyArray, int]]:
        """True and false positives of each row, with the cases of their class."""
        return (self.tp, self.n_positive), (self.ends - self.tp, self.n_negative)

    @cached_property
    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Recall and false positive rate of each row."""
        tpr, fpr = (np.asarray(hits / n) for hits, n in self.counts)
        return tpr, fpr

    @property
    def prevalence(self) -> float:
        """Share of the positives."""
        return self.n_positive / len(self.ranked.positive)

    def prevalences(self, tail: float, break_even: float) -> FloatArray:
        """Return the prevalence, others over its limits, and of those the nearest to break-even."""
        cases, design = float(len(self.ranked.positive)), 1.0
        if self.grouped:
            sizes = np.bincount(self.ranked.units)[:, None]
            hits = np.bincount(self.ranked.units, self.ranked.positive)[:, None]
            design = float(GroupedShare.from_counts(hits, sizes).design[0])
        kept = cases * allowance(self.n_groups, tail) / design
        limits = binomial_limits(np.array([self.prevalence * kept]), kept, 1 - 2 * tail)
        within = LEAST_PREVALENCE, 1 - LEAST_PREVALENCE
        low, high = (float(np.clip(end[0], *within)) for end in limits)
        some = self.prevalence, np.clip(break_even, low, high)
        return np.concatenate([some, np.linspace(low, high, PREVALENCES)])

    def design(self, slope: float) -> FloatArray:
        """Return the design effect of ``tpr - slope * fpr`` at each row."""
        if not self.grouped:
            return np.ones(len(self.ends))
        positive, units = self.ranked.positive, self.ranked.units
        sizes = np.stack([np.bincount(units, positive), np.bincount(units, ~positive)])
        n_sure = groups_in_variance(sizes.T)
        scale = np.array([1 / self.n_positive, -slope / self.n_negative])
        worth, n_groups = np.where(positive, *scale), sizes.shape[1]
        # Of the sums over groups g of (V_g - rates @ W_g)^2, with V_g what g has flagged so far.
        squares = _running(worth * (2 * sums_before(units, worth) + worth), self.ends)
        whole = scale[:, None] * sizes
        crossed = np.stack([_running(worth * part[units], self.ends) for part in whole])
        rates = np.stack(self.rates)
        spread = squares - 2 * np.sum(rates * crossed, axis=0)
        spread += np.einsum("ir,ij,jr->r", rates, whole @ whole.T, rates)
        one_more = np.sum(np.sum(whole**2, axis=1) / n_sure)
        varied = spread * n_groups / max(n_groups - 1, 1) + one_more
        independent = np.abs(scale * [1, slope]) @ (rates * (1 - rates) + 1 / n_sure[:, None])
        return np.asarray(np.maximum(varied / independent, 1.0))

    def distances(self, slope: float, tail: float, *, up: bool) -> tuple[FloatArray, FloatArray]:
        """Return how far recall and false positive rate are from their limits at each row."""
        # Of independent cases the limits do not depend on the slope.
        of_tpr, of_fpr = self._limits(slope if self.grouped else 0.0, tail)
        tpr, fpr = self.rates
        return np.abs(of_tpr[int(up)] - tpr), np.abs(of_fpr[int(not up)] - fpr)

    @cached_property
    def _limits(self) -> Callable[[float, float], tuple[Ends, Ends]]:
        """The limits of recall and false positive rate by slope and tail, each computed once."""

        @cache
        def limits(slope: float, tail: float) -> tuple[Ends, Ends]:
            kept = allowance(self.n_groups, tail) / self.design(slope)
            of_tpr, of_fpr = (
                binomial_limits(hits * kept, n * kept, 1 - 2 * tail) for hits, n in self.counts
            )
            return of_tpr, of_fpr

        return limits

    def moved(self, slope: float, tail: float, *, up: bool) -> tuple[FloatArray, FloatArray]:
        """Return the rates of the optimistic or of the pessimistic curve."""
        on_tpr, on_fpr = self.distances(slope, tail, up=up)
        both = np.maximum(np.hypot(on_tpr, slope * on_fpr), TINY)
        sign = 1 if up else -1
        tpr, fpr = self.rates
        tpr = tpr + sign * on_tpr**2 / both
        fpr = fpr - sign * slope * on_fpr**2 / both
        # Rates rise along a curve, and so do their limits.
        if up:
            tpr, fpr = _lowered(tpr), np.maximum.accumulate(fpr)
        else:
            tpr, fpr = np.maximum.accumulate(tpr), _lowered(fpr)
        for rate in (tpr, fpr):
            rate[[0, -1]] = 0.0, 1.0
        return np.clip(tpr, 0.0, 1.0), np.clip(fpr, 0.0, 1.0)

    def points(self, tpr: FloatArray, fpr: FloatArray, prevalence: float) -> OperatingPoints:
        """Return operating points of these rates, of as many cases."""
        n_positive = prevalence * len(self.ranked.positive)
        n_negative = len(self.ranked.positive) - n_positive
        return OperatingPoints(
            self.thresholds,
            tpr * n_positive,
            fpr * n_negative,
            n_positive,
            n_negative,
            one_case=0.0,
            by_period=self.ranked.by_period,
        )

    def selected_tail(self, scenario: Scenario, slope: float, tail: float) -> float:
        """Return the tail of one threshold that leaves the best of all within twice this one."""
        first, last, length = self._competition(scenario, slope, tail)
        if last == first:
            return tail

        def excess(z: float) -> float:
            return float(ndtr(-z) + length * z * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)) - 2 * tail

        nearest = max(-ndtri(2 * tail), NEAREST)
        widest = brentq(excess, nearest, FARTHEST) if excess(nearest) > 0 else nearest
        return min(tail, max(float(ndtr(-widest)), 2 * tail / (last - first + 1)))

    def _competition(self, scenario: Scenario, slope: float, tail: float) -> tuple[int, int, float]:
        """Return the first and last row that may be best, and half their distance in log-odds."""
        tpr, fpr = self.rates
        worth, near, feasible = tpr - slope * fpr, {}, {}
        for up in (False, True):
            on_tpr, on_fpr = self.distances(slope, tail, up=up)
            near[up] = COMPETING * np.hypot(on_tpr, slope * on_fpr)
            near[up][[0, -1]] = 0.0
            points = self.points(*self.moved(slope, tail, up=up), self.prevalence)
            feasible[up] = solve(points, scenario).feasible
        surely = np.max((worth - near[False])[feasible[False]])
        rows = np.flatnonzero(feasible[True] & (worth + near[True] >= surely))
        rows = rows[(rows > 1) & (rows < len(worth) - 1)]
        if not len(rows):
            return 0, 0, 0.0
        between = slice(rows[0], rows[-1] + 1)
        parts = np.square(self.distances(slope, tail, up=False)) * [[1.0], [slope**2]]
        share = (parts / np.maximum(parts.sum(axis=0), TINY))[:, between]
        odds = np.stack([logit((hits[between] + 0.5) / (n + 1)) for hits, n in self.counts])
        steps = np.diff(odds, axis=1) * (share[:, 1:] + share[:, :-1]) / 2
        return int(rows[0]), int(rows[-1]), float(steps.sum()) / 2


def curve_interval(
    curve: CountedCurve,
    gains: Gains,
    scenario: Scenario,
    confidence_level: float,
    *,
    chosen: bool,
) -> tuple[float, float]:
    """Return the ends of the interval of a score that rises with the curve.

    Parameters
    ----------
    curve : CountedCurve
    gains : callable
        The score of each of several operating points.
    scenario : Scenario
        With the costs and limits that the score is computed with. A prevalence that it states is
        known; otherwise that of the cases is an estimate.
    confidence_level : float
    chosen : bool
        Whether the score is that of thresholds chosen on these cases.
    """
    tail, odds = (1 - confidence_level) / 2, _odds(curve, scenario)
    slopes = _slopes(scenario, odds)
    low_tail = curve.selected_tail(scenario, slopes[0], tail) if chosen else tail
    # There an alarm for everybody costs as much as one for nobody, and a score is lowest.
    break_even = slopes[0] / (slopes[0] + odds)
    here = np.array([curve.prevalence])
    if scenario.prevalence is None:
        here = curve.prevalences(tail, break_even)
    nothing = np.append(np.zeros(len(curve.ends) - 1), 1.0)
    rates = [
        curve.rates,
        *(curve.moved(slope, low_tail, up=False) for slope in slopes),
        *(curve.moved(slope, tail, up=True) for slope in slopes),
        (nothing, nothing),
    ]
    points = [curve.points(tpr, fpr, prevalence) for tpr, fpr in rates for prevalence in here]
    as_is, *moved, trivial = gains(points).reshape(-1, len(here))
    worst, best = np.min(moved[: len(slopes)], axis=0), np.max(moved[len(slopes) :], axis=0)
    low, high = as_is[0] - _reach(-as_is, -worst), as_is[0] + _reach(as_is, best)
    if chosen and worst[0] <= trivial[0]:
        # No threshold is certain to be better than an alarm for nobody or for everybody.
        low = min(low, trivial.min())
    return float(low), float(high)


def _reach(as_is: FloatArray, moved: FloatArray) -> float:
    """Return how far the first score may rise: by the curve, and over the prevalences."""
    over_prevalences = max(np.max(as_is) - as_is[0], np.max(moved) - moved[0])
    return float(np.hypot(max(moved[0] - as_is[0], 0.0), over_prevalences))


def _odds(curve: CountedCurve, scenario: Scenario) -> float:
    prevalence = curve.prevalence if scenario.prevalence is None else scenario.prevalence
    return (1 - prevalence) / prevalence


def _slopes(scenario: Scenario, odds: float) -> list[float]:
    """Return the slopes of the lines of equal cost at the mean cost, and of the two floors."""
    t = float(cost_moments(scenario.costs, NO_SWITCH, odds)[1][0])
    floor = scenario.min_precision
    floors = [floor / (1 - floor) * odds] if 0 < floor < 1 else []
    return [t / max(1 - t, TINY), *floors, *([0.0] if scenario.min_recall else [])]


def _running(values: AnyArray, ends: AnyArray) -> AnyArray:
    """Sum the values of the cases that each row flags."""
    return np.append(0, np.cumsum(values))[ends]


def sums_before(units: AnyArray, values: AnyArray) -> FloatArray:
    """Sum, for each case, the values of the cases of its unit that come before it.

    Examples
    --------
    >>> sums_before(np.array([0, 1, 0, 0]), np.array([5.0, 1.0, 2.0, 4.0])).tolist()
    [0.0, 0.0, 5.0, 7.0]
    """
    order = np.argsort(units, kind="stable")
    sums = np.append(0.0, np.cumsum(values[order]))[:-1]
    first = np.searchsorted(units[order], units[order])
    before = np.empty(len(values))
    before[order] = sums - sums[first]
    return before


def _lowered(rates: FloatArray) -> FloatArray:
    """Lower each rate to the least of those after it."""
    return np.asarray(np.minimum.accumulate(rates[::-1])[::-1])
