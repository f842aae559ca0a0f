"""Stays that are read in batches: the same thresholds, counts and choices as in memory."""

from __future__ import annotations

import numpy as np
import pytest
from alarms.test_points import large_ward

import voros
from voros.alarms import batches
from voros.exceptions import ArgumentError, IncompleteCountsError

pl = pytest.importorskip("polars")

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
SCENARIO = voros.Scenario(0.2, 1.5, (0.02, 0.2), per="patient-day")
COLUMNS = {"stay": "stay", "time": "hour", "score": "score"}


def frame_of(seed=0, n_stays=240):
    """Rows in random order, and their events."""
    stay, hour, score, events = large_ward(seed, n_stays=n_stays)
    rows = pl.DataFrame({"stay": [f"s{s}" for s in stay], "hour": hour, "score": score})
    named = [f"s{s}" for s in events[0]], events[1]
    return rows.sample(fraction=1.0, shuffle=True, seed=1), named


def polars_lazy(rows, _folder):
    return rows.lazy()


def duckdb_file(rows, folder):
    duckdb = pytest.importorskip("duckdb")
    rows.write_csv(folder / "rows.csv")
    return duckdb.read_csv(str(folder / "rows.csv"))


@pytest.mark.parametrize("open_rows", [polars_lazy, duckdb_file])
@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_batches_choose_what_rows_in_memory_choose(open_rows, prevalence, tmp_path, monkeypatch):
    rows, events = frame_of()
    scenario = SCENARIO.changed(prevalence=prevalence)
    monkeypatch.setattr(batches, "ROWS_IN_BATCH", len(rows) // 7)
    whole = voros.alarm_points(rows, **COLUMNS, events=events, rule=RULE)
    lazy = open_rows(rows, tmp_path)
    few = voros.alarm_points(lazy, **COLUMNS, events=events, rule=RULE, scenario=scenario)
    assert len(few) < len(whole) / 2
    assert (few.stays.n_stays, few.stays.n_events) == (240, whole.stays.n_events)
    assert few.stays.patient_days == pytest.approx(whole.stays.patient_days)
    evaluation, expected = (voros.evaluate(points, scenario=scenario) for points in (few, whole))
    assert evaluation.score == pytest.approx(expected.score, rel=1e-12)
    assert evaluation.choices == expected.choices
    of_whole, of_few = (
        dict(zip(p.thresholds, zip(p.tp, p.fp, strict=True), strict=True)) for p in (whole, few)
    )
    assert all(of_whole[threshold] == counts for threshold, counts in of_few.items())


def test_batches_are_read_again_where_the_first_one_misled(monkeypatch):
    """The first stays alarm all the time, the others never do: thresholds start far too high."""
    stay = np.repeat(np.arange(40), 10)
    score = np.where(stay < 10, 9.0, 0.0) + np.arange(400) % 7
    rows = pl.DataFrame({"stay": stay, "hour": np.tile(np.arange(10), 40), "score": score})
    events = np.arange(40), np.full(40, 9)
    monkeypatch.setattr(batches, "ROWS_IN_BATCH", 100)
    scenario = voros.Scenario(0.0, 3.0, 0.001, per="patient-day")
    reaches, first = [], batches._BatchSums.from_first

    def recorded(stays, limits, reach):
        reaches.append(reach)
        return first(stays, limits, reach)

    monkeypatch.setattr(batches._BatchSums, "from_first", recorded)
    whole = voros.alarm_points(rows, **COLUMNS, events=events, rule=RULE)
    few = voros.alarm_points(rows.lazy(), **COLUMNS, events=events, rule=RULE, scenario=scenario)
    evaluation, expected = (voros.evaluate(points, scenario=scenario) for points in (few, whole))
    assert evaluation.choices == expected.choices
    assert reaches == [2.0, 8.0]


def test_several_models_and_rules_in_batches(monkeypatch):
    rows, events = frame_of()
    rows = rows.with_columns(other=pl.col("score") * -1)
    monkeypatch.setattr(batches, "ROWS_IN_BATCH", 500)
    how = {"stay": "stay", "time": "hour", "score": ["score", "other"], "events": events}
    rules = {name: voros.AlarmRule(snooze=name, horizon=5) for name in ("3h", "6h")}
    lazy = voros.alarm_points(rows.lazy(), **how, rule=rules, scenario=SCENARIO)
    whole = voros.alarm_points(rows, **how, rule=rules)
    assert list(lazy) == list(whole) == ["score, 3h", "other, 3h", "score, 6h", "other, 6h"]
    chosen, expected = (voros.select_model(p, scenario=SCENARIO) for p in (lazy, whole))
    assert chosen.winner == expected.winner
    assert chosen.policy().threshold() == expected.policy().threshold()


def test_what_needs_rows_says_so():
    rows, events = frame_of()
    few = voros.alarm_points(rows.lazy(), **COLUMNS, events=events, rule=RULE, scenario=SCENARIO)
    policy = voros.ThresholdPolicy.from_points(few, SCENARIO)
    with pytest.raises(ArgumentError, match="counted in batches"):
        policy.evaluate_stays(few)
    with pytest.raises(ArgumentError, match="counted in batches"):
        voros.bootstrap(few, scenario=SCENARIO)
    with pytest.raises((ArgumentError, IncompleteCountsError)):
        voros.ThresholdPolicy.from_points(few, SCENARIO, guarantee=0.95, n_models=1)
    with pytest.raises(IncompleteCountsError, match="not counted for"):
        voros.evaluate(few, scenario=SCENARIO.changed(capacity=3.0))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scenario": None}, "scenario"),
        ({"scenario": voros.Scenario(cost_ratio=0.1)}, "scenario sets no bound on the alarms"),
        ({"rule": voros.AlarmRule(snooze=1, horizon=2, repeats="ignored")}, "repeats other than"),
        ({"stay": "ward"}, "rows has no column 'ward'"),
        ({"stay": [1, 2]}, "names of columns"),
        ({"groups": "stay"}, "groups are accepted with rows in memory"),
    ],
)
def test_a_lazy_frame_needs_limits_and_names(changed, message):
    rows, events = frame_of(n_stays=20)
    how = {**COLUMNS, "events": events, "rule": RULE, "scenario": SCENARIO, **changed}
    with pytest.raises((ArgumentError, TypeError), match=message):
        voros.alarm_points(rows.lazy(), **how)


def test_stays_without_a_name_and_a_scenario_in_memory_are_refused():
    rows, events = frame_of(n_stays=20)
    unknown = rows.with_columns(stay=pl.when(pl.col("hour") > 0).then(pl.col("stay")))
    how = {**COLUMNS, "events": events, "rule": RULE, "scenario": SCENARIO}
    with pytest.raises(ArgumentError, match="stay='stay' holds missing values"):
        voros.alarm_points(unknown.lazy(), **how)
    with pytest.raises(ArgumentError, match="scenario is accepted with a lazy frame"):
        voros.alarm_points(rows, **how)
