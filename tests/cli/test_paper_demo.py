"""`voros paper` and `voros demo` print what their rooms compute."""

import os

import pytest

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
    again = voros_command("paper", PREDICTIONS, "-o", "tables")
    assert again.code == 2
    assert "exists already" in again.errors[0]


def test_a_folder_without_the_papers_files(voros_command, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "missing"):
        ran = voros_command("paper", folder)
        assert ran.code == 2
        assert len(ran.errors) == 1


@pytest.mark.slow
def test_the_demo(voros_command):
    ran = voros_command("demo", "somewhere")
    assert ran.code == 0
    assert "SUPPORT2: 7,456 patients" in ran.out
