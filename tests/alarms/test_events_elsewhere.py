"""Events of stays without a row: left out and reported; a warning where there are no others."""

from __future__ import annotations

import json

import numpy as np
import pytest
from alarms.test_points import large_ward

import voros
from voros.alarms import batches
from voros.alarms.stays import Stays
from voros.exceptions import UnmatchedEventsWarning

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
SCENARIO = voros.Scenario(0.2, 1.5, (0.02, 0.2), per="patient-day")
COLUMNS = {"stay": "stay", "time": "hour", "score": "score"}
LEFT_OUT = "3 events of stays without a row are left out"


def as_objects(values):
    """Return names as data frames of text have them."""
    return np.array(values, dtype=object)


def hospital(n_stays=240):
    """A ward, and its events with those of two stays of another: 3, of which one comes twice."""
    stay, hour, score, (of, at) = large_ward(0, n_stays=n_stays)
    elsewhere = [9001, 9001, 9002, 9002], [4, 7, 4, 4]
    events = np.append(of, elsewhere[0]), np.append(at, elsewhere[1])
    return {"stay": stay, "hour": hour, "score": score}, events, (of, at)


def test_events_elsewhere_change_no_count_and_are_said():
    rows, events, own = hospital()
    points = voros.alarm_points(rows, **COLUMNS, events=events, rule=RULE)
    alone = voros.alarm_points(rows, **COLUMNS, events=own, rule=RULE)
    assert (points.stays.n_events_elsewhere, alone.stays.n_events_elsewhere) == (3, 0)
    assert np.array_equal(points.tp, alone.tp)
    assert points.n_positive == alone.n_positive
    assert repr(points) == repr(alone)[:-1] + f"; {LEFT_OUT})"
    one = [*own[0].tolist(), 9001], [*own[1].tolist(), 4]
    said = repr(voros.alarm_points(rows, **COLUMNS, events=one, rule=RULE))
    assert "; 1 event of a stay without a row is left out" in said


def test_an_evaluation_says_how_many_and_its_subgroups_have_none():
    rows, events, own = hospital()
    points = voros.alarm_points(rows, **COLUMNS, events=events, rule=RULE)
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO)
    how = COLUMNS | {"by": "ward"}
    rows["ward"] = rows["stay"] % 2
    tested = policy.evaluate_stays(rows, **how, events=events)
    alone = policy.evaluate_stays(rows, **how, events=own)
    assert (tested.n_events, tested.tp) == (alone.n_events, alone.tp)
    assert json.loads(json.dumps(tested.values()["n_events_elsewhere"])) == 3
    assert LEFT_OUT in repr(tested)
    assert "left out" not in repr(alone)
    parts = tested.by_subgroup.results
    assert sum(part.n_events for part in parts) == alone.n_events
    assert [part.n_events_elsewhere for part in parts] == [0, 0]


def test_stays_keep_the_number_and_their_parts_have_none():
    stays = Stays.from_columns([5, 3, 5], [0, 0, 1], ([4, 5, 9, 4, 4, 1], [2, 2, 2, 2, 3, 0]))
    assert stays.names.tolist() == [3, 5]
    assert stays.event_stay.tolist() == [1]
    assert stays.n_events_elsewhere == 4
    assert stays.only(np.array([True, False])).n_events_elsewhere == 0


@pytest.mark.parametrize(
    ("of_rows", "of_events", "shown"),
    [
        ([7, 7, 8], as_objects(["7", "8"]), "stay '7', the first row of 7"),
        (as_objects(["7", "7", "8"]), [7, 8], "stay 7, the first row of '7'"),
        (["007", "007", "008"], ["7", "8"], "stay '7', the first row of '007'"),
    ],
)
def test_stays_that_are_written_differently_are_warned_of(of_rows, of_events, shown):
    how = {"stay": of_rows, "time": [0, 1, 0], "score": [0.9, 0.2, 0.5], "rule": RULE}
    with pytest.warns(UnmatchedEventsWarning, match=f"none of 2 belongs to a stay.*{shown}"):
        points = voros.alarm_points(**how, events=(of_events, [3, 4]))
    assert (points.stays.n_events, points.stays.n_events_elsewhere) == (0, 2)


def test_some_names_of_another_type_are_counted_without_a_warning():
    """Of 3 events one is of stay 8; "7" as text is not stay 7."""
    events = as_objects(["7", 8, "8"]), [3, 4, 4]
    columns = {"stay": as_objects([7, 8]), "time": [0, 0], "score": [0.9, 0.5]}
    points = voros.alarm_points(**columns, events=events, rule=RULE)
    assert (points.n_positive, points.stays.n_events_elsewhere) == (1, 2)


def test_no_event_at_all_is_no_reason_to_warn():
    how = {"stay": [7, 8], "time": [0, 0], "score": [0.9, 0.5], "rule": RULE}
    assert voros.alarm_points(**how, events=([], [])).stays.n_events_elsewhere == 0


def test_rows_as_they_come_are_not_warned_of():
    """Events so far may be of patients who have no row this hour."""
    rows, events, _ = hospital()
    points = voros.alarm_points(rows, **COLUMNS, events=events, rule=RULE)
    policy = voros.ThresholdPolicy.from_points(points, SCENARIO)
    sounded, _ = policy.alarms(stay=[1], time=[5], score=[99.0], events=([2], [3]))
    assert sounded.tolist() == [True]


@pytest.mark.parametrize("n_batches", [1, 7])
def test_batches_count_events_elsewhere_once(n_batches, monkeypatch):
    pl = pytest.importorskip("polars")
    rows, events, own = hospital()
    lazy = pl.DataFrame(rows).lazy()
    monkeypatch.setattr(batches, "ROWS_IN_BATCH", len(rows["stay"]) // n_batches + 1)
    how = COLUMNS | {"rule": RULE, "scenario": SCENARIO}
    points = voros.alarm_points(lazy, **how, events=events)
    assert points.stays.n_events_elsewhere == 3
    assert points.n_positive == len(np.unique(own[0]))
    # All events in the first stays: the batches after them have none, and there is no warning.
    few = voros.alarm_points(lazy, **how, events=(own[0][:1], own[1][:1]))
    assert (few.n_positive, few.stays.n_events_elsewhere) == (1, 0)
    named = as_objects(own[0].astype(str)), own[1]
    floorless = how | {"scenario": SCENARIO.changed(min_precision=0.0)}
    with pytest.warns(UnmatchedEventsWarning, match=f"none of {len(own[0]):,} .* row of 0"):
        none = voros.alarm_points(lazy, **floorless, events=named)
    assert none.stays.n_events_elsewhere == len(own[0])
