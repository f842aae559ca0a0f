"""Scored rows of stays in order of time, the events of each stay, and which rows count."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voros.alarms.rule import MICROSECONDS, MICROSECONDS_PER_DAY, AlarmRule
from voros.core.arrays import LARGEST_FINITE, as_floats, as_vector, check_same_length
from voros.core.clock import read_clock
from voros.core.grouped_cases import group_codes, missing_values
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, BoolArray, FloatArray

LARGEST_HOURS = 10.0**9
"""The largest time in hours: its microseconds fit into 64 bits."""

HOURS = "hours"
"""The clock of times that are numbers of hours."""

NO_EVENT = -1
"""Stands for the event of a row that catches none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Stays:
    """Times of rows and of events, by stay.

    Rows of one stay at the same time are one row.

    Attributes
    ----------
    names : ndarray of shape (n_stays,)
        Names of the stays, in order.
    stay : ndarray of int, shape (n_rows,)
        The stay of each row, rising.
    times : ndarray of int, shape (n_rows,)
        In microseconds, rising within a stay.
    order : ndarray of int, shape (n_inputs,)
        Indices of the inputs in the order of stay and time.
    firsts : ndarray of int, shape (n_rows,)
        Where each row begins among the ordered inputs.
    event_stay, event_times : ndarray of int, shape (n_events,)
        Stay and time of each event, rising; events at the same time are one, and those of stays
        that have no row are left out.
    clock : str
        Whether times are hours or datetimes, with or without a time zone.
    n_events_elsewhere : int
        Events that are left out because their stay has no row.

    Examples
    --------
    >>> stays = Stays.from_columns(["a", "a", "b", "a"], [1, 0, 5, 1], (["b", "c"], [9, 4]))
    >>> stays.stay.tolist(), (stays.times / 3.6e9).tolist(), stays.event_stay.tolist()
    ([0, 0, 1], [0.0, 1.0, 5.0], [1])
    >>> stays.n_events_elsewhere
    1
    """

    names: AnyArray
    stay: AnyArray
    times: AnyArray
    order: AnyArray
    firsts: AnyArray
    event_stay: AnyArray
    event_times: AnyArray
    clock: str
    n_events_elsewhere: int = 0

    @classmethod
    def from_columns(cls, stay: Any, time: Any, events: tuple[Any, Any]) -> Stays:
        """Put rows and events in order of stay and time.

        Parameters
        ----------
        stay : array-like of shape (n_inputs,)
            The stay of each row.
        time : array-like of shape (n_inputs,)
            Datetimes or numbers of hours.
        events : pair of array-likes
            Stay and time of each event, written as those of the rows.
        """
        row_names, event_names = as_vector(stay, "stay"), as_vector(events[0], "events")
        row_times, clock = read_microseconds(time, "time")
        event_times, event_clock = read_microseconds(events[1], "events")
        if len(event_times) and event_clock != clock:
            raise ArgumentError(
                "events", f" are times by {event_clock}, and the rows by {clock}; give one kind"
            )
        check_same_length(stay=row_names, time=row_times)
        check_same_length(**{"stays of events": event_names, "times of events": event_times})
        codes, event_codes, names = _common_codes(row_names, event_names)
        order = np.lexsort((row_times, codes))
        codes, row_times = codes[order], row_times[order]
        new = np.ones(len(codes), dtype=np.bool_)
        new[1:] = (np.diff(codes) != 0) | (np.diff(row_times) != 0)
        pairs = np.unique(np.stack([event_codes, event_times]), axis=1)
        known = pairs[0] < len(names)
        return cls(
            names=names,
            stay=codes[new],
            times=row_times[new],
            order=order,
            firsts=np.flatnonzero(new),
            event_stay=pairs[0, known],
            event_times=pairs[1, known],
            clock=clock,
            n_events_elsewhere=int(np.count_nonzero(~known)),
        )

    @property
    def n_stays(self) -> int:
        """Number of stays that have a row."""
        return len(self.names)

    @property
    def first_times(self) -> AnyArray:
        """The time of the first row of each stay."""
        return self.times[np.searchsorted(self.stay, np.arange(self.n_stays))]

    @cached_property
    def stay_of_inputs(self) -> AnyArray:
        """The stay of each input."""
        stay = np.empty(len(self.order), dtype=np.intp)
        stay[self.order] = np.repeat(self.stay, np.diff(np.append(self.firsts, len(self.order))))
        return stay

    def of_each_stay(self, codes: AnyArray, argument: str, what: str) -> AnyArray:
        """Return the code of each stay from those of the inputs, which must agree within a stay."""
        check_same_length(stay=self.order, **{argument: codes})
        of_stays = np.empty(self.n_stays, dtype=codes.dtype)
        of_stays[self.stay_of_inputs] = codes
        differs = np.flatnonzero(of_stays[self.stay_of_inputs] != codes)
        if len(differs):
            name = self.names[self.stay_of_inputs[differs[0]]]
            raise ArgumentError(argument, f" gives the stay {name} to more than one {what}")
        return of_stays

    def with_events(self, stay: AnyArray, times: AnyArray) -> Stays:
        """Add events of some of the stays."""
        both = np.append(self.event_stay, stay), np.append(self.event_times, times)
        pairs = np.unique(np.stack(both), axis=1)
        return replace(self, event_stay=pairs[0], event_times=pairs[1])

    def only(self, kept: BoolArray) -> Stays:
        """Return some of the stays; their rows become the inputs."""
        number = np.cumsum(kept) - 1
        rows, events = kept[self.stay], kept[self.event_stay]
        n_rows = int(np.count_nonzero(rows))
        return Stays(
            names=self.names[kept],
            stay=number[self.stay[rows]],
            times=self.times[rows],
            order=np.arange(n_rows),
            firsts=np.arange(n_rows),
            event_stay=number[self.event_stay[events]],
            event_times=self.event_times[events],
            clock=self.clock,
        )

    def highest(self, scores: Any, name: str = "score") -> AnyArray:
        """Return the score of each row: the highest of one time, NaN where all are missing."""
        column = read_scores(scores, name)
        check_same_length(stay=self.order, **{name: column})
        return np.asarray(np.fmax.reduceat(column[self.order], self.firsts))

    def to_inputs(self, marked: BoolArray, scores: Any, name: str = "score") -> BoolArray:
        """Mark the input of each marked row; of several at one time, one with the highest score."""
        column = read_scores(scores, name)[self.order]
        row = np.repeat(np.arange(len(self.times)), np.diff(np.append(self.firsts, len(column))))
        best = np.lexsort((-column, row))[self.firsts]
        inputs = np.zeros(len(column), dtype=np.bool_)
        inputs[self.order[best[marked]]] = True
        return inputs


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedRows:
    """The rows of stays that count under a rule, and what an alarm at each would be.

    Attributes
    ----------
    stays : Stays
    rule : AlarmRule
    rows : ndarray of int
        Indices of the rows that count.
    stay, times : ndarray of int
        Of the rows that count.
    event : ndarray of int
        The event that an alarm at the row catches; `NO_EVENT` where it catches none.
    unfinished : ndarray of bool
        Whether no event follows and the rows of the stay end within the horizon.
    event_stay, event_times : ndarray of int
        Stay and time of each event that counts.
    """

    stays: Stays
    rule: AlarmRule
    rows: AnyArray
    stay: AnyArray
    times: AnyArray
    event: AnyArray
    unfinished: BoolArray
    event_stay: AnyArray
    event_times: AnyArray

    @classmethod
    def from_stays(cls, stays: Stays, rule: AlarmRule) -> CountedRows:
        """Leave out rows after events, and find the event that each row may catch."""
        event_stay, event_times = _counted_events(stays, rule)
        offsets = _offsets(stays, rule)
        row_keys = stays.times + offsets[stays.stay]
        # The next event at or after each row, and the last one before it; no event is of stay -1.
        following = np.searchsorted(event_times + offsets[event_stay], row_keys, side="left")
        owner, event_time = np.append(event_stay, -1), np.append(event_times, 0)
        has_last = owner[following - 1] == stays.stay
        since = stays.times - event_time[following - 1]
        rows = np.flatnonzero(~(has_last & (rule.reset is None or since < rule.reset)))
        has_next = owner[following] == stays.stay
        ahead = np.where(has_next, following, NO_EVENT)[rows]
        until = event_time[ahead] - stays.times[rows]
        caught = (ahead != NO_EVENT) & (until >= rule.lead) & (until <= rule.horizon)
        ends = np.searchsorted(stays.stay, stays.stay[rows], side="right") - 1
        left = stays.times[ends] - stays.times[rows]
        return cls(
            stays=stays,
            rule=rule,
            rows=rows,
            stay=stays.stay[rows],
            times=stays.times[rows],
            event=np.where(caught, ahead, NO_EVENT),
            unfinished=(ahead == NO_EVENT) & (left < rule.horizon),
            event_stay=event_stay,
            event_times=event_times,
        )

    @property
    def n_events(self) -> int:
        """Number of events that count, caught or not."""
        return len(self.event_stay)

    @cached_property
    def has_event(self) -> BoolArray:
        """Whether each stay has an event that counts."""
        return np.bincount(self.event_stay, minlength=self.stays.n_stays) > 0

    @cached_property
    def days(self) -> AnyArray:
        """Days of each stay at which an alarm may sound.

        Each row that counts stands for the time to the next row of its stay, and the last row, and
        any row before rows that do not count, for the median of these times.
        """
        adjacent = (np.diff(self.stay) == 0) & (np.diff(self.rows) == 1)
        steps = np.diff(self.times)[adjacent]
        lengths = np.full(len(self.rows), np.median(steps) if len(steps) else 0.0)
        lengths[:-1][adjacent] = steps
        sums = np.bincount(self.stay, lengths, minlength=self.stays.n_stays)
        return np.asarray(sums / MICROSECONDS_PER_DAY)

    def next_rows(self, kept: BoolArray) -> AnyArray:
        """Return, for each kept row, the index of the first kept row after its silence."""
        times, stay = self.times[kept], self.stay[kept]
        keys = times + _offsets(self.stays, self.rule)[stay]
        # Times of one stay differ by at least a microsecond: no snooze silences only the row.
        return np.searchsorted(keys, keys + max(self.rule.snooze, 1), side="left")


