"""Exact operating points at the few thresholds that can be chosen, without sorting the cases.

Cases are counted by ranges of scores. Ranges that cannot matter (see `voros.core.candidate_bins`)
are dropped, the others are split and counted again, and only the few cases left in the end are
sorted. Where the ranges lie costs time, never exactness: they only have to keep the order of the
scores.
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
    sum_weights,
    sum_where,
    weight_sums,
)
from voros.core.coverage import ExactCoverage
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.typing import AnyArray, BoolArray, FloatArray

MOST_RANGES = 2**16
"""Ranges counted at once: their numbers fit into 16 bits, and their counts into a fast cache."""

CASES_PER_RANGE = 16
"""Finer ranges than these rule out little more, and every range takes time too."""

CACHED = 2**18
"""Cases worked on at once, so that what is computed of them stays in a fast cache."""

SAMPLE_SIZE = 20_000
"""Scores that show where all of them lie."""

UNEVEN = 0.1
"""Ties or a long tail, if sampled scores are in less than this share of as many equal cells:
then sorting is faster."""

WIDEST_SPAN = 1e200
"""A span of scores up to it, and down to its inverse, can be split again and again without leaving
the range of a float."""

SAMPLE_ROOTS = 6.0
"""Scores sampled to guess how far down the capacity reaches, in roots of their number."""

REACH_MARGIN = 3.0
"""Standard deviations by which the guess lies deeper than the sample says."""

WEIGHT_SLACK = 1.0 + 1e-9
"""What is marked must exceed the capacity by more than sums of weights round."""


EVERY_COST = uniform_t(0.0, 1.0)
"""Costs under which every cost ratio counts."""

ClassSizes: TypeAlias = tuple[float, float, float]
"""Positives, negatives and the smallest weight, as operating points have them."""


@dataclass(frozen=True, eq=False)
class CasesInMemory:
    """Many cases in memory, of which no more is counted than is asked for.

    Nothing may be written to the arrays in between.
    """

    positive: BoolArray
    scores: AnyArray
    weights: FloatArray | None = None
    counted: dict[Scenario, OperatingPoints] = field(default_factory=dict)
    place: ClassVar[None] = None

    @cached_property
    def totals(self) -> ClassSizes:
        """Positives, negatives and the smallest weight."""
        return _totals(self.positive, self.weights)

    def every_threshold(self) -> Columns:
        """Count alarms at every distinct score."""
        if self.weights is None:
            return count_cases(self.positive, self.scores)
        return sum_weights(self.positive, self.scores, self.weights)

    def choosable(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count what a scenario can choose, at its costs or at any."""
        limits = scenario.changed(cost_ratio=EVERY_COST) if every_cost else scenario
        if limits not in self.counted:
            cases = self.positive, self.scores, self.weights
            few = every_cost and len(self.scores) < MANY_CASES
            self.counted[limits] = (
                OperatingPoints.with_never_alarm(*self.every_threshold())
                if few
                else pruned_points(*cases, limits, self.totals)
            )
        return self.counted[limits]

    def curve(self, scenario: Scenario) -> OperatingPoints:
        """Count every threshold within a scenario's capacity, and perhaps others."""
        if self.weights is not None:
            return OperatingPoints.with_never_alarm(*self.every_threshold())
        leading = within_reach(self.scores, most_cases(scenario, *self.totals))
        thresholds, tp, fp, *_ = count_cases(self.positive[leading], self.scores[leading])
        return OperatingPoints.with_never_alarm(thresholds, tp, fp, *self.totals)


def points_of_cases(
    positive: BoolArray, scores: AnyArray, weights: FloatArray | None = None
) -> OperatingPoints:
    """Take cases that `check_cases` has passed, and count them when they are asked for."""
    return OperatingPoints.from_uncounted(CasesInMemory(positive, scores, weights))


def kept_points(points: OperatingPoints) -> OperatingPoints:
    """Return points for later use, uncounted cases in memory as copies that nobody writes to."""
    if not isinstance(points.cases, CasesInMemory):
        return points
    cases = points.cases
    weights = None if cases.weights is None else cases.weights.copy()
    return points_of_cases(cases.positive.copy(), cases.scores.copy(), weights)


