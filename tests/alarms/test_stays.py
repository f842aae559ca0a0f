"""Rows and events in order of stay and time, whatever they are given as."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from voros.alarms.rule import AlarmRule
from voros.alarms.stays import CountedRows, Stays
from voros.exceptions import ArgumentError


def test_datetimes_hours_and_zones_are_the_same_times():
    hours = [0, 1.5, 30]
    start = np.datetime64("2024-03-30T22:00")
    local = start + np.array([0, 90, 1800], dtype="timedelta64[m]")
    pandas = pytest.importorskip("pandas")
    zoned = pandas.Series(local).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    spans = [
        np.diff(Stays.from_columns(["a"] * 3, times, ([], [])).times)
        for times in (hours, local, zoned, local.astype(str).tolist())
    ]
    assert all(np.array_equal(span, spans[0]) for span in spans)


def test_days_are_those_at_which_an_alarm_may_sound():
    # Hourly rows: stay 1 has six, of which the event at hour 2 leaves hours 0 to 2.
    stays = Stays.from_columns([1] * 6 + [2] * 4, [0, 1, 2, 3, 4, 5, 0, 1, 2, 3], ([1], [2]))
    ended = CountedRows.from_stays(stays, AlarmRule(snooze=1, horizon=2))
    assert ended.days * 24 == pytest.approx([3, 4])
    resumed = CountedRows.from_stays(stays, AlarmRule(snooze=1, horizon=2, reset=3))
    assert resumed.days * 24 == pytest.approx([4, 4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"snooze": "12 hours", "horizon": 1}, "snooze='12 hours'; accepted is a number of hours"),
        ({"snooze": -1, "horizon": 1}, "snooze=-1; accepted is a number of hours"),
        ({"snooze": 1, "horizon": "1h", "lead": "90min"}, "lead='90min'; accepted"),
        ({"snooze": 1, "horizon": 1, "repeats": "no"}, "repeats='no'; accepted are"),
    ],
)
def test_a_wrong_rule_is_refused_by_name(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        AlarmRule(**arguments)


def test_durations_are_written_in_several_ways():
    one = AlarmRule(snooze=12, horizon=timedelta(hours=8), lead="5min")
    assert one == AlarmRule(snooze="12h", horizon="8h", lead=timedelta(minutes=5))
    assert AlarmRule(**one.fields()) == one


def test_times_that_are_no_hours_are_refused():
    with pytest.raises(ArgumentError, match="time holds numbers that are not hours"):
        Stays.from_columns([1], [np.nan], ([], []))
