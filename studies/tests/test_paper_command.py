"""`voros paper` and `voros demo` print what the studies compute."""

import csv
import io
import json
import os

import pytest
from cli.test_docs import commands_only

PREDICTIONS = os.environ.get("VOROS_PAPER_PREDICTIONS")


@pytest.mark.skipif(PREDICTIONS is None, reason="VOROS_PAPER_PREDICTIONS names no folder")
def test_the_papers_tables(voros_command, tmp_path):
    ran = voros_command("paper", PREDICTIONS, "-o", "tables")
    assert ran.code == 0
    # Published: maximal partial VOROS costs .261 and .538 on MIMIC-IV's test cases.
    line = next(row for row in ran.out.splitlines() if row.startswith("max partial VOROS"))
    assert "0.261" in line
    assert "0.538" in line
    assert (tmp_path / "tables" / "tables.txt").read_text() == ran.out
    assert (tmp_path / "tables" / "mimic_iv_scenario_1.png").stat().st_size > 10_000
    again = voros_command("paper", PREDICTIONS, "-o", "tables")
    assert again.code == 2
    assert "exists already" in again.errors[0]


@pytest.mark.skipif(PREDICTIONS is None, reason="VOROS_PAPER_PREDICTIONS names no folder")
def test_the_papers_numbers_for_programs(voros_command):
    cells = json.loads(voros_command("paper", PREDICTIONS, "--json").out)["cells"]
    rows = list(csv.DictReader(io.StringIO(voros_command("paper", PREDICTIONS, "--csv").out)))
    assert len(cells) == 2 * 2 * 4
    assert len(rows) == 2 * len(cells)
    published = {1: 0.261, 2: 0.538}
    for cell in cells:
        if (cell["dataset"], cell["strategy"]) == ("MIMIC-IV", "partial_voros"):
            cost = cell["test"]["expected_cost"]
            assert round(cost, 3) == published[cell["scenario"]]
            assert f"{cost!r}" in {row["expected_cost"] for row in rows}


def test_one_pair_of_files_is_enough_for_a_cell(voros_command, tmp_path):
    cases = "y_true,proba_y_eq_1\n1,0.9\n0,0.8\n1,0.7\n0,0.1\n"
    for part in ("valid", "test"):
        (tmp_path / f"scenario1_recall_{part}.csv").write_text(cases)
    cells = json.loads(voros_command("paper", ".", "--json").out)["cells"]
    there = [cell for cell in cells if "absent" not in cell["test"]]
    assert [(cell["scenario"], cell["strategy"]) for cell in there] == [(1, "recall")]
    rows = list(csv.DictReader(io.StringIO(voros_command("paper", ".", "--csv").out)))
    assert sum(row["absent"] == "" for row in rows) == 2
    assert sum(row["expected_cost"] == "" for row in rows) == len(rows) - 2


def test_a_folder_without_the_papers_files(voros_command, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "missing"):
        ran = voros_command("paper", folder)
        assert ran.code == 2
        assert len(ran.errors) == 1


def test_the_page_about_the_tables(voros_command, tmp_path):
    (tmp_path / "predictions").mkdir()
    for part in ("valid", "test"):
        rows = [f"{i % 3 % 2},{(i * 7) % 20 / 20}" for i in range(30)]
        text = "\n".join(["y_true,proba_y_eq_1", *rows])
        (tmp_path / "predictions" / f"scenario2_{part}.csv").write_text(text)
    commands_only("studies/paper.md", voros_command, tmp_path)
    assert (tmp_path / "tables" / "tables.txt").exists()


def test_tables_are_a_folder_not_a_stream(voros_command):
    ran = voros_command("paper", ".", "-o", "-")
    assert ran.code == 2
    assert "-o - is not a folder" in ran.errors[0]
