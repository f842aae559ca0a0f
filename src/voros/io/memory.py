"""Whether a file fits into memory, and which engine to take where it does not."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from voros.exceptions import PredictionFileError
from voros.installing import missing_package

BYTES_PER_VALUE = 8

WORKING_COPIES = 3
"""Reading, checking and sorting a column needs about this many times its own size."""

PREFERRED = ("duckdb", "polars")
"""Engines on one machine, the one that keeps to a memory limit first."""

STATED = {
    Path("/proc/meminfo"): (re.compile(r"^MemAvailable:\s+(\d+) kB", re.MULTILINE), 1024),
    Path("/sys/fs/cgroup/memory.max"): (re.compile(r"^(\d+)$"), 1),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"): (re.compile(r"^(\d+)$"), 1),
}
"""Where Linux says how much memory is free, and how much a container may use; and in what unit."""


def available_memory() -> int:
    """Bytes that this process may still use, as far as the system says."""
    return min(_limits(), default=sys.maxsize)


def _limits() -> Iterator[int]:
    # Windows has no sysconf; a file is then read as if it fitted.
    if hasattr(os, "sysconf"):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file, (pattern, unit) in STATED.items():
        stated = pattern.search(file.read_text().strip()) if file.exists() else None
        if stated is not None:
            yield int(stated[1]) * unit
    if find_spec("resource"):
        import resource

        # What ``ulimit -v`` allows; beyond it Arrow would end the process.
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit


def memory_needed(n_rows: int, n_columns: int) -> int:
    """Bytes that cases take when they are read and sorted in memory."""
    return n_rows * n_columns * BYTES_PER_VALUE * WORKING_COPIES


def fits_in_memory(n_rows: int, n_columns: int) -> bool:
    """Whether so many values can be read and sorted in memory."""
    return memory_needed(n_rows, n_columns) <= available_memory()


def check_fits_rows(n_rows: int, n_columns: int) -> None:
    """Raise where so many values cannot be read and sorted in memory.

    Examples
    --------
    >>> check_fits_rows(10**14, 2)
    Traceback (most recent call last):
    voros.exceptions.PredictionFileError: 100,000,000,000,000 rows take about 4,470,348 GB of ...
    """
    needed, free = memory_needed(n_rows, n_columns), available_memory()
    if needed > free:
        raise PredictionFileError(
            f"{n_rows:,} rows take about {needed / 2**30:,.0f} GB of memory, and "
            f"{free / 2**30:,.0f} GB are free; voros score, select and map can use --engine duckdb"
        )


def installed_engine(purpose: str) -> str:
    """Name the first of the preferred engines that is installed here.

    Raises
    ------
    ImportError
        When none is, with the command that installs one.
    """
    installed = [name for name in PREFERRED if find_spec(name)]
    if not installed:
        raise missing_package(purpose, *PREFERRED)
    return installed[0]
