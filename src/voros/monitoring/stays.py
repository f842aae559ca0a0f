"""Alarms over stays; the stay is the unit of evidence.

Days share patients, so a day depends on the days before it; stays are independent. They count in
the order in which they began: in the order in which they end, short stays would come first, and
stays that end with an event differ from the others. A stay counts when the window and the horizon
have passed since its first row, with the rows of its window. The code that counts its alarms is
that of `voros.alarm_points`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from voros.alarms.rule import MICROSECONDS, AlarmRule
from voros.alarms.stays import CountedRows, Stays
from voros.alarms.stream import AlarmState, StayState, sound
from voros.alarms.sweep import ScoredRows
from voros.monitoring.precision import Said, Units, precision_watch
from voros.monitoring.ratios import Counts, capacity_limit, capacity_watch
from voros.monitoring.settings import SECONDS_PER_DAY
from voros.monitoring.status import Status
from voros.monitoring.store import PeriodTotals
from voros.monitoring.unlabelled import change_watch
from voros.monitoring.verdicts import Deployment
from voros.text.numbers import count, counted, short, typed
from voros.typing import AnyArray, BoolArray, FloatArray


def sound_rows(deployed: Deployment, rows: Mapping[str, AnyArray]) -> BoolArray:
    """Return which new rows sound an alarm, given the last alarms and events of their stays."""
    names, (rule, threshold) = rows["id"].tolist(), deployed.stay_rule
    events = [(name, time) for name, time, value in deployed.store.outcomes(names) if value]
    stays = _read_stays(rows["id"].astype(str), rows["time"], events)
    last = {name: StayState(row, alarm) for name, row, alarm in deployed.store.last_rows(names)}
    state = AlarmState(stays=last)
    sounded, _ = sound(stays, stays.highest(rows["score"]), threshold, rule, state)
    return stays.to_inputs(sounded, rows["score"])


def _read_stays(names: AnyArray, seconds: Any, events: list[tuple[Any, float]]) -> Stays:
    whose = np.array([name for name, _ in events], dtype=names.dtype)
    times, event_times = (
        np.rint(np.array(column) * MICROSECONDS["s"]).astype("M8[us]")
        for column in (seconds, [time for _, time in events])
    )
    return Stays.from_columns(names, times, (whose, event_times))


EVENTS = Said("event", "were caught")


@dataclass(frozen=True, eq=False, kw_only=True)
class ClosedStays:
    """Stays whose windows have closed, numbered in the order in which they began.

    Attributes
    ----------
    stays : Stays
        Their rows within the windows, and their events.
    scores : ndarray of float
        The score of each row.
    known : ndarray of bool
        Whether the outcome of each stay is known: it has ended, or had the event that ends it.
    n_open : int
        Number of stays whose windows have not closed.
    n_beyond : int
        Number of alarms of the closed ones after their windows.
    record : tuple
        What is stored of the closed ones.
    """

    stays: Stays
    scores: FloatArray
    known: BoolArray
    n_open: int
    n_beyond: int
    record: tuple[Any, ...]

    @property
    def unknown(self) -> BoolArray:
        """Whether the outcome of each stay is not known."""
        return ~self.known

    def under(self, rule: AlarmRule) -> ScoredRows:
        """Return the rows that count under a rule."""
        return ScoredRows.from_scores(CountedRows.from_stays(self.stays, rule), self.scores)


def _closing(deployed: Deployment) -> float:
    """Return the seconds after its first row until a stay counts."""
    return deployed.settings.window_seconds + deployed.stay_rule[0].horizon / MICROSECONDS["s"]


def closed_stays(deployed: Deployment, since: float) -> ClosedStays:
    """Read the stays that began from a time on and whose windows have closed."""
    rows, window = deployed.store.stay_rows(since), deployed.settings.window_seconds
    closed = [row for row in rows if row.begin < deployed.now - _closing(deployed)]
    inside = [row for row in closed if row.time <= row.begin + window]
    names = dict.fromkeys(row.stay for row in closed)
    number = {name: code for code, name in enumerate(names)}
    outcomes = deployed.store.outcomes(list(names))
    stays = _read_stays(
        np.array([number[row.stay] for row in inside], dtype=int),
        [row.time for row in inside],
        [(number[name], time) for name, time, value in outcomes if value],
    )
    ends_with_event = deployed.stay_rule[0].reset is None
    ended = [number[name] for name, _, value in outcomes if not value or ends_with_event]
    return ClosedStays(
        stays=stays,
        scores=stays.highest(np.array([row.score for row in inside])),
        known=np.isin(np.arange(len(names)), ended),
        n_open=len({row.stay for row in rows}) - len(names),
        n_beyond=sum(row.alarm for row in closed) - sum(row.alarm for row in inside),
        record=(inside, outcomes),
    )


class CountedStays(NamedTuple):
    """Counts of closed stays, in the order in which they began.

    Attributes
    ----------
    totals : PeriodTotals
        Start, rows, alarms that count for the capacity, and sums of scores of each stay.
    days : ndarray of float
        Patient-days of each in its window.
    units : Units
        Alarms of the stays that have any.
    events : Units
        Events of the stays that have any, as alarms of these units; caught events are true ones. An
        alarm in a stay whose outcome is not known may have caught an event.
    """

    totals: PeriodTotals
    days: FloatArray
    units: Units
    events: Units


def count_stays(deployed: Deployment, closed: ClosedStays) -> CountedStays:
    """Count alarms and events of the stays whose windows have closed."""
    rule, threshold = deployed.stay_rule
    stays, scored, known = closed.stays, closed.under(rule), closed.known
    tp, fp, sounded = (count.astype(float) for count in scored.counts_by_stay(threshold))
    n_events = np.bincount(scored.rows.event_stay, minlength=stays.n_stays)
    # A first event ends a stay, and only the first alarm before it catches it.
    one_true = rule.reset is None
    alarms = np.where(known, tp + fp, sounded)
    begins = stays.first_times / MICROSECONDS["s"]
    spans = begins, begins + _closing(deployed)
    caught, unlabelled = np.where(known, tp, 0.0), np.where(known, 0.0, alarms)
    units = Units(*spans, alarms, caught, unlabelled, one_true=one_true)
    perhaps = np.minimum(unlabelled, 1.0) if one_true else unlabelled
    possible = np.where(known, n_events, perhaps)
    of_events = Units(*spans, possible, caught, perhaps, one_true=one_true)
    n_rows, totals, squares = (
        np.bincount(stays.stay, weights, stays.n_stays).astype(float)
        for weights in (None, closed.scores, closed.scores**2)
    )
    return CountedStays(
        PeriodTotals(stays.names, begins, n_rows, sounded, totals, squares),
        scored.rows.days,
        units.only(alarms > 0),
        of_events.only(possible > 0),
    )


def stay_status(deployed: Deployment) -> Status:
    """Judge every limit of alarms over stays."""
    policy, settings = deployed.policy, deployed.settings
    closed = closed_stays(deployed, deployed.since)
    stays = count_stays(deployed, closed)
    (floor,), limit = policy.floors.values(), capacity_limit(policy)
    watches = [precision_watch(stays.units, floor, settings)] if floor else []
    assert policy.single is not None
    recall = policy.single.scenario.min_recall
    if recall is not None:
        n_unknown = int(closed.unknown.sum())
        unknown = f"the outcome of {counted(n_unknown, 'stay')} is not known" * bool(n_unknown)
        watches.append(precision_watch(stays.events, recall, settings, "recall", EVENTS, unknown))
    if limit is not None:
        counts = Counts(stays.totals.starts, stays.days, stays.totals.alarms)
        watches.append(capacity_watch(counts, limit, settings))
    watches.append(change_watch(stays.totals, settings, unit="stay"))
    return deployed.status(watches, _notes(deployed, closed, stays, recall is not None))


def _notes(
    deployed: Deployment, closed: ClosedStays, stays: CountedStays, recall_is_watched: bool
) -> Iterator[str]:
    """Yield notes on what is left out, and on recall where it is not watched."""
    if closed.n_open:
        days, stays_open = _closing(deployed) / SECONDS_PER_DAY, counted(closed.n_open, "stay")
        yield f"not counted yet: {stays_open} that began in the last {typed(days)} days"
    if closed.n_beyond:
        beyond, window = counted(closed.n_beyond, "alarm"), deployed.settings.window
        yield (
            f"not counted: {beyond} more than {window:g} days after the first row of the stay; a "
            "longer window counts them"
        )
    possible, caught, perhaps = stays.events.sums
    n_events = possible - perhaps
    if n_events and not recall_is_watched:
        yield (
            f"recall: {count(caught)} of {count(n_events)} events of the stays that count "
            f"were caught ({short(caught / n_events)})"
        )
