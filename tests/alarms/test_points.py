"""Operating points of alarms over stays: what is read, what is counted, and what follows."""

from __future__ import annotations

import numpy as np
import pytest
from alarms.ward_by_rows import follow, random_rule, random_ward

import voros
from voros.core.operating_points import OperatingPoints
from voros.evaluation import evaluation_of
from voros.exceptions import ArgumentError

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
FLOOR = voros.Scenario(0.1, cost_ratio=(0.05, 0.1))
PER_DAY = voros.Scenario(0.2, 1.5, (0.05, 0.1), per="patient-day")


def points_of(ward, rule=RULE, **how):
    columns = {"stay": ward.stay, "time": ward.hour, "score": ward.score}
    return voros.alarm_points(**columns, events=ward.events, rule=rule, **how)


def large_ward(seed=0, n_stays=60, n_hours=40):
    """Hourly scores that rise before an event, of which a third of the stays has one."""
    rng = np.random.default_rng(seed)
    stay = np.repeat(np.arange(n_stays), n_hours)
    hour = np.tile(np.arange(n_hours), n_stays)
    at = rng.integers(6, n_hours, n_stays // 3)
    until = np.full(n_stays, 10**6)
    until[: len(at)] = at
    near = np.clip(1 - (until[stay] - hour) / 12, 0, 1) * (until[stay] >= hour)
    score = rng.normal(size=len(stay)) + 2 * near
    return stay, hour, score, (np.arange(len(at)), at)


@pytest.mark.filterwarnings("ignore::voros.exceptions.UnmatchedEventsWarning")
@pytest.mark.parametrize("seed", range(40))
def test_points_count_what_a_loop_over_rows_counts(seed):
    rng = np.random.default_rng(seed)
    ward, rule = random_ward(rng), random_rule(rng)
    points = points_of(ward, rule)
    assert points.thresholds[0] == np.inf
    assert np.all(np.diff(points.alarms) >= 0)
    counted = points.alarms if points.capacity_alarms is None else points.capacity_alarms
    for row in range(1, len(points)):
        tp, fp, alarms, _ = follow(ward, rule, points.thresholds[row])
        assert (points.tp[row], points.fp[row], counted[row]) == (tp, fp, alarms)


def test_frames_arrays_and_several_models_are_the_same():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    stay, hour, score, events = large_ward()
    start = np.datetime64("2024-03-30T20:00", "us")
    columns = {"id": stay, "at": start + hour * np.timedelta64(1, "h"), "a": score, "b": -score}
    when = {"id": events[0], "at": start + events[1] * np.timedelta64(1, "h")}
    arrays = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=RULE)
    zoned = pandas.DataFrame(columns).sample(frac=1, random_state=0)
    zoned["at"] = zoned["at"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    zoned_events = pandas.DataFrame(when)
    zoned_events["at"] = zoned_events["at"].dt.tz_localize("UTC")
    frames = [
        (columns, when),
        (polars.DataFrame(columns), polars.DataFrame(when)),
        (zoned, zoned_events),
    ]
    for rows, event_rows in frames:
        names = {"stay": "id", "time": "at", "events": event_rows, "rule": RULE}
        one = voros.alarm_points(rows, score="a", **names)
        both = voros.alarm_points(rows, score=["a", "b"], **names)
        for points in (one, both["a"]):
            for column in ("thresholds", "tp", "fp"):
                assert np.array_equal(getattr(points, column), getattr(arrays, column))
        assert list(both) == ["a", "b"]


def test_a_stay_may_be_listed_without_an_event():
    pandas = pytest.importorskip("pandas")
    times = pandas.Series(pandas.to_datetime(["2024-01-01T05:00", None], utc=True))
    rows = pandas.DataFrame({"stay": [1, 1, 2], "score": [0.2, 0.9, 0.4]})
    rows["time"] = pandas.to_datetime(["2024-01-01T00", "2024-01-01T02", "2024-01-01T00"], utc=True)
    events = pandas.DataFrame({"stay": [1, 2], "time": times})
    points = voros.alarm_points(
        rows, stay="stay", time="time", score="score", events=events, rule=RULE
    )
    assert points.stays.n_events == 1
    assert points.tp.max() == 1
    events["time"] = events["time"].dt.tz_localize(None)
    with pytest.raises(ArgumentError, match="events are times by a clock without a time zone"):
        voros.alarm_points(rows, stay="stay", time="time", score="score", events=events, rule=RULE)


def test_missing_and_infinite_scores():
    points = voros.alarm_points(
        stay=[1, 1, 1], time=[0, 1, 9], score=[None, np.inf, 0.5], events=([1], [4]), rule=RULE
    )
    assert np.isfinite(points.thresholds[1])  # +inf raises no alarm
    assert (points.tp.tolist(), points.fp.tolist()) == ([0, 1], [0, 0])
    assert points.stays.lead_times(points.thresholds[1]).tolist() == [3.0]


@pytest.mark.parametrize("seed", range(5))
def test_the_score_is_the_same_whatever_the_number_of_negatives(seed):
    stay, hour, score, events = large_ward(seed)
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=RULE)
    counts = points.tp[1:], points.fp[1:], points.n_positive
    for limits in (PER_DAY, PER_DAY.changed(min_precision=0.0), PER_DAY.without_capacity()):
        evaluation = evaluation_of(points, limits)
        assert 0 < evaluation.score < 1
        most = int(evaluation.max_alarms)
        for n_negative in (10_000, 1_000_000):
            other = OperatingPoints.from_counts(*counts, n_negative, points.thresholds[1:])
            capacity = 1.0 if limits.per is None else evaluation.max_alarms / other.n_cases
            there = evaluation_of(other, limits.changed(capacity=capacity, per=None))
            assert there.score == pytest.approx(evaluation.score, rel=1e-6)
            assert [choice.threshold for choice in there.choices] == [
                choice.threshold for choice in evaluation.choices
            ]
        assert all(choice.alarms <= most for choice in evaluation.choices)


