"""The paper's tables from folders of made-up predictions under the authors' file names."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from voros import OperatingPoints, ThresholdPolicy
from voros.exceptions import PredictionFileError
from voros_studies.paper import SCENARIOS, reproduce_figures, reproduce_tables
from voros_studies.paper.cells import FILE_STEMS, read_cells
from voros_studies.tables import Absent

STEMS = sorted({stem for stems in FILE_STEMS.values() for stem in stems.values()})


def write_predictions(folder, stems=STEMS, splits=("valid", "test")):
    rng = np.random.default_rng(0)
    for stem in stems:
        for split in splits:
            labels = rng.random(400) < 0.2
            scores = 1 / (1 + np.exp(-rng.normal(size=400) - 2 * labels))
            rows = zip(range(400), labels.astype(int), scores.round(6), strict=True)
            lines = ["patient,y_true,proba_y_eq_1", *(",".join(map(str, row)) for row in rows)]
            (folder / f"{stem}_{split}.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    predictions = tmp_path_factory.mktemp("predictions")
    write_predictions(predictions)
    return predictions


@pytest.fixture(scope="module")
def tables(folder):
    return reproduce_tables(folder)


def read_points(path):
    table = np.genfromtxt(path, delimiter=",", names=True)
    return OperatingPoints.from_scores(table["y_true"].astype(int), table["proba_y_eq_1"])


@pytest.mark.parametrize(("dataset", "number"), FILE_STEMS)
def test_every_cell_evaluates_its_own_files(folder, tables, dataset, number):
    for strategy, stem in FILE_STEMS[dataset, number].items():
        (cell,) = (
            c
            for c in tables.cells
            if (c.dataset, c.scenario, c.strategy) == (dataset, number, strategy)
        )
        valid, test = (read_points(folder / f"{stem}_{split}.csv") for split in ("valid", "test"))
        policy = ThresholdPolicy.from_points(valid, SCENARIOS[number], strategy=strategy)
        assert cell.valid.expected_cost == policy.evaluate(valid, by_cost=True).expected_cost
        assert cell.test.expected_cost == policy.evaluate(test, by_cost=True).expected_cost


def test_there_are_two_main_tables_and_four_detailed_ones(tables):
    names = [table.name for table in (*tables.main, *tables.detailed)]
    assert names == [
        "mimic_iv_main",
        "eicu_main",
        "mimic_iv_scenario_1",
        "mimic_iv_scenario_2",
        "eicu_scenario_1",
        "eicu_scenario_2",
    ]
    assert all(len(table.rows) == 4 and not table.notes for table in tables.detailed)


def test_csv_holds_full_precision_and_broken_limits(tables):
    rows = list(csv.DictReader(io.StringIO(tables.files()["eicu_scenario_2.csv"])))
    cells = [c for c in tables.cells if (c.dataset, c.scenario) == ("eICU", 2)]
    assert [float(row["test_cost"]) for row in rows] == [c.test.expected_cost for c in cells]
    assert [float(row["valid_alarms"]) for row in rows] == [c.valid.mean_alarms for c in cells]
    for row, cell in zip(rows, cells, strict=True):
        broken = ", ".join(v.limit for v in cell.test.violations)
        assert row["test_kept"] == (f"no ({broken})" if broken else "yes")
    assert {row["valid_kept"] for row in rows} == {"yes"}
    assert any(row["test_kept"] != "yes" for row in rows)


def test_the_least_cost_is_marked_among_those_that_kept_the_limits(tables):
    """Here, as in the paper's eICU, the least test cost of scenario 2 broke a limit."""
    cells = [c for c in tables.cells if (c.dataset, c.scenario) == ("MIMIC-IV", 2)]
    kept = [cell.test.expected_cost for cell in cells if cell.test.satisfied]
    assert kept
    assert min(cell.test.expected_cost for cell in cells) < min(kept)
    (table,) = (table for table in tables.detailed if table.name == "mimic_iv_scenario_2")
    for text, mark in ((table.text(), "{:.3f}*"), (table.latex(), "textbf{{{:.3f}}}")):
        assert mark.format(min(kept)) in text
        assert all(
            mark.format(c.test.expected_cost) not in text for c in cells if c.test.violations
        )
    assert table.text().endswith("* least cost with limits kept: yes")


