"""Delta and Iceberg tables in a folder: their logs say which Parquet files still count.

Read as plain Parquet, such a folder would give rows that were deleted or replaced.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from voros.installing import missing_package

READERS = {"Delta": "deltalake", "Iceberg": "pyiceberg"}
"""Packages that read a kind of table for Polars, and for DuckDB where it can."""

METADATA = re.compile(r"v?(\d+)[^/]*\.metadata\.json")


def kind_of_table(path: str) -> str | None:
    """Return which kind of table a folder is; None for plain files.

    One behind an address is seen where fsspec reads it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.mkdtemp()
    >>> pathlib.Path(folder, "_delta_log").mkdir()
    >>> kind_of_table(folder)
    'Delta'
    """
    if "://" in path:
        return _kind_behind(path.rstrip("/"))
    if Path(path, "_delta_log").is_dir():
        return "Delta"
    return "Iceberg" if _metadata(path) else None


def _kind_behind(address: str) -> str | None:
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(address)
        if files.exists(f"{root}/_delta_log"):
            return "Delta"
        return "Iceberg" if files.glob(f"{root}/metadata/*.metadata.json") else None
    except Exception:  # What is out of reach for fsspec, the engine says in its own way.
        return None


def open_table(path: str, engine: str, kind: str) -> Any:
    """Open a table with an engine.

    Raises
    ------
    ValueError
        When the engine has no reader for it here.
    """
    if "://" in path:
        raise ValueError(
            f"{path} is a table of {kind}: some of its Parquet files may have been replaced; open "
            "it yourself and give the frame to voros.engines.count_frame"
        )
    if (kind, engine) not in _OPENERS:
        able = " or ".join(name for table, name in _OPENERS if table == kind)
        raise ValueError(
            f"{path} is a table of {kind}, which engine={engine!r} does not read here; take "
            f"{able}, or open it yourself and give the frame to voros.engines.count_frame"
        )
    if find_spec(READERS[kind]) is None:
        raise missing_package(f"a table of {kind}", READERS[kind])
    return _OPENERS[kind, engine](path)


def _metadata(path: str) -> list[str]:
    """Files that describe a table's versions, the latest last."""
    matches = [
        (METADATA.fullmatch(file.name), file) for file in Path(path, "metadata").glob("*.json")
    ]
    return [
        str(file) for _, file in sorted((int(match[1]), file) for match, file in matches if match)
    ]


def _polars_delta(path: str) -> Any:
    import polars as pl

    return pl.scan_delta(path)


def _polars_iceberg(path: str) -> Any:
    import polars as pl

    return pl.scan_iceberg(_metadata(path)[-1])


def _duckdb_delta(path: str) -> Any:
    import duckdb
    from deltalake import DeltaTable

    return duckdb.connect().from_arrow(DeltaTable(path).to_pyarrow_dataset())


_OPENERS = {
    ("Delta", "polars"): _polars_delta,
    ("Delta", "duckdb"): _duckdb_delta,
    ("Iceberg", "polars"): _polars_iceberg,
}
