"""What a monitor is given: settings, times, names of cases, scores and labels, each checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from voros.core.arguments import OPEN_INTERVAL, as_number, check_number
from voros.core.arrays import LARGEST_FINITE, as_vector, is_missing
from voros.core.calendar import CALENDAR, Calendar
from voros.core.cases import check_scores
from voros.core.clock import parse_times, read_clock
from voros.core.periods import Periods
from voros.exceptions import Argument, ArgumentError
from voros.io.documents import read_document
from voros.io.writing import json_text
from voros.typing import AnyArray, BoolArray, FloatArray

LARGEST_SCORE = 1e100
"""Squares of scores are summed."""

SECONDS_PER_DAY = 86_400.0

LONGEST_GAP = 366 * SECONDS_PER_DAY
"""Times further than this from all others are refused until somebody confirms them."""

LAST_SECOND = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""Calendars of Python end with that day."""


def read_times(times: Any) -> FloatArray:
    """Read dates and times of any kind as seconds since 1970 in UTC.

    They are of numpy, pandas, polars, Python's own, or ISO 8601 text, and all or none of them have
    a zone. Times without one are taken as they stand.

    Examples
    --------
    >>> read_times(["1970-01-02T00:30+01:00"]).tolist(), read_times(["1970-01-01"]).tolist()
    ([84600.0], [0.0])
    """
    return np.asarray(read_clock(parse_times(times), elapsed=True).times.astype(np.int64) / 1e6)


def read_time(time: Any) -> float:
    """Read one time as seconds since 1970."""
    return float(read_times([time])[0])


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
    >>> check_gaps(read_times(["2026-01-02", "2062-01-03"]), None, None)
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


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a monitor judges; `Monitor` explains each."""

    window: float
    alpha: float = 0.05
    run_length: float = 10_000.0
    cost_ratio: float | None = None
    max_cost: float | None = None
    score_unit: str | None = None

    def __post_init__(self) -> None:
        """Check every setting."""
        object.__setattr__(self, "window", read_days(self.window, "window"))
        check_number(self.alpha, "alpha", "a number strictly between 0 and 1", *OPEN_INTERVAL)
        accepted = "a number of alarms of at least 10"
        check_number(self.run_length, "run_length", accepted, 10.0, 1e12)
        if self.cost_ratio is not None:
            accepted = "a finite number of at least 0"
            check_number(self.cost_ratio, "cost_ratio", accepted, 0.0, LARGEST_FINITE)
        if self.max_cost is not None and not as_number(self.max_cost, "max_cost") > 0:
            raise ArgumentError("max_cost", f"={self.max_cost!r}; accepted is a number above 0")
        if self.score_unit is not None and Calendar.from_name(self.score_unit) is None:
            accepted = ", ".join(CALENDAR)
            raise ArgumentError("score_unit", f"={self.score_unit!r}; accepted are {accepted}")

    @property
    def window_seconds(self) -> float:
        """The maturity window in seconds."""
        return self.window * SECONDS_PER_DAY

    def text(self) -> str:
        """Return the settings as JSON."""
        return json_text(asdict(self), indent=None)

    @classmethod
    def from_text(cls, text: str) -> Settings:
        """Read settings back."""
        values: dict[str, Any] = read_document(text, "settings of a monitor").value
        unknown = sorted(set(values) - set(cls.__dataclass_fields__))
        if unknown:
            raise ValueError(f"settings of a monitor hold {unknown[0]!r}, which is not known here")
        return cls(**values)


def read_ids(names: Any, argument: str = "cases") -> AnyArray:
    """Return what identifies cases, patients or periods as text, one for each case.

    Examples
    --------
    >>> read_ids([7, 8]).tolist()
    ['7', '8']
    """
    values = as_vector(names, argument)
    if values.dtype.kind in "OMmf":
        missing = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
        if missing:
            raise ArgumentError(argument, f" is missing at index {missing[0]}; accepted is a name")
    return np.array([str(value) for value in values.tolist()], dtype=object)


def check_single_labels(ids: AnyArray, seconds: FloatArray, positive: BoolArray) -> None:
    """Raise where a case has both labels at one time: neither is the later one."""
    order = np.lexsort((seconds, ids))
    same = (ids[order[1:]] == ids[order[:-1]]) & (seconds[order[1:]] == seconds[order[:-1]])
    both = order[1:][same & (positive[order[1:]] != positive[order[:-1]])]
    if len(both):
        raise ArgumentError(
            "cases", f" holds {str(ids[both[0]])!r} twice at one time, with different labels"
        )


def finite_scores(y_score: Any) -> FloatArray:
    """Return scores whose squares can be summed."""
    scores = check_scores(y_score).astype(float)
    huge = np.abs(scores) > LARGEST_SCORE
    if huge.any():
        first = int(np.flatnonzero(huge)[0])
        raise ArgumentError(
            "y_score",
            f" holds {scores[first]:g} at index {first}; accepted is at most {LARGEST_SCORE:g}",
        )
    return scores


def name_periods(
    times: Any, periods: Any, per: str, score_unit: str | None
) -> tuple[AnyArray, str]:
    """Return the period of each case, and the calendar's unit, or "given"."""
    if periods is not None and score_unit is not None:
        raise ArgumentError(
            "periods",
            " of your own cannot be summed by the calendar; leave out ",
            Argument("score_unit"),
        )
    if periods is not None:
        return read_ids(periods, "periods"), "given"
    if Calendar.from_name(per) is None:
        raise ArgumentError(
            "periods", f" is needed: the capacity is one per {per!r}, which no calendar knows"
        )
    if not len(times):
        return np.zeros(0, dtype=object), per
    counted = Periods.from_times(times, per)
    return np.asarray(counted.names[counted.codes]), per
