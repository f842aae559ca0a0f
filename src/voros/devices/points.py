"""Exact operating points at the few thresholds that can be chosen, of cases on a device.

Cases are counted by ranges of scores, and ranges that cannot matter (see
`voros.core.candidate_bins`) are dropped. The others are counted again by finer ranges until their
cases are few, and these are sorted, all on the device. Counts of ranges and the few thresholds
reach the host, which decides.
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
"""Cases up to which sorting is as fast as counting by ranges."""

KEPT = 2**28
"""Most cases to sort; more are counted again by finer ranges."""

FINE = 2**15
"""Ranges of later counts."""

STALLED = 0.8
"""A count that leaves more than this share of the cases is the last."""

OUTER = 0.002
"""Share of cases at either end that finer ranges leave out: outliers would widen the ranges."""

CountedRows: TypeAlias = tuple[AnyArray, AnyArray, AnyArray]
"""Thresholds, true and false positives."""


@dataclass(frozen=True, eq=False)
class DeviceCurve:
    """Uncounted cases on a device; see `voros.core.places`.

    The arrays must not be written to. `counted` holds the points by scenario.
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
        """Count every threshold of at most `SORTED` cases."""
        if len(self.cases) > SORTED:
            raise IncompleteCountsError(
                f"a partial AUROC of more than {SORTED:,} cases on a device is not computed; pass "
                "them in memory"
            )
        return OperatingPoints.with_never_alarm(*self.every_threshold())

    def choosable(self, scenario: Scenario, *, every_cost: bool) -> OperatingPoints:
        """Count the thresholds that a scenario can choose.

        At every cost, of at most `SORTED` cases, they contain the best one; of more cases, the best
        ones at the costs of the scenario and the one of greatest recall.
        """
        key = scenario, every_cost
        if key not in self.counted:
            check_unchanged(self.cases)
            self.counted[key] = _choosable(self.cases, *key)
        return self.counted[key]


def _choosable(cases: DeviceCases, scenario: Scenario, every_cost: bool) -> OperatingPoints:
    counted = [scenario]
    if every_cost:
        # If false alarms cost nearly nothing, the threshold of greatest recall is the best.
        counted.append(scenario.changed(cost_ratio=1 / LARGEST_RATIO))
    columns = choosable_rows(cases, counted)
    chosen = OperatingPoints.with_never_alarm(*columns, *cases.totals)
    if not solve(chosen, scenario).can_alarm:
        columns = joined_rows([columns, *_beyond(cases, scenario)])
        chosen = OperatingPoints.with_never_alarm(*columns, *cases.totals)
    return replace(chosen, covers=ExactCoverage(scenarios=tuple(counted)))


def _beyond(cases: DeviceCases, scenario: Scenario) -> list[CountedRows]:
    """Count what messages show if no alarm is chosen: single limits and the highest score."""
    highest = cases.library.comparable(cases.scores) == cases.high
    tp = cases.library.count_true(highest & cases.positive)
    alarms = cases.library.count_true(highest)
    top = thresholds_of(np.array([cases.high])), np.array([tp]), np.array([alarms - tp])
    lifted = [scenario.changed(min_precision=0.0), scenario.without_capacity()]
    if scenario.min_recall is not None:
        # Messages show the highest recall within the other limits.
        lifted.append(scenario.changed(min_recall=None, cost_ratio=1 / LARGEST_RATIO))
    return [top, choosable_rows(cases, lifted)]


def choosable_rows(cases: DeviceCases, scenarios: Sequence[Scenario]) -> CountedRows:
    """Return the thresholds that scenarios can choose, from the highest down, and their counts."""
    corners = _corners(cases, scenarios)
    if corners is not None:
        thresholds, tp, fp = joined_rows(corners)
        return thresholds_of(thresholds), tp, fp
    rows, ranges, known = _rows(cases, scenarios)
    chosen = joined_rows([rows.chosen(limits, cases.totals).to_host() for limits in scenarios])
    return _with_known(chosen, ranges, known)


def _rows(cases: DeviceCases, scenarios: Sequence[Scenario]) -> tuple[Rows, ScoreRanges, BoolArray]:
    """Count the thresholds in ranges that matter."""
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
    """Count more and more finely where a threshold can be chosen, until the cases there are few.

    Returns
    -------
    ranges : ScoreRanges
    kept, known : ndarray of bool
        Ranges whose cases must be sorted, and ranges of one score that can be chosen.
    """
    ranges = ScoreRanges.whole(cases)
    reach = max(most_cases(scenario, *cases.totals) for scenario in scenarios)
    inner = first_edges(cases, ranges.edges.dtype, reach)
    first, last, before = 0, 0, np.inf
    while True:
        ranges = ranges.recounted(cases, first, last, inner)
        wanted = ranges.wanted(cases.totals, scenarios)
        kept = wanted & ~ranges.indivisible
        n_cases = int(ranges.cases[kept].sum())
        if n_cases <= KEPT or n_cases > STALLED * before:
            return ranges, kept, wanted & ~kept
        share = np.cumsum(np.where(kept, ranges.cases, 0)) / n_cases
        first, last = np.searchsorted(share, [OUTER, 1 - OUTER]).tolist()
        inner, before = edges_between(ranges, first, last, FINE), n_cases


def _corners(cases: DeviceCases, scenarios: Sequence[Scenario]) -> list[CountedRows] | None:
    """Sort few cases and find their corners, if the library has kernels for it."""
    hulls = cases.library.hulls
    if hulls is None or len(cases) > SORTED:
        return None
    limits = [limits_in_counts(scenario, cases.totals) for scenario in scenarios]
    corners: list[CountedRows] | None = hulls.corners(cases.scores, cases.positive, limits)
    return corners


def joined_rows(parts: Sequence[CountedRows]) -> CountedRows:
    """Return the distinct rows of parts of one curve, by rising alarms."""
    if len(parts) == 1:
        return parts[0]
    thresholds, tp, fp = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    _, first = np.unique(tp + fp, return_index=True)
    return thresholds[first], tp[first], fp[first]


def _with_known(chosen: CountedRows, ranges: ScoreRanges, known: BoolArray) -> CountedRows:
    """Add the known thresholds: those of ranges of one score."""
    rows = np.flatnonzero(known & (ranges.positive > 0))
    tp, fp = (np.cumsum(column[::-1])[::-1][rows] for column in (ranges.positive, ranges.negative))
    thresholds = thresholds_of(np.append(chosen[0], ranges.edges[rows]))
    order = np.argsort(thresholds, kind="stable")[::-1]
    return thresholds[order], np.append(chosen[1], tp)[order], np.append(chosen[2], fp)[order]
