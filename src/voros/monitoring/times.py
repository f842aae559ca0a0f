"""Times of cases and labels: seconds for the clock, and the day as the ward's calendar has it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from voros.core.arrays import LARGEST_FINITE, AnyArray, FloatArray, check_number
from voros.core.clock import read_clock
from voros.exceptions import ArgumentError
from voros.text.messages import Argument

SECONDS_PER_DAY = 86_400.0

LONGEST_GAP = 366 * SECONDS_PER_DAY
"""Times further than this from all others are refused until somebody confirms them."""

LAST_SECOND = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""Calendars of Python end with that day."""


class Times(NamedTuple):
    """When something happened.

    Attributes
    ----------
    seconds : ndarray of float
        Since 1970 in UTC; times without a zone are taken as they stand.
    days : ndarray of str
        The date on the wall: that of the time's own zone, such as ``"2026-03-01"``.
    """

    seconds: FloatArray
    days: AnyArray


def read_times(times: Any) -> Times:
    """Read dates and times of any kind: numpy, pandas, polars, Python's own, ISO 8601 text.

    Examples
    --------
    >>> read_times(["2026-03-01T23:30:00-05:00", "2026-03-02T00:30+01:00"]).days.tolist()
    ['2026-03-01', '2026-03-02']
    """
    wall = read_clock(times).times
    seconds = read_clock(times, elapsed=True).times.astype(np.int64) / 1e6
    # Few days, many cases.
    days, codes = np.unique(wall.astype("datetime64[D]"), return_inverse=True)
    return Times(seconds, days.astype("U10")[codes])


def read_time(time: Any) -> float:
    """Read one time as seconds since 1970."""
    return float(read_times([time]).seconds[0])


def read_days(value: Any, name: str) -> float:
    """Read a length of time, a number of days or a timedelta, as days.

    Examples
    --------
    >>> read_days(timedelta(hours=36), "window")
    1.5
    """
    if isinstance(value, timedelta):
        value = value.total_seconds() / SECONDS_PER_DAY
    accepted = "a number of days of at least 0, or a timedelta"
    return check_number(value, name, accepted, 0.0, LARGEST_FINITE)


def check_gaps(seconds: FloatArray, first: float | None, clock: float | None) -> None:
    """Refuse times more than a year from all others, which are mostly mistyped.

    ``first`` and ``clock`` are the first and the latest time known so far; between them any is
    accepted. Where none is, times may not be more than a year after today either.

    Examples
    --------
    >>> check_gaps(read_times(["2026-01-02", "2062-01-03"]).seconds, None, None)
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: times holds 2062-01-03, more than a year from 2026-01-02 and
    from every other time; is it mistyped? confirm_times=True accepts it
    """
    ordered = np.unique(seconds)
    if clock is None:
        _check_chain(ordered)
        today = datetime.now(UTC).timestamp()
        _check_chain(np.append(today, ordered[ordered > today]))
        return
    _check_chain(np.append(clock, ordered[ordered > clock]))
    if first is not None:
        _check_chain(np.append(ordered[ordered < first], first), before=True)


def _check_chain(ordered: FloatArray, before: bool = False) -> None:
    """Refuse a gap; where it parts few times from many, name one of the few."""
    wide = np.flatnonzero(np.diff(ordered) > LONGEST_GAP)
    if not len(wide):
        return
    row = int(wide[0])
    early = before or 2 * (row + 1) < len(ordered)
    far, near = (row, row + 1) if early else (row + 1, row)
    raise ArgumentError(
        "times",
        f" holds {day_of(ordered[far])}, more than a year from {day_of(ordered[near])} and from "
        "every other time; is it mistyped? ",
        Argument("confirm_times=True", "confirm_times"),
        " accepts it",
    )


def day_of(seconds: float) -> str:
    """Return the date of a time in seconds; beyond the calendar its last day.

    Examples
    --------
    >>> day_of(86_400.0)
    '1970-01-02'
    """
    return datetime.fromtimestamp(min(seconds, LAST_SECOND), UTC).date().isoformat()
