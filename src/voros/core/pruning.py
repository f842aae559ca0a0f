"""Exact operating points at the few thresholds that can be chosen, without sorting all cases.

Cases are counted by ranges of scores of equal width. Ranges that cannot matter (see
`voros.core.candidate_bins`) are dropped, and only the few cases in the others are sorted. The
choice of ranges affects the time and not the result, as long as they keep the order of the scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.core.candidate_bins import ranges_to_search, skipped_counts
from voros.core.costs import uniform_t
from voros.core.counting import (
    MANY_CASES,
    Columns,
    blocks_of,
    count_cases,
    count_values,
    sum_where,
    weight_sums,
)
from voros.core.coverage import ExactCoverage
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.typing import AnyArray, BoolArray, FloatArray

MOST_RANGES = 2**16
"""Most ranges: their numbers fit into 16 bits, and their counts into a fast cache."""

CASES_PER_RANGE = 16
"""Mean number of cases in a range; finer ranges exclude few more cases and take time."""

CACHED = 2**18
"""Number of cases in a block, whose intermediate results stay in a fast cache."""

SAMPLE_SIZE = 20_000
"""Number of scores that are sampled for their distribution."""

UNEVEN = 0.1
"""If n sampled scores lie in less than this share of n equal ranges, there are ties or a long tail,
and sorting is faster."""

WIDEST_SPAN = 1e200
"""Spans of scores up to it, and down to its inverse, are cut into ranges without overflow."""

SAMPLE_ROOTS = 6.0
"""Size of the sample that estimates how many scores the capacity reaches, in roots of all."""

REACH_MARGIN = 3.0
"""Standard deviations that are added to the estimate."""

WEIGHT_SLACK = 1.0 + 1e-9
"""The marked weights must exceed the capacity by more than the rounding of their sum."""


EVERY_COST = uniform_t(0.0, 1.0)
"""Costs that include every cost ratio."""

ClassSizes: TypeAlias = tuple[float, float, float]
"""Positives, negatives and the smallest weight."""


@dataclass(frozen=True, eq=False)
class CasesInMemory:
    """Cases in memory that are counted on demand.

    Nothing may be written to the arrays before that.
    """

    positive: BoolArray
    scores: AnyArray
    weights: FloatArray | None = None
    counted: dict[Scenario, OperatingPoints] = field(default_factory=dict)
    place: ClassVar[None] = None

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.scores)

    def take(self, rows: AnyArray | slice) -> CasesInMemory:
        """Return some of the cases."""
        weights = None if self.weights is None else self.weights[rows]
        return CasesInMemory(self.positive[rows], self.scores[rows], weights)

    @cached_property
    def totals(self) -> ClassSizes:
        """Positives, negatives and the smallest weight."""
        if self.weights is not None:
            return *weight_sums(self.positive, self.weights), float(self.weights.min())
        n_positive = int(np.count_nonzero(self.positive))
        return n_positive, len(self) - n_positive, 1.0

    def every_threshold(self) -> Columns:
        """Count alarms at every distinct score."""
        return count_cases(self.positive, self.scores, self.weights)

    def every_point(self) -> OperatingPoints:
        """Count alarms at every distinct score, as operating points."""
        return OperatingPoints.with_never_alarm(*self.every_threshold())

    def choosable(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count the thresholds that can be chosen in a scenario, at its costs or at all costs."""
        limits = scenario.changed(cost_ratio=EVERY_COST) if every_cost else scenario
        if limits not in self.counted:
            few = every_cost and len(self) < MANY_CASES
            self.counted[limits] = self.every_point() if few else pruned_points(self, limits)
        return self.counted[limits]

    def curve(self, scenario: Scenario) -> OperatingPoints:
        """Count every threshold within a scenario's capacity, and possibly others."""
        if self.weights is not None:
            return self.every_point()
        reached = within_reach(self.scores, most_cases(scenario, *self.totals))
        leading = self.take(np.flatnonzero(reached))
        return OperatingPoints.with_never_alarm(*leading.every_threshold()[:3], *self.totals)


def points_of_cases(
    positive: BoolArray, scores: AnyArray, weights: FloatArray | None = None
) -> OperatingPoints:
    """Return points of cases that `check_cases` has passed, counted on first use."""
    return OperatingPoints.from_uncounted(CasesInMemory(positive, scores, weights))