def pruned_points(
    positive: BoolArray,
    scores: AnyArray,
    weights: FloatArray | None,
    scenario: Scenario,
    totals: ClassSizes | None = None,
) -> OperatingPoints:
    """Count alarms where a threshold can be chosen in a scenario, as observed.

    Enough for the score and its choices; not for what lies beyond the limits and costs.

    Parameters
    ----------
    positive, scores : ndarray of shape (n_cases,)
    weights : ndarray of shape (n_cases,) or None
        How many cases each row stands for, above 0.
    scenario : Scenario
    totals : tuple, optional
        Positives, negatives and the smallest weight, where they are known.

    Examples
    --------
    >>> scores = (np.arange(200_000) * 137 % 200_003) / 200_003
    >>> positive = np.sin(50 * scores) + 3 * scores > 2
    >>> len(OperatingPoints.from_scores(positive, scores))
    200001
    >>> len(pruned_points(positive, scores, None, Scenario(0.5, 0.5, (0.2, 0.4))))
    60
    """
    totals, many = totals or _totals(positive, weights), len(scores) >= MANY_CASES
    tied = count_values(positive, scores) if weights is None else None
    if tied is not None:
        return OperatingPoints.with_never_alarm(*tied)
    at_most = most_cases(scenario, *totals)
    leading: AnyArray | slice = slice(None)
    if at_most < totals[0] + totals[1]:
        leading = np.flatnonzero(within_reach(scores, at_most, weights))
    ranking, span = _ranking(scores[leading]) if many else (scores[leading], None)
    cases = _Cases(ranking, positive[leading], None if weights is None else weights[leading])
    ranges = _Ranges.whole(cases, *(span or (0.0, 1.0)))
    chosen = ranges.at_hand
    if span is not None:
        cases, ranges, chosen = _narrow(cases, ranges, totals, scenario)
    n_positive = int(totals[0] if weights is None else np.count_nonzero(positive))
    n_rows = len(positive) - n_positive, n_positive
    thresholds, tp, fp = _count_sorted(cases, ranges, chosen, totals, n_rows)
    columns = thresholds.view(scores.dtype), tp, fp
    covers = ExactCoverage(scenarios=(scenario,))
    return OperatingPoints.with_never_alarm(*columns, *totals, covers=covers)


def _totals(positive: BoolArray, weights: FloatArray | None) -> ClassSizes:
    if weights is not None:
        return *weight_sums(positive, weights), float(weights.min())
    n_positive = int(np.count_nonzero(positive))
    return n_positive, len(positive) - n_positive, 1.0


@dataclass(frozen=True, eq=False)
class _Cases:
    """Cases, and the number of the range at hand that each is in; None where there is but one."""

    scores: AnyArray
    positive: BoolArray
    weights: FloatArray | None = None
    home: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """Neighbouring ranges of scores, lowest first, with the negatives and positives in them.

    Only the cases of those `at_hand` are still looked at.
    """

    start: FloatArray
    width: FloatArray
    rows: AnyArray
    """Of shape (n_ranges, 2): negatives, then positives."""

    sums: AnyArray
    """The same as sums of weights; without weights the rows themselves."""

    at_hand: BoolArray

    @classmethod
    def whole(cls, cases: _Cases, start: float, width: float) -> _Ranges:
        """All cases in one range; scores beyond its ends are counted at them."""
        n_positive = int(np.count_nonzero(cases.positive))
        rows = np.array([[len(cases) - n_positive, n_positive]])
        # Nothing is skipped yet, so the sums of the one range are never read.
        sums = rows if cases.weights is None else rows.astype(np.float64)
        return cls(np.array([start]), np.array([width]), rows, sums, np.array([True]))

    def split(self, chosen: BoolArray, parts: int, rows: AnyArray, sums: AnyArray) -> _Ranges:
        """Put equal parts, with these counts of negatives and positives, in place of the chosen."""
        copies = np.where(chosen, parts, 1)
        fresh = np.repeat(chosen, copies)
        start, width = np.repeat(self.start, copies), np.repeat(self.width, copies)
        width[fresh] /= parts
        start[fresh] += width[fresh] * np.tile(np.arange(parts), np.count_nonzero(chosen))
        kept = np.repeat(self.rows, copies, axis=0), np.repeat(self.sums, copies, axis=0)
        kept[0][fresh], kept[1][fresh] = rows, sums
        return _Ranges(start, width, *kept, fresh)


def _ranking(scores: AnyArray) -> tuple[AnyArray, tuple[float, float] | None]:
    """Numbers in the order of the scores that lie evenly enough, and where; else the scores."""
    span = _even_span(scores)
    if span is None and scores.dtype == np.float64 and scores.min() > 0:
        # The bits of a positive float, read as a whole number, rise about as its logarithm.
        bits = scores.view(np.int64)
        span = _even_span(bits)
        return (scores if span is None else bits), span
    return scores, span


