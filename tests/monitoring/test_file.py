"""The file of a monitor: one writer at a time, named failures, corrections."""

from __future__ import annotations

import errno
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monitoring_streams import days, feed, make_policy

import voros
from voros.exceptions import MonitorFileError


def test_the_file_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "ward.voros"
    with voros.Monitor(make_policy(), path, window=3) as monitor:
        feed(monitor, np.tile([1, 0], 50), delay=2)
        words = monitor.status().words
    with voros.Monitor.open(path) as again:
        assert again.status().words == words
        assert again.policy == make_policy()
        assert again.settings.window == 3
    with pytest.raises(FileExistsError, match=r"exists; voros.Monitor.open\(path\) opens"):
        voros.Monitor(make_policy(), path, window=3)


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.voros"
    text.write_text("this is no database, and long enough to be read as one" * 40)
    other = tmp_path / "other.voros"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE t (x)")
    database.close()
    with pytest.raises(ValueError, match="is not a monitor file"):
        voros.Monitor.open(text)
    with pytest.raises(ValueError, match="database of another kind"):
        voros.Monitor.open(other)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        voros.Monitor.open(tmp_path / "none.voros")


WRITER = """
import sys, numpy as np, voros
path, first = sys.argv[1], int(sys.argv[2])
with voros.Monitor.open(path) as monitor:
    for day in range(30):
        cases = [f"{first + i}-{day}" for i in range(20)]
        when = [str(np.datetime64("2026-01-01") + day)] * 20
        monitor.update(np.full(20, 0.9), cases=cases, times=when)
        monitor.label(np.zeros(20, int), cases=cases, times=when)
"""


@pytest.mark.slow
def test_two_writers_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ward.voros"
    voros.Monitor(make_policy(), path).close()
    # They overlap in half of their cases.
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, first]) for first in ("0", "10")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    with voros.Monitor.open(path) as monitor:
        status = monitor.status()
        assert (status.cases, status.labels) == (30 * 30, 30 * 30)
        assert sum(monitor._store.periods(-np.inf).alarms) == 900


def test_a_file_of_an_earlier_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "old.voros")
    database.execute("CREATE TABLE cases (id TEXT)")
    database.execute("PRAGMA user_version = 1")
    database.close()
    with pytest.raises(ValueError, match=r"earlier version of voros \(format 1, here 6\); make"):
        voros.Monitor.open(tmp_path / "old.voros")


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    """A file with a hundred cases, some of them labelled."""
    with voros.Monitor(make_policy(), tmp_path / "ward.voros", window=3, max_cost=0.3) as monitor:
        fill(monitor)
    return tmp_path / "ward.voros"


def fill(monitor: voros.Monitor, but: tuple[int, ...] = ()) -> None:
    """Feed a hundred cases and labels, but for some."""
    rng = np.random.default_rng(0)
    scores, labels = rng.random(100), rng.random(100) < 0.4
    cases = np.setdiff1d(np.arange(100), but)
    monitor.update(scores[cases], cases=cases, times=days(100, 4)[cases])
    known = cases[cases % 3 > 0]
    monitor.label(labels[known], cases=known, times=days(100, 4)[known] + known % 5)
    monitor.advance("2026-02-20")


def test_a_locked_file_is_read_and_not_written(ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voros.io.database.WAIT_SECONDS", 0.05)
    writer = sqlite3.connect(ward, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with voros.Monitor.open(ward) as monitor:
        assert monitor.status().cases == 100
        with pytest.raises(MonitorFileError, match="another process has locked it") as failed:
            monitor.advance("2026-06-01")
        writer.execute("ROLLBACK")
        writer.close()
        monitor.advance("2026-06-01")
    assert (failed.value.errno, failed.value.exit_code) == (errno.EBUSY, 75)
    assert failed.value.filename == str(ward)


@pytest.mark.parametrize(
    ("number", "message"), [(errno.EROFS, "it is read-only"), (errno.ENOSPC, "the disk is full")]
)
def test_a_failed_write_is_named_and_changes_nothing(ward: Path, number: int, message: str) -> None:
    with voros.Monitor.open(ward) as monitor:
        before = monitor.status().document()
        if number == errno.EROFS:
            monitor._store._db.execute("PRAGMA query_only = on")
        else:
            pages = monitor._store.rows("PRAGMA page_count")[0][0]
            monitor._store.rows(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(MonitorFileError, match=message) as failed:
            monitor.update(np.ones(5000), cases=np.arange(5000) + 1000, times=days(5000, 200))
        assert failed.value.errno == number
        assert monitor.status().document() == before
    with voros.Monitor.open(ward) as monitor:
        assert monitor.status().document() == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            "UPDATE metadata SET value = replace(value, '0.05', '0.5') WHERE name = 'settings'",
            "checksum",
        ),
        ("UPDATE metadata SET value = 'inf' WHERE name = 'clock'", "checksum"),
        ("DELETE FROM metadata WHERE name = 'policy'", "checksum"),
        ("DROP TABLE metadata", "no such table: metadata"),
        ("PRAGMA user_version = 99", "a newer version of voros .format 99, here 6"),
    ],
)
def test_a_damaged_file_is_refused(ward: Path, damage: str, message: str) -> None:
    database = sqlite3.connect(ward, isolation_level=None)
    database.execute(damage)
    database.close()
    with pytest.raises((MonitorFileError, ValueError), match=message):
        voros.Monitor.open(ward)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE cases SET time = 'x' WHERE position = 5",
        "UPDATE labels SET value = 7 WHERE entry = 3",
        "UPDATE cases SET alarm = 2 WHERE position = 9",
    ],
)
def test_values_that_cannot_be_are_not_accepted_by_the_file(ward: Path, damage: str) -> None:
    database = sqlite3.connect(ward, isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError):
        database.execute(damage)
    database.execute("PRAGMA ignore_check_constraints = on")
    database.execute(damage)
    database.close()
    with pytest.raises(MonitorFileError, match="it is damaged"):
        voros.Monitor.open(ward)


