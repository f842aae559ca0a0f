"""A release is read once: two small Parquet files hold the cohort and its chart."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.studies.experiments.errors import ExperimentError, explaining_full_disk
from voros.studies.experiments.folder import save_json
from voros.studies.hospital.chart import ChartCount, stream_chart
from voros.studies.hospital.cohort import MIXED_REMEDY, NEWEST_YEARS, CohortFlow, make_cohort
from voros.studies.hospital.features import HOURS
from voros.studies.hospital.release import SourceTable, explaining, open_database, quoted

if TYPE_CHECKING:
    import duckdb

FEWEST_NEWEST_STAYS = 20
"""If this many stays of the newest years have no reading, that is no accident."""


@dataclass(frozen=True)
class Extraction:
    """What was read from a release, and where it is kept."""

    folder: Path
    flow: CohortFlow
    counts: tuple[ChartCount, ...]

    @property
    def stays(self) -> Path:
        """One row per stay of the cohort."""
        return self.folder / "stays.parquet"

    @property
    def buckets(self) -> Path:
        """One row per stay, channel and 2-hour bucket in which something was measured."""
        return self.folder / "buckets.parquet"


def extract(tables: Mapping[str, SourceTable], folder: Path) -> Extraction:
    """Stream a release into two small Parquet files, or take those of an earlier run.

    Parameters
    ----------
    tables : mapping of str to SourceTable
        Of `find_tables`.
    folder : Path
        Where the two files are kept, with a note of what they were made from.
    """
    note = folder / "extraction.json"
    sources = _identities(tables)
    if note.exists():
        held = json.loads(note.read_text())
        if held["sources"] == sources:
            return Extraction(
                folder,
                CohortFlow(**held["flow"]),
                tuple(ChartCount(**count) for count in held["counts"]),
            )
    with explaining_full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _scratch(folder) as scratch, open_database(scratch) as database:
        flow = make_cohort(database, tables)
        _check_not_empty(flow, tables)
        _write_stays(database, folder / "stays.parquet")
        counts = stream_chart(database, tables["icu/chartevents"], folder / "buckets.parquet")
        _check_newest_charted(database, folder / "buckets.parquet", tables)
    extraction = Extraction(folder, flow, tuple(counts))
    saved = {"flow": asdict(flow), "counts": [asdict(count) for count in counts]}
    save_json(note, {"sources": sources, **saved})
    return extraction


def _identities(tables: Mapping[str, SourceTable]) -> dict[str, list[Any]]:
    return {
        name: [str(table.path.resolve()), table.path.stat().st_size, table.path.stat().st_mtime_ns]
        for name, table in tables.items()
    }


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    scratch = folder / "scratch"
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_not_empty(flow: CohortFlow, tables: Mapping[str, SourceTable]) -> None:
    if flow.in_care == 0:
        raise ExperimentError(
            f"{tables['icu/icustays'].path}: the cohort is empty ({flow}). Take the whole "
            f"table: an extract may hold no stay of {HOURS} hours"
        )


def _write_stays(database: duckdb.DuckDBPyConnection, target: Path) -> None:
    with explaining(target, writing=target):
        database.execute(
            "COPY (SELECT stay_id, subject_id, age, gender, insurance, died FROM cohort "
            f"ORDER BY stay_id) TO {quoted(target)} (FORMAT parquet)"
        )


def _check_newest_charted(
    database: duckdb.DuckDBPyConnection, buckets: Path, tables: Mapping[str, SourceTable]
) -> None:
    ((newest, charted),) = database.execute(
        "SELECT count(*), count(b.stay_id) FROM cohort LEFT JOIN "
        f"(SELECT DISTINCT stay_id FROM read_parquet({quoted(buckets)})) b USING (stay_id) "
        f"WHERE anchor_year_group = '{NEWEST_YEARS}'"
    ).fetchall()
    if newest >= FEWEST_NEWEST_STAYS and charted == 0:
        buckets.unlink()
        raise ExperimentError(
            f"{tables['icu/chartevents'].path}: it holds no reading of the {newest} stays of "
            f"{NEWEST_YEARS}, so it is of 2.x and the other tables of 3.x. {MIXED_REMEDY}"
        )
