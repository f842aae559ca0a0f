"""An engine is chosen by the size of a file."""

import sys

import pytest

from voros.io.memory import available_memory, engine_for, memory_needed

pa = pytest.importorskip("pyarrow")
pytest.importorskip("polars")


@pytest.fixture
def file(tmp_path):
    from pyarrow import parquet

    path = tmp_path / "cases.parquet"
    parquet.write_table(pa.table({"ill": [True, False] * 500, "risk": [0.1, 0.2] * 500}), path)
    return path


def test_a_file_is_counted_by_an_engine_only_where_memory_is_short(file):
    needed = memory_needed(file, n_columns=2)
    assert needed >= 1000 * 2 * 8
    assert engine_for(file, 2, available=needed) is None
    assert engine_for(file, 2, available=needed - 1) in ("duckdb", "polars")
    assert engine_for(file, 2) is None


def test_without_engines_a_file_too_large_says_what_to_install(file, monkeypatch):
    monkeypatch.setattr("voros.io.memory.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r'needs duckdb or polars.* pip install "duckdb>=2\.0"'):
        engine_for(file, 2, available=1)


def test_where_the_system_tells_nothing_a_file_is_taken_to_fit(file, monkeypatch):
    # As on Windows, which has neither sysconf nor /proc.
    monkeypatch.delattr("os.sysconf")
    monkeypatch.setattr("voros.io.memory._CGROUP_LIMITS", ())
    monkeypatch.setattr("voros.io.memory._meminfo", lambda _: ())
    assert available_memory() == sys.maxsize
    assert engine_for(file, 2) is None


def test_available_memory_is_within_the_machine():
    psutil = pytest.importorskip("psutil")
    assert 0 < available_memory() <= psutil.virtual_memory().total