def kept_points(points: OperatingPoints) -> OperatingPoints:
    """Return points for later use, with copies of uncounted cases, which callers cannot change."""
    if not isinstance(points.cases, CasesInMemory):
        return points
    cases = points.cases
    weights = None if cases.weights is None else cases.weights.copy()
    return points_of_cases(cases.positive.copy(), cases.scores.copy(), weights)


def pruned_points(cases: CasesInMemory, scenario: Scenario) -> OperatingPoints:
    """Count alarms at the thresholds that can be chosen in a scenario.

    These are enough for its score and choices, not for other limits or costs.

    Examples
    --------
    >>> scores = (np.arange(200_000) * 137 % 200_003) / 200_003
    >>> cases = CasesInMemory(np.sin(50 * scores) + 3 * scores > 2, scores)
    >>> len(OperatingPoints.from_scores(cases.positive, scores))
    200001
    >>> len(pruned_points(cases, Scenario(0.5, 0.5, (0.2, 0.4))))
    60
    """
    tied = count_values(cases.positive, cases.scores) if cases.weights is None else None
    if tied is not None:
        return OperatingPoints.with_never_alarm(*tied)
    at_most = most_cases(scenario, *cases.totals)
    leading = cases
    if at_most < cases.totals[0] + cases.totals[1]:
        leading = cases.take(np.flatnonzero(within_reach(cases.scores, at_most, cases.weights)))
    ranges = _Ranges.count(leading) if len(leading) > MANY_CASES else _Ranges.whole(leading)
    columns = _count_sorted(ranges, ranges.needed(cases.totals, scenario), cases)
    covers = ExactCoverage(scenarios=(scenario,))
    return OperatingPoints.with_never_alarm(*columns, *cases.totals, covers=covers)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """Neighbouring ranges of scores, lowest first, and the cases in them."""

    cases: CasesInMemory
    home: AnyArray
    """The range of each case."""

    rows: AnyArray
    """Counts of shape (n_ranges, 2): negatives, then positives."""

    sums: AnyArray
    """The sums of weights in the same shape; without weights the counts."""

    @classmethod
    def whole(cls, cases: CasesInMemory) -> _Ranges:
        """Put all cases into one range."""
        n_positive = int(np.count_nonzero(cases.positive))
        rows = np.array([[len(cases.positive) - n_positive, n_positive]])
        # Nothing is skipped, so the sums are never read.
        sums = rows if cases.weights is None else rows.astype(np.float64)
        return cls(cases, np.zeros(len(cases.positive), dtype=np.intp), rows, sums)

    @classmethod
    def count(cls, cases: CasesInMemory) -> _Ranges:
        """Count by ranges of equal width, or put all cases into one where scores are uneven."""
        places, span = _even_places(cases.scores)
        if span is None:
            return cls.whole(cases)
        n_ranges = max(min(MOST_RANGES, len(places) // CASES_PER_RANGE), 1)
        home = np.empty(len(places), dtype=np.uint16)
        rows = np.zeros(2 * n_ranges, dtype=np.intp)
        sums = rows if cases.weights is None else np.zeros(len(rows))
        for block in blocks_of(len(places), CACHED):
            # Scores outside the span are clipped after a possible overflow.
            with np.errstate(over="ignore"):
                place = np.subtract(places[block], span[0], dtype=np.float64)
                place *= n_ranges / span[1]
            number = np.clip(place, 0, n_ranges - 1, out=place).astype(np.intp)
            home[block] = number
            number *= 2
            number += cases.positive[block]
            rows += np.bincount(number, minlength=len(rows))
            if cases.weights is not None:
                sums += np.bincount(number, weights=cases.weights[block], minlength=len(rows))
        return cls(cases, home, rows.reshape(-1, 2), sums.reshape(-1, 2))

    def needed(self, totals: ClassSizes, scenario: Scenario) -> BoolArray:
        """Mark the ranges that can contain a chosen threshold."""
        if len(self.rows) == 1:
            return np.array([True])
        rows = self.rows.sum(axis=1)
        occupied = np.flatnonzero(rows)[::-1]
        negatives, positives = map(np.cumsum, self.sums[occupied].T)
        # Sums of weights are rounded, and must not exceed their total.
        tp, fp = np.minimum(positives, totals[0]), np.minimum(negatives, totals[1])
        needed = np.zeros(len(rows), dtype=np.bool_)
        needed[occupied] = ranges_to_search(tp, fp, rows[occupied] == 1, totals, [scenario])
        return needed


def _even_places(scores: AnyArray) -> tuple[AnyArray, tuple[float, float] | None]:
    """Return numbers in the order of the scores and their span; None where they are uneven."""
    span = _even_span(scores)
    if span is None and scores.dtype == np.float64 and scores.min() > 0:
        # The bits of a positive float, as a whole number, grow roughly as its logarithm.
        bits = scores.view(np.int64)
        return bits, _even_span(bits)
    return scores, span


def _even_span(scores: AnyArray) -> tuple[float, float] | None:
    """Return start and width of the range of a sample; None where the sample is uneven."""
    sample = scores[:: max(len(scores) // SAMPLE_SIZE, 1)].astype(np.float64)
    finite = sample[np.abs(sample) < LARGEST_FINITE]
    low, high = finite.min(initial=LARGEST_FINITE), finite.max(initial=-LARGEST_FINITE)
    if not 1 / WIDEST_SPAN < high / 2 - low / 2 < WIDEST_SPAN:
        return None
    places = ((finite - low) * (len(sample) / (high - low))).astype(np.intp)
    hit = np.count_nonzero(np.bincount(places))
    return (float(low), float(high - low)) if hit >= UNEVEN * len(sample) else None


def _count_sorted(
    ranges: _Ranges, chosen: BoolArray, every_case: CasesInMemory
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Thresholds and counts at every positive's score in the chosen ranges, highest first."""
    cases = ranges.cases
    if not chosen.all():
        cases = cases.take(np.flatnonzero(chosen[ranges.home]))
    members = [np.flatnonzero(marks) for marks in (~cases.positive, cases.positive)]
    of_negatives, of_positives = (cases.scores[in_class] for in_class in members)
    weights = [cases.weights[in_class] for in_class in members] if cases.weights is not None else []
    # Sum of the weights of the n highest scores, for every n from 0.
    sums = [
        np.append(0.0, np.cumsum(in_class[np.argsort(scores, kind="stable")[::-1]]))
        for scores, in_class in zip((of_negatives, of_positives), weights, strict=False)
    ]
    of_positives.sort()
    of_negatives.sort()
    changes = of_positives[1:] != of_positives[:-1]
    first = np.append(True, changes)[: len(of_positives)].nonzero()[0][::-1]
    fp = len(of_negatives) - of_negatives.searchsorted(of_positives[first])
    # Sorted scores are sorted by range too.
    home = np.repeat(np.flatnonzero(chosen), ranges.rows[chosen, 1])[first]
    counts = []
    for column, rows in enumerate((fp, len(of_positives) - first)):
        counted = rows + skipped_counts(ranges.rows[:, column], chosen)[home]
        if sums:
            added = sums[column][rows] + skipped_counts(ranges.sums[:, column], chosen)[home]
            # The sum over all cases is the total, and others are at most that, despite rounding.
            total = every_case.totals[1 - column]
            n_rows = np.count_nonzero(every_case.positive == column)
            counted = np.where(counted == n_rows, total, np.minimum(added, total))
        counts.append(counted)
    return of_positives[first], counts[1], counts[0]


def most_cases(
    scenario: Scenario, n_positive: float, n_negative: float, one_case: float = 1.0
) -> float:
    """Return the largest number of cases that a feasible threshold flags, before reweighting."""
    n_cases = n_positive + n_negative
    if scenario.prevalence is None:
        return scenario.max_alarms(n_cases, one_case)
    share = n_positive / n_cases
    lightest = min(scenario.prevalence / share, (1 - scenario.prevalence) / (1 - share))
    # One is added, so that rounding never excludes a feasible threshold.
    return scenario.max_alarms(n_cases, lightest * one_case) / lightest + 1


def within_reach(scores: AnyArray, at_most: float, weights: FloatArray | None = None) -> BoolArray:
    """Mark the highest scores, slightly more than ``at_most`` of them or of their weights.

    A sample estimates the lowest score to mark. If the estimate is too high, all scores are marked,
    which takes more time and gives the same result.
    """
    stride = max(int(len(scores) ** 0.5 / SAMPLE_ROOTS), 1)
    sample, expected = scores[::stride], at_most / stride
    if weights is not None:
        reached = np.cumsum(weights[::stride][np.argsort(sample)[::-1]]) * stride
        expected = float(np.searchsorted(reached, at_most))
    depth = int(expected + REACH_MARGIN * expected**0.5) + 2
    if depth <= len(sample):
        marked = np.asarray(scores >= np.partition(sample, len(sample) - depth)[-depth])
        total = np.count_nonzero(marked) if weights is None else sum_where(marked, weights)
        if total > at_most * WEIGHT_SLACK:
            return marked
    return np.ones(len(scores), dtype=np.bool_)
