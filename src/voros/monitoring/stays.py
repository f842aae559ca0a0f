"""Alarms over stays: rows as they come, events when they are known, the stay as unit of evidence.

Days share patients, so what a day shows depends on the days before it; stays are independent. They
are taken in the order in which they began: in the order in which they end the short ones would come
first, and those that end with an event are not like the others. Each counts when the window and the
horizon have passed since its first row, with the rows of its window, by the same code that counts
the alarms of `voros.alarm_points`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from voros.alarms.rule import MICROSECONDS, AlarmRule
from voros.alarms.stays import CountedRows, Stays
from voros.alarms.stream import AlarmState, StayState, sound
from voros.alarms.sweep import ScoredRows
from voros.exceptions import ArgumentError
from voros.monitoring.precision import Said, Units, precision_watch
from voros.monitoring.ratios import Counts, capacity_limit, capacity_watch
from voros.monitoring.settings import SECONDS_PER_DAY, day_of
from voros.monitoring.status import Status, counted
from voros.monitoring.store import PeriodTotals
from voros.monitoring.unlabelled import change_watch
from voros.monitoring.verdicts import Deployment
from voros.text.numbers import count, short, typed
from voros.typing import AnyArray, BoolArray, FloatArray

ROWS_OF = "SELECT time, score, alarm FROM stay_rows WHERE stay = ? ORDER BY time"

EVENTS_OF = "SELECT time FROM stay_outcomes WHERE stay = ? AND value = 1"

COUNTED_ROWS = """
WITH begun AS (SELECT stay, min(time) AS begin FROM stay_rows GROUP BY stay)
SELECT stay, time, score FROM begun JOIN stay_rows USING (stay)
WHERE begin >= :since AND begin < :until AND time <= begin + :window ORDER BY begin, stay, time
"""
"""Rows up to a window after the first one, of the stays that began between two times."""

STAY_NOTES = """
WITH begun AS (SELECT stay, min(time) AS begin FROM stay_rows GROUP BY stay)
SELECT (SELECT count(*) FROM begun WHERE begin >= :since AND begin >= :until),
  (SELECT count(*) FROM begun JOIN stay_rows USING (stay)
   WHERE begin >= :since AND begin < :until AND alarm = 1 AND time > begin + :window)
"""


def add_rows(
    deployed: Deployment, ids: AnyArray, seconds: FloatArray, scores: FloatArray
) -> tuple[BoolArray, int]:
    """Decide on rows of stays inside a transaction.

    Returns
    -------
    alarms : ndarray of bool
        Which rows sound an alarm; a row that came before says what it said then.
    n_new : int
    """
    store, names = deployed.store, list(dict.fromkeys(ids.tolist()))
    stored = {name: store.rows(ROWS_OF, (name,)) for name in names}
    decided = {
        (name, time): (score, bool(alarm))
        for name, rows in stored.items()
        for time, score, alarm in rows
    }
    new = dict[tuple[str, float], float]()
    keys = list(zip(ids.tolist(), seconds.tolist(), strict=True))
    for key, score in zip(keys, scores.tolist(), strict=True):
        before = decided[key][0] if key in decided else new.setdefault(key, score)
        if before != score:
            raise ArgumentError(
                "cases",
                f" holds {key[0]!r} at {day_of(key[1])} with score {score:g}, which came before "
                f"with score {before:g}; a row is decided on once. Nothing was stored",
            )
    if new:
        sounds = _sound(deployed, new, stored).tolist()
        rows = [(*key, new[key], alarm) for key, alarm in zip(new, sounds, strict=True)]
        store.run_each("INSERT INTO stay_rows VALUES (?, ?, ?, ?)", rows)
        decided |= {(name, time): (score, alarm) for name, time, score, alarm in rows}
    return np.array([decided[key][1] for key in keys], dtype=np.bool_), len(new)


def _sound(
    deployed: Deployment,
    new: dict[tuple[str, float], float],
    stored: dict[str, list[tuple[Any, ...]]],
) -> BoolArray:
    """Tell which new rows sound an alarm, silenced by what the file knows of their stays."""
    names, seconds = (np.array(column) for column in zip(*new, strict=True))
    events = [
        (name, time) for name in stored for (time,) in deployed.store.rows(EVENTS_OF, (name,))
    ]
    stays = _read_stays(names, seconds, events)
    state = AlarmState(stays={name: _state_of(rows) for name, rows in stored.items() if rows})
    scores = np.array(list(new.values()))
    rule, threshold = deployed.stay_rule
    sounded, _ = sound(stays, stays.highest(scores), threshold, rule, state)
    return stays.to_inputs(sounded, scores)


def _state_of(rows: list[tuple[Any, ...]]) -> StayState:
    alarms = [time for time, _, alarm in rows if alarm]
    last, alarm = (
        None if time is None else _microseconds(np.array([time])).item()
        for time in (rows[-1][0], alarms[-1] if alarms else None)
    )
    return StayState(row=last, alarm=alarm)


def _microseconds(seconds: FloatArray) -> AnyArray:
    exact = np.asarray(seconds, dtype=float) * MICROSECONDS["s"]
    return np.asarray(np.rint(exact).astype(np.int64))


def _read_stays(names: AnyArray, seconds: FloatArray, events: list[tuple[Any, float]]) -> Stays:
    whose = np.array([name for name, _ in events], dtype=names.dtype)
    when = np.array([time for _, time in events])
    times, event_times = (_microseconds(part).astype("M8[us]") for part in (seconds, when))
    return Stays.from_columns(names, times, (whose, event_times))


EVENTS = Said("event", "were caught", "recall")


class CountedStays(NamedTuple):
    """The stays that count, in the order in which they began.

    Attributes
    ----------
    totals : PeriodTotals
        When each began, its rows, its alarms that count for the capacity, and sums of scores.
    days : ndarray of float
        Patient-days of each in its window.
    units : Units
        Of the stays with alarms.
    events : Units
        Of the stays with events, which count as the alarms of these units, caught ones as true. An
        alarm in a stay whose outcome is not known may have caught one.
    n_unknown : int
        Stays whose outcome is not known.
    """

    totals: PeriodTotals
    days: FloatArray
    units: Units
    events: Units
    n_unknown: int


def _closing(deployed: Deployment) -> float:
    """Return how long after its first row a stay counts, in seconds."""
    return deployed.settings.window_seconds + deployed.stay_rule[0].horizon / MICROSECONDS["s"]


def _span(deployed: Deployment, since: float) -> dict[str, float]:
    """Return between which times stays have begun whose windows have closed, and the window."""
    until, window = deployed.now - _closing(deployed), deployed.settings.window_seconds
    return {"since": since, "until": until, "window": window}


class RecordedStays(NamedTuple):
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
    """

    names: list[str]
    codes: AnyArray
    times: FloatArray
    scores: FloatArray
    outcomes: list[tuple[int, float, int]]
    known: BoolArray

    def counted(self, rule: AlarmRule) -> ScoredRows:
        """Return the rows that count under a rule."""
        events = [(code, time) for code, time, value in self.outcomes if value]
        stays = _read_stays(self.codes, self.times, events)
        rows = CountedRows.from_stays(stays, rule)
        return ScoredRows.from_scores(rows, stays.highest(self.scores))