def test_latex_is_balanced_and_marks_the_least_cost(tables):
    for name, content in tables.files().items():
        if not name.endswith(".tex"):
            continue
        assert content.count("{") == content.count("}")
        assert content.count(r"\begin") == content.count(r"\end")
        columns = content.split(r"\begin{tabular}{")[1].split("}")[0]
        body = content.split(r"\hline")[2]
        assert {line.count("&") for line in body.strip().splitlines()} == {len(columns) - 1}
        assert r"\textbf{0." in body
        assert "_" not in content.replace(r"\_", "")


def test_files_are_written_together_and_not_over_others(tables, tmp_path):
    out = tmp_path / "new" / "tables"
    written = tables.write(out)
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in written)
    assert len(written) == 13
    assert (out / "tables.txt").read_text() == tables.text()
    (out / "eicu_main.csv").write_text("mine")
    with pytest.raises(FileExistsError):
        tables.write(out)
    assert (out / "eicu_main.csv").read_text() == "mine"
    tables.write(out, force=True)
    assert (out / "eicu_main.csv").read_text() == tables.files()["eicu_main.csv"]


@pytest.mark.slow
def test_a_figure_is_drawn_for_each_dataset_that_has_both_models(tmp_path):
    pytest.importorskip("matplotlib")
    write_predictions(tmp_path)
    (tmp_path / "eicu_s1_recall_valid.csv").unlink()
    same_cases = (tmp_path / "scenario1_pvoros_test.csv").read_text()
    (tmp_path / "scenario1_recall_test.csv").write_text(same_cases)
    (name, content), *others = reproduce_figures(tmp_path).items()
    assert (name, others) == ("mimic_iv_scenario_1.png", [])
    assert content.startswith(b"\x89PNG")


def test_a_missing_file_leaves_its_cells_absent_with_the_reason(tmp_path):
    write_predictions(tmp_path)
    (tmp_path / "scenario1_recall_test.csv").unlink()
    (tmp_path / "eicu_s2_voros_valid.csv").unlink()
    tables = reproduce_tables(tmp_path)
    cells = {(c.dataset, c.scenario, c.strategy): c for c in tables.cells}
    recall, voros = cells["MIMIC-IV", 1, "recall"], cells["eICU", 2, "voros"]
    assert recall.test == Absent("no file scenario1_recall_test.csv")
    assert not isinstance(recall.valid, Absent)
    # Without validation there are no thresholds to test.
    assert voros.valid == voros.test == Absent("no file eicu_s2_voros_valid.csv")
    absent = [c for c in tables.cells if isinstance(c.test, Absent) or isinstance(c.valid, Absent)]
    assert absent == [recall, voros]
    assert "absent: no file scenario1_recall_test.csv" in tables.text()
    row = tables.files()["mimic_iv_main.csv"].splitlines()[3]
    assert row.startswith("max recall,absent: no file scenario1_recall_test.csv,yes,")
    assert r"absent: no file scenario1\_recall\_test.csv" in tables.files()["mimic_iv_main.tex"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("patient,y_true,proba_y_eq_1\n1,0,0.5\n2,1,abc\n", "abc"),
        ("patient,y_true\n1,0\n2,1\n", "proba_y_eq_1"),
        ("patient,y_true,proba_y_eq_1\n1,0,0.5\n2,1,\n", "scenario2_valid"),
        ("", "scenario2_valid"),
    ],
)
def test_an_unreadable_file_is_an_error_that_names_it(tmp_path, content, message):
    write_predictions(tmp_path, ["scenario2"])
    (tmp_path / "scenario2_valid.csv").write_text(content)
    with pytest.raises(PredictionFileError, match=message) as raised:
        read_cells(tmp_path)
    assert "scenario2_valid.csv" in str(raised.value)


def test_a_folder_without_any_of_the_files_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none of the files.*scenario1_pvoros_valid\.csv"):
        reproduce_tables(tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        reproduce_tables(tmp_path / "nowhere")
