"""Exact operating points at the few thresholds that can be chosen, of cases on a device.

As `voros.core.pruning` does in memory: cases are counted by ranges of scores, ranges that cannot
matter (see `voros.core.candidate_bins`) are dropped, the others are counted again by finer ranges,
and the cases left in the end are sorted, all on the device. Counts of ranges reach the host, which
decides; of the cases none does but the thresholds in question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np

from voros.core.candidate_bins import skipped_counts
from voros.core.costs import LARGEST_RATIO
from voros.core.coverage import ExactCoverage
from voros.core.decision import solve
from voros.core.operating_points import OperatingPoints
from voros.core.pruning import most_cases
from voros.core.scenario import Scenario
from voros.devices.cases import (
    DeviceCases,
    check_unchanged,
    device_counts,
    read_device_cases,
    thresholds_of,
)
from voros.devices.ranges import ScoreRanges, edges_between, first_edges, members
from voros.devices.rows import Rows, limits_in_counts
from voros.exceptions import IncompleteCountsError
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


@dataclass(frozen=True, eq=False)
class DeviceCurve:
    """Cases on a device as operating points ask about them; see `voros.core.places`.

    Nothing may be written to the arrays in between. `counted` holds what was counted for a
    scenario, by that scenario.
    """

    cases: DeviceCases
    counted: dict[Any, OperatingPoints] = field(default_factory=dict)

    @classmethod
    def from_cases(cls, y_true: Any, y_score: Any, pos_label: Any = None) -> Self:
        """Check labels and scores."""
        return cls(read_device_cases(y_true, y_score, pos_label))

    @property
    def totals(self) -> tuple[float, float, float]:
        """Positives, negatives and the smallest weight."""
        return *self.cases.totals, 1.0

    @property
    def place(self) -> str:
        """Library and device."""
        return repr(self.cases.library)

    def every_threshold(self) -> tuple[Any, ...]:
        """Count alarms at every distinct score."""
        check_unchanged(self.cases)
        return device_counts(self.cases)

    def curve(self, scenario: Scenario) -> OperatingPoints:  # noqa: ARG002
        """Count every threshold, of as many cases as are sorted on the device."""
        if len(self.cases) > SORTED:
            raise IncompleteCountsError(
                f"a partial AUROC of more than {SORTED:,} cases on a device is not computed; pass "
                "them in memory"
            )
        return OperatingPoints.with_never_alarm(*self.every_threshold())

    def choosable(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count what a scenario can choose.

        At every cost that is the best of as many cases as are sorted; of more, the best threshold
        at the costs of the scenario, and the one of greatest recall.
        """
        key = scenario, every_cost
        if key not in self.counted:
            check_unchanged(self.cases)
            self.counted[key] = _choosable(self.cases, *key)
        return self.counted[key]


def _choosable(cases: DeviceCases, scenario: Scenario, every_cost: bool) -> OperatingPoints:
    counted = [scenario]
    if every_cost:
        # Where false alarms are nearly free the threshold of greatest recall is the best one.
        counted.append(scenario.changed(cost_ratio=1 / LARGEST_RATIO))
    columns = choosable_rows(cases, counted)
    chosen = OperatingPoints.with_never_alarm(*columns, *cases.totals)
    if not solve(chosen, scenario).can_alarm:
        columns = joined_rows([columns, *_beyond(cases, scenario)])
        chosen = OperatingPoints.with_never_alarm(*columns, *cases.totals)
    return replace(chosen, covers=ExactCoverage(scenarios=tuple(counted)))


def _beyond(cases: DeviceCases, scenario: Scenario) -> list[CountedRows]:
    """Count what messages name where nothing is chosen: other limits, and the highest score."""
    highest = cases.library.comparable(cases.scores) == cases.high
    tp = cases.library.count_true(highest & cases.positive)
    alarms = cases.library.count_true(highest)
    top = thresholds_of(np.array([cases.high])), np.array([tp]), np.array([alarms - tp])
    lifted = [scenario.changed(min_precision=0.0), scenario.without_capacity()]
    if scenario.min_recall is not None:
        # Messages name the highest recall within the other limits.
        lifted.append(scenario.changed(min_recall=None, cost_ratio=1 / LARGEST_RATIO))
    return [top, choosable_rows(cases, lifted)]


def choosable_rows(cases: DeviceCases, scenarios: Sequence[Scenario]) -> CountedRows:
    """Return the thresholds that can be chosen in some scenarios, falling, and their counts."""
    corners = _corners(cases, scenarios)
    if corners is not None:
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


def _corners(cases: DeviceCases, scenarios: Sequence[Scenario]) -> list[CountedRows] | None:
    """Sort few cases and find their corners, where the library has kernels for it."""
    hulls = cases.library.hulls
    if hulls is None or len(cases) > SORTED:
        return None
    limits = [limits_in_counts(scenario, cases.totals) for scenario in scenarios]
    corners: list[CountedRows] | None = hulls.corners(cases.scores, cases.positive, limits)
    return corners


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
