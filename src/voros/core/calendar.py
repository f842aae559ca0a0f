"""Number the periods of the calendar: hours, shifts, days, weeks, months and years."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from voros.core.arguments import check_type
from voros.exceptions import ArgumentError
from voros.typing import AnyArray

NUMPY_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
"""Periods that are units of numpy."""

CALENDAR = ("hour", "shift", "day", "week", "month", "year")
"""The periods of the calendar."""

SHIFTS = (7 * 60, 15 * 60, 23 * 60)
"""Default starts of shifts, in minutes after midnight."""

MINUTES_PER_DAY = 24 * 60

DAYS_TO_MONDAY = 3
"""1970-01-01, day 0 of numpy's calendar, is a Thursday; weeks begin on Mondays."""


@dataclass(frozen=True)
class Calendar:
    """A division of time into periods.

    Attributes
    ----------
    unit : str
        One of `CALENDAR`.
    starts : tuple of int
        Starts of shifts, in minutes after midnight.
    """

    unit: str
    starts: tuple[int, ...] = ()

    @classmethod
    def from_name(cls, per: str) -> Calendar | None:
        """Return the calendar for the name of a period, or None for another name.

        Examples
        --------
        >>> Calendar.from_name("shift 6:00 18:00").name, Calendar.from_name("ward")
        ('shift 06:00,18:00', None)
        """
        check_type(per, "per", str, "the name of a period, such as 'day'")
        unit, _, stated = " ".join(per.split()).partition(" ")
        if unit not in CALENDAR or (stated and unit != "shift"):
            return None
        if unit != "shift":
            return cls(unit)
        if stated and not stated[0].isdigit():
            return None
        return cls(unit, _read_starts(stated) if stated else SHIFTS)

    @property
    def name(self) -> str:
        """The period as `Scenario` names it, with the starts of shifts unless they are default."""
        if self.starts in ((), SHIFTS):
            return self.unit
        clock = ",".join(f"{start // 60:02d}:{start % 60:02d}" for start in self.starts)
        return f"{self.unit} {clock}"

    def numbers(self, times: AnyArray) -> AnyArray:
        """Return the number of the period of each time.

        Examples
        --------
        >>> night = np.array(["2024-03-02T06:59", "2024-03-02T07:00"], dtype="datetime64[us]")
        >>> shifts = Calendar.from_name("shift")
        >>> shifts.names(shifts.numbers(night)).tolist()
        ['2024-03-01T23:00', '2024-03-02T07:00']
        """
        if self.unit in NUMPY_UNITS:
            return times.astype(f"datetime64[{NUMPY_UNITS[self.unit]}]").astype(np.int64)
        if self.unit == "week":
            return (times.astype("datetime64[D]").astype(np.int64) + DAYS_TO_MONDAY) // 7
        days, minutes = np.divmod(times.astype("datetime64[m]").astype(np.int64), MINUTES_PER_DAY)
        # Until the first shift of a day, the last shift of the previous day, number -1, continues.
        shift = np.searchsorted(self.starts, minutes, side="right") - 1
        return np.asarray(days * len(self.starts) + shift)

    def begins(self, numbers: AnyArray) -> AnyArray:
        """Return the start of each period as clock time."""
        if self.unit in NUMPY_UNITS:
            begins = numbers.astype(f"datetime64[{NUMPY_UNITS[self.unit]}]")
        elif self.unit == "week":
            begins = (7 * numbers - DAYS_TO_MONDAY).astype("datetime64[D]")
        else:
            days, shift = np.divmod(numbers, len(self.starts))
            minutes = days * MINUTES_PER_DAY + np.array(self.starts, dtype=np.int64)[shift]
            begins = minutes.astype("datetime64[m]")
        return np.asarray(begins)

    def names(self, numbers: AnyArray) -> AnyArray:
        """Return the ISO 8601 start of each period as its name; weeks begin on Mondays."""
        return self.begins(numbers).astype(str)

    def numbers_of(self, names: AnyArray) -> AnyArray:
        """Return the numbers of periods by name.

        Examples
        --------
        >>> weeks = Calendar.from_name("week")
        >>> weeks.numbers_of(weeks.names(np.array([7, 216]))).tolist()
        [7, 216]
        """
        return self.numbers(names.astype("datetime64[m]"))


def _read_starts(text: str) -> tuple[int, ...]:
    parts = re.split(r"[ ,]+", text.strip(" ,"))
    matches = [re.fullmatch(r"(\d{1,2}):(\d{2})", part) for part in parts]
    minutes = tuple(60 * int(match[1]) + int(match[2]) for match in matches if match)
    ordered = all(one < next_ for one, next_ in pairwise(minutes))
    valid = all(match and int(match[2]) < 60 for match in matches) and minutes[-1] < MINUTES_PER_DAY
    if not (valid and ordered):
        raise ArgumentError(
            "per",
            f"='shift {text}'; accepted are the times at which the shifts of a day begin, in "
            "their order, such as 'shift 06:00,18:00'",
        )
    return minutes
