"""From data to a folder with everything, through the command line."""

from __future__ import annotations

import csv
import gzip
import json
import re
from itertools import pairwise

import numpy as np
import pytest
from hospital.made_up_release import write_release
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

pytest.importorskip("duckdb")
pytest.importorskip("matplotlib")
pytest.importorskip("typer")

from typer.testing import CliRunner

import voros
from voros.cli.app import app
from voros.policy import ThresholdPolicy
from voros_studies.experiments import RunOptions
from voros_studies.experiments.folder import RunFolder
from voros_studies.experiments.grid import quick_grid
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.run_summary import draw_roc
from voros_studies.experiments.study import Scored, run_study
from voros_studies.hospital.prognoses import support2_cases

STRATEGIES = (
    *("voros", "partial_auroc", "recall", "partial_voros"),
    *("auroc", "log_loss", "margin", "guaranteed"),
)


def run(*arguments):
    return CliRunner().invoke(app, ["experiment", *map(str, arguments)])


@pytest.fixture(scope="module")
def mimic_run(tmp_path_factory):
    place = tmp_path_factory.mktemp("mimic")
    write_release(place / "data", 260)
    command = ("mimic", "--data", place / "data", "--out", place / "out", "--quick", "--jobs", 1)
    return place, command, run(*command)


@pytest.mark.slow
def test_mimic_says_what_it_found(mimic_run):
    place, _, result = mimic_run
    assert result.exit_code == 0, result.output
    said = result.stderr
    for name in ("hosp/patients", "hosp/admissions", "icu/icustays", "icu/chartevents"):
        assert f"found: {name}: {place / 'data' / name}.csv.gz" in said
    assert "lacks: nothing" in said
    assert "fits [" in said  # progress in a log
    assert re.search(r"\d+ ICU stays; \d+ ended too early", said)
    assert "summary.html" in said


@pytest.mark.slow
def test_one_folder_holds_everything(mimic_run):
    out = mimic_run[0] / "out"
    names = [c.name for c in quick_grid()]
    assert {p.name for p in (out / "predictions").iterdir()} == {
        f"{name}_{part}.csv" for name in names for part in ("valid", "test")
    }
    assert {p.stem for p in (out / "fits").iterdir()} == set(names)
    stems = {"main", "flow", "table_1", "performance", "candidates"}
    kinds = ("", "_differences")
    stems |= {f"scenario_{i}{kind}" for i in (1, 2) for kind in kinds}
    expected = {f"{stem}.{ending}" for stem in stems for ending in ("csv", "tex")} | {"tables.txt"}
    assert {p.name for p in (out / "tables").iterdir()} == expected
    assert {p.name for p in (out / "figures").iterdir()} == {
        f"scenario_{i}_{kind}.png"
        for i in (1, 2)
        for kind in ("roc", "area", "winners", "calibration")
    }
    assert {p.stem for p in (out / "policies").iterdir()} == {
        f"scenario_{i}_{strategy}" for i in (1, 2) for strategy in STRATEGIES
    }
    run_record = json.loads((out / "run.json").read_text())
    assert run_record["identity"]["experiment"] == "mimic"
    assert run_record["versions"]["scikit-learn"]


@pytest.mark.slow
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
            evaluation = policy.evaluate(table["y_true"], table["proba_y_eq_1"], by_cost=True)
            assert float(row[f"scenario_{number}_cost"]) == pytest.approx(evaluation.expected_cost)
            assert (row[f"scenario_{number}_kept"] == "yes") == evaluation.satisfied


@pytest.mark.slow
def test_the_summary_page_stands_alone(mimic_run):
    page = (mimic_run[0] / "out/summary.html").read_text()
    assert page.count("<figure>") == 8
    assert page.count("<table") >= 6
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "The others beside it" in page


def read_csv(path):
    with path.open(newline="") as text:
        return list(csv.DictReader(text))


def read_part(out, name, part="test"):
    table = np.genfromtxt(out / f"predictions/{name}_{part}.csv", delimiter=",", names=True)
    return table["y_true"] == 1, table["proba_y_eq_1"]


@pytest.mark.slow
def test_every_fact_of_the_page_is_kept(mimic_run):
    out = mimic_run[0] / "out"
    metadata = json.loads((out / "study.json").read_text())["metadata"]
    said = [entry["text"] for entry in metadata if entry["name"] == "data"]
    assert sum("readings" in text for text in said) == 15
    assert sum("SHA-256" in text for text in said) == 4
    assert "release: MIMIC-IV 2.1 or later" in said
    names = [entry["name"] for entry in metadata]
    for name in ("command", "random state", "grid", "hardware", "versions", "outcome"):
        assert name in names
    page = (out / "summary.html").read_text()
    assert all(entry["text"].replace("'", "&#39;") in page for entry in metadata)


