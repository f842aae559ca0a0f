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


def _read_stays(names: AnyArray, seconds: FloatArray, events: list[tuple[Any, float]]) -> Stays:
    whose = np.array([name for name, _ in events], dtype=names.dtype)
    times, event_times = (
        np.rint(np.array(column) * MICROSECONDS["s"]).astype("M8[us]")
        for column in (seconds, [time for _, time in events])
    )
    return Stays.from_columns(names, times, (whose, event_times))


EVENTS = Said("event", "were caught")


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
    n_unknown : int
        Number of stays whose outcome is not known.
    """

    totals: PeriodTotals
    days: FloatArray
    units: Units
    events: Units
    n_unknown: int


def _closing(deployed: Deployment) -> float:
    """Return the seconds after its first row until a stay counts."""
    return deployed.settings.window_seconds + deployed.stay_rule[0].horizon / MICROSECONDS["s"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedStays:
    """Rows and outcomes of stays whose windows have closed, in the order in which they began.

    Attributes
    ----------
    names : list of str
    codes : ndarray of int
        The stay of each row.
    times, scores : ndarray of float
    outcomes : list of (int, float, int)
        Stay, time, and 1 for an event or 0 for the end.
    known : ndarray of bool
        Whether the outcome of each stay is known: it has ended, or had the event that ends it.
    n_open : int
        Number of stays whose windows have not closed.
    n_beyond : int
        Number of alarms of the closed ones after their windows.
    """

    names: list[str]
    codes: AnyArray
    times: FloatArray
    scores: FloatArray
    outcomes: list[tuple[int, float, int]]
    known: BoolArray
    n_open: int
    n_beyond: int

    def counted(self, rule: AlarmRule) -> ScoredRows:
        """Return the rows that count under a rule."""
        events = [(code, time) for code, time, value in self.outcomes if value]
        stays = _read_stays(self.codes, self.times, events)
        rows = CountedRows.from_stays(stays, rule)
        return ScoredRows.from_scores(rows, stays.highest(self.scores))


def recorded_stays(deployed: Deployment, since: float) -> RecordedStays:
    """Read the stays that began from a time on and whose windows have closed."""
    rows = deployed.store.stay_rows()
    number = {name: code for code, name in enumerate(dict.fromkeys(name for name, *_ in rows))}
    every = np.array([number[name] for name, *_ in rows], dtype=int)
    times, scores, alarms = np.array([row[1:] for row in rows], dtype=float).reshape(-1, 3).T
    begins = times[np.unique(every, return_index=True)[1]]
    closed = (begins >= since) & (begins < deployed.now - _closing(deployed))
    inside = times <= begins[every] + deployed.settings.window_seconds
    kept = closed[every] & inside
    names = [name for name, is_closed in zip(number, closed, strict=True) if is_closed]
    whose = {name: code for code, name in enumerate(names)}
    outcomes = [(whose[name], time, value) for name, time, value in deployed.store.outcomes(names)]
    ends_with_event = deployed.stay_rule[0].reset is None
    known = np.zeros(len(names), dtype=np.bool_)
    known[[code for code, _, value in outcomes if not value or ends_with_event]] = True
    return RecordedStays(
        names=names,
        codes=(np.cumsum(closed) - 1)[every[kept]],
        times=times[kept],
        scores=scores[kept],
        outcomes=outcomes,
        known=known,
        n_open=int(np.count_nonzero((begins >= since) & ~closed)),
        n_beyond=int(alarms[closed[every] & ~inside].sum()),
    )


def count_stays(deployed: Deployment, recorded: RecordedStays) -> CountedStays:
    """Count alarms and events of the stays whose windows have closed."""
    names, codes, scores, known = recorded.names, recorded.codes, recorded.scores, recorded.known
    rule, threshold = deployed.stay_rule
    tp, fp, sounded, days, n_events = np.zeros((5, 0))
    if names:
        scored = recorded.counted(rule)
        counts, events = scored.counts_by_stay(threshold), scored.rows.event_stay
        columns = *counts, scored.rows.days, np.bincount(events, minlength=len(names))
        tp, fp, sounded, days, n_events = (np.asarray(c, dtype=float) for c in columns)
    # A first event ends a stay, and only the first alarm before it catches it.
    one_true = rule.reset is None
    alarms = np.where(known, tp + fp, sounded)
    begins = recorded.times[np.unique(codes, return_index=True)[1]]
    spans = begins, begins + _closing(deployed)
    caught, unlabelled = np.where(known, tp, 0.0), np.where(known, 0.0, alarms)
    units = Units(*spans, alarms, caught, unlabelled, one_true=one_true)
    perhaps = np.minimum(unlabelled, 1.0) if one_true else unlabelled
    possible = np.where(known, n_events, perhaps)
    of_events = Units(*spans, possible, caught, perhaps, one_true=one_true)
    weights = None, scores, scores**2
    n_rows, totals, squares = (np.bincount(codes, w, len(names)).astype(float) for w in weights)
    return CountedStays(
        PeriodTotals(np.array(names), begins, n_rows, sounded, totals, squares),
        days,
        units.only(alarms > 0),
        of_events.only(possible > 0),
        n_unknown=int((~known).sum()),
    )


def stay_status(deployed: Deployment) -> Status:
    """Judge every limit of alarms over stays."""
    policy, settings = deployed.policy, deployed.settings
    recorded = recorded_stays(deployed, deployed.since)
    stays = count_stays(deployed, recorded)
    (floor,), limit = policy.floors.values(), capacity_limit(policy)
    watches = [precision_watch(stays.units, floor, settings)] if floor else []
    assert policy.single is not None
    recall = policy.single.scenario.min_recall
    if recall is not None:
        unknown = f"the outcome of {counted(stays.n_unknown, 'stay')} is not known"
        unknown *= stays.n_unknown > 0
        watches.append(precision_watch(stays.events, recall, settings, "recall", EVENTS, unknown))
    if limit is not None:
        counts = Counts(stays.totals.starts, stays.days, stays.totals.alarms)
        watches.append(capacity_watch(counts, limit, settings))
    watches.append(change_watch(stays.totals, settings, unit="stay"))
    return deployed.status(watches, _notes(deployed, recorded, stays, recall is not None))


def _notes(
    deployed: Deployment, recorded: RecordedStays, stays: CountedStays, recall_is_watched: bool
) -> Iterator[str]:
    """Yield notes on what is left out, and on recall where it is not watched."""
    if recorded.n_open:
        days, stays_open = _closing(deployed) / SECONDS_PER_DAY, counted(recorded.n_open, "stay")
        yield f"not counted yet: {stays_open} that began in the last {typed(days)} days"
    if recorded.n_beyond:
        beyond, window = counted(recorded.n_beyond, "alarm"), deployed.settings.window
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