def test_broken_pages_and_half_a_file_are_refused(ward: Path) -> None:
    whole = ward.read_bytes()
    broken = bytearray(whole)
    for page in range(4096, len(broken), 4096):
        broken[page : page + 200] = bytes([255]) * 200
    for content in (bytes(broken), whole[: len(whole) // 2]):
        ward.write_bytes(content)
        with pytest.raises(MonitorFileError, match="it is damaged") as failed:
            voros.Monitor.open(ward)
        assert failed.value.exit_code == 65


def test_an_empty_file_is_not_made_a_monitor(tmp_path: Path) -> None:
    path = tmp_path / "empty.voros"
    path.touch()
    for attempt in (lambda: voros.Monitor(make_policy(), path), lambda: voros.Monitor.open(path)):
        with pytest.raises(ValueError, match="is empty, and not a monitor file"):
            attempt()
    assert path.stat().st_size == 0


def test_a_file_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(MonitorFileError, match="it cannot be created"):
        voros.Monitor(make_policy(), tmp_path / "none" / "ward.voros")
    voros.Monitor(make_policy(), tmp_path / "ward.voros").close()
    assert [path.name for path in tmp_path.iterdir()] == ["ward.voros"]


def state(monitor: voros.Monitor) -> tuple[Any, ...]:
    """Everything that a verdict depends on."""
    queries = (
        "SELECT id, time, period, score, alarm, patient FROM cases ORDER BY id",
        "SELECT id, time, value FROM labels ORDER BY id, time",
    )
    return (
        monitor.status().document(),
        monitor.clock,
        [monitor._store.rows(query) for query in queries],
    )


def test_a_case_that_is_withdrawn_has_never_come(tmp_path: Path) -> None:
    monitor, other = (voros.Monitor(make_policy(), window=3, max_cost=0.3) for _ in range(2))
    fill(monitor)
    monitor.withdraw([7, 8, 99])
    fill(other, but=(7, 8, 99))
    assert state(monitor) == state(other)
    with pytest.raises(
        ValueError, match="'7' cannot be withdrawn, because the monitor has no such case"
    ):
        monitor.withdraw([5, 7])
    assert state(monitor) == state(other)
    fill(monitor)
    assert monitor.status().cases == 100


def test_a_case_that_is_given_again_with_its_right_time_has_never_had_another() -> None:
    monitor, other = (voros.Monitor(make_policy(), window=3, max_cost=0.3) for _ in range(2))
    fill(monitor, but=(10,))
    score = np.random.default_rng(0).random(100)[10]
    monitor.update([score], cases=[10], times=days(1) + 200)
    assert monitor.clock == "2026-07-20"
    monitor.withdraw([10])
    assert monitor.clock == "2026-02-20"
    fill(monitor)
    fill(other)
    assert state(monitor) == state(other)


def test_a_label_may_come_before_its_case() -> None:
    """A label of a case that comes later, in one batch with a label of a case that has come."""
    monitor = voros.Monitor(make_policy(), window=1)
    monitor.update([0.9], cases=["a"], times=["2026-01-01"])
    monitor.label([1, 1], cases=["a", "later"], times=["2026-01-01"] * 2)
    monitor.update([0.9], cases=["later"], times=["2026-01-02"])
    monitor.advance("2026-02-01")
    assert "2 of 2 alarms were true" in monitor.status()["precision"].words


def test_no_query_numbers_its_values():
    """Python 3.12 warns of numbers such as ?1 beside a sequence of values, and 3.14 refuses it."""
    sources = Path(voros.monitoring.__file__).parent.glob("*.py")
    assert [path.name for path in sources if re.search(r"\?\d", path.read_text("utf-8"))] == []
