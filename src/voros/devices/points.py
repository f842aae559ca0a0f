"""Exact operating points at the few thresholds that can be chosen, of cases on a device.

As `voros.core.pruning` does in memory: cases are counted by ranges of scores, ranges that cannot
matter (see `voros.core.candidate_bins`) are dropped, the others are counted again by finer ranges,
and the cases left in the end are sorted, all on the device. Counts of ranges reach the host, which
decides; of the cases none does but the thresholds in question.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from voros.core.candidate_bins import skipped_counts
from voros.core.coverage import SomeThresholds
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import most_cases
from voros.core.scenario import Scenario
from voros.devices.cases import (
    DeviceCases,
    device_counts,
    read_device_cases,
    thresholds_of,
)
from voros.devices.libraries import Library
from voros.devices.ranges import ScoreRanges, edges_between, first_edges, members
from voros.devices.rows import Rows, limits_in_counts
from voros.typing import AnyArray, BoolArray

SORTED = 2**24
"""Fewer cases than these are sorted as fast as counted by ranges."""

KEPT = 2**28
"""Cases that are sorted in the end; more are counted again first, by finer ranges."""

FINE = 2**15
"""Ranges of later counts; the first one only says where to look."""

STALLED = 0.8
"""A count that leaves more than this share of the cases is the last one."""

OUTER = 0.002
"""Share of cases on either side that finer ranges leave out: a few far off would stretch them."""

CountedRows: TypeAlias = tuple[AnyArray, AnyArray, AnyArray]
"""Thresholds, true and false positives."""


def device_points(
    cases: DeviceCases, scenarios: Sequence[Scenario], ranking: Any = None
) -> OperatingPoints:
    """Count alarms where a threshold can be chosen in some scenarios, as observed.

    Parameters
    ----------
    cases : DeviceCases
        Without weights.
    scenarios : sequence of Scenario
    ranking : Ranking, optional
        What kernels found for these scenarios, where they did already.
    """
    columns = choosable_rows(cases, scenarios, ranking)
    covers = SomeThresholds(tuple(scenarios))
    return OperatingPoints.with_never_alarm(*columns, *cases.totals, covers=covers)


def choosable_rows(
    cases: DeviceCases, scenarios: Sequence[Scenario], ranking: Any = None
) -> CountedRows:
    """Return the thresholds that can be chosen in some scenarios, falling, and their counts."""
    if ranking is None and len(cases) <= SORTED:
        ranking = _rank(scenarios, cases.library, cases.scores, cases.positive)
    corners = [] if ranking is None else ranking.corners
    if corners and all(limits is not None for limits in corners):
        thresholds, tp, fp = joined_rows(corners)
        return thresholds_of(thresholds), tp, fp
    rows, ranges, known = _rows(cases, scenarios)
    chosen = joined_rows([rows.chosen(limits, cases.totals).to_host() for limits in scenarios])
    return _with_known(chosen, ranges, known)


def _rows(cases: DeviceCases, scenarios: Sequence[Scenario]) -> tuple[Rows, ScoreRanges, BoolArray]:
    """Count the thresholds in ranges that matter; the scores looked at are let go."""
    if len(cases) <= SORTED:
        ranges, kept, known = ScoreRanges.whole(cases), np.array([True]), np.array([False])
        places = map(cases.library.where_true, (cases.positive, ~cases.positive))
        of_positives, of_negatives = (
            cases.library.take(cases.scores, in_class) for in_class in places
        )
    else:
        ranges, kept, known = _narrow(cases, scenarios)
        of_positives, of_negatives = members(cases, ranges, kept)
    over = skipped_counts(ranges.positive, kept), skipped_counts(ranges.negative, kept)
    return (
        Rows.from_scores(cases.library, of_positives, of_negatives, ranges.edges, over),
        ranges,
        known,
    )


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
        return cases, OperatingPoints.with_never_alarm(*device_counts(cases))
    return cases, device_points(cases, scenarios, cases.ranking)


def _narrow(
    cases: DeviceCases, scenarios: Sequence[Scenario]
) -> tuple[ScoreRanges, BoolArray, BoolArray]:
    """Count finer and finer where a threshold can be chosen, until the cases there are few.

    Returns
    -------
    ranges : ScoreRanges
    kept, known : ndarray of bool
        Ranges whose cases must be looked at, and those that may be chosen but have one score.
    """
    ranges = ScoreRanges.whole(cases)
    reach = max(most_cases(scenario, *cases.totals) for scenario in scenarios)
    inner = first_edges(cases, ranges.edges.dtype, reach)
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
        inner, before = edges_between(ranges, first, last, FINE), n_cases


def _rank(scenarios: Sequence[Scenario], library: Library, scores: Any, positive: Any) -> Any:
    """Sort few cases and find their corners, where the library has kernels for it."""
    hulls, n_cases = library.hulls, scores.shape[0]
    if hulls is None:
        return None
    # Only a prevalence of its own makes a scenario's limits depend on the sizes of the classes.
    sized = any(scenario.prevalence is not None for scenario in scenarios)
    n_positive = library.count_true(positive) if sized else n_cases - 1
    if not 0 < n_positive < n_cases:
        return None
    totals = n_positive, n_cases - n_positive
    return hulls.rank(
        scores, positive, [limits_in_counts(scenario, totals) for scenario in scenarios]
    )


def joined_rows(parts: Sequence[CountedRows]) -> CountedRows:
    """Return the rows of all parts, each once, by rising alarms; they are rows of one curve."""
    if len(parts) == 1:
        return parts[0]
    thresholds, tp, fp = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    _, first = np.unique(tp + fp, return_index=True)
    return thresholds[first], tp[first], fp[first]


def _with_known(chosen: CountedRows, ranges: ScoreRanges, known: BoolArray) -> CountedRows:
    """Add the thresholds of ranges with one score, which were counted and not kept."""
    rows = np.flatnonzero(known & (ranges.positive > 0))
    tp, fp = (np.cumsum(column[::-1])[::-1][rows] for column in (ranges.positive, ranges.negative))
    thresholds = thresholds_of(np.append(chosen[0], ranges.edges[rows]))
    order = np.argsort(thresholds, kind="stable")[::-1]
    return thresholds[order], np.append(chosen[1], tp)[order], np.append(chosen[2], fp)[order]
