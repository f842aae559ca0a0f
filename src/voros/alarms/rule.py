"""When a score over a stay sounds an alarm, and which events an alarm catches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, get_args

from voros.core.arguments import check_choice, check_number
from voros.exceptions import Argument, ArgumentError

Repeats = Literal["false_alarm", "capacity_only", "ignored"]
Unfinished = Literal["false_alarm", "capacity_only"]

MICROSECONDS = {"s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 24 * 3600 * 10**6}
"""Units of a duration. All times are counted in whole microseconds, so that sums are exact."""

MICROSECONDS_PER_DAY = MICROSECONDS["d"]

LONGEST_HOURS = 10.0**6
"""The longest duration, more than a century."""

ACCEPTED_DURATIONS = "a number of hours, a timedelta, or text such as '12h', '30min' or '2d'"


@dataclass(frozen=True, kw_only=True)
class AlarmRule:
    """When a score over a stay sounds an alarm, and which events an alarm catches.

    An alarm sounds when the score reaches the threshold and no earlier alarm of the stay has
    silenced it. An event is caught when an alarm sounds between ``horizon`` and ``lead`` before it
    and after the event before it. Rows after an event do not count.

    Parameters
    ----------
    snooze : duration
        How long an alarm silences the ones after it.
    horizon : duration
        An alarm more than this long before an event does not catch it.
    lead : duration, default 0
        Nor does an alarm less than this long before it, because there is no time left to act.
    reset : duration, optional
        How long after an event rows do not count. By default none of the rows after the first event
        of a stay counts, and neither do its later events.
    repeats : {"false_alarm", "capacity_only", "ignored"}, default "false_alarm"
        How a further alarm counts before an event that is already caught. There is none where
        ``snooze > horizon - lead``.
    unfinished : {"false_alarm", "capacity_only"}, default "false_alarm"
        How an alarm counts less than ``horizon`` before the end of a stay without an event.

    Durations are numbers of hours, timedeltas, or text such as ``"12h"``, ``"30min"`` or ``"2d"``.

    Examples
    --------
    >>> AlarmRule(snooze="12h", horizon="12h", lead="1h")
    AlarmRule(snooze='12h', horizon='12h', lead='1h')
    >>> AlarmRule(snooze="30min", horizon="8h", lead="5min", repeats="ignored").lead
    300000000
    >>> AlarmRule(snooze=12, horizon=1, lead=2)
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: lead='2h'; accepted is a duration of at most horizon='1h'
    """

    snooze: int
    horizon: int
    lead: int = 0
    reset: int | None = None
    repeats: Repeats = "false_alarm"
    unfinished: Unfinished = "false_alarm"

    def __init__(
        self,
        *,
        snooze: Any,
        horizon: Any,
        lead: Any = 0,
        reset: Any = None,
        repeats: Repeats = "false_alarm",
        unfinished: Unfinished = "false_alarm",
    ) -> None:
        durations = {"snooze": snooze, "horizon": horizon, "lead": lead}
        if reset is not None:
            durations["reset"] = reset
        for name, duration in durations.items():
            object.__setattr__(self, name, read_duration(duration, name))
        check_choice(repeats, "repeats", get_args(Repeats))
        check_choice(unfinished, "unfinished", get_args(Unfinished))
        object.__setattr__(self, "repeats", repeats)
        object.__setattr__(self, "unfinished", unfinished)
        if self.lead > self.horizon:
            longest = show_duration(self.horizon)
            raise ArgumentError(
                "lead",
                f"={show_duration(self.lead)!r}; accepted is a duration of at most ",
                Argument(f"horizon={longest!r}", "horizon", longest),
            )

    def fields(self) -> dict[str, Any]:
        """Return the arguments as plain values that a file can hold."""
        durations = {
            name: show_duration(getattr(self, name))
            for name in ("snooze", "horizon", "lead", "reset")
            if getattr(self, name) is not None
        }
        return {**durations, "repeats": self.repeats, "unfinished": self.unfinished}

    @property
    def _stated(self) -> dict[str, str]:
        """The arguments that differ from the defaults."""
        return {
            name: value
            for name, value in self.fields().items()
            if name in ("snooze", "horizon") or value not in ("0h", "false_alarm")
        }

    @property
    def words(self) -> str:
        """The arguments that differ from the defaults, in words."""
        return ", ".join(f"{name} {value}" for name, value in self._stated.items())

    def __repr__(self) -> str:
        """Show the arguments that differ from the defaults."""
        return f"AlarmRule({', '.join(f'{name}={v!r}' for name, v in self._stated.items())})"


def read_duration(duration: Any, name: str) -> int:
    """Return a duration in whole microseconds.

    Examples
    --------
    >>> read_duration("1.5h", "snooze") == read_duration(timedelta(minutes=90), "snooze")
    True
    """
    if isinstance(duration, timedelta):
        duration = duration / timedelta(hours=1)
    if isinstance(duration, str):
        parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h|d)\s*", duration)
        if parts is None:
            accepted = Argument(ACCEPTED_DURATIONS, name, "12h, 30min or 2d")
            raise ArgumentError(name, f"={duration!r}; accepted is ", accepted)
        duration = float(parts[1]) * MICROSECONDS[parts[2]] / MICROSECONDS["h"]
    hours = check_number(duration, name, ACCEPTED_DURATIONS, 0.0, LONGEST_HOURS)
    return round(hours * MICROSECONDS["h"])


def show_duration(microseconds: int) -> str:
    """Return a duration as text, in the largest of hours, minutes and seconds that divides it.

    Examples
    --------
    >>> show_duration(43_200_000_000), show_duration(300_000_000), show_duration(1_500_000)
    ('12h', '5min', '1.5s')
    """
    for unit in ("h", "min"):
        if microseconds % MICROSECONDS[unit] == 0:
            return f"{microseconds // MICROSECONDS[unit]}{unit}"
    return f"{microseconds / MICROSECONDS['s']:.6f}".rstrip("0").rstrip(".") + "s"
