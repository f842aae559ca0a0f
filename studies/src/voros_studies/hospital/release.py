"""The tables of a MIMIC-IV release: files, columns, and how to stream them."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voros_studies.experiments.errors import DISK_FULL_REMEDY, ExperimentError
from voros_studies.hospital.layout import check_columns

if TYPE_CHECKING:
    import duckdb

MEMORY_LIMIT = "256MB"
"""Memory limit of DuckDB; beyond it, DuckDB works on disk."""

MOST_THREADS = 4
"""Each thread needs memory, and one thread that unpacks gzip cannot feed more."""

DOWNLOAD_AGAIN = (
    "Download it again from PhysioNet (MIMIC-IV 2.x or 3.x) and compare it with the release's "
    "SHA256SUMS.txt"
)

CHART = "icu/chartevents"
"""The long table, which is streamed; the others fit in memory."""

TABLE_ENDINGS = (".csv", ".csv.gz")

_NEEDED = {
    "hosp/patients": "subject_id BIGINT, gender VARCHAR, anchor_age INTEGER, anchor_year INTEGER, "
    "dod DATE",
    "hosp/admissions": "subject_id BIGINT, hadm_id BIGINT, deathtime TIMESTAMP, "
    "insurance VARCHAR, hospital_expire_flag INTEGER",
    "icu/icustays": "subject_id BIGINT, hadm_id BIGINT, stay_id BIGINT, intime TIMESTAMP, "
    "outtime TIMESTAMP",
    "icu/chartevents": "stay_id BIGINT, charttime TIMESTAMP, itemid INTEGER, valuenum DOUBLE, "
    "valueuom VARCHAR",
}
NEEDED_COLUMNS: Mapping[str, Mapping[str, str]] = {
    table: dict(column.split() for column in columns.split(", "))
    for table, columns in _NEEDED.items()
}
"""The columns that are read, with their types. The releases differ in others (``caregiver_id``,
``admit_provider_id``) and in their order, which is why every header is read."""


def quoted(path: Path) -> str:
    """Return a path as a SQL string.

    Examples
    --------
    >>> quoted(Path("anna's/icustays.csv"))
    "'anna''s/icustays.csv'"
    """
    return "'" + str(path).replace("'", "''") + "'"


@dataclass(frozen=True)
class SourceTable:
    """One table of the release, such as ``"icu/chartevents"``.

    ``columns`` are all columns, in the file's order.
    """

    name: str
    path: Path
    columns: tuple[str, ...]

    @property
    def relation(self) -> str:
        """A SQL table expression of the needed columns, read as it is scanned.

        Rows that cannot be read are left out; DuckDB's table ``reject_errors`` lists them.
        """
        needed = NEEDED_COLUMNS[self.name]
        types = {column: needed.get(column, "VARCHAR") for column in self.columns}
        return (
            f"(SELECT {', '.join(needed)} FROM read_csv({quoted(self.path)}, header=true, "
            f"columns={types}, auto_detect=false, delim=',', quote='\"', escape='\"', "
            f"store_rejects=true))"
        )


def find_tables(folder: Path) -> dict[str, SourceTable]:
    """Find the four tables of a release, each once, and check their columns."""
    _check_release_folder(folder)
    paths = _paths(folder)
    tables = {name: SourceTable(name, path, _header(path)) for name, path in paths.items()}
    for name, table in tables.items():
        check_columns(table.path, table.columns, NEEDED_COLUMNS[name], DOWNLOAD_AGAIN)
    return tables


def release_in_words(tables: Mapping[str, SourceTable]) -> str:
    """Return the release, as far as the columns of its tables show it."""
    columns = tables["hosp/admissions"].columns
    return "MIMIC-IV 2.1 or later" if "admit_provider_id" in columns else "MIMIC-IV 2.0 or earlier"


def _check_release_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise ExperimentError(
            f"{folder}: there is no such folder. Name the one with hosp/ and icu/"
        )
    if (folder / "hosp").is_dir() or (folder / "icu").is_dir():
        return
    inside = sorted(str(path.parent) for path in folder.glob("**/icu") if path.is_dir())
    remedy = f"Name one release: {' or '.join(inside)}" if inside else "Name the one with both"
    raise ExperimentError(f"{folder}: neither hosp/ nor icu/ is in this folder. {remedy}")


def _paths(folder: Path) -> dict[str, Path]:
    by_name = {
        name: [path for form in TABLE_ENDINGS if (path := folder / f"{name}{form}").is_file()]
        for name in NEEDED_COLUMNS
    }
    missing = [name for name, paths in by_name.items() if not paths]
    if missing:
        names = ", ".join(str(folder / f"{name}.csv.gz") for name in missing)
        raise ExperimentError(
            f"{names}: not there, nor as {TABLE_ENDINGS[0]}. Download what is "
            "missing from PhysioNet into this folder; these four tables are all that is needed"
        )
    twice = [paths for paths in by_name.values() if len(paths) > 1]
    if twice:
        names = " and ".join(map(str, twice[0]))
        raise ExperimentError(
            f"{names}: the same table twice, and they may be of two releases. Remove one of them"
        )
    return {name: paths[0] for name, paths in by_name.items()}


def _header(path: Path) -> tuple[str, ...]:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as text:
            return tuple(next(csv.reader(text), ()))
    except (EOFError, OSError, UnicodeDecodeError) as error:
        raise ExperimentError(f"{path}: not readable ({error}). {DOWNLOAD_AGAIN}") from error


@contextmanager
def open_database(scratch: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in memory that never holds more than `MEMORY_LIMIT`.

    What does not fit goes to the folder ``scratch``.
    """
    import duckdb

    with duckdb.connect(":memory:") as database:
        database.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        database.execute(f"SET threads = {min(MOST_THREADS, os.cpu_count() or 1)}")
        database.execute("SET preserve_insertion_order = false")
        # DuckDB would draw its bar on the standard output, where the tables go.
        database.execute("SET enable_progress_bar = false")
        if scratch is not None:
            database.execute(f"SET temp_directory = {quoted(scratch)}")
        yield database


@contextmanager
def explaining(path: Path, writing: Path | None = None) -> Iterator[None]:
    """Turn DuckDB's errors while reading ``path`` into one with a remedy.

    ``writing`` is the file that DuckDB writes.
    """
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        if "No space left" in str(error):
            raise ExperimentError(
                f"{writing or path}: the disk is full. {DISK_FULL_REMEDY}"
            ) from error
        reason = " ".join(str(error).strip().splitlines()[:3])
        raise ExperimentError(f"{path}: not readable ({reason}). {DOWNLOAD_AGAIN}") from error
