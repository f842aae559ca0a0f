"""Settings of a monitor, and checks of times, identifiers, scores and labels."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from voros.core.arguments import OPEN_INTERVAL, check_number
from voros.core.arrays import LARGEST_FINITE, as_vector, is_missing
from voros.core.calendar import CALENDAR, Calendar
from voros.core.cases import check_scores
from voros.core.clock import parse_times, read_clock
from voros.core.periods import Periods
from voros.exceptions import Argument, ArgumentError
from voros.io.writing import json_text
from voros.typing import AnyArray, BoolArray, FloatArray

LARGEST_SCORE = 1e100
"""Scores are at most this large, because their squares are summed."""

SECONDS_PER_DAY = 86_400.0

LONGEST_GAP = 366 * SECONDS_PER_DAY
"""Times further than this from all others are refused until somebody confirms them."""

LAST_SECOND = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""The last day of Python's calendar."""


def read_times(times: Any) -> FloatArray:
    """Read dates and times of any kind as seconds since 1970 in UTC.

    They may be numpy's, pandas's, polars's or Python's, or ISO 8601 text; all or none have a zone.
    Times without a zone are read as UTC.

    Examples
    --------
    >>> read_times(["1970-01-02T00:30+01:00"]).tolist(), read_times(["1970-01-01"]).tolist()
    ([84600.0], [0.0])
    """
    return np.asarray(read_clock(parse_times(times), elapsed=True).times.astype(np.int64) / 1e6)


def read_time(time: Any) -> float:
    """Read one time as seconds since 1970."""
    return float(read_times([time])[0])


def check_gaps(seconds: FloatArray, first: float | None, clock: float | None) -> None:
    """Refuse times more than a year from all others, which are probably mistyped.

    ``first`` and ``clock`` are the first and the latest time known so far; every time between them
    is accepted. Without a clock, times may also not be more than a year after today.

    Examples
    --------
    >>> check_gaps(read_times(["2026-01-02", "2062-01-03"]), None, None)
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: times holds 2062-01-03, more than a year from 2026-01-02 and
    from every other time; is it mistyped? confirm_times=True accepts it
    """
    ordered = np.unique(seconds)
    if not len(ordered):
        return
    if clock is None:
        first = float(ordered[(len(ordered) - 1) // 2])
        clock = min(first, datetime.now(UTC).timestamp())
    low = -np.inf if first is None else first
    later, earlier = ordered[ordered > clock], ordered[ordered < low]
    for far, near in (
        (later, np.append(clock, later)[:-1]),
        (earlier, np.append(earlier, low)[1:]),
    ):
        wide = np.flatnonzero(np.abs(far - near) > LONGEST_GAP)
        if len(wide):
            raise ArgumentError(
                "times",
                f" holds {day_of(far[wide[0]])}, more than a year from {day_of(near[wide[0]])} and "
                "from every other time; is it mistyped? ",
                Argument("confirm_times=True", "confirm_times"),
                " accepts it",
            )


def day_of(seconds: float) -> str:
    """Return the date of a time in seconds; the last of the calendar for any later time.

    Examples
    --------
    >>> day_of(86_400.0)
    '1970-01-02'
    """
    return datetime.fromtimestamp(min(seconds, LAST_SECOND), UTC).date().isoformat()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a monitor judges; `Monitor` explains each setting."""

    window: float
    alpha: float = 0.05
    run_length: float = 10_000.0
    cost_ratio: float | None = None
    max_cost: float | None = None
    score_unit: str | None = None

    def __post_init__(self) -> None:
        """Check every setting."""
        for name, accepted, low, high in (
            ("window", "a number of days of at least 0, or a timedelta", 0.0, LARGEST_FINITE),
            ("alpha", "a number strictly between 0 and 1", *OPEN_INTERVAL),
            ("run_length", "a number of alarms of at least 10", 10.0, 1e12),
            ("cost_ratio", "a finite number of at least 0", 0.0, LARGEST_FINITE),
            ("max_cost", "a number above 0", OPEN_INTERVAL[0], LARGEST_FINITE),
        ):
            value = getattr(self, name)
            if value is not None:
                check_number(value, name, accepted, low, high)
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
        return cls(**json.loads(text))


def read_ids(names: Any, argument: str = "cases") -> AnyArray:
    """Return identifiers of cases, patients or periods as text.

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
    """Raise where a case has both labels at one time, because neither is the later one."""
    said: dict[tuple[str, float], bool] = {}
    for case, time, label in zip(ids.tolist(), seconds.tolist(), positive.tolist(), strict=True):
        if said.setdefault((case, time), label) != label:
            raise ArgumentError(
                "cases", f" holds {case!r} twice at one time, with different labels"
            )


def finite_scores(y_score: Any) -> FloatArray:
    """Return scores; raise where their squares cannot be summed."""
    scores = check_scores(y_score).astype(float)
    largest = np.abs(scores).max(initial=0.0)
    if largest > LARGEST_SCORE:
        accepted = f"accepted is at most {LARGEST_SCORE:g}"
        raise ArgumentError("y_score", f" holds {largest:g} in absolute value; {accepted}")
    return scores


def name_periods(
    times: Any, periods: Any, per: str, score_unit: str | None
) -> tuple[AnyArray, str]:
    """Return the period of each case, and the calendar's unit, or "given"."""
    if periods is not None and score_unit is not None:
        raise ArgumentError(
            "periods",
            " cannot be combined into weeks or months; leave out ",
            Argument("score_unit"),
        )
    if periods is not None:
        return read_ids(periods, "periods"), "given"
    if Calendar.from_name(per) is None:
        raise ArgumentError(
            "periods",
            f" is needed: the capacity is per {per!r}, which is not a unit of the calendar",
        )
    if not len(times):
        return np.zeros(0, dtype=object), per
    counted = Periods.from_times(times, per)
    return np.asarray(counted.names[counted.codes]), per
