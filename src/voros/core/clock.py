"""Convert times of cases to clock times without a time zone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from voros.core.arguments import check_type
from voros.core.arrays import as_vector, is_missing
from voros.exceptions import ArgumentError
from voros.typing import AnyArray

ACCEPTED_TIMES = (
    "accepted are datetimes of numpy, pandas, polars or Python, and ISO 8601 text such as "
    "2024-03-31T02:30"
)

YEARS = 1, 9999
"""The years of Python's calendar; numpy's microseconds overflow beyond them."""

FINE_UNITS = ("ns", "ps", "fs", "as")
"""Units of numpy whose range is within these years."""


class Clock(NamedTuple):
    """Clock times without a time zone.

    Attributes
    ----------
    times : ndarray of datetime64[us]
    words : str
        The clock that shows them.
    """

    times: AnyArray
    words: str


def read_clock(times: Any, time_zone: str | None = None, *, elapsed: bool = False) -> Clock:
    """Convert times to clock times.

    Parameters
    ----------
    times : array-like
        Datetimes with or without a time zone, dates, or ISO 8601 text.
    time_zone : str, optional
        The place of the clock, such as "Europe/Berlin", for times with a time zone. By default the
        clock is that of their own zone or offset.
    elapsed : bool, default False
        Convert times with a time zone to UTC, in which no hour is missing or repeated.

    Examples
    --------
    >>> read_clock(["2024-03-30T23:30:00Z"], "Europe/Berlin").times.astype(str).tolist()
    ['2024-03-31T00:30:00.000000']
    """
    if time_zone is not None:
        check_type(time_zone, "time_zone", str, "the name of a place, such as 'Europe/Berlin'")
    zone = None if time_zone is None else _zone(time_zone)
    column = _datetime_column(times)
    if column is not None:
        return _of_column(column, time_zone, elapsed)
    values = parse_times(times)
    if isinstance(values, list):
        return _of_objects(values, zone, time_zone, elapsed)
    return _without_zone(values, time_zone)


def parse_times(times: Any) -> Any:
    """Return times as datetimes, so that text is parsed once by callers that read it repeatedly.

    Examples
    --------
    >>> parse_times(["2024-03-30T23:30"])
    [datetime.datetime(2024, 3, 30, 23, 30)]
    """
    if _datetime_column(times) is not None:
        return times
    if isinstance(times, (list, tuple)):
        return _parsed(times)
    values = as_vector(times, "times")
    return values if values.dtype.kind == "M" else _parsed(values.tolist())


def _zone(time_zone: str) -> ZoneInfo:
    try:
        return ZoneInfo(time_zone)
    except (ValueError, OSError, TypeError, KeyError):
        raise ArgumentError(
            "time_zone", f"={time_zone!r}; accepted is a name such as 'Europe/Berlin' or 'UTC'"
        ) from None


def _datetime_column(times: Any) -> Any:
    """Return a data-frame column of datetimes or dates as a narwhals series, or None."""
    if isinstance(times, (list, tuple, np.ndarray)):
        return None
    import narwhals.stable.v1 as nw

    column = nw.from_native(times, series_only=True, pass_through=True)
    if not isinstance(column, nw.Series):
        return None
    if column.dtype == nw.Date:
        return column.cast(nw.Datetime("us"))
    return column if column.dtype == nw.Datetime else None


def _of_column(column: Any, time_zone: str | None, elapsed: bool) -> Clock:
    _check_present(column.is_null().to_numpy())
    own = column.dtype.time_zone
    if own is None:
        return _without_zone(column.to_numpy(), time_zone)
    place = "UTC" if elapsed else time_zone or own
    shown = column.dt.convert_time_zone(place).dt.replace_time_zone(None)
    return Clock(shown.to_numpy().astype("datetime64[us]"), f"the clock of {place}")


def _without_zone(times: AnyArray, time_zone: str | None) -> Clock:
    if time_zone is not None:
        raise ArgumentError(
            "time_zone",
            f"={time_zone!r}, and the times have no time zone; without time_zone they are read as "
            "they are written",
        )
    _check_present(np.isnat(times))
    if np.datetime_data(times.dtype)[0] not in FINE_UNITS:
        _check_years(times)
    return Clock(times.astype("datetime64[us]"), "a clock without a time zone")


def _check_years(times: AnyArray) -> None:
    years = times.astype("datetime64[Y]").astype(np.int64) + 1970
    beyond = (years < YEARS[0]) | (years > YEARS[1])
    if beyond.any():
        row = int(np.flatnonzero(beyond)[0])
        raise ArgumentError("times", f"[{row}]={times[row]} is beyond the years 1 to 9999")


def _parsed(values: Sequence[Any]) -> list[datetime]:
    _check_present(np.array([is_missing(value) for value in values], dtype=np.bool_))
    return [_datetime(value, row) for row, value in enumerate(values)]


def _datetime(value: Any, row: int) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, np.datetime64):
        return _datetime(value.astype("datetime64[us]").item(), row)
    try:
        return datetime.fromisoformat(value.strip())
    except (AttributeError, TypeError, ValueError):
        raise ArgumentError("times", f"[{row}]={value!r} is not a time; {ACCEPTED_TIMES}") from None


def _of_objects(
    times: list[datetime], zone: ZoneInfo | None, time_zone: str | None, elapsed: bool
) -> Clock:
    aware = [time.tzinfo is not None for time in times]
    if not any(aware):
        return _without_zone(np.array(times, dtype="datetime64[us]"), time_zone)
    if not all(aware):
        row = aware.index(False)
        raise ArgumentError(
            "times", f"[{row}]={times[row]} has no time zone and others have one; give all or none"
        )
    place = UTC if elapsed else zone
    if place is None:
        offsets = sorted({str(time.utcoffset()) for time in times})
        words = f"their own clock (UTC offset {' or '.join(offsets)})"
    else:
        words = f"the clock of {place}"
        try:
            times = [time.astimezone(place) for time in times]
        except OverflowError:
            raise ArgumentError("times", f" go beyond the years 1 to 9999 in {place}") from None
    shown = [time.replace(tzinfo=None) for time in times]
    return Clock(np.array(shown, dtype="datetime64[us]"), words)


def _check_present(missing: AnyArray) -> None:
    if missing.any():
        raise ArgumentError(
            "times",
            f" is missing in {np.count_nonzero(missing)} of {len(missing)} cases (first at index "
            f"{np.flatnonzero(missing)[0]}); {ACCEPTED_TIMES}",
        )
