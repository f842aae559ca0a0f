"""Times of cases and labels: seconds for the clock, and the day as the ward's calendar has it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from voros.core.arrays import LARGEST_FINITE, AnyArray, FloatArray, check_number
from voros.core.clock import read_clock

SECONDS_PER_DAY = 86_400.0


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


def day_of(seconds: float) -> str:
    """Return the date of a time in seconds.

    Examples
    --------
    >>> day_of(86_400.0)
    '1970-01-02'
    """
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