def _offsets(stays: Stays, rule: AlarmRule) -> AnyArray:
    """Return what to add to the times of each stay so that they rise over all stays.

    A search over all rows then stays within a stay, also beyond a silence after its last row.
    """
    whose = np.concatenate([stays.stay, stays.event_stay])
    times = np.concatenate([stays.times, stays.event_times])
    first = np.full(stays.n_stays, np.iinfo(np.int64).max)
    last = np.full(stays.n_stays, np.iinfo(np.int64).min)
    np.minimum.at(first, whose, times)
    np.maximum.at(last, whose, times)
    room = last - first + rule.snooze + 2
    starts = np.cumsum(room) - room
    if len(room) and float(starts[-1]) + float(room[-1]) > 2**62:
        raise ArgumentError(
            "time", " spans too many centuries; check that times are hours or datetimes"
        )
    return np.asarray(starts - first)


def _counted_events(stays: Stays, rule: AlarmRule) -> tuple[AnyArray, AnyArray]:
    """Return the events that count, which are not within the reset time of an earlier one."""
    stay, times = stays.event_stay, stays.event_times
    first = np.ones(len(stay), dtype=np.bool_)
    first[1:] = np.diff(stay) != 0
    if rule.reset is None or len(stay) == 0:
        return stay[first], times[first]
    kept = first.copy()
    last = times[0]
    for row in np.flatnonzero(~first):
        if first[row - 1]:
            last = times[row - 1]
        if times[row] - last >= rule.reset:
            kept[row], last = True, times[row]
    return stay[kept], times[kept]


