"""Alarms and caught events at every threshold, against a loop over rows."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from alarms.ward_by_rows import HOUR, counted_events, follow, random_rule, random_ward
from slower import slow_after

from voros.alarms import sweep as sweeping
from voros.alarms.rule import AlarmRule
from voros.alarms.stays import CountedRows, Stays
from voros.alarms.sweep import ScoredRows, sweep


def scored_rows(stays, rule, score):
    return ScoredRows.from_scores(CountedRows.from_stays(stays, rule), stays.highest(score))


@pytest.mark.parametrize("seed", slow_after(6, range(20)))
def test_every_threshold_counts_as_a_loop_over_rows_does(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        ward, rule = random_ward(rng), random_rule(rng)
        stays = Stays.from_columns(ward.stay, ward.hour, ward.events)
        rows, scores = CountedRows.from_stays(stays, rule), stays.highest(ward.score)
        scored = ScoredRows.from_scores(rows, scores)
        curve = sweep(scored)
        assert rows.n_events == sum(len(counted_events(ward, s, rule)) for s in set(ward.stay))
        for row, threshold in enumerate(curve.thresholds):
            *expected, _ = follow(ward, rule, threshold)
            parts = zip(curve.with_event, curve.without_event, strict=True)
            assert [int(one[row] + other[row]) for one, other in parts] == expected
        threshold = rng.integers(0, 8)
        *expected, sounded = follow(ward, rule, threshold)
        by_stay = scored.counts_by_stay(threshold)
        assert [int(column.sum()) for column in by_stay] == expected
        at = rows.rows[scored.kept][scored.alarm_rows(threshold)]
        assert [(stays.names[stays.stay[i]], stays.times[i] / HOUR) for i in at] == sounded


def test_stays_longer_than_what_is_followed_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(sweeping, "ROWS_AT_ONCE", 7)
    for _ in range(30):
        ward, rule = random_ward(rng), random_rule(rng)
        stays = Stays.from_columns(ward.stay, ward.hour, ward.events)
        curve = sweep(scored_rows(stays, rule, ward.score))
        for row, threshold in enumerate(curve.thresholds):
            tp, fp, *_ = follow(ward, rule, threshold)
            assert curve.with_event.tp[row] == tp
            assert curve.with_event.fp[row] + curve.without_event.fp[row] == fp


def test_alarms_never_fall_with_the_threshold_and_are_as_many_as_fit():
    """Sounding as soon as possible keeps a largest set of crossings at least a snooze apart."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        n_rows, snooze = int(rng.integers(1, 10)), int(rng.integers(1, 8))
        hours = np.sort(rng.choice(20, n_rows, replace=False))
        values = rng.integers(0, 4, n_rows).astype(float)
        stays = Stays.from_columns(np.zeros(n_rows), hours, ([], []))
        rows = CountedRows.from_stays(stays, AlarmRule(snooze=snooze, horizon=1))
        curve = sweep(ScoredRows.from_scores(rows, stays.highest(values)))
        alarms = curve.without_event.alarms
        assert np.all(np.diff(alarms) >= 0)
        for count, threshold in zip(alarms, curve.thresholds, strict=True):
            crossings = hours[values >= threshold]
            largest = max(
                size
                for size in range(len(crossings) + 1)
                for chosen in combinations(crossings, size)
                if all(b - a >= snooze for a, b in pairwise(chosen))
            )
            assert count == largest


def test_an_early_false_alarm_can_silence_the_useful_one():
    stays = Stays.from_columns([1, 1], [0, 3], ([1], [6]))
    rows = CountedRows.from_stays(stays, AlarmRule(snooze=4, horizon=4))
    curve = sweep(ScoredRows.from_scores(rows, stays.highest([0.5, 0.8])))
    assert curve.thresholds.tolist() == [0.8, 0.5]
    assert curve.with_event.tp.tolist() == [1, 0]
    assert curve.with_event.fp.tolist() == [0, 1]


def test_one_alarm_in_a_window_where_the_snooze_is_longer_than_it():
    rng = np.random.default_rng(2)
    for _ in range(100):
        ward = random_ward(rng)
        rule = AlarmRule(snooze=8, horizon=8, lead=1, repeats="capacity_only")
        stays = Stays.from_columns(ward.stay, ward.hour, ward.events)
        curve = sweep(scored_rows(stays, rule, ward.score))
        for part in (curve.with_event, curve.without_event):
            assert np.array_equal(part.alarms, part.tp + part.fp)


def test_recall_and_precision_of_an_icu_by_hand():
    """Silence for 30 minutes, alarms count from 8 hours to 5 minutes before an event.

    Stay 1 fails at hour 10: alarms at 1.5 (too early), at 4 and 4.5 (caught, then a repeat), and at
    9.98, too late to count. Stay 2 never fails: one alarm at 2, and the crossing at 2.25 is
    silenced. Stay 3 fails at hour 6 without a crossing.
    """
    stay = [1, 1, 1, 1, 2, 2, 3]
    hour = [1.5, 4.0, 4.5, 9.98, 2.0, 2.25, 3.0]
    score = [0.9, 0.8, 0.8, 0.9, 0.8, 0.9, 0.1]
    stays = Stays.from_columns(stay, hour, ([1, 3], [10, 6]))
    rule = AlarmRule(snooze="30min", horizon="8h", lead="5min", repeats="capacity_only")
    rows = CountedRows.from_stays(stays, rule)
    counts = ScoredRows.from_scores(rows, stays.highest(score)).counts_by_stay(0.5)
    assert counts.tp.tolist() == [1, 0, 0]
    assert counts.fp.tolist() == [2, 1, 0]
    assert counts.alarms.tolist() == [4, 1, 0]
    tp, fp = counts.tp.sum(), counts.fp.sum()
    assert (tp / rows.n_events, tp / (tp + fp)) == (1 / 2, 1 / 4)


def test_events_that_no_scored_row_can_catch_are_counted():
    stays = Stays.from_columns([1, 2, 3], [0, 0, 5], ([1, 2, 3, 9], [20, 1, 4, 2]))
    rows = CountedRows.from_stays(stays, AlarmRule(snooze=1, horizon=6))
    scored = ScoredRows.from_scores(rows, stays.highest([0.5, np.nan, 0.5]))
    assert rows.n_events == 3  # of stays that have a row
    assert len(stays.event_stay) == 3
    assert scored.n_without_row == 3  # too late, no score, before the first row
