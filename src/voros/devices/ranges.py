"""Ranges of scores on a device, with their numbers of negatives and positives.

The range of a score follows from comparisons with edges alone. So passes agree on every case,
however the library rounds, and the choice of edges affects the time, never the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.candidate_bins import ranges_to_search
from voros.core.scenario import Scenario
from voros.devices.cases import DeviceCases
from voros.typing import AnyArray, BoolArray

DEVICE_SAMPLE = 2**15
"""Size of the sample of scores from which the first edges are chosen."""

SAMPLE_MARGIN = 5.0
"""Standard deviations by which the first edges extend below the capacity's threshold in the sample;
too few cost a pass."""

COARSE = 2**12 - 8
"""Ranges of the first count."""

TIED = 2**11
"""Distinct scores of a sample up to which each becomes a range."""


@dataclass(frozen=True, eq=False)
class ScoreRanges:
    """Ranges of scores, lowest first, each from an edge to below the next one.

    The last range has no upper edge; `high` is the greatest score.
    """

    edges: AnyArray
    negative: AnyArray
    positive: AnyArray
    high: Any

    @classmethod
    def whole(cls, cases: DeviceCases) -> ScoreRanges:
        """Return all cases in one range."""
        edges = cases.library.to_host(cases.library.comparable(cases.scores[:1]))
        edges = np.array([cases.low], dtype=edges.dtype)
        return cls(edges, np.array([cases.n_negative]), np.array([cases.n_positive]), cases.high)

    @property
    def cases(self) -> AnyArray:
        """Cases in each range."""
        return np.asarray(self.negative + self.positive)

    @property
    def indivisible(self) -> BoolArray:
        """Whether a range can hold one number only, its edge."""
        after = following(self.edges)
        n_more = int(self.high == self.edges[-1])
        above = np.append(self.edges[1:], after[len(after) - n_more :])
        indivisible = np.zeros(len(self.edges), dtype=np.bool_)
        indivisible[: len(above)] = after[: len(above)] >= above
        return indivisible

    def wanted(self, totals: tuple[int, int], scenarios: Sequence[Scenario]) -> BoolArray:
        """Mark the ranges that can hold a chosen threshold."""
        occupied = np.flatnonzero(self.cases)[::-1]
        tp, fp = np.cumsum(self.positive[occupied]), np.cumsum(self.negative[occupied])
        single = self.indivisible | (self.cases <= 1)
        marks = np.zeros(len(self.edges), dtype=np.bool_)
        marks[occupied] = ranges_to_search(tp, fp, single[occupied], totals, scenarios)
        return marks

    def recounted(self, cases: DeviceCases, first: int, last: int, inner: AnyArray) -> ScoreRanges:
        """Count the cases of ranges `first` to `last` again, by these inner edges."""
        start, end = self.edges[first], self.edges[last + 1 : last + 2]
        inside = inner[(inner > start) & (inner < end[0] if len(end) else True)]
        edges = np.concatenate([self.edges[first : first + 1], inside])
        counts = cases.library.count_ranges(
            cases.scores, cases.positive, np.concatenate([edges, end])
        )
        fresh = edges, *counts[1 : len(edges) + 1].T
        old = self.edges, self.negative, self.positive
        edges, negative, positive = (
            np.concatenate([before[:first], now, before[last + 1 :]])
            for before, now in zip(old, fresh, strict=True)
        )
        return ScoreRanges(edges, negative, positive, self.high)


def following(values: AnyArray) -> AnyArray:
    """Return the next greater number of the same type."""
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.asarray(np.nextafter(values, values.dtype.type(np.inf)))
    return np.asarray(values + (values < np.iinfo(values.dtype).max))


def first_edges(cases: DeviceCases, dtype: Any, reach: float) -> AnyArray:
    """Return edges over the scores within reach of the capacity, by a sample."""
    sample = _sample(cases)
    distinct = sample[np.append(True, sample[1:] != sample[:-1])]
    if len(distinct) <= TIED:
        return np.unique(np.concatenate([distinct, following(distinct)]))
    expected = reach / _stride(cases)
    depth = int(expected + SAMPLE_MARGIN * expected**0.5) + 1
    return evenly(sample[max(len(sample) - depth, 0)], sample[-1], COARSE, dtype)


def _sample(cases: DeviceCases) -> AnyArray:
    """Return a sample of the finite scores in rising order, or of all if none is finite."""
    library = cases.library
    scores = library.comparable(cases.scores[:: _stride(cases)])
    ordered = library.to_host(library.sort(scores))
    finite = ordered[np.isfinite(ordered)]
    return finite if len(finite) else ordered


def _stride(cases: DeviceCases) -> int:
    return max(len(cases) // DEVICE_SAMPLE, 1)


def edges_between(ranges: ScoreRanges, first: int, last: int, parts: int) -> AnyArray:
    """Return edges that divide neighbouring ranges evenly."""
    end = ranges.edges[last + 1] if last + 1 < len(ranges.edges) else ranges.high
    return evenly(ranges.edges[first], end, parts, ranges.edges.dtype)


def evenly(start: Any, end: Any, parts: int, dtype: Any) -> AnyArray:
    """Return numbers of a type from start to end, as evenly spaced as the type allows."""
    exact = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    low, high = max(start, exact.min), min(end, exact.max)
    # Halves, because the difference of two floats may overflow.
    places = np.linspace(low / 2, high / 2, parts + 1, dtype=np.float64) * 2
    if np.dtype(dtype).kind != "f":
        places = np.rint(places).clip(float(exact.min), np.nextafter(float(exact.max), 0))
    # -0.0 becomes 0.0, which equals it.
    return np.unique(places.astype(dtype)) + np.zeros((), dtype=dtype)


def members(cases: DeviceCases, ranges: ScoreRanges, kept: BoolArray) -> tuple[Any, Any]:
    """Return the scores of positives and of negatives in the kept ranges."""
    sizes = int(ranges.positive[kept].sum()), int(ranges.negative[kept].sum())
    wanted = np.append(False, kept)
    return cases.library.keep_ranges(cases.scores, cases.positive, ranges.edges, wanted, sizes)