def _common_codes(rows: AnyArray, events: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Number the stays of rows from 0; those of events that have no row follow."""
    both = np.concatenate([rows, events]) if len(events) else rows
    codes = group_codes(both, both, "stay")
    with_rows, first = np.unique(codes[: len(rows)], return_index=True)
    renumbered = np.argsort(np.append(with_rows, np.setdiff1d(codes, with_rows)))
    return renumbered[codes[: len(rows)]], renumbered[codes[len(rows) :]], rows[first]


def read_scores(scores: Any, name: str) -> FloatArray:
    """Return scores as floats, NaN where they are missing."""
    column = as_vector(scores, name)
    if column.dtype == object:
        column = np.where(missing_values(column), np.nan, column)
    # A score of +inf would reach the threshold +inf, which raises no alarm.
    return np.minimum(as_floats(column, name), LARGEST_FINITE)


def read_microseconds(times: Any, name: str) -> tuple[AnyArray, str]:
    """Return datetimes, or numbers of hours, as whole microseconds, and which clock that is."""
    values = as_vector(times, name)
    if len(values) == 0:
        return np.zeros(0, dtype=np.int64), ""
    if values.dtype.kind not in "iuf":
        clock = read_clock(times, elapsed=True)
        return clock.times.astype(np.int64), clock.words
    if not np.all(np.abs(values) <= LARGEST_HOURS):
        raise ArgumentError(
            name,
            " holds numbers that are not hours (missing, or beyond a billion); accepted are "
            "datetimes or numbers of hours",
        )
    return np.rint(values.astype(np.float64) * MICROSECONDS["h"]).astype(np.int64), HOURS
