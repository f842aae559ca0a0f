"""Whether a file fits into memory, and which engine counts it if not."""

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
"""Reading, checking and sorting a column needs about this many times its size."""

PREFERRED = ("duckdb", "polars")
"""Engines on one machine; the first one keeps within a memory limit."""

STATED = {
    Path("/proc/meminfo"): (re.compile(r"^MemAvailable:\s+(\d+) kB", re.MULTILINE), 1024),
    Path("/sys/fs/cgroup/memory.max"): (re.compile(r"^(\d+)$"), 1),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"): (re.compile(r"^(\d+)$"), 1),
}
"""Files of Linux with the free memory and the limit of a container, and their units in bytes."""


def available_memory() -> int:
    """Return the bytes that this process may still use, as far as the system says."""
    return min(_limits(), default=sys.maxsize)


def _limits() -> Iterator[int]:
    # Windows has no sysconf; there every file counts as small enough.
    if hasattr(os, "sysconf"):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file, (pattern, unit) in STATED.items():
        stated = pattern.search(file.read_text().strip()) if file.exists() else None
        if stated is not None:
            yield int(stated[1]) * unit
    if find_spec("resource"):
        import resource

        # The limit of ``ulimit -v``; beyond it Arrow would abort the process.
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit


def memory_needed(n_rows: int, n_columns: int) -> int:
    """Return the bytes needed to read and sort cases in memory."""
    return n_rows * n_columns * BYTES_PER_VALUE * WORKING_COPIES


def fits_in_memory(n_rows: int, n_columns: int) -> bool:
    """Whether this many values can be read and sorted in memory."""
    return memory_needed(n_rows, n_columns) <= available_memory()


def check_fits_rows(n_rows: int, n_columns: int) -> None:
    """Raise unless this many values can be read and sorted in memory.

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
    """Return the first of the preferred engines that is installed.

    Raises
    ------
    ImportError
        When none is, with the command that installs one.
    """
    installed = [name for name in PREFERRED if find_spec(name)]
    if not installed:
        raise missing_package(purpose, *PREFERRED)
    return installed[0]
