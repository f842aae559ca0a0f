"""The grid survives what happens to long runs: kills, time limits, full disks, bad fits."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from voros_studies.experiments.cases import LabelledCases, split_patients
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.folder import RunFolder, open_run, read_scores
from voros_studies.experiments.grid import Candidate, quick_grid
from voros_studies.experiments.runs import run_grid

SLOW_FIT = Candidate("RF", {"n_estimators": 200_000, "max_depth": 64})
LIMIT = 4.0
"""Seconds: the slow fit takes many times as long, a fast one a few milliseconds."""
FAST_FITS = tuple(candidate for candidate in quick_grid() if candidate.family == "LR")


def some_cases(n_cases: int = 400, random_state: int = 0) -> LabelledCases:
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n_cases, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.random(n_cases) < 1 / (1 + np.exp(1.5 - np.nan_to_num(X[:, 0]) * 2))
    return LabelledCases(X, y, np.arange(n_cases) // 2, tuple("abcde"))


def open_some(root: Path, **description: object) -> RunFolder:
    cases = some_cases()
    return open_run(root, cases, split_patients(cases), {"seed": 0, **description})


def finished_fits(folder: RunFolder) -> set[str]:
    records = [json.loads(path.read_text()) for path in (folder.root / "fits").glob("*.json")]
    return {record["name"] for record in records if record["status"] == "done"}


@pytest.mark.slow
def test_predictions_are_those_of_scikit_learn(tmp_path):
    """Fill, scale, fit and predict once more with scikit-learn's own pipeline."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    cases = some_cases()
    split = split_patients(cases)
    folder = open_run(tmp_path, cases, split, {"seed": 5})
    chosen = Candidate("RF", {"rare_class_weight": 3, "max_depth": 4, "min_samples_leaf": 4})
    records = run_grid(folder, [chosen], random_state=5, jobs=1)
    forest = RandomForestClassifier(
        class_weight={0: 1, 1: 3}, max_depth=4, min_samples_leaf=4, random_state=5
    )
    pipeline = make_pipeline(SimpleImputer(), MinMaxScaler(), forest)
    pipeline.fit(cases.X[split.train], cases.y[split.train])
    for part in ("valid", "test"):
        rows = getattr(split, part)
        patient, y_true, score = read_scores(folder.prediction(chosen.name, part))
        assert patient.tolist() == cases.patient[rows].tolist()
        assert y_true.tolist() == cases.y[rows].tolist()
        np.testing.assert_allclose(score, pipeline.predict_proba(cases.X[rows])[:, 1])
    assert records[chosen.name]["status"] == "done"
    assert records[chosen.name]["versions"]["scikit-learn"]
    header = folder.prediction(chosen.name, "test").read_text().splitlines()[0]
    assert header == "patient,y_true,proba_y_eq_1"


@pytest.mark.slow
def test_not_converging_is_recorded_and_no_reason_to_stop(tmp_path):
    folder = open_some(tmp_path)
    once = Candidate("LR", {"rare_class_weight": 1, "max_iter": 1, "C": 10})
    enough = Candidate("LR", {"rare_class_weight": 1, "max_iter": 1000, "C": 10})
    records = run_grid(folder, [once, enough], jobs=1)
    assert [records[c.name]["converged"] for c in (once, enough)] == [False, True]
    assert all(record["warnings"] == [] for record in records.values())


@pytest.mark.slow
def test_a_fit_past_its_time_is_really_killed(tmp_path):
    folder = open_some(tmp_path)
    told = []
    started = time.monotonic()
    records = run_grid(
        folder,
        [SLOW_FIT, *FAST_FITS],
        jobs=1,
        time_limit=LIMIT,
        on_finished=lambda candidate, _: told.append(candidate.name),
    )
    assert time.monotonic() - started < 90
    assert records[SLOW_FIT.name] == {
        "name": SLOW_FIT.name,
        "status": "timed out",
        "time_limit": LIMIT,
    }
    assert all(records[c.name]["status"] == "done" for c in FAST_FITS)
    assert told == [SLOW_FIT.name, *(c.name for c in FAST_FITS)]
    assert finished_fits(folder) == {c.name for c in FAST_FITS}
    # With no more time it is not tried again.
    started = time.monotonic()
    run_grid(folder, [SLOW_FIT], jobs=1, time_limit=LIMIT)
    assert time.monotonic() - started < LIMIT / 2


@pytest.mark.slow
def test_one_bad_fit_does_not_end_the_others(tmp_path):
    folder = open_some(tmp_path)
    bad = Candidate("LR", {"C": -1.0})
    records = run_grid(folder, [bad, *FAST_FITS], jobs=2)
    assert records[bad.name]["status"] == "failed"
    assert "C" in records[bad.name]["reason"]
    assert sorted(finished_fits(folder)) == sorted(c.name for c in FAST_FITS)


