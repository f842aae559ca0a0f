"""An engine is chosen by the size of a file."""

import gzip
import sys

import pytest

from voros.io import open_source
from voros.io.memory import (
    _limits,
    available_memory,
    fits_in_memory,
    installed_engine,
    memory_needed,
)
from voros.io.tables import most_rows

pa = pytest.importorskip("pyarrow")
pytest.importorskip("polars")


def test_what_fits_into_memory(monkeypatch):
    needed = memory_needed(1000, n_columns=2)
    assert needed >= 1000 * 2 * 8
    assert fits_in_memory(1000, 2)
    for free, fits in ((needed, True), (needed - 1, False)):
        monkeypatch.setattr("voros.io.memory.available_memory", lambda free=free: free)
        assert fits_in_memory(1000, 2) == fits
    assert installed_engine("counting") in ("duckdb", "polars")


@pytest.mark.parametrize("memory", [10**5, 10**9])
def test_rows_are_counted_where_they_may_be_many(tmp_path, monkeypatch, memory):
    from pyarrow import parquet

    monkeypatch.setattr("voros.io.memory.available_memory", lambda: memory)
    table = pa.table({"ill": [True, False] * 5000, "risk": [0.1, 0.2] * 5000})
    parquet.write_table(table, tmp_path / "cases.parquet")
    assert most_rows(open_source(tmp_path / "cases.parquet")) == 10_000
    text = b"ill,risk\n" + b"1,0.25\n0,0.5\n" * 5000
    for name, data in (("a.csv", text), ("b.csv.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(data)
        n_rows = most_rows(open_source(tmp_path / name))
        assert 10_001 <= n_rows <= (10_002 if memory == 10**5 else 10**9)


def test_without_engines_a_file_too_large_says_what_to_install(monkeypatch):
    monkeypatch.setattr("voros.io.memory.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r'needs duckdb or polars.* pip install "duckdb>=2\.0"'):
        installed_engine("counting cases.csv")


def test_where_the_system_tells_nothing_a_file_is_taken_to_fit(monkeypatch):
    # As on Windows, which has neither sysconf nor /proc.
    monkeypatch.delattr("os.sysconf")
    monkeypatch.setattr("voros.io.memory.STATED", {})
    assert available_memory() == sys.maxsize
    assert fits_in_memory(1000, 2)


def test_available_memory_is_within_the_machine():
    psutil = pytest.importorskip("psutil")
    assert 0 < available_memory() <= psutil.virtual_memory().total


def test_the_limit_of_the_process_counts():
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**40, hard))
    try:
        assert 2**40 in list(_limits())
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
