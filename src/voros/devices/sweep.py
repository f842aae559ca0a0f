"""All thresholds that meet the limits, part by part on the device: their area and their hull.

What a range of costs chooses lies in few ranges of scores (`voros.devices.points`). A partial
AUROC, the choice at any other cost and whether any threshold is feasible ask about every threshold
that the limits admit. Parts of the scores, from the highest down, are sorted one after another to
spare memory. Of each part twice its area, a whole number, and the rows above the lines between
others are kept; whether a row is feasible is decided in whole numbers, or on the host where
rounding leaves it in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.candidate_bins import admitted_ranges, skipped_counts
from voros.core.decision import solve
from voros.core.exact_limits import LARGEST_PRODUCT
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import most_cases
from voros.core.scenario import Scenario
from voros.devices.cases import DeviceCases, thresholds_of
from voros.devices.libraries import Library
from voros.devices.ranges import ScoreRanges, first_edges, members, quantile_edges
from voros.devices.rows import Rows, surely_feasible
from voros.typing import AnyArray, BoolArray

PART = 2**24
"""Cases sorted at once, which takes less than a GiB; fewer in all are one part."""

HALF_BITS = 20
"""Of heights that are multiplied by widths."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """What all feasible thresholds show.

    Attributes
    ----------
    columns : tuple of ndarray
        Thresholds with their true and false positives: the highest one, and of the feasible ones
        the first and all that are best at some cost.
    partial_auroc : float
    feasible : bool
        Whether any threshold is.
    """

    columns: tuple[AnyArray, AnyArray, AnyArray]
    partial_auroc: float
    feasible: bool


def sweep(cases: DeviceCases, scenario: Scenario, *, hull: bool = True) -> Sweep:
    """Follow the feasible thresholds of cases without weights from the highest score down.

    Without ``hull`` no columns are kept but the highest threshold and the first feasible one.
    """
    totals = cases.totals
    seen: list[Rows] = []
    kept: list[Rows] = []
    last, doubled, feasible = (0, 0), 0, False
    for part in _parts(cases, scenario):
        seen = seen or [part.ends()[1]]
        rows = part.some(feasible_positions(part, scenario, totals))
        # Let go before the next part is sorted.
        del part
        if len(rows):
            lowest, highest = rows.ends()
            seen += [] if feasible else [highest]
            doubled += _doubled_step(last, highest) + _doubled_area(rows)
            last, feasible = _counts(lowest), True
            kept += [rows.candidates()] if hull else []
        del rows
    if kept:
        rows = _concatenated(kept[::-1])
        kept = [rows.thinned(rows.every())]
    columns = zip(*(rows.to_host() for rows in (*seen, *kept)), strict=True)
    thresholds, tp, fp = map(np.concatenate, columns)
    area = doubled / (2 * totals[0] * totals[1])
    return Sweep((thresholds_of(thresholds), tp, fp), area, feasible)


def feasible_positions(rows: Rows, scenario: Scenario, totals: tuple[int, int]) -> Any:
    """Return where the rows are that meet both limits, decided as the host decides it."""
    library, floor = rows.library, scenario.floor
    if scenario.prevalence is None and sum(totals) * floor.denominator < LARGEST_PRODUCT:
        tp = library.xp.astype(rows.tp, library.xp.int64)
        alarms = tp + rows.fp
        within = alarms <= int(scenario.max_alarms(sum(totals)))
        if not floor:
            return library.where_true(within)
        return library.where_true(within & (tp * floor.denominator >= alarms * floor.numerator))
    sure, possible = surely_feasible(rows, scenario, totals)
    certain, doubtful = library.where_true(sure), library.where_true(possible & ~sure)
    if not doubtful.shape[0]:
        return certain
    columns = rows.take(doubtful).to_host()
    decided = solve(OperatingPoints.with_never_alarm(*columns, *totals), scenario).feasible[:0:-1]
    admitted = library.take(doubtful, library.from_host(np.flatnonzero(decided)))
    return library.sort(library.xp.concat([certain, admitted]))


def _parts(cases: DeviceCases, scenario: Scenario) -> Iterator[Rows]:
    """Count the thresholds of one part of the scores after another, from the highest down."""
    library = cases.library
    if len(cases) <= PART:
        ranked, order = library.rank(library.comparable(cases.scores))
        yield _counted(library, ranked, library.take(cases.positive, order))
        return
    ranges = _ranges(cases, scenario)
    for group in _groups(ranges, _admitted(cases, ranges, scenario)):
        yield _rows_of(cases, ranges, group)


def _ranges(cases: DeviceCases, scenario: Scenario) -> ScoreRanges:
    """Count the cases in ranges that have few each, or one score."""
    whole = ScoreRanges.whole(cases)
    reach = most_cases(scenario, *cases.totals)
    even = first_edges(cases, whole.edges.dtype, reach)
    ranges = whole.recounted(cases, 0, 0, even)
    wanted = _admitted(cases, ranges, scenario)
    if ((ranges.cases > PART) & wanted & ~ranges.alike).any():
        quantiles = quantile_edges(cases, 4 * (len(cases) // PART + 1))
        ranges = whole.recounted(cases, 0, 0, quantiles)
    return ranges


def _admitted(cases: DeviceCases, ranges: ScoreRanges, scenario: Scenario) -> BoolArray:
    """Mark the ranges with cases that can hold a feasible threshold, and the highest."""
    occupied = np.flatnonzero(ranges.cases)[::-1]
    tp, fp = np.cumsum(ranges.positive[occupied]), np.cumsum(ranges.negative[occupied])
    marks = np.zeros(len(ranges.edges), dtype=np.bool_)
    marks[occupied] = admitted_ranges(tp, fp, cases.totals, scenario)
    marks[occupied[0]] = True
    return marks


def _groups(ranges: ScoreRanges, admitted: BoolArray) -> Iterator[BoolArray]:
    """Cut the ranges admitted into groups of few cases to sort, the highest first."""
    looked_at = np.where(admitted & ~ranges.alike, ranges.cases, 0)[::-1]
    start, end = 0, len(looked_at)
    while start < end:
        total = np.cumsum(looked_at[start:])
        stop = start + max(int(np.searchsorted(total, PART, side="right")), 1)
        group = np.zeros(end, dtype=np.bool_)
        group[end - stop : end - start] = admitted[end - stop : end - start]
        if group.any():
            yield group
        start = stop


def _rows_of(cases: DeviceCases, ranges: ScoreRanges, group: BoolArray) -> Rows:
    """Count the thresholds in a group of ranges; those of one score are counted already."""
    library, known = cases.library, np.flatnonzero(group & ranges.alike)
    looked_at = group & ~ranges.alike
    parts = []
    if looked_at.any():
        of_positives, of_negatives = members(cases, ranges, looked_at)
        keys = library.xp.concat(
            [library.comparable(of_positives), library.comparable(of_negatives)]
        )
        ranked, order = library.rank(keys)
        over = [
            skipped_counts(by_range, looked_at) for by_range in (ranges.positive, ranges.negative)
        ]
        parts.append(_counted(library, ranked, order < of_positives.shape[0], ranges.edges, over))
    if len(known):
        counts = (
            np.cumsum(by_range[::-1])[::-1][known]
            for by_range in (ranges.positive, ranges.negative)
        )
        columns = ranges.edges[known], *map(_short, counts)
        parts.append(Rows(library, *map(library.from_host, columns)))
    if len(parts) == 1:
        return parts[0]
    rows = _concatenated(parts)
    return rows.take(library.xp.argsort(rows.thresholds))


def _counted(
    library: Library,
    ranked: Any,
    marks: Any,
    edges: AnyArray | None = None,
    over: list[AnyArray] | None = None,
) -> Rows:
    """Count alarms at every distinct one of ranked scores, positive where marked.

    Parameters
    ----------
    edges, over : ndarray, list of ndarray, optional
        Of ranges of scores, and the positives and negatives above the lower end of each that are
        not looked at.
    """
    xp, n_cases = library.xp, ranked.shape[0]
    # Fewer than 2**31 are ranked at once.
    ones = xp.astype(marks, xp.int32)
    running = xp.cumulative_sum(ones, dtype=xp.int32)
    first = library.starts(ranked)
    thresholds = library.take(ranked, first)
    lower = library.take(running, first) - library.take(ones, first)
    tp = running[-1] - lower
    fp = xp.astype(n_cases - first, xp.int32) - tp
    if edges is None or over is None:
        return Rows(library, thresholds, tp, fp)
    home = library.search(library.from_host(edges), thresholds, "right") - 1
    above = [library.take(library.from_host(_short(column)), home) for column in over]
    return Rows(library, thresholds, tp + above[0], fp + above[1])


def _short(counts: AnyArray) -> AnyArray:
    """Return counts in 32 bits where they suffice, which spares memory."""
    return counts.astype(np.int32) if counts.max(initial=0) < 2**30 else counts


def _counts(row: Rows) -> tuple[int, int]:
    """Return true and false positives of a single row."""
    _, tp, fp = row.to_host()
    return int(tp[0]), int(fp[0])


def _doubled_step(above: tuple[int, int], row: Rows) -> int:
    """Return twice the area between the last row of the part above and the first of the next."""
    tp, fp = _counts(row)
    return (fp - above[1]) * (tp + above[0])


def _doubled_area(rows: Rows) -> int:
    """Return twice the area under neighbouring rows, in pairs of a positive and a negative."""
    xp = rows.library.xp
    width = xp.astype(rows.fp[:-1] - rows.fp[1:], xp.int64)
    height = xp.astype(rows.tp[:-1], xp.int64) + rows.tp[1:]
    # In two halves, because the sum of billions of products may pass 63 bits.
    halves = height >> HALF_BITS, height & (2**HALF_BITS - 1)
    upper, lower = (int(xp.sum(width * half)) for half in halves)
    return (upper << HALF_BITS) + lower


def _concatenated(parts: list[Rows]) -> Rows:
    """Put rows together, those of the lowest scores first."""
    if len(parts) == 1:
        return parts[0]
    library = parts[0].library
    columns = zip(*((part.thresholds, part.tp, part.fp) for part in parts), strict=True)
    return Rows(library, *(library.xp.concat(list(column)) for column in columns))
