"""Alarms as rows come in: a rule and a threshold, applied in order of time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from voros.alarms.rule import AlarmRule
from voros.alarms.stays import CountedRows, Stays
from voros.alarms.sweep import ScoredRows
from voros.exceptions import ArgumentError
from voros.io.documents import Entry, read_document
from voros.io.writing import json_text, saved
from voros.typing import BoolArray, FloatArray

STATE_FORMAT, STATE_SCHEMA = "voros alarm state", 1

NEVER = np.iinfo(np.int64).min
"""Stands for the time of what has not happened."""


class StayState(NamedTuple):
    """The past on which the next rows of a stay depend, in microseconds; None where there is none.

    Attributes
    ----------
    row, alarm, event : int or None
        Time of the last row, of the last alarm, and of the last event that counts.
    """

    row: int | None = None
    alarm: int | None = None
    event: int | None = None


@dataclass(frozen=True)
class AlarmState:
    """The last row, alarm and event of each stay, on which its next rows depend.

    Attributes
    ----------
    clock : str
        Whether times are hours or datetimes, with or without a time zone.
    stays : dict
        `StayState` by stay.

    Examples
    --------
    >>> state = AlarmState("hours", {7: StayState(row=3_600_000_000, alarm=0)})
    >>> AlarmState.from_json(state.to_json()) == state
    True
    """

    clock: str = ""
    stays: dict[Any, StayState] = field(default_factory=dict)

    def without(self, stays: Any) -> AlarmState:
        """Leave out stays that have ended.

        Returns
        -------
        AlarmState
        """
        ended = set(np.asarray(stays).tolist())
        kept = {name: times for name, times in self.stays.items() if name not in ended}
        return replace(self, stays=kept)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the state as JSON text, and write it to a file if a path is given."""
        rows = [[name, *times] for name, times in self.stays.items()]
        fields = {
            "format": STATE_FORMAT,
            "schema": STATE_SCHEMA,
            "clock": self.clock,
            "stays": rows,
        }
        return saved(json_text(fields), path, force=force)

    @classmethod
    def from_json(cls, source: str | Path) -> AlarmState:
        """Read a state back from JSON text or from a file.

        Returns
        -------
        AlarmState
        """
        document = read_document(source, "saved state of alarms")
        document.check_format(STATE_FORMAT, STATE_SCHEMA)
        entries = document.keys("format", "schema", "clock", "stays")
        return cls(entries["clock"].text(), dict(map(_read_stay, entries["stays"].items())))


def _read_stay(entry: Entry) -> tuple[Any, StayState]:
    name, *times = (
        entry.value if isinstance(entry.value, list) and len(entry.value) == 4 else [None]
    )
    integers = all(time is None or (type(time) is int) for time in times)
    if not isinstance(name, (str, int, float)) or not integers:
        entry.refuse("a stay and its last row, alarm and event in microseconds")
    return name, StayState(*times)


def sound(
    stays: Stays, scores: FloatArray, threshold: float, rule: AlarmRule, state: AlarmState
) -> tuple[BoolArray, AlarmState]:
    """Return which rows of the stays sound an alarm, and the state after them.

    Raises
    ------
    ArgumentError
        Where rows are not later than those of the same stay that came before, or by another clock.
    """
    if state.clock and state.clock != stays.clock:
        raise ArgumentError("state", f" has times by {state.clock}, and the rows by {stays.clock}")
    names = stays.names.tolist()
    before = [state.stays.get(name, StayState()) for name in names]
    row, alarm, event = (
        np.array([NEVER if time is None else time for time in times], dtype=np.int64)
        for times in (zip(*before, strict=True) if before else [()] * 3)
    )
    early = np.flatnonzero(stays.first_times <= row)
    if len(early):
        raise ArgumentError(
            "time", f" of stay {names[early[0]]} is not after its last row; rows must come in order"
        )
    had_event = np.flatnonzero(event != NEVER)
    rows = CountedRows.from_stays(stays.with_events(had_event, event[had_event]), rule)
    # Times of one stay differ by at least a microsecond: no snooze silences only the row.
    silent = stays.times < (alarm + max(rule.snooze, 1))[stays.stay]
    scored = ScoredRows.from_scores(rows, np.where(silent, np.nan, scores))
    alarms = np.zeros(len(stays.times), dtype=np.bool_)
    alarms[rows.rows[scored.kept][scored.alarm_rows(threshold)]] = True
    np.maximum.at(row, stays.stay, stays.times)
    np.maximum.at(alarm, stays.stay[alarms], stays.times[alarms])
    np.maximum.at(event, rows.event_stay, rows.event_times)
    times = zip(row.tolist(), alarm.tolist(), event.tolist(), strict=True)
    after = [StayState(*(None if at == NEVER else at for at in last)) for last in times]
    return alarms, AlarmState(stays.clock, state.stays | dict(zip(names, after, strict=True)))


def parse_state(state: AlarmState | str | None) -> AlarmState:
    """Return a state, read from JSON where it is text; None is the state before any row."""
    if isinstance(state, str):
        return AlarmState.from_json(state)
    if state is not None and not isinstance(state, AlarmState):
        raise TypeError(f"state is a {type(state).__name__}; accepted is an AlarmState or its JSON")
    return AlarmState() if state is None else state
