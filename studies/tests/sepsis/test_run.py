"""The study from files to tables: choices agree with a plain loop, and runs resume."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import pytest
from sepsis.made_up import write_stays

from voros_studies.experiments.cases import LabelledCases, split_patients
from voros_studies.experiments.grid import Candidate
from voros_studies.sepsis import read_hours, run_physionet2019
from voros_studies.sepsis.one_split import (
    EVENTS,
    LEVELS,
    SCENARIO,
    SELECTED,
    SepsisData,
    choose_thresholds,
    fit_and_score,
    outcome,
    quick_sepsis_grid,
    run_split,
    training_rows,
)
from voros_studies.sepsis.tables import CHOSEN_ON, models_table, selected_table

CHALLENGE = os.environ.get("VOROS_PHYSIONET2019")
FLOOR, RATE = SCENARIO.min_precision, SCENARIO.capacity
pytestmark = pytest.mark.filterwarnings("ignore::voros.exceptions.NeverAlarmWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sepsis") / "training_setA"
    write_stays(folder, 240)
    return folder


@pytest.fixture(scope="module")
def scored(folder):
    data = SepsisData.from_stays(read_hours(folder))
    n = len(data.stays)
    split = split_patients(LabelledCases(np.zeros((n, 0)), data.stays.septic, np.arange(n), ()))
    return data, split, *fit_and_score(data, split, 0, quick_sepsis_grid()[:1])


def plain_counts(part, scores, threshold):
    """Alarms, events caught and days of a threshold, row by row."""
    stays, alarms, caught, hours = part.data.stays, 0, 0, 0
    position = {row: place for place, row in enumerate(part.rows)}
    for stay in part.chosen:
        onset, next_hour, useful = stays.onset[stay], 0, False
        for row in np.flatnonzero(stays.stay == stay):
            hour = stays.hour[row]
            if hour > onset:
                break
            hours += 1
            if hour >= next_hour and scores[position[row]] >= threshold:
                alarms += 1
                next_hour = hour + 12
                useful |= bool(onset - 12 <= hour <= onset - 1)
        caught += useful
    return alarms, caught, hours / 24


def test_what_a_threshold_does_is_what_a_plain_loop_counts(scored):
    _, _, valid, test = scored
    name = quick_sepsis_grid()[0].name
    for level, threshold in choose_thresholds(valid, name).items():
        measured = outcome(test, name, level, threshold)
        alarms, caught, days = plain_counts(test, test.scores[name], threshold)
        assert (measured.alarms, measured.caught) == (alarms, caught)
        assert measured.per_day == pytest.approx(alarms / days)
        expected = {"precision"} if caught < FLOOR * alarms else set()
        assert set(measured.broken) == expected | ({"capacity"} if alarms > RATE * days else set())


def test_events_choose_the_least_cost_within_the_limits(scored):
    _, _, valid, _ = scored
    name = quick_sepsis_grid()[0].name
    chosen = choose_thresholds(valid, name)[EVENTS]
    costs = {}
    for threshold in [*np.unique(valid.scores[name][::40]).tolist(), chosen]:
        alarms, caught, days = plain_counts(valid, valid.scores[name], threshold)
        if alarms and alarms <= RATE * days and caught >= FLOOR * alarms:
            costs[threshold] = 0.0375 * (alarms - caught) - caught
    assert costs[chosen] == min(costs.values()) < 0


def test_no_patient_is_in_two_parts_and_fits_see_training_rows_alone(scored):
    data, split, _, test = scored
    assert not set(split.train) & set(split.valid) | set(split.test) & set(split.valid)
    assert sorted([*split.train, *split.valid, *split.test]) == list(range(len(data.stays)))
    rows = training_rows(data, split.train, 0)
    assert set(data.stays.stay[rows]) <= set(split.train)
    assert set(data.stays.stay[test.rows]) == set(split.test)
    due = data.rows_of(split.train)[data.due[data.rows_of(split.train)]]
    assert set(due) <= set(rows)


class StopError(Exception):
    """Stands for a run that is interrupted."""


@pytest.mark.slow
def test_an_interrupted_run_resumes_and_ends_like_a_whole_one(folder, tmp_path):
    pytest.importorskip("matplotlib")
    other = tmp_path / "other"
    write_stays(other, 30, seed=2)
    whole = run_physionet2019(folder, tmp_path / "whole", n_splits=2, quick=True)

    def interrupt(line):
        if line.startswith("split 0"):
            raise StopError

    out = tmp_path / "stopped"
    with pytest.raises(StopError):
        run_physionet2019(folder, out, n_splits=2, quick=True, announce=interrupt)
    first = out / "splits/split-00.json"
    before = first.stat().st_mtime_ns
    assert not (out / "splits/split-01.json").exists()
    resumed = run_physionet2019(folder, out, n_splits=2, quick=True)
    assert first.stat().st_mtime_ns == before
    assert [t.csv() for t in resumed.tables] == [t.csv() for t in whole.tables]
    page = (out / "summary.html").read_text()
    assert "240 stays" in page
    assert "without consciousness" in page
    assert (out / "figures/events.png").stat().st_size > 10_000
    with (out / "tables/selected.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    splits = [json.loads((out / f"splits/split-0{seed}.json").read_text()) for seed in (0, 1)]
    rates = [
        one["per_day"]
        for split in splits
        for one in split["choices"]
        if (one["row"], one["level"]) == (SELECTED, EVENTS)
    ]
    row = next(row for row in rows if (row["model"], row["chosen on"]) == (SELECTED, "events"))
    assert float(row["per_day"]) == pytest.approx(np.mean(rates))
    # The same seed around other test stays is another split.
    run_physionet2019(folder, out, n_splits=1, quick=True, test_data=other)
    assert first.stat().st_mtime_ns != before


def split_record(utility, row="NEWS-like"):
    """A split on which a bedside score raised one useless alarm in ten patient-days."""
    counted = {"alarms": 1, "caught": 0, "per_day": 0.1, "precision": 0.0, "broken": ["precision"]}
    choices = [counted | {"row": row, "level": level, "utility": utility} for level in LEVELS]
    return {"n_events": 5, "partial_voros": {row: 0.0}, "choices": choices}


def test_every_bedside_score_is_a_row_and_a_negative_utility_has_a_negative_interval():
    splits = [split_record(-0.1), split_record(-0.3)]
    for make_table in (selected_table, models_table):
        rows = list(csv.DictReader(make_table(splits, 1 / 3).csv().splitlines()))
        ours = [row for row in rows if row["model"] == "NEWS-like"]
        assert [row["chosen on"] for row in ours] == list(CHOSEN_ON.values())
        # t of one degree of freedom, 12.706, times the root of (1/2 + 1/3) .02.
        for row in ours:
            assert float(row["utility_low"]) == pytest.approx(-0.2 - 12.706 * 0.12910, abs=1e-3)
            assert float(row["per_day_low"]) == 0.1


@pytest.mark.slow
def test_the_command_tests_on_another_hospital(folder, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from voros.cli.app import app

    write_stays(tmp_path / "training_setB", 60, seed=1, first=100_001)
    options = ["--data", folder, "--test-data", tmp_path / "training_setB"]
    options += ["--out", tmp_path / "run", "--splits", 1, "--quick"]
    limits = tmp_path / "limits.toml"
    limits.write_text("[a]\nmin_precision = 0.2\ncapacity = 0.3\nmiss_costs = 25\n")
    ran = CliRunner().invoke(
        app, ["experiment", "physionet2019", *map(str, options), "--scenarios", str(limits)]
    )
    assert "accepted is one scenario, with a capacity per patient-day" in ran.stderr
    limits.write_text(limits.read_text() + 'per = "patient-day"\n')
    ran = CliRunner().invoke(
        app, ["experiment", "physionet2019", *map(str, options), "--scenarios", str(limits)]
    )
    assert ran.exit_code == 0, ran.output
    page = (tmp_path / "run/summary.html").read_text()
    assert "precision at least 0.2, at most 0.3 alarms per patient-day, a miss worth 25" in page
    for one in json.loads((tmp_path / "run/splits/split-00.json").read_text())["choices"]:
        kept = one["caught"] >= 0.2 * one["alarms"], one["per_day"] <= 0.3
        broken = {name for name, k in zip(("precision", "capacity"), kept, strict=True) if not k}
        assert set(one["broken"]) == broken
    ran = CliRunner().invoke(app, ["experiment", "physionet2019", *map(str, options)])
    assert ran.exit_code == 0, ran.output
    assert "test: PhysioNet/CinC Challenge 2019 (CC BY 4.0): 60 stays" in ran.stderr
    record = json.loads((tmp_path / "run/splits/split-00.json").read_text())
    assert record["sizes"] == {"train": 160, "valid": 80, "test": 60}
    assert record["n_events"] == 12
    assert {one["level"] for one in record["choices"]} == set(LEVELS)
    rows = {one["row"] for one in record["choices"]}
    assert rows == {"NEWS-like", "SOFA-like", SELECTED, *(one.name for one in quick_sepsis_grid())}
    assert "the maximum of each stay" in ran.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHALLENGE is None, reason="VOROS_PHYSIONET2019 names no data")
def test_set_a():
    stays = read_hours(CHALLENGE)
    assert (len(stays), len(stays.stay), int(stays.septic.sum())) == (20_336, 790_215, 1790)
    assert not any(stays.deviations.values())
    data, n = SepsisData.from_stays(stays), len(stays)
    split = split_patients(LabelledCases(np.zeros((n, 0)), stays.septic, np.arange(n), ()))
    trees = Candidate("HGB", {"max_iter": 50, "max_leaf_nodes": 8})
    record = run_split(data, split, 0, [trees])
    by_level = {one["level"]: one for one in record["choices"] if one["row"] == trees.name}
    # Rows leave the capacity unused; the maximum of each stay breaks it twice over.
    assert by_level["rows"]["per_day"] < 0.05
    assert by_level["stays"]["per_day"] > 0.2
    assert 0.08 < by_level["events"]["per_day"] < 0.12
    assert not by_level["guaranteed"]["broken"]
    assert 80 < by_level["guaranteed"]["caught"] < by_level["events"]["caught"] < 200
    # The Challenge's winners reached about .4 on the hospital's own stays.
    assert 0.35 < by_level["utility"]["utility"] < 0.5
