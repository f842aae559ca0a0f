"""Whether a file fits into memory, and which engine to take where it does not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from voros.installing import missing_package

BYTES_PER_VALUE = 8

WORKING_COPIES = 3
"""Reading, checking and sorting a column needs about this many times its own size."""

PREFERRED = ("duckdb", "polars")
"""Engines on one machine, the one that keeps to a memory limit first."""

FOR_ADDRESSES = ("polars", "duckdb")
"""The one that reads object stores with nothing else installed first."""

_CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def available_memory() -> int:
    """Bytes that this process may still use, as far as the system says."""
    known = [*_physical_memory(), *_meminfo("MemAvailable"), *_container_limit()]
    return min(known, default=sys.maxsize)


def _physical_memory() -> Iterable[int]:
    # Windows has no sysconf; a file is then read as if it fitted.
    if hasattr(os, "sysconf"):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _meminfo(field: str) -> Iterable[int]:
    file = Path("/proc/meminfo")
    if file.exists():
        for line in file.read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == field:
                yield int(rest.split()[0]) * 1024


def _container_limit() -> Iterable[int]:
    for file in _CGROUP_LIMITS:
        if file.exists():
            text = file.read_text().strip()
            if text.isdigit():
                yield int(text)


def memory_needed(parquet: str | Path, n_columns: int) -> int:
    """Bytes that the cases of a Parquet file take when they are read and sorted in memory."""
    from pyarrow.parquet import read_metadata

    rows: int = read_metadata(parquet).num_rows
    return rows * n_columns * BYTES_PER_VALUE * WORKING_COPIES


def engine_for(parquet: str | Path, n_columns: int, available: int | None = None) -> str | None:
    """Name the engine that a Parquet file calls for; None where it fits into memory.

    Examples
    --------
    >>> import tempfile, pathlib, polars as pl
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.parquet")
    >>> pl.DataFrame({"ill": [True] * 1000, "risk": [0.1] * 1000}).write_parquet(file)
    >>> engine_for(file, n_columns=2), engine_for(file, n_columns=2, available=10_000)
    (None, 'duckdb')
    """
    limit = available_memory() if available is None else available
    if memory_needed(parquet, n_columns) <= limit:
        return None
    return installed_engine(f"counting {parquet}, which is too large for memory,")


def installed_engine(purpose: str, preferred: Sequence[str] = PREFERRED) -> str:
    """Name the first of some engines that is installed here.

    Raises
    ------
    ImportError
        When none is, with the command that installs one.
    """
    installed = [name for name in preferred if find_spec(name)]
    if not installed:
        raise missing_package(purpose, *preferred)
    return installed[0]