def test_few_slots_do_not_cut_the_region():
    """Two slots and one event: a floor of 0.1 allows 9 false alarms, more than are possible."""
    points = voros.alarm_points(
        stay=[1, 2], time=[0, 0], score=[0.4, 0.9], events=([1], [3]), rule=RULE
    )
    assert points.n_negative == 2
    evaluation = evaluation_of(points, voros.Scenario(0.1, cost_ratio=0.05))
    # The best point is (1 false, 1 caught). At a cost of 0.05 of a false alarm the triangle with
    # corners (0, 0), (9, 1) and (0, 1) is costlier where y - 0.05 x < 0.95: all of its area but
    # the corner (0, 1), (0, 0.95), (1, 1), which is 1/40 of 9/2.
    assert evaluation.score == pytest.approx(1 - (1 / 40) / (9 / 2))


def test_capacity_is_a_rate_over_patient_days():
    stay, hour, score, events = large_ward()
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=RULE)
    days = points.stays.patient_days
    hours = sum(min(40, e + 1) for e in events[1]) + 40 * 40
    assert days == pytest.approx(hours / 24)
    feasible = points.feasible(PER_DAY.changed(min_precision=0.0))
    assert np.array_equal(feasible, 24 * points.alarms <= 1.5 * hours)


def test_alarms_for_the_capacity_only_count_there():
    stay, hour, score, events = large_ward()
    rule = voros.AlarmRule(snooze=1, horizon=8, repeats="capacity_only")
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=rule)
    assert np.any(points.capacity_alarms > points.alarms)
    limits = PER_DAY.changed(min_precision=0.3)
    most = points.max_alarms(limits)
    expected = (points.capacity_alarms <= most) & (points.tp >= 0.3 * (points.tp + points.fp))
    assert np.array_equal(points.feasible(limits)[1:], expected[1:])
    chosen = evaluation_of(points, limits).decision.hull.index
    assert np.all(points.capacity_alarms[chosen] <= most)


def test_prevalence_reweights_stays():
    """Three copies of each stay without an event are the same ward at another prevalence."""
    stay, hour, score, events = large_ward(n_stays=30)
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=RULE)
    without = stay >= 10
    copies = [(stay + 100 * i, hour, score) for i in range(3)]
    rows = [
        np.concatenate([copies[0][k], copies[1][k][without], copies[2][k][without]])
        for k in range(3)
    ]
    larger = voros.alarm_points(stay=rows[0], time=rows[1], score=rows[2], events=events, rule=RULE)
    limits = voros.Scenario(0.1, 2.0, (0.05, 0.1), per="patient-day")
    shifted = evaluation_of(points, limits.changed(prevalence=10 / 70))
    assert shifted.score == pytest.approx(evaluation_of(larger, limits).score)


