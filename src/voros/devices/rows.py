"""Thresholds at the scores of positives, sorted, counted and reduced on a device.

In the plane of false and true positives, a threshold below the line between two others is at no
cost the best of the three. So it can be dropped if the two others surely meet the limits, whether
or not it meets them. A threshold that can be chosen is a vertex of the hull of the feasible ones.
It lies above every such line and is never dropped, in whatever order the others are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from voros.core.counting import blocks_of
from voros.core.decision import solve
from voros.core.hull import upper_vertices
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.devices.libraries import Library
from voros.typing import AnyArray

FEW_ROWS = 2**15
"""Thresholds up to which the host decides."""

STALLED = 0.9
"""A round that leaves more than this share of the thresholds is the last."""

HULL_GROUPS = 2**10
"""Groups of rows whose best rows approximate the hull; the host computes the hull of these."""

SORT_BLOCK = 2**24
"""Cases sorted at once, which takes about 400 MB."""

PIVOT_STRIDE = 64
"""Stride of the sample of scores that cuts them into parts of about `SORT_BLOCK`."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct scores of positives, rising, with the alarms at each, all on the device."""

    library: Library
    thresholds: Any
    tp: Any
    fp: Any

    @classmethod
    def from_scores(
        cls,
        library: Library,
        of_positives: Any,
        of_negatives: Any,
        edges: AnyArray,
        over: tuple[AnyArray, ...],
    ) -> Rows:
        """Count the scores of positives and of negatives.

        Parameters
        ----------
        of_positives, of_negatives : array
            Scores of positives and of negatives in the kept ranges, in any order.
        edges : ndarray
            Edges of all ranges.
        over : pair of ndarray
            Positives and negatives above the lower end of each range that are not in kept ones.
        """
        ranked = _sorted(library, library.comparable(of_positives))
        first = library.starts(ranked)
        thresholds = library.take(ranked, first)
        home = library.search(library.from_host(edges), thresholds, "right") - 1
        above = [library.take(library.from_host(column), home) for column in over]
        lower = _lower(library, of_negatives, thresholds)
        return cls(
            library,
            thresholds,
            above[0] + (ranked.shape[0] - first),
            above[1] + (of_negatives.shape[0] - lower),
        )

    def __len__(self) -> int:
        """Return the number of thresholds."""
        return int(self.thresholds.shape[0])

    def take(self, positions: Any) -> Rows:
        """Return some of the rows."""
        columns = (self.thresholds, self.tp, self.fp)
        thresholds, tp, fp = (self.library.take(column, positions) for column in columns)
        return replace(self, thresholds=thresholds, tp=tp, fp=fp)

    def to_host(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Return thresholds, true and false positives on the host, from the highest score down."""
        columns = (self.thresholds, self.tp, self.fp)
        thresholds, tp, fp = (self.library.to_host(column)[::-1] for column in columns)
        return thresholds, tp.astype(np.int64), fp.astype(np.int64)

    def chosen(self, scenario: Scenario, totals: tuple[int, int]) -> Rows:
        """Drop rows that a scenario cannot choose, until few are left or a round drops few."""
        if len(self) <= FEW_ROWS:
            return self
        sure, possible = _within_limits(self, scenario, totals)
        rows, marked, before = self, possible, np.inf
        while True:
            positions = self.library.where_true(marked)
            rows, sure = rows.take(positions), self.library.take(sure, positions)
            if len(rows) <= FEW_ROWS or len(rows) > STALLED * before:
                return rows
            before = len(rows)
            marked = _above_hull(rows, sure, never_alarm=scenario.min_recall is None)


def _sorted(library: Library, values: Any) -> Any:
    """Return values in rising order, sorted by intervals of values to save memory."""
    n_parts = values.shape[0] // SORT_BLOCK
    if n_parts < 2:
        return library.sort(values)
    sample = library.sort(values[::PIVOT_STRIDE])
    pivots = [sample[i * sample.shape[0] // n_parts] for i in range(1, n_parts)]
    between = ((values >= low) & (values < high) for low, high in pairwise(pivots))
    inside = chain([values < pivots[0]], between, [values >= pivots[-1]])
    parts = (library.take(values, library.where_true(marks)) for marks in inside)
    return library.xp.concat([library.sort(part) for part in parts])


def _lower(library: Library, values: Any, thresholds: Any) -> Any:
    """Count the values below each threshold, sorting them by blocks to save memory."""
    lower: Any = 0
    for block in blocks_of(values.shape[0], SORT_BLOCK):
        ordered = library.sort(library.comparable(values[block]))
        lower = library.search(ordered, thresholds, "left") + lower
    return lower


def limits_in_counts(
    scenario: Scenario, totals: tuple[int, int]
) -> tuple[float, float, float, float, float]:
    """Return the limits of a scenario for counts.

    They are the number of cases that one true and one false positive stand for, the most alarms,
    the precision floor, and the fewest true positives.
    """
    floor, least = float(scenario.min_precision), float(scenario.recall_floor * totals[0])
    if scenario.prevalence is None:
        return 1.0, 1.0, float(scenario.max_alarms(sum(totals))), floor, least
    none = np.zeros(1, dtype=np.int64)
    nothing = solve(OperatingPoints(np.array([np.inf]), none, none, *totals), scenario)
    sizes = nothing.points.n_positive, nothing.points.n_negative
    per_tp, per_fp = (float(size / total) for size, total in zip(sizes, totals, strict=True))
    return per_tp, per_fp, float(nothing.max_alarms), floor, least


def _within_limits(rows: Rows, scenario: Scenario, totals: tuple[int, int]) -> tuple[Any, Any]:
    """Mark the rows that surely meet the limits, and those that may, or are most precise."""
    xp, (real, slack) = rows.library.xp, rows.library.real_type
    per_tp, per_fp, most, floor, least = limits_in_counts(scenario, totals)
    hits = xp.astype(rows.tp, real)
    tp = hits * per_tp
    alarms = tp + xp.astype(rows.fp, real) * per_fp
    precision = tp / alarms
    capable = alarms <= most * (1 + slack)
    sure = (alarms <= most * (1 - slack)) & (precision >= floor * (1 + slack))
    if floor == least == 0:
        return sure, capable
    sure &= hits >= least * (1 + slack)
    highest = xp.max(xp.where(capable, precision, xp.zeros_like(precision)))
    lowest = xp.minimum(highest, xp.full_like(highest, floor))
    recalled = (hits >= least * (1 - slack)) | (precision >= highest * (1 - slack))
    return sure, capable & recalled & (precision >= lowest * (1 - slack))


def _above_hull(rows: Rows, sure: Any, *, never_alarm: bool) -> Any:
    """Mark the rows that are not below the hull of the best sure rows of groups.

    Unless there is a recall floor, raising no alarm is a vertex of the hull.
    """
    library, xp, (real, slack) = rows.library, rows.library.xp, rows.library.real_type
    tp, fp = _sure_vertices(rows, sure, never_alarm=never_alarm)
    if not len(tp):
        return rows.tp == rows.tp
    with np.errstate(divide="ignore"):
        slopes = np.append(np.diff(tp) / np.diff(fp), 0.0)
    # Among vertices with equal false positives a search finds the last.
    slopes[np.isinf(slopes)] = 0.0
    place = library.search(library.from_host(fp), rows.fp, "right") - 1
    before = place < 0
    place = xp.where(before, xp.zeros_like(place), place)
    columns = (library.from_host(column) for column in (fp, tp, slopes))
    start, base, slope = (library.take(column, place) for column in columns)
    line = xp.astype(base, real) + xp.astype(slope, real) * xp.astype(rows.fp - start, real)
    return before | (xp.astype(rows.tp, real) >= line * (1 - slack))


def _sure_vertices(rows: Rows, sure: Any, *, never_alarm: bool) -> tuple[AnyArray, AnyArray]:
    """Return true and false positives of the vertices of the best sure rows of groups."""
    library, xp = rows.library, rows.library.xp
    size = max(len(rows) // HULL_GROUPS, 1)
    grouped = _grouped(rows, sure, size)
    best = _best_of_groups(xp, *grouped, library.real_type[0])
    best_tp, best_fp, safe = (
        library.to_host(xp.reshape(xp.take_along_axis(column, best, axis=1), (-1,)))[::-1]
        for column in grouped
    )
    none = np.zeros(int(never_alarm), dtype=np.int64)
    tp, fp = (np.append(none, column[safe].astype(np.int64)) for column in (best_tp, best_fp))
    vertices = upper_vertices(tp + fp, tp)
    return tp[vertices], fp[vertices]


def _grouped(rows: Rows, sure: Any, size: int) -> tuple[Any, Any, Any]:
    """Return tables of true positives, false positives and sure rows, with a row per group."""
    n_groups = len(rows) // size
    columns = (rows.tp, rows.fp, sure)
    shape = (n_groups, size)
    tp, fp, safe = (rows.library.xp.reshape(column[: n_groups * size], shape) for column in columns)
    return tp, fp, safe


def _best_of_groups(xp: Any, tp: Any, fp: Any, safe: Any, real: Any) -> Any:
    """Return the position of the best sure row of each group, by the slope of the group."""
    gained = xp.astype(tp - tp[:, -1:], real)
    passed = xp.astype(fp - fp[:, -1:], real)
    slope = gained[:, :1] / (passed[:, :1] + 0.5)
    worth = gained - slope * passed
    worth = xp.where(safe, worth, xp.full_like(worth, -xp.inf))
    return xp.argmax(worth, axis=1, keepdims=True)