RUN_GRID = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_runs import SLOW_FIT, FAST_FITS, open_some
from voros_studies.experiments.runs import run_grid
run_grid(open_some(Path(sys.argv[1])), [*FAST_FITS, SLOW_FIT], jobs=1)
"""


@pytest.mark.slow
def test_a_killed_grid_resumes_without_refitting(tmp_path):
    """Kill the run with SIGKILL in the middle of a fit; the finished fits are not touched again."""
    root = tmp_path / "run"
    running = subprocess.Popen(
        [sys.executable, "-c", RUN_GRID, str(root), str(Path(__file__).parent)],
        start_new_session=True,
    )
    folder = RunFolder(root)
    deadline = time.monotonic() + 60
    while len(list((root / "fits").glob("*.json"))) < len(FAST_FITS):
        assert running.poll() is None, "the run ended before it was killed"
        assert time.monotonic() < deadline, "the run finished nothing in a minute"
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert not folder.record(SLOW_FIT.name).exists()
    kept = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    more = Candidate("LR", {"rare_class_weight": 3, "max_iter": 7, "C": 10})
    told = []
    records = run_grid(
        open_some(root), [*FAST_FITS, more], jobs=1, on_finished=lambda c, _: told.append(c.name)
    )
    assert all(record["status"] == "done" for record in records.values())
    assert told == [c.name for c in (*FAST_FITS, more)]
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    for part in ("valid", "test"):
        _, _, score = read_scores(folder.prediction(FAST_FITS[0].name, part))
        assert len(score) == 100


@pytest.mark.slow
def test_a_worker_outlives_its_killed_parent_by_one_fit_at_most(tmp_path):
    """Only the main process is killed: its worker sees the end of its input, and ends."""
    root = tmp_path / "run"
    script = RUN_GRID.replace("[*FAST_FITS, SLOW_FIT]", "FAST_FITS * 200")
    running = subprocess.Popen(
        [sys.executable, "-c", script, str(root), str(Path(__file__).parent)],
        start_new_session=True,
    )
    while not list((root / "fits").glob("*.json")):
        assert running.poll() is None
        time.sleep(0.05)
    running.kill()
    running.wait()
    deadline = time.monotonic() + 30
    while _group_is_alive(running.pid):
        assert time.monotonic() < deadline, "a worker was left behind"
        time.sleep(0.05)


def _group_is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_another_run_is_not_mixed_in(tmp_path):
    open_some(tmp_path, outcome="death")
    with pytest.raises(ExperimentError, match=r"run\.json.*different outcome.*another output"):
        open_some(tmp_path, outcome="discharge")
    cases = some_cases(random_state=1)
    with pytest.raises(ExperimentError, match="different fingerprint"):
        open_run(tmp_path, cases, split_patients(cases), {"seed": 0, "outcome": "death"})


@pytest.mark.slow
def test_a_damaged_prediction_file_is_named(tmp_path):
    folder = open_some(tmp_path)
    run_grid(folder, FAST_FITS[:1], jobs=1)
    path = folder.prediction(FAST_FITS[0].name, "valid")
    path.write_text(path.read_text()[:200] + "\n1,2")
    with pytest.raises(ExperimentError, match=r"_valid\.csv: not readable.*only that model"):
        read_scores(path)


def test_the_run_records_seed_and_versions(tmp_path):
    folder = open_some(tmp_path, experiment="example")
    run = json.loads(folder.run.read_text())
    assert run["identity"]["seed"] == 0
    assert run["sizes"] == {"train": 200, "valid": 100, "test": 100}
    assert run["versions"]["numpy"] == np.__version__


@pytest.fixture
def small_disk(tmp_path):
    """A real file system with room for almost nothing."""
    place = tmp_path / "small"
    place.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    mounted = shutil.which("mount") and subprocess.run(mounting, check=False, capture_output=True)
    if not mounted or mounted.returncode:
        pytest.skip("a small file system can only be mounted by root, on Linux")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_told_and_the_finished_fits_are_kept(small_disk, tmp_path):
    """64 kB hold the features and a few fits; then the disk is full."""
    folder = open_some(small_disk)
    many = [Candidate("LR", {"rare_class_weight": 1, "max_iter": 7, "C": c}) for c in range(1, 30)]
    with pytest.raises(ExperimentError, match=r"the disk is full\. Free some space.*kept"):
        run_grid(folder, many, jobs=1)
    finished = finished_fits(folder)
    assert 0 < len(finished) < len(many)
    larger = tmp_path / "larger"
    shutil.copytree(small_disk, larger)
    written = {name: (larger / "fits" / f"{name}.json").stat().st_mtime_ns for name in finished}
    records = run_grid(open_some(larger), many, jobs=1)
    assert all(record["status"] == "done" for record in records.values())
    assert written == {
        name: (larger / "fits" / f"{name}.json").stat().st_mtime_ns for name in finished
    }
