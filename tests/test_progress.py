"""Progress is one line: on a terminal, in a log, and in a notebook that was executed."""

from __future__ import annotations

import io
import sys

import pytest

from voros import progress
from voros.progress import progress_bar


class Terminal(io.StringIO):
    """A stream that says it is watched."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_redraws_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(progress_bar(range(2000), "resampling")) == list(range(2000))
    drawn = stream.getvalue()
    assert drawn.count("\n") == 1
    assert drawn.endswith(f"\rresampling [{'#' * 30}] 2000/2000\n")
    # Nobody could see 2,000 states of a moment.
    assert drawn.count("\r") < 100


def test_a_log_gets_the_finished_bar(capsys: pytest.CaptureFixture[str]) -> None:
    list(progress_bar(range(300), "resampling"))
    assert capsys.readouterr().err == f"resampling [{'#' * 30}] 300/300\n"


def test_a_long_log_gets_a_line_every_half_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 10_000, 8))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    list(progress_bar(range(10), "fits"))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("] ")[1] for line in lines] == ["4/10", "8/10", "10/10"]


def test_silence_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    list(progress_bar(range(3), "resampling", progress=False))
    assert capsys.readouterr().err == ""


CELL = """
import numpy as np
import voros

rng = np.random.default_rng(0)
y_true = rng.random(600) < 0.3
y_score = y_true + rng.normal(size=600)
scenario = voros.Scenario(0.3, 0.5, 0.1)
found = voros.bootstrap(y_true, y_score, scenario, n_resamples=400, progress=True)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_executed_notebook_holds_one_line() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(CELL), nbformat.v4.new_code_cell("scenario")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
    (output,) = notebook.cells[0].outputs
    assert output["data"]["text/plain"] == f"resampling [{'#' * 30}] 400/400"
    (shown,) = notebook.cells[1].outputs
    assert "at most 50 % of the cases" in shown["data"]["text/html"]