def recorded_stays(deployed: Deployment, since: float) -> RecordedStays:
    """Read the stays that began from a time on and whose windows have closed."""
    rows = deployed.store.rows(COUNTED_ROWS, _span(deployed, since))
    names, times, scores = zip(*rows, strict=True) if rows else ((), (), ())
    whose = {name: code for code, name in enumerate(dict.fromkeys(names))}
    outcomes = [
        (whose[name], time, value)
        for name, time, value in deployed.store.rows("SELECT stay, time, value FROM stay_outcomes")
        if name in whose
    ]
    ends_with_event = deployed.stay_rule[0].reset is None
    known = np.zeros(len(whose), dtype=np.bool_)
    known[[code for code, _, value in outcomes if not value or ends_with_event]] = True
    codes = np.array([whose[name] for name in names], dtype=int)
    seconds, values = (np.array(column, dtype=float) for column in (times, scores))
    return RecordedStays(list(whose), codes, seconds, values, outcomes, known)


def count_stays(deployed: Deployment) -> CountedStays:
    """Count alarms and events of the stays whose windows have closed."""
    recorded = recorded_stays(deployed, deployed.since)
    names, codes, times, scores, _, known = recorded
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
    begins = times[np.unique(codes, return_index=True)[1]]
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
    stays = count_stays(deployed)
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
    return deployed.status(watches, _notes(deployed, stays, recall is not None))


def _notes(deployed: Deployment, stays: CountedStays, recall_is_watched: bool) -> Iterator[str]:
    """Say what was left out, and what is known of recall."""
    closing, window = _closing(deployed), deployed.settings.window
    still_open, beyond = deployed.store.rows(STAY_NOTES, _span(deployed, deployed.since))[0]
    if still_open:
        days, stays_open = closing / SECONDS_PER_DAY, counted(still_open, "stay")
        yield f"not counted yet: {stays_open} that began in the last {typed(days)} days"
    if beyond:
        yield (
            f"not counted: {counted(beyond, 'alarm')} more than {window:g} days after the first "
            "row of the stay; a longer window counts them"
        )
    possible, caught, perhaps = stays.events.sums
    n_events = possible - perhaps
    if n_events and not recall_is_watched:
        yield (
            f"recall: {count(caught)} of {count(n_events)} events of the stays that count "
            f"were caught ({short(caught / n_events)})"
        )
