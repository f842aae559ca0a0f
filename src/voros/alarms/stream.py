"""Alarms as rows come in: a rule and a threshold, applied in order of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from voros.alarms.rule import AlarmRule
from voros.alarms.stays import Stays
from voros.exceptions import ArgumentError
from voros.io.documents import Entry, read_document
from voros.io.writing import json_text, saved
from voros.typing import BoolArray, FloatArray

STATE_FORMAT, STATE_SCHEMA = "voros alarm state", 1


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

    def after_event(self, time: int, rule: AlarmRule) -> StayState:
        """Return the state after an event; within the reset time of another it does not count."""
        counts = self.event is None or (rule.reset is not None and time - self.event >= rule.reset)
        return self._replace(event=time) if counts else self

    def after_row(self, time: int, reached: bool, rule: AlarmRule) -> StayState:
        """Return the state after a row; its alarm is at the row's time where one sounds."""
        since = None if self.event is None else time - self.event
        over = since is not None and since > 0 and (rule.reset is None or since < rule.reset)
        # Times of one stay differ by at least a microsecond: no snooze silences only the row.
        silent = self.alarm is not None and time < self.alarm + max(rule.snooze, 1)
        return self._replace(
            row=time, alarm=time if reached and not (over or silent) else self.alarm
        )


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
    names, now = stays.names.tolist(), dict(state.stays)
    alarms = np.zeros(len(stays.times), dtype=np.bool_)
    for code, time, row in _in_order(stays):
        last = now.get(names[code], StayState())
        if row is None:
            now[names[code]] = last.after_event(time, rule)
            continue
        if last.row is not None and time <= last.row:
            raise ArgumentError(
                "time", f" of stay {names[code]} is not after its last row; rows must come in order"
            )
        later = last.after_row(time, bool(scores[row] >= threshold), rule)
        alarms[row] = later.alarm == time
        now[names[code]] = later
    return alarms, AlarmState(stays.clock, now)


def _in_order(stays: Stays) -> Iterator[tuple[int, int, int | None]]:
    """Yield stay and time of rows and events, by stay and time; an event has no row number.

    A row at the time of an event comes before it.
    """
    n_rows, n_events = len(stays.times), len(stays.event_times)
    code = np.concatenate([stays.stay, stays.event_stay])
    time = np.concatenate([stays.times, stays.event_times])
    for i in np.lexsort((np.arange(n_rows + n_events), time, code)).tolist():
        yield int(code[i]), int(time[i]), i if i < n_rows else None


def parse_state(state: AlarmState | str | None) -> AlarmState:
    """Return a state, read from JSON where it is text; None is the state before any row."""
    if isinstance(state, str):
        return AlarmState.from_json(state)
    if state is not None and not isinstance(state, AlarmState):
        raise TypeError(f"state is a {type(state).__name__}; accepted is an AlarmState or its JSON")
    return AlarmState() if state is None else state