def _even_span(scores: AnyArray) -> tuple[float, float] | None:
    """Start and width of the range of a sample; None where it lies unevenly there."""
    sample = scores[:: max(len(scores) // SAMPLE_SIZE, 1)].astype(np.float64)
    finite = sample[np.abs(sample) < LARGEST_FINITE]
    low, high = finite.min(initial=LARGEST_FINITE), finite.max(initial=-LARGEST_FINITE)
    if not 1 / WIDEST_SPAN < high / 2 - low / 2 < WIDEST_SPAN:
        return None
    cells = ((finite - low) * (len(sample) / (high - low))).astype(np.intp)
    hit = np.count_nonzero(np.bincount(cells))
    return (float(low), float(high - low)) if hit >= UNEVEN * len(sample) else None


def _narrow(
    cases: _Cases, ranges: _Ranges, totals: ClassSizes, scenario: Scenario
) -> tuple[_Cases, _Ranges, BoolArray]:
    """Split ranges, and drop what cannot matter, until few cases are left or no more can go."""
    chosen, before = ranges.at_hand, np.inf
    while MANY_CASES < len(cases) < before:
        parts = min(MOST_RANGES, len(cases) // CASES_PER_RANGE) // int(np.count_nonzero(chosen))
        if parts < 2:
            break
        part, *counts = _count_parts(cases, ranges.start[chosen], ranges.width[chosen], parts)
        ranges = ranges.split(chosen, parts, *counts)
        chosen, before = _needed(ranges, totals, scenario), len(cases)
        cases = _members(cases, part, chosen[ranges.at_hand])
    return cases, ranges, chosen


def _count_parts(
    cases: _Cases, start: FloatArray, width: FloatArray, parts: int
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Number of the part each case is in, when ranges are split; rows and sums of each part."""
    part = np.empty(len(cases), dtype=np.uint16)
    rows = np.zeros(2 * parts * len(start), dtype=np.intp)
    sums = rows if cases.weights is None else np.zeros(len(rows))
    scale = parts / width
    for block in blocks_of(len(cases), CACHED):
        home = 0 if cases.home is None else cases.home[block]
        # Beyond the ends of a range the place is cut off, and may overflow before.
        with np.errstate(over="ignore"):
            place = np.subtract(cases.scores[block], start[home], dtype=np.float64)
            place *= scale[home]
        number = np.clip(place, 0, parts - 1, out=place).astype(np.intp)
        number += np.multiply(home, parts, dtype=np.intp)
        part[block] = number
        number *= 2
        number += cases.positive[block]
        rows += np.bincount(number, minlength=len(rows))
        if cases.weights is not None:
            sums += np.bincount(number, weights=cases.weights[block], minlength=len(rows))
    return part, rows.reshape(-1, 2), sums.reshape(-1, 2)


def _needed(ranges: _Ranges, totals: ClassSizes, scenario: Scenario) -> BoolArray:
    """Mark the ranges at hand that can hold a chosen threshold."""
    rows = ranges.rows.sum(axis=1)
    occupied = np.flatnonzero(rows)[::-1]
    negatives, positives = map(np.cumsum, ranges.sums[occupied].T)
    # Sums of weights round, and must not exceed their total.
    tp, fp = np.minimum(positives, totals[0]), np.minimum(negatives, totals[1])
    needed = np.zeros(len(ranges.start), dtype=np.bool_)
    needed[occupied] = ranges_to_search(tp, fp, rows[occupied] == 1, totals, [scenario])
    return needed & ranges.at_hand


def _members(cases: _Cases, part: AnyArray, wanted: BoolArray) -> _Cases:
    """Keep the cases in the parts wanted, which are numbered again."""
    blocks = blocks_of(len(cases), CACHED)
    index = np.concatenate([np.flatnonzero(wanted[part[block]]) + block.start for block in blocks])
    numbers = (np.cumsum(wanted) - 1).astype(np.uint16)
    weights = None if cases.weights is None else cases.weights[index]
    return _Cases(cases.scores[index], cases.positive[index], weights, numbers[part[index]])


def _count_sorted(
    cases: _Cases, ranges: _Ranges, chosen: BoolArray, totals: ClassSizes, n_rows: tuple[int, int]
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Thresholds and counts at every positive's score in the chosen ranges, highest first."""
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
            # All cases together make the total, and fewer no more, however their sums round.
            total = totals[1 - column]
            counted = np.where(counted == n_rows[column], total, np.minimum(added, total))
        counts.append(counted)
    return of_positives[first], counts[1], counts[0]


def most_cases(
    scenario: Scenario, n_positive: float, n_negative: float, one_case: float = 1.0
) -> float:
    """How many cases at most a feasible threshold can flag, before any reweighting."""
    n_cases = n_positive + n_negative
    if scenario.prevalence is None:
        return scenario.max_alarms(n_cases, one_case)
    share = n_positive / n_cases
    lightest = min(scenario.prevalence / share, (1 - scenario.prevalence) / (1 - share))
    # One more, so that rounding never cuts off a feasible threshold.
    return scenario.max_alarms(n_cases, lightest * one_case) / lightest + 1


def within_reach(scores: AnyArray, at_most: float, weights: FloatArray | None = None) -> BoolArray:
    """Mark the highest scores until more than ``at_most`` are marked, and not many more.

    With weights their sum counts. A sample guesses how far down that is; where the guess falls
    short all are marked, which costs time and not exactness.
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
