"""Exact operating points at the few thresholds that can be chosen, of cases on a device.

As `voros.core.pruning` does in memory: cases are counted by ranges of scores, ranges that cannot
matter (see `voros.core.contenders`) are dropped, the others are counted again by finer ranges, and
the cases left in the end are sorted, all on the device. Counts of ranges reach the host, which
decides; of the cases none does but the thresholds in question.

A range is what lies between two edges, by comparison alone. So passes agree about it to the case,
however the library rounds, and where the edges lie costs time, never exactness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.core.contenders import passed_over, ranges_to_search
from voros.core.device_cases import (
    DeviceCases,
    device_counts,
    merged_infinities,
    read_device_cases,
    thresholds_of,
)
from voros.core.device_rows import Rows, limits_in_counts
from voros.core.limits import lifted_limits
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import most_cases
from voros.core.scenario import Scenario
from voros.devices.libraries import Library, WantedCells
from voros.exceptions import UnsettledError

SORTED = 2**24
"""Fewer cases than these are sorted as fast as counted by ranges."""

KEPT = 2**28
"""Cases that are sorted in the end; more are counted again first, by finer ranges."""

DEVICE_SAMPLE = 2**17
"""Scores that show where all of them lie."""

SAMPLE_MARGIN = 5.0
"""Standard deviations by which the guess of the capacity's threshold lies deeper than the sample
says; a guess that falls short costs a pass."""

COARSE, FINE = 2**12 - 8, 2**15
"""Ranges of the first count, which only says where to look, and of later ones."""

TIED = 2**11
"""Distinct scores of a sample up to which each becomes a range of its own."""

STALLED = 0.8
"""A count that leaves more than this share of the cases is the last one."""

OUTER = 0.002
"""Share of cases on either side that finer ranges leave out: a few far off would stretch them."""


@dataclass(frozen=True, eq=False, repr=False)
class ScenarioPoints(OperatingPoints):
    """Operating points at the thresholds that can be chosen in some scenarios.

    Functions that take points ask `check_settles` first, and refuse any other scenario.

    Attributes
    ----------
    scenarios : tuple of Scenario
        Those the points were counted for.
    """

    scenarios: tuple[Scenario, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        """Points are never complete: nobody knows what lies between them."""
        super().__post_init__()
        object.__setattr__(self, "complete", False)

    def check_settles(self, scenario: Scenario) -> None:
        """Raise unless the points were counted for a scenario."""
        if scenario not in self.scenarios:
            raise UnsettledError(
                f"these points were counted on a device for other scenarios than {scenario!r}; "
                "count every threshold with OperatingPoints.from_scores, or evaluate the scores "
                "in this scenario"
            )

    def check_thresholds(self, thresholds: FloatArray) -> None:
        """Raise unless the alarms at each threshold were counted."""
        unknown = thresholds[[each not in self.thresholds for each in thresholds]]
        if len(unknown):
            raise UnsettledError(
                f"how many alarms the threshold {unknown[0]:g} raises was not counted; count every "
                "threshold with OperatingPoints.from_scores"
            )


def device_points(cases: DeviceCases, scenarios: Sequence[Scenario]) -> ScenarioPoints:
    """Count alarms where a threshold can be chosen in some scenarios, as observed.

    Parameters
    ----------
    cases : DeviceCases
        Without weights.
    scenarios : sequence of Scenario
    """
    rows, ranges, known = _rows(cases, scenarios)
    found = _joined([rows.chosen(each, cases.totals).to_host() for each in scenarios])
    columns = merged_infinities(*_with_known(found, ranges, known))
    return ScenarioPoints.below(*columns, *cases.totals, scenarios=tuple(scenarios))


def _rows(cases: DeviceCases, scenarios: Sequence[Scenario]) -> tuple[Rows, _Ranges, BoolArray]:
    """Count the thresholds in ranges that matter; the scores looked at are let go."""
    if len(cases) <= SORTED:
        ranges, kept, known = _Ranges.whole(cases), np.array([True]), np.array([False])
        places = map(cases.library.where_true, (cases.positive, ~cases.positive))
        right, false = (cases.library.take(cases.scores, each) for each in places)
    else:
        ranges, kept, known = _narrow(cases, scenarios)
        right, false = _members(cases, ranges, kept)
    over = passed_over(ranges.positive, kept), passed_over(ranges.negative, kept)
    return Rows.of(cases.library, right, false, ranges.edges, over), ranges, known


def read_points(
    y_true: Any,
    y_score: Any,
    scenarios: Sequence[Scenario],
    pos_label: Any = None,
    sample_weight: Any = None,
) -> tuple[DeviceCases, OperatingPoints]:
    """Check cases on a device and count what some scenarios need; with weights, every threshold."""
    rank = partial(_rank, scenarios)
    cases = read_device_cases(y_true, y_score, pos_label, sample_weight, rank)
    if cases.weights is not None:
        return cases, OperatingPoints.below(*device_counts(cases))
    corners = _corners(cases)
    if corners is None:
        return cases, device_points(cases, scenarios)
    columns = merged_infinities(thresholds_of(corners[0]), *corners[1:])
    points = ScenarioPoints.below(*columns, *cases.totals, scenarios=tuple(scenarios))
    return cases, points


def thresholds_beyond(cases: DeviceCases, scenario: Scenario) -> OperatingPoints:
    """Count more thresholds than a scenario leaves, to say what other limits could be met.

    All of them where that is quick; of many cases those that matter with either limit lifted.
    """
    if cases.weights is not None or len(cases) <= SORTED:
        return OperatingPoints.below(*device_counts(cases))
    return device_points(cases, lifted_limits(scenario))


@dataclass(frozen=True, eq=False)
class _Ranges:
    """Ranges of scores, lowest first: from each edge to below the next, the last one open above.

    `high` is the greatest score.
    """

    edges: AnyArray
    negative: AnyArray
    positive: AnyArray
    high: Any

    @classmethod
    def whole(cls, cases: DeviceCases) -> _Ranges:
        """All cases in one range."""
        edges = cases.library.to_host(cases.library.comparable(cases.scores[:1]))
        edges = np.array([cases.low], dtype=edges.dtype)
        return cls(edges, np.array([cases.n_negative]), np.array([cases.n_positive]), cases.high)

    @property
    def cases(self) -> AnyArray:
        """Cases in each range."""
        return np.asarray(self.negative + self.positive)

    @property
    def alike(self) -> BoolArray:
        """Ranges that have place for one number only, the edge."""
        after = following(self.edges)
        above = np.append(self.edges[1:], after[-1:] if self.high == self.edges[-1] else [])
        alike = np.zeros(len(self.edges), dtype=np.bool_)
        alike[: len(above)] = after[: len(above)] >= above
        return alike

    def wanted(self, totals: tuple[int, int], scenarios: Sequence[Scenario]) -> BoolArray:
        """Mark the ranges that can hold a chosen threshold."""
        occupied = np.flatnonzero(self.cases)[::-1]
        tp, fp = np.cumsum(self.positive[occupied]), np.cumsum(self.negative[occupied])
        single = self.alike | (self.cases <= 1)
        marks = np.zeros(len(self.edges), dtype=np.bool_)
        marks[occupied] = ranges_to_search(tp, fp, single[occupied], totals, scenarios)
        return marks

    def recounted(self, cases: DeviceCases, first: int, last: int, inner: AnyArray) -> _Ranges:
        """Count again from range `first` to `last`, with these edges inside."""
        start, end = self.edges[first], self.edges[last + 1 : last + 2]
        inside = inner[(inner > start) & (inner < end[0] if len(end) else True)]
        edges = np.concatenate([self.edges[first : first + 1], inside])
        counts = cases.library.count_cells(
            cases.scores, cases.positive, np.concatenate([edges, end])
        )
        fresh = edges, *counts[1 : len(edges) + 1].T
        old = self.edges, self.negative, self.positive
        edges, negative, positive = (
            np.concatenate([before[:first], now, before[last + 1 :]])
            for before, now in zip(old, fresh, strict=True)
        )
        return _Ranges(edges, negative, positive, self.high)


def following(values: AnyArray) -> AnyArray:
    """Return the next greater number of the same type."""
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.asarray(np.nextafter(values, values.dtype.type(np.inf)))
    return np.asarray(values + (values < np.iinfo(values.dtype).max))


def _narrow(
    cases: DeviceCases, scenarios: Sequence[Scenario]
) -> tuple[_Ranges, BoolArray, BoolArray]:
    """Count finer and finer where a threshold can be chosen, until the cases there are few.

    Returns
    -------
    ranges : _Ranges
    kept, known : ndarray of bool
        Ranges whose cases must be looked at, and those that may be chosen but have one score.
    """
    ranges = _Ranges.whole(cases)
    reach = max(most_cases(each, *cases.totals) for each in scenarios)
    inner = _first_edges(cases, ranges.edges.dtype, reach)
    first, last, before = 0, 0, np.inf
    while True:
        ranges = ranges.recounted(cases, first, last, inner)
        wanted = ranges.wanted(cases.totals, scenarios)
        kept = wanted & ~ranges.alike
        n_cases = int(ranges.cases[kept].sum())
        if n_cases <= KEPT or n_cases > STALLED * before:
            return ranges, kept, wanted & ~kept
        share = np.cumsum(np.where(kept, ranges.cases, 0)) / n_cases
        first, last = np.searchsorted(share, [OUTER, 1 - OUTER]).tolist()
        inner, before = _between(ranges, first, last, FINE), n_cases


def _first_edges(cases: DeviceCases, dtype: Any, reach: float) -> AnyArray:
    """Return edges over all scores within reach, as a sample shows them."""
    library = cases.library
    stride = max(len(cases) // DEVICE_SAMPLE, 1)
    sample = library.to_host(library.sort(library.comparable(cases.scores[::stride])))
    sample = sample[np.isfinite(sample)]
    distinct = sample[np.append(True, sample[1:] != sample[:-1])]
    if len(distinct) <= TIED:
        return np.unique(np.concatenate([distinct, following(distinct)]))
    expected = reach / stride
    depth = int(expected + SAMPLE_MARGIN * expected**0.5) + 1
    start = sample[-depth] if depth < len(sample) else sample[0]
    return _evenly(start, sample[-1], COARSE, dtype)


def _between(ranges: _Ranges, first: int, last: int, parts: int) -> AnyArray:
    """Return edges within neighbouring ranges."""
    end = ranges.edges[last + 1] if last + 1 < len(ranges.edges) else ranges.high
    return _evenly(ranges.edges[first], end, parts, ranges.edges.dtype)


def _evenly(start: Any, end: Any, parts: int, dtype: Any) -> AnyArray:
    """Return numbers of a type from start to end, as evenly as it holds them."""
    exact = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    low, high = max(start, exact.min), min(end, exact.max)
    # Halves, because the distance of two floats may be none.
    places = np.linspace(low / 2, high / 2, parts + 1, dtype=np.float64) * 2
    if np.dtype(dtype).kind != "f":
        places = np.rint(places).clip(float(exact.min), np.nextafter(float(exact.max), 0))
    # -0.0 equals 0.0, but neighbours are looked for.
    return np.unique(places.astype(dtype)) + np.zeros((), dtype=dtype)


def _members(cases: DeviceCases, ranges: _Ranges, kept: BoolArray) -> tuple[Any, Any]:
    """Return the scores of positives and of negatives in the ranges kept."""
    sizes = int(ranges.positive[kept].sum()), int(ranges.negative[kept].sum())
    wanted = np.append(False, kept)
    cells = WantedCells(ranges.edges, wanted, sizes)
    return cases.library.keep_cells(cases.scores, cases.positive, cells)


def _corners(cases: DeviceCases) -> tuple[AnyArray, AnyArray, AnyArray] | None:
    """Return the corners of ranked cases in all scenarios; None where that is no way."""
    found = cases.ranking.corners if cases.ranking else []
    whole = found and all(each is not None for each in found)
    return _joined(found) if whole else None


def _rank(scenarios: Sequence[Scenario], library: Library, scores: Any, positive: Any) -> Any:
    """Sort few cases and find their corners, where the library has kernels for it."""
    hulls, n_cases = library.hulls, scores.shape[0]
    if hulls is None:
        return None
    # Only a prevalence of its own makes a scenario's limits depend on the sizes of the classes.
    sized = any(each.prevalence is not None for each in scenarios)
    n_positive = library.count_true(positive) if sized else n_cases - 1
    if not 0 < n_positive < n_cases:
        return None
    totals = n_positive, n_cases - n_positive
    return hulls.rank(scores, positive, [limits_in_counts(each, totals) for each in scenarios])


def _joined(
    parts: Sequence[tuple[AnyArray, AnyArray, AnyArray]],
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the rows of all parts, each once; they are rows of one curve."""
    if len(parts) == 1:
        return parts[0]
    thresholds, tp, fp = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    _, first = np.unique(tp, return_index=True)
    return thresholds[first], tp[first], fp[first]


def _with_known(
    found: tuple[AnyArray, AnyArray, AnyArray], ranges: _Ranges, known: BoolArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Add the thresholds of ranges with one score, which were counted and not kept."""
    rows = np.flatnonzero(known & (ranges.positive > 0))
    tp, fp = (np.cumsum(column[::-1])[::-1][rows] for column in (ranges.positive, ranges.negative))
    thresholds = thresholds_of(np.append(found[0], ranges.edges[rows]))
    order = np.argsort(thresholds, kind="stable")[::-1]
    return thresholds[order], np.append(found[1], tp)[order], np.append(found[2], fp)[order]
