"""From data to a folder with everything, through the command line."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

pytest.importorskip("duckdb")
pytest.importorskip("matplotlib")
pytest.importorskip("typer")

from typer.testing import CliRunner

from voros.cli.app import app
from voros.policy import ThresholdPolicy
from voros.studies.experiments import Options
from voros.studies.experiments.grid import paper_grid, quick_grid
from voros.studies.experiments.timing import GridBar, grid_seconds
from voros.studies.hospital import quick_support2, run_support2
from voros.studies.hospital.prognoses import support2_cases

STRATEGIES = ("voros", "partial_auroc", "recall", "partial_voros", "margin", "guaranteed")


def run(*arguments):
    return CliRunner().invoke(app, ["experiment", *map(str, arguments)])


@pytest.fixture(scope="module")
def mimic_run(tmp_path_factory):
    place = tmp_path_factory.mktemp("mimic")
    made = run("generate", "--out", place / "data", "--patients", 260, "--release", "2.2")
    assert made.exit_code == 0, made.output
    command = ("mimic", "--data", place / "data", "--out", place / "out", "--quick", "--jobs", 1)
    return place, command, run(*command)


def test_mimic_says_what_it_found_and_how_long_it_takes(mimic_run):
    place, _, result = mimic_run
    assert result.exit_code == 0, result.output
    said = result.stderr
    for name in ("hosp/patients", "hosp/admissions", "icu/icustays", "icu/chartevents"):
        assert f"found: {name}: {place / 'data' / name}.csv.gz" in said
    assert "lacks: nothing" in said
    assert "will take: less than a minute" in said
    assert re.search(r"\d+ ICU stays; \d+ ended before 48 h", said)
    assert "summary.html" in said


def test_one_folder_holds_everything(mimic_run):
    out = mimic_run[0] / "out"
    names = [c.name for c in quick_grid()]
    assert {p.name for p in (out / "predictions").iterdir()} == {
        f"{name}_{part}.csv" for name in names for part in ("valid", "test")
    }
    assert {p.stem for p in (out / "fits").iterdir()} == set(names)
    stems = {"main", *(f"scenario_{i}{x}" for i in (1, 2) for x in ("", "_differences"))}
    expected = {f"{stem}.{ending}" for stem in stems for ending in ("csv", "tex")} | {"tables.txt"}
    assert {p.name for p in (out / "tables").iterdir()} == expected
    assert {p.name for p in (out / "figures").iterdir()} == {
        f"scenario_{i}_{kind}.png" for i in (1, 2) for kind in ("roc", "area", "winners")
    }
    assert {p.stem for p in (out / "policies").iterdir()} == {
        f"scenario_{i}_{strategy}" for i in (1, 2) for strategy in STRATEGIES
    }
    run_record = json.loads((out / "run.json").read_text())
    assert run_record["identity"]["experiment"] == "mimic"
    assert run_record["versions"]["scikit-learn"]


def test_the_tables_tell_what_the_saved_policies_do(mimic_run):
    """Read the policy and the predictions from the folder, and evaluate them once more."""
    out = mimic_run[0] / "out"
    with (out / "tables/main.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    labels = {c.name: c.label for c in quick_grid()}
    for number in (1, 2):
        with (out / f"tables/scenario_{number}.csv").open(newline="") as text:
            chosen = [row["model"] for row in csv.DictReader(text)]
        for strategy, label, row in zip(STRATEGIES, chosen, rows, strict=True):
            policy = ThresholdPolicy.from_json(out / f"policies/scenario_{number}_{strategy}.json")
            name = next(n for n, shown in labels.items() if shown == label)
            table = np.genfromtxt(out / f"predictions/{name}_test.csv", delimiter=",", names=True)
            found = policy.evaluate(table["y_true"], table["proba_y_eq_1"], by_cost=True)
            assert float(row[f"scenario_{number}_cost"]) == pytest.approx(found.expected_cost)
            assert (row[f"scenario_{number}_kept"] == "yes") == found.satisfied


def test_the_summary_page_stands_alone(mimic_run):
    page = (mimic_run[0] / "out/summary.html").read_text()
    assert page.count("<figure>") == 6
    assert page.count("<table") >= 6
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "Test cost beside max partial VOROS" in page


def test_a_second_run_fits_nothing_again(mimic_run):
    place, command, first = mimic_run
    kept = {p: p.stat().st_mtime_ns for p in (place / "out/predictions").iterdir()}
    again = run(*command)
    assert again.exit_code == 0
    assert again.stdout == first.stdout
    assert {p: p.stat().st_mtime_ns for p in kept} == kept


def test_bad_data_end_in_one_line_with_the_file(tmp_path, mimic_run):
    result = run("mimic", "--data", tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert str(tmp_path) in result.stderr
    result = run("eicu", "--data", tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "s.npz" in result.stderr
    result = run("support2", "--out", tmp_path / "out", "--outcome", "boredom")
    assert result.exit_code == 2
    assert "hospital_death_within_7_days" in result.stderr
    result = run("support2", "--out", mimic_run[0] / "out", "--quick")
    assert result.exit_code == 2
    assert "another run" in result.stderr
    result = run("generate", "--out", tmp_path, "--release", "1.4")
    assert result.exit_code == 2
    assert "2.0, 2.2, 3.1" in result.stderr


def test_options_are_checked():
    with pytest.raises(ValueError, match="jobs=0"):
        Options(jobs=0)
    with pytest.raises(ValueError, match="time_limit=0"):
        Options(time_limit=0)


def test_support2_uses_nothing_that_came_later():
    cases = support2_cases("hospital_death")
    forbidden = {"sps", "aps", "surv2m", "prg2m", "dnr", "slos", "death", "d.time", "hospdead"}
    assert forbidden.isdisjoint(name.split("=")[0].split()[0] for name in cases.feature_names)
    assert cases.X.shape == (9105, 68)
    assert int(cases.y.sum()) == 2360


def test_the_bar_counts_by_time_and_ends_the_line(capsys):
    bar = GridBar(quick_grid(), 1000, 50)
    for candidate in quick_grid():
        bar(candidate, {"status": "done"})
    drawn = capsys.readouterr().err
    assert drawn.endswith("\n")
    assert "12/12" in drawn
    assert "about" in drawn or "less than a minute" in drawn


def test_the_estimate_grows_with_the_work():
    few, many = (grid_seconds(paper_grid(), n, 68, 1) for n in (4552, 45520))
    assert 9 < many / few < 15
    assert grid_seconds(paper_grid(), 4552, 68, 2) == pytest.approx(few / 2)
    # The full grid took 74 s of computing on one core of the machine it was measured on.
    assert 74 / 4 < few < 74 * 4


@pytest.mark.slow
def test_quick_support2_answers_and_compares_with_the_prognoses(tmp_path):
    result = quick_support2(tmp_path / "run")
    told = result.text()
    for name in ("SPS", "APACHE III", "SUPPORT model", "physicians"):
        assert name in told
    assert len(result.tables) == 6
    # Death within 7 days is rare: with thresholds by cost, cheaper than one at greatest recall.
    assert result.intervals[1]["recall"].verdict == "dearer"
    again = run_support2(tmp_path / "run", options=Options(quick=True, progress=False))
    assert again.text() == told