@pytest.mark.slow
def test_the_flow_counts_every_stay(mimic_run):
    rows = read_csv(mimic_run[0] / "out/tables/flow.csv")
    steps = [(float(row["kept"]), float(row["left_out"])) for row in rows]
    for (before, _), (kept, left_out) in pairwise(steps[:4]):
        assert kept + left_out == before
    assert sum(kept for kept, _ in steps[4:]) == steps[3][0]
    assert "fewer than 3 channels" in rows[3]["reason"]
    with gzip.open(mimic_run[0] / "data/icu/icustays.csv.gz", "rt") as text:
        assert steps[0][0] == len(text.readlines()) - 1


@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
@pytest.mark.slow
def test_candidates_and_table_1_against_the_files(mimic_run):
    out = mimic_run[0] / "out"
    names = {c.label: c.name for c in quick_grid()}
    rows = read_csv(out / "tables/candidates.csv")
    assert len(rows) == 12
    for row in rows:
        for part in ("valid", "test"):
            y, score = read_part(out, names[row["model"]], part)
            assert float(row[f"{part}_auroc"]) == pytest.approx(roc_auc_score(y, score))
            assert float(row[f"{part}_auprc"]) == pytest.approx(average_precision_score(y, score))
            assert float(row[f"{part}_brier"]) == pytest.approx(brier_score_loss(y, score))
        y, score = read_part(out, names[row["model"]], "valid")
        scenario = voros.Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(1 / 9, 1 / 6))
        expected = voros.partial_voros_score(y, score, scenario)
        assert float(row["partial_voros_1"]) == pytest.approx(expected)
    table = read_csv(out / "tables/table_1.csv")
    first, names_shown = table[0], [row["characteristic"] for row in table]
    counts = [int(first[c].replace(",", "")) for c in first if c.endswith(("_with", "_without"))]
    assert int(first["overall"].replace(",", "")) == sum(counts)
    assert "heart rate, per minute, mean, median (quartiles)" in names_shown
    assert not any("_" in name for name in names_shown)
    y, _ = read_part(out, names[rows[0]["model"]])
    assert (first["test_with"], first["test_without"]) == (str(y.sum()), str((~y).sum()))


@pytest.mark.slow
def test_the_roc_figure_marks_the_deployed_thresholds(mimic_run):
    """Marked are TPR and FPR of the saved policies' thresholds, not of those best on test."""
    out = mimic_run[0] / "out"
    names = [c.name for c in quick_grid()]
    folder = RunFolder(out)
    records = {name: folder.read_record(name) for name in names}
    valid, test = (Scored.read(folder, names, part) for part in ("valid", "test"))
    result = StudyResult("x", tuple(run_study(valid, test)), {}, records)
    for number in (1, 2):
        ax = draw_roc(result, test, number).ax_
        drawn = {}
        for line in ax.get_lines():
            if str(line.get_gid()).startswith("deployed "):
                spot = (line.get_xdata()[0], line.get_ydata()[0])
                drawn.setdefault(line.get_gid().removeprefix("deployed "), []).append(spot)
        assert set(drawn) == set(STRATEGIES)
        for strategy, spots in drawn.items():
            policy = ThresholdPolicy.from_json(out / f"policies/scenario_{number}_{strategy}.json")
            y, score = read_part(out, policy.model)
            for x, height in spots:
                match = [
                    ((score >= t)[~y].mean(), (score >= t)[y].mean()) for t in policy.thresholds
                ]
                assert any((x, height) == pytest.approx(spot) for spot in match)


@pytest.mark.slow
def test_a_second_run_fits_nothing_again(mimic_run):
    place, command, first = mimic_run
    kept = {p: p.stat().st_mtime_ns for p in (place / "out/predictions").iterdir()}
    again = run(*command)
    assert again.exit_code == 0
    assert again.stdout == first.stdout
    assert {p: p.stat().st_mtime_ns for p in kept} == kept


@pytest.mark.slow
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


def test_options_are_checked():
    with pytest.raises(ValueError, match="jobs=0"):
        RunOptions(jobs=0)
    with pytest.raises(ValueError, match="time_limit=0"):
        RunOptions(time_limit=0)


def test_support2_uses_nothing_that_came_later():
    cases = support2_cases("hospital_death")
    forbidden = {"sps", "aps", "surv2m", "prg2m", "dnr", "slos", "death", "d.time", "hospdead"}
    assert forbidden.isdisjoint(name.split("=")[0].split()[0] for name in cases.feature_names)
    assert cases.X.shape == (9105, 68)
    assert int(cases.y.sum()) == 2360