def test_patients_may_have_several_stays():
    stay, hour, score, events = large_ward(n_stays=6)
    patient = stay // 2
    how = {"time": hour, "score": score, "events": events, "rule": RULE}
    points = voros.alarm_points(stay=stay, groups=patient, **how)
    counts = points.stays.counts(points.thresholds[[5, 9]])
    assert counts.alarms.shape == (3, 2)
    assert counts.tp.sum(axis=0).tolist() == points.tp[[5, 9]].tolist()
    with pytest.raises(ArgumentError, match="gives the stay 0 to more than one patient"):
        voros.alarm_points(stay=stay, groups=np.arange(len(stay)), **how)


def ward(**changed):
    columns = {"stay": [1, 1, 2], "time": [0, 2, 0], "score": [0.2, 0.9, 0.4]}
    return columns | {"events": ([1], [5]), "rule": RULE} | changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"stay": "id"}, "stay='id' names a column; give the rows first"),
        ({"rule": 12}, "rule is a int; accepted is a voros.AlarmRule"),
        ({"events": [1]}, "events='stay' is not a column; accepted are none"),
        ({"events": {"stay": [1]}}, "events='time' is not a column; accepted are 'stay'"),
        ({"score": ["x", "y", "z"]}, "score must be numbers; it holds the text"),
        ({"time": [0, np.nan, 1]}, "time holds numbers that are not hours"),
        ({"stay": [1, None, 2]}, "stay is missing in 1 of 4 cases"),
        ({"score": [0.1]}, "stay has 3, score has 1"),
        ({"events": ([1], ["2024-01-01"])}, "events are times by a clock"),
    ],
)
def test_wrong_columns_are_refused_by_name(changed, message):
    with pytest.raises((ValueError, TypeError), match=message):
        voros.alarm_points(**ward(**changed))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"capacity": 0.5}, "capacity=0.5 is a share of cases, which stays do not have"),
        ({"capacity": 2, "per": "day"}, "per=.day. needs times that are dates"),
        ({"capacity": 2, "per": "ward"}, "per=.ward.; accepted over stays are .patient"),
        ({"capacity": 2, "per": "day", "exceed": 0.1}, "exceed=0.1: alarms of neighbouring"),
    ],
)
def test_limits_of_cases_are_refused(limits, message):
    scenario = voros.Scenario(0.1, cost_ratio=0.1, **limits)
    with pytest.raises(ArgumentError, match=message):
        evaluation_of(voros.alarm_points(**ward()), scenario)


def test_a_rate_is_refused_of_cases_and_events_are_needed():
    with pytest.raises(ArgumentError, match="per='patient-day' is a rate over stays; it needs"):
        voros.evaluate([0, 1], [0.2, 0.7], PER_DAY)
    with pytest.raises(ArgumentError, match=r"exceed=0.1 cannot be combined"):
        voros.Scenario(capacity=0.1, cost_ratio=0.1, per="patient-day", exceed=0.1)
    with pytest.raises(voros.InfeasibleError, match=r"0.1 of 0.25 patient-days is 0.025 alarms"):
        evaluation_of(
            voros.alarm_points(**ward()), voros.Scenario(0.1, 0.1, 0.1, per="patient-day")
        )
    with pytest.raises(ValueError, match="the stays hold no event that counts"):
        evaluation_of(voros.alarm_points(**ward(events=([], []))), PER_DAY)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda points: voros.net_benefit(points, scenario=FLOOR, threshold_probability=0.1),
            "net benefit is of cases",
        ),
        (
            lambda points: voros.allocate({"a": points, "b": points}, scenario=FLOOR, capacity=5),
            "a shared capacity is of cases",
        ),
    ],
)
def test_what_counts_cases_refuses_stays(use, message):
    points = voros.alarm_points(**ward())
    with pytest.raises(ArgumentError, match=f"y_true holds alarms over stays; {message}"):
        use(points)
