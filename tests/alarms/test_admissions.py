"""A mean capacity per day over stays: patients who are admitted on one day are one unit."""

from __future__ import annotations

import numpy as np
import pytest
from alarms.test_points import large_ward

import voros
from voros.exceptions import ArgumentError

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
PER_DAY = voros.Scenario(0.1, 4, 0.05, per="day")


def dated_ward(seed=0, n_stays=600, n_days=60):
    """The stays of a ward, admitted on random days, and the day of each."""
    stay, hour, score, events = large_ward(seed, n_stays=n_stays)
    day = np.sort(np.random.default_rng(seed).integers(0, n_days, n_stays))
    day[[0, -1]] = 0, n_days - 1
    start = np.datetime64("2024-03-01T08:00", "us") + day.astype("timedelta64[D]")

    def times(stays, hours):
        return start[stays] + (np.asarray(hours) * 3600).astype("timedelta64[s]")

    columns = {"stay": stay, "time": times(stay, hour), "score": score}
    return columns | {"events": (events[0], times(*events))}, day


def test_the_mean_capacity_is_that_of_all_days_of_admission():
    columns, _ = dated_ward()
    points = voros.alarm_points(**columns, rule=RULE)
    evaluation = voros.evaluate(points, scenario=PER_DAY)
    assert evaluation.max_alarms == 4 * 60
    rate = PER_DAY.changed(capacity=240 / points.stays.patient_days, per="patient-day")
    assert evaluation.score == voros.evaluate(points, scenario=rate).score


def test_sums_by_day_of_admission_are_those_of_its_stays():
    columns, day = dated_ward()
    stays = voros.alarm_points(**columns, rule=RULE).stays
    cohorts = stays.by_admission(PER_DAY)
    threshold = np.quantile(columns["score"], [0.9, 0.99])
    for by_day, by_stay in zip(cohorts.counts(threshold), stays.counts(threshold), strict=True):
        expected = [by_stay[day == d].sum(axis=0) for d in range(60)]
        assert np.array_equal(by_day, expected)


def test_a_guarantee_per_day_leaves_more_room_than_a_plain_choice():
    columns, _ = dated_ward(1, n_stays=4000, n_days=400)
    points = voros.alarm_points(**columns, rule=RULE)
    how = {"scenario": PER_DAY.changed(min_precision=0.0), "strategy": "recall"}
    plain = voros.ThresholdPolicy.from_points(points, **how)
    sure = voros.ThresholdPolicy.from_points(points, **how, guarantee=0.95, n_models=1)
    assert plain.threshold() < sure.threshold() < np.inf
    assert "alarms: at most 4 per day, on average\n" in str(sure)
    assert plain.evaluate_stays(points).alarms <= 4 * 400
    more = voros.ThresholdPolicy.from_points(
        points, **how | {"scenario": how["scenario"].changed(capacity=8)}
    )
    broken = sure.evaluate_stays(points).satisfied, more.evaluate_stays(points).satisfied
    assert broken == (True, True)
    assert more.threshold() < plain.threshold()


def test_patients_with_several_stays_are_refused():
    columns, _ = dated_ward()
    points = voros.alarm_points(**columns, groups=columns["stay"] // 2, rule=RULE)
    with pytest.raises(ArgumentError, match="groups and a capacity per day are mutually exclusive"):
        voros.evaluate(points, scenario=PER_DAY)
