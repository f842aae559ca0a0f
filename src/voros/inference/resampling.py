"""Resamples as whole-number weights over cases that are sorted once.

A resample says how often each case, or each group or period of them, was drawn. With the cases in
the order of their scores, sums of those numbers down the list are the true and false positives at
every threshold: nothing is sorted twice, limits are compared on whole counts, and a resample is
exactly what copies of its rows would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Protocol, TypeAlias

import numpy as np

from voros.core.arguments import check_count
from voros.core.clusters import effective_groups
from voros.core.counting import adds_recall, order_by_score
from voros.core.grouped_cases import group_codes
from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, Periods
from voros.typing import AnyArray, BoolArray, FloatArray

JACKKNIFE_BLOCKS = 200
"""Parts that the jackknife leaves out in turn: enough to show the skewness of a statistic, at a
tenth of the cost of the resamples."""

FEWEST_UNITS = 2.0
"""Fewer units show no spread."""

MOST_REDRAWS = 1000
"""Resamples of one class only are drawn again, up to this number in a row."""

RARELY_EXCEEDED = 8.0
"""Standard deviations that a sum of counts stays within."""

BATCH = 100
"""Resamples that go through the closed form together."""

Statistic: TypeAlias = Callable[[Sequence[OperatingPoints]], FloatArray]
"""From a batch of resamples to a number, or an array of numbers, for each."""


class Countable(Protocol):
    """Cases of one model, counted in any resample."""

    def points(self, counts: AnyArray) -> OperatingPoints:
        """Count alarms where unit ``i`` is there ``counts[i]`` times."""
        ...


def generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Return a source of random numbers: a new one for a seed or None, or the one given.

    Examples
    --------
    >>> generator("today")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: random_state='today'; accepted is a whole number of at least ...
    """
    if random_state is not None and not isinstance(random_state, np.random.Generator):
        accepted = "a whole number of at least 0, a Generator or None"
        random_state = check_count(random_state, "random_state", accepted, 0)
    return np.random.default_rng(random_state)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranked:
    """One model's cases in the order of its scores, ready to be counted with any weights.

    Attributes
    ----------
    units : ndarray of int
        What each case is drawn with, by falling score: itself, its group or its period.
    positive : ndarray of bool
        Labels in that order.
    ends : ndarray of int
        How many cases each threshold flags; the first raises no alarm.
    thresholds : ndarray
    by_period : PeriodCases or None
        The cases with their periods, where periods are drawn.
    beyond : ndarray of int or None
        The positives left out by `within_alarms`; None where all cases are here.
    values : ndarray of float or None
        What an error on each of the cases costs, in that order, where they have values.
    """

    units: AnyArray
    positive: BoolArray
    ends: AnyArray
    thresholds: FloatArray
    by_period: PeriodCases | None = None
    beyond: AnyArray | None = None
    values: FloatArray | None = None

    @classmethod
    def from_cases(
        cls,
        positive: BoolArray,
        scores: AnyArray,
        *,
        worthwhile: bool = False,
        units: AnyArray | None = None,
        periods: Periods | None = None,
        values: FloatArray | None = None,
    ) -> Ranked:
        """Sort the cases.

        Parameters
        ----------
        positive : ndarray of bool
        scores : ndarray
        worthwhile : bool, default False
            Keep only thresholds at the score of some positive. The others add nothing but false
            alarms, so they are never the best.
        units : ndarray of int, optional
            What each case is drawn with; by default itself.
        periods : Periods, optional
            The units, where they are periods.
        values : ndarray of float, optional
            What an error on each case costs.
        """
        order, ranked, ends = order_by_score(scores)
        labels = positive[order]
        if worthwhile:
            ends = ends[adds_recall(np.append(0, np.cumsum(labels)[ends]))[1:]]
        cases = None if periods is None else PeriodCases.from_cases(periods, positive, scores)
        return cls(
            units=order if units is None else units[order],
            positive=labels,
            ends=np.append(0, ends + 1),
            thresholds=np.append(np.inf, ranked[ends].astype(float)),
            by_period=cases,
            values=None if values is None else values[order],
        )

    def points(self, counts: AnyArray) -> OperatingPoints:
        """Count alarms where unit ``i`` is there ``counts[i]`` times.

        Examples
        --------
        >>> ranked = Ranked.from_cases(np.array([True, False, True]), np.array([0.9, 0.8, 0.7]))
        >>> points = ranked.points(np.array([1, 2, 0]))
        >>> points.thresholds.tolist(), points.tp.tolist(), points.fp.tolist()
        ([inf, 0.9, 0.8], [0, 1, 1], [0, 0, 2])
        """
        drawn = counts.take(self._by_class[0], mode="clip")
        sums = np.zeros(len(drawn) + 1, dtype=np.intp)
        np.cumsum(drawn, out=sums[1:])
        tp, fp, n_positive, n_negative = self._sizes(sums)
        if self.beyond is not None:
            n_positive += int(counts[self.beyond].sum(dtype=np.intp))
            # Cases are drawn one by one, as many as there are.
            n_negative = len(counts) - n_positive
        # A threshold of which no case was drawn is not a threshold of this resample.
        alarms = tp + fp
        kept = np.append(True, alarms[1:] > alarms[:-1])
        return OperatingPoints(
            self.thresholds[kept],
            tp[kept],
            fp[kept],
            n_positive,
            n_negative,
            # With a case left out, a share of the cases may be less than one: that means no alarm.
            one_case=0.0,
            by_period=None if self.by_period is None else replace(self.by_period, drawn=counts),
            worth=None if self.values is None else self._worth(drawn, kept),
        )

    def _worth(self, drawn: AnyArray, kept: BoolArray) -> OperatingPoints:
        """Add up the values of cases by how often each is drawn."""
        sums = np.append(0.0, np.cumsum(drawn * self._values_by_class))
        tp, fp, *totals = self._sizes(sums)
        return OperatingPoints(self.thresholds[kept], tp[kept], fp[kept], *totals, one_case=0.0)

    def _sizes(self, sums: AnyArray) -> tuple[AnyArray, AnyArray, Any, Any]:
        """Split sums along negatives and then positives into those at each threshold."""
        _, negatives, positives = self._by_class
        # Raising no alarm comes first and counts nothing: the positives follow all negatives.
        n_negative = sums[positives[0]].item()
        n_positive = sums[-1].item() - n_negative
        return sums[positives] - n_negative, sums[negatives], n_positive, n_negative

    def within_alarms(self, most: float) -> Ranked:
        """Leave out cases, drawn one by one, that no threshold with so few alarms reaches.

        The sum of counts up to the last case kept exceeds ``most`` in every resample but one in
        1e13 (Chernoff's bound).

        Examples
        --------
        >>> ranked = Ranked.from_cases(np.arange(1000) < 300, -np.arange(1000.0))
        >>> few = ranked.within_alarms(100)
        >>> len(few.ends), few.points(np.ones(1000, np.uint8)).n_positive
        (212, 300)
        """
        reached = self.ends < most + RARELY_EXCEEDED * np.sqrt(most) + RARELY_EXCEEDED**2 / 2
        n = self.ends[reached][-1]
        return replace(
            self,
            units=self.units[:n],
            positive=self.positive[:n],
            ends=self.ends[reached],
            thresholds=self.thresholds[reached],
            beyond=self.units[n:][self.positive[n:]],
        )

    def thinned(self, at_most: int) -> Ranked:
        """Keep ``at_most`` evenly spaced thresholds, and the one that raises no alarm."""
        if len(self.ends) <= at_most + 1:
            return self
        rows = np.linspace(0, len(self.ends) - 1, at_most + 1).round().astype(np.intp)
        return replace(self, ends=self.ends[rows], thresholds=self.thresholds[rows])

    @cached_property
    def _values_by_class(self) -> FloatArray:
        """Values of negatives, then of positives."""
        assert self.values is not None
        return np.concatenate([self.values[~self.positive], self.values[self.positive]])

    @cached_property
    def _by_class(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Units of negatives, then of positives; how many of them come before each threshold's end.

        A sum along the units then has both counts.
        """
        negatives, positives = np.flatnonzero(~self.positive), np.flatnonzero(self.positive)
        return (
            self.units[np.concatenate([negatives, positives])],
            negatives.searchsorted(self.ends),
            len(negatives) + positives.searchsorted(self.ends),
        )


@dataclass(frozen=True, eq=False)
class Sampling:
    """How cases are drawn: one by one, or by whole groups or periods.

    Attributes
    ----------
    positive : ndarray of bool
    units : ndarray of int
        The unit each case belongs to; units are drawn whole.
    n_units : int
        How many cases, groups or periods there are to draw from.
    name : {"cases", "groups", "periods", "patients"}
        What the units are.
    """

    positive: BoolArray
    units: AnyArray
    n_units: int
    name: str = "cases"

    @classmethod
    def from_cases(
        cls,
        positive: BoolArray,
        *,
        groups: Any = None,
        periods: Periods | None = None,
    ) -> Sampling:
        """Say how to draw; see `voros.bootstrap`."""
        if groups is None and periods is None:
            return cls(positive, np.arange(len(positive)), len(positive))
        name = "groups" if periods is None else "periods"
        units = group_codes(groups, positive) if periods is None else periods.codes
        n_units = int(units.max()) + 1 if periods is None else periods.n_periods
        if n_units < 2:
            raise ValueError(
                f"{name} holds one {name[:-1]} only; at least two are needed to draw from"
            )
        return cls(positive, units, n_units, name)

    @cached_property
    def n_effective(self) -> float:
        """Number of equal units with the same variance, in the class that has fewer of them."""
        classes = (self.positive, ~self.positive)
        effective = effective_groups(*(np.bincount(self.units, which) for which in classes))
        return max(effective, FEWEST_UNITS)

    def resamples(self, n_resamples: int, rng: np.random.Generator) -> Iterator[AnyArray]:
        """Yield how often each unit is drawn; a resample without both classes is drawn again."""
        for _ in range(n_resamples):
            yield self._with_both_classes(rng)

    def blocks(self, rng: np.random.Generator) -> Iterator[AnyArray]:
        """Yield how often each unit is there with one block of them left out.

        Blocks are random, so that the sums of influences over them keep the third moment that
        leaving out single cases would show, relative to the second.
        """
        units = rng.permutation(np.arange(self.n_units))
        for block in np.array_split(units, min(JACKKNIFE_BLOCKS, self.n_units)):
            counts = np.ones(self.n_units, dtype=np.intp)
            counts[block] = 0
            if self._both_classes(counts):
                yield counts

    def _with_both_classes(self, rng: np.random.Generator) -> AnyArray:
        for _ in range(MOST_REDRAWS):
            drawn = rng.integers(0, self.n_units, self.n_units)
            counts = np.bincount(drawn, minlength=self.n_units)
            if self._both_classes(counts):
                # Few bytes per unit: counting reads them in the order of every model's scores.
                return counts.astype(np.min_scalar_type(counts.max()))
        raise ValueError(
            f"{MOST_REDRAWS} resamples in a row held one class only: there are too few "
            f"{self.name} of the rarer class"
        )

    def _both_classes(self, counts: AnyArray) -> bool:
        return all(counts[some[:64]].any() or counts[some].any() for some in self._holding)

    @cached_property
    def _holding(self) -> tuple[AnyArray, AnyArray]:
        """The units that hold a negative, and those that hold a positive."""
        return np.unique(self.units[~self.positive]), np.unique(self.units[self.positive])


def replicate(
    models: Mapping[str, Countable],
    resamples: Iterator[AnyArray],
    statistics: Mapping[str, Statistic],
) -> FloatArray:
    """Compute the statistic of every model on the same resamples.

    Returns
    -------
    ndarray of shape (n_resamples, n_models, ...)
    """
    parts = []
    while batch := list(islice(resamples, BATCH)):
        of_models = [
            statistics[name]([ranked.points(counts) for counts in batch])
            for name, ranked in models.items()
        ]
        parts.append(np.stack(of_models, axis=1))
    return np.concatenate(parts) if parts else np.empty((0, len(models)))
