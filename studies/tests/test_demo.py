from __future__ import annotations

from pathlib import Path

import pytest

import voros
from voros.datasets import load_support2
from voros.models import count_models
from voros_studies import demo
from voros_studies.experiments import RunOptions
from voros_studies.hospital import run_support2


@pytest.fixture(scope="module")
def patients():
    return load_support2().with_all_prognoses()


def test_the_tables_hold_the_scores_of_the_metric(patients) -> None:
    died = patients.outcome(demo.OUTCOME)
    points = count_models(died, patients.prognoses)
    got = demo.score_prognoses(points, min_precision=0.2, capacity=0.05)
    for name, risk in patients.prognoses.items():
        expected = voros.partial_voros_score(
            died, risk, min_precision=0.2, capacity=0.05, cost_ratio=(1 / 40, 1 / 9)
        )
        assert got[name] == pytest.approx(expected, abs=1e-12)


def test_the_demo_answers_its_question(patients) -> None:
    text = "\n".join(demo.screen(patients))
    assert "7,456 patients with all four prognoses, 608 such deaths" in text
    # Best by AUROC, by scikit-learn; and not best within tight limits.
    assert "0.874   physicians" in text
    assert "Best: SPS at 1 %, SUPPORT model at 2 % to 10 %, physicians at 20 % to 50 %." in text
    # One screen, with space for where the files are.
    assert text.count("\n") < 18
    assert max(map(len, text.splitlines())) <= 110


def test_close_calls_name_both() -> None:
    assert demo.winner({"a": 0.5, "b": 0.495, "c": None}) == "a or b"
    assert demo.winner({"a": 0.3, "b": 0.5, "c": None}) == "b"
    assert demo.runs({0.01: "a", 0.02: "a", 0.5: "b"}) == "a at 1 % to 2 %, b at 50 %"


def test_nothing_that_exists_is_written_into(tmp_path: Path) -> None:
    wanted = tmp_path / "demo"
    assert demo.unused_folder(wanted) == wanted
    wanted.mkdir()
    (tmp_path / "demo-2").mkdir()
    assert demo.unused_folder(wanted) == tmp_path / "demo-3"


@pytest.mark.slow
def test_the_whole_demo_and_its_study_taken_up_again(voros_command, tmp_path: Path) -> None:
    for needed in ("matplotlib", "duckdb"):
        pytest.importorskip(needed)
    ran = voros_command("demo", "somewhere")
    assert ran.code == 0
    assert "SUPPORT2: 7,456 patients" in ran.out
    assert ran.out.count("\n") < 26
    folder = tmp_path / "somewhere"
    told = (folder / "study" / "tables.txt").read_text(encoding="utf-8")
    assert "expected normalised cost on the test set" in told
    for name in ("SPS", "APACHE III", "SUPPORT model", "physicians"):
        assert name in told
    page = folder / "explore.html"
    assert page.stat().st_size < 6e6
    assert '"replicates":{"resamples":200' in page.read_text(encoding="utf-8")
    assert (folder / "overview.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "study" / "summary.html").exists()
    fits = {path: path.stat().st_mtime_ns for path in (folder / "study" / "fits").iterdir()}
    again = run_support2(folder / "study", options=RunOptions(quick=True, progress=False))
    assert again.text() + "\n" == told
    assert {path: path.stat().st_mtime_ns for path in fits} == fits
    assert len(again.tables) == 6
    # Death within 7 days is rare: with thresholds by cost, less costly than one at greatest recall.
    assert again.intervals[1]["recall"].verdict == "more costly"
