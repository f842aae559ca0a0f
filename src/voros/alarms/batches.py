"""Count alarms over more stays than memory holds, in batches of whole stays.

Stays do not depend on each other, so the counts of batches add up. As the threshold falls, alarms
never become fewer; once they exceed what the limits allow, lower thresholds do not matter. The
first batch shows about where that is, and lower thresholds are not counted. Where the sums of all
batches do not exceed the limits after all, the batches are read again, from lower thresholds. In
patient-days, the last row of a stay stands for the median step of its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms.rule import AlarmRule
from voros.alarms.stay_rows import StayRows
from voros.alarms.sweep import StayChanges, StayCurve
from voros.alarms.totals import StaySums, StayTotals
from voros.core.coverage import EVERY_SCORE, ExactCoverage
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import ArgumentError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

ROWS_IN_BATCH = 2_000_000
"""Rows that are in memory at once; a longer stay is kept whole."""

REACH = 2.0
"""The first batch is counted up to this multiple of the alarms that the limits allow."""

StayBatches = Callable[[], Iterable[dict[str, StayRows]]]
"""Reads the batches, again on every call: the stays of each model."""


def as_lazy(rows: Any) -> nw.LazyFrame[Any] | None:
    """Return a lazy frame of any kind, or None for anything else."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(rows, pass_through=True)
    return frame if isinstance(frame, nw.LazyFrame) else None


def whole_stays(rows: nw.LazyFrame[Any], columns: Sequence[str]) -> Iterator[Any]:
    """Read a lazy frame in batches of whole stays, by ranges of the first column, the stay."""
    import narwhals.stable.v2 as nw

    missing = [name for name in columns if name not in rows.collect_schema().names()]
    if missing:
        raise ArgumentError("rows", f" has no column {missing[0]!r}")
    stay = columns[0]
    sizes = rows.group_by(stay).agg(nw.len().alias("_rows")).collect().sort(stay)
    if sizes[stay].is_null().any():
        raise ArgumentError("stay", f"={stay!r} holds missing values")
    batch = np.cumsum(sizes["_rows"].to_numpy()) // ROWS_IN_BATCH
    firsts = np.flatnonzero(np.diff(batch, prepend=-1))
    starts = sizes[firsts.tolist(), stay].to_list()
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        within = nw.col(stay) >= start
        if end is not None:
            within &= nw.col(stay) < end
        yield rows.filter(within).select(*columns).collect().to_native()


def count_batches(batches: StayBatches, scenario: Scenario) -> dict[str, OperatingPoints]:
    """Count the thresholds of each model that can be within the limits of a scenario."""
    reach = REACH
    while True:
        sums: dict[str, _BatchSums] = {}
        for batch in batches():
            for name, stays in batch.items():
                if name not in sums:
                    sums[name] = _BatchSums.from_first(stays, scenario, reach)
                sums[name].add(stays)
        totals = {name: added.totals(scenario) for name, added in sums.items()}
        if all(sums[name].whole or stays.exhausts(scenario) for name, stays in totals.items()):
            return {name: stays.points() for name, stays in totals.items()}
        reach *= 4


@dataclass(kw_only=True)
class _BatchSums:
    """Sums over the batches so far, at thresholds from the lowest on."""

    rule: AlarmRule
    lowest: float
    n_events_elsewhere: int
    curves: list[StayCurve] = field(default_factory=list)
    sums: list[StaySums] = field(default_factory=list)
    n_events: int = 0

    @classmethod
    def from_first(cls, stays: StayRows, scenario: Scenario, reach: float) -> _BatchSums:
        if np.isinf(stays.most_alarms(scenario)):
            raise ArgumentError(
                "scenario",
                " sets no bound on the alarms; a lazy frame needs a capacity or a precision floor, "
                "and repeats other than 'ignored'",
            )
        # Each batch reads all events; those of its stays are taken off as it is added.
        n_events = len(stays.rows.stays.event_stay) + stays.n_events_elsewhere
        lowest = stays.lowest_needed(scenario, reach)
        return cls(rule=stays.rule, lowest=lowest, n_events_elsewhere=n_events)

    @property
    def whole(self) -> bool:
        return self.lowest == -np.inf

    def add(self, stays: StayRows) -> None:
        self.curves.append(StayChanges.from_rows(stays.scored, lowest=self.lowest).curve())
        self.sums.append(stays.sums)
        self.n_events += stays.n_events
        self.n_events_elsewhere -= len(stays.rows.stays.event_stay)

    def totals(self, scenario: Scenario) -> StayTotals:
        curve = StayCurve.added_up(self.curves)
        return StayTotals(
            rule=self.rule,
            count=lambda: curve,
            sums=StaySums(*(np.sum(parts, axis=0) for parts in zip(*self.sums, strict=True))),
            n_events=self.n_events,
            n_events_elsewhere=self.n_events_elsewhere,
            covers=EVERY_SCORE if self.whole else ExactCoverage(scenarios=(scenario,)),
        )
