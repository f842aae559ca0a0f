"""Read a release once, into two small Parquet files: the cohort and its chart."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from voros.core.arguments import check_choice
from voros_studies.experiments.errors import ExperimentError, explaining_full_disk
from voros_studies.experiments.folder import save_json, sha256_of
from voros_studies.flow import FlowStep
from voros_studies.hospital.chart import ChartCount, stream_chart
from voros_studies.hospital.features import HOURS
from voros_studies.hospital.layout import MOST_LEFT_OUT, check_few_left_out
from voros_studies.hospital.release import (
    CHART,
    DOWNLOAD_AGAIN,
    SourceTable,
    explaining,
    open_database,
    quoted,
)

if TYPE_CHECKING:
    import duckdb

MIXED_REMEDY = "Take all four tables from the same release"


PIPELINE = "the pipeline of Gupta et al. (2022), which the paper used"
PAPER_STAYS, PAPER_PREVALENCE = 31_137, 0.105
"""Prevalence of the paper's cohort, over its three parts."""

DIED = {
    "icu": "coalesce(CAST(p.dod AS TIMESTAMP) BETWEEN s.intime AND s.outtime, false)",
    "hospital": "a.hospital_expire_flag = 1",
}
"""The outcomes in SQL. A date of death stands for its first moment, as in the pipeline."""


@dataclass(frozen=True)
class CohortRule:
    """The rule of the cohort: length of stay and outcome.

    Parameters
    ----------
    outcome : {"icu", "hospital"}
        "icu" is the label of the pipeline of Gupta et al.: the date of death lies between admission
        to the ICU and leaving it. "hospital" is ``hospital_expire_flag``.
    min_hours : float, default 50
        Least length of a stay. The pipeline requires the observed 48 hours and a prediction window
        of 2 to 8 more; the paper does not say which.
    """

    outcome: Literal["icu", "hospital"] = "icu"
    min_hours: float = HOURS + 2.0

    def __post_init__(self) -> None:
        check_choice(self.outcome, "outcome", tuple(DIED))
        if not HOURS <= self.min_hours < math.inf:
            raise ValueError(
                f"min_hours={self.min_hours}; accepted are hours of at least {HOURS}, which are "
                "observed"
            )

    @property
    def title(self) -> str:
        """The outcome in words."""
        where = "in the ICU" if self.outcome == "icu" else "in the rest of the hospital stay"
        return f"death {where}"


PAPER_RULE = CohortRule()


@dataclass(frozen=True)
class CohortFlow:
    """Numbers of stays, and why others were left out.

    ``left_out`` counts the rows of each table that cannot be read, repeat another or belong to
    one that is left out.
    """

    left_out: Mapping[str, int]
    stays: int
    left_before: int
    died_before: int
    in_care: int
    deaths: int

    @property
    def stays_in_words(self) -> str:
        """What the counted stays are, and how many rows of the tables were left out."""
        tables = [f"; left out: {n:,} rows of {name}" for name, n in self.left_out.items() if n]
        return "".join(["ICU stays", *tables])

    def __str__(self) -> str:
        """Return the flow as a sentence."""
        return (
            f"{self.stays} {self.stays_in_words}; {self.left_before} ended too early, "
            f"{self.died_before} died within {HOURS} h; {self.in_care} in the cohort, "
            f"of whom {self.deaths} met the outcome"
        )

    def steps(self, rule: CohortRule) -> tuple[FlowStep, ...]:
        """Return the steps of a flow diagram."""
        lasted = self.stays - self.left_before
        return (
            FlowStep(self.stays_in_words, self.stays),
            FlowStep(
                f"stays of {rule.min_hours:g} h or more",
                *(lasted, self.left_before),
                f"ended before {rule.min_hours:g} h",
            ),
            FlowStep(
                f"in care at {HOURS} h", self.in_care, self.died_before, f"died within {HOURS} h"
            ),
        )


def make_cohort(
    database: duckdb.DuckDBPyConnection,
    tables: Mapping[str, SourceTable],
    rule: CohortRule = PAPER_RULE,
) -> CohortFlow:
    """Make the table ``cohort``: stay, patient, admission to the ICU, static facts, outcome.

    A stay without a recorded end counts as too short.
    Rows that cannot be read, repeat another or lack the row of another table that they belong to
    are left out and counted; if they are more than `MOST_LEFT_OUT`, an `ExperimentError` says
    that the tables do not belong together.
    """
    left_out = {name: _load(database, tables[name], key) for name, key in KEYS.items()}
    _check_one_release(database, tables)
    database.execute(_all_stays(rule))
    (lost,) = _one_row(
        database, "SELECT (SELECT count(*) FROM icustays) - (SELECT count(*) FROM all_stays)"
    )
    left_out["icu/icustays"] += lost
    database.execute("CREATE TABLE cohort AS SELECT * FROM all_stays WHERE stayed AND NOT gone")
    return CohortFlow(left_out, *_one_row(database, _FLOW))


KEYS = {"hosp/patients": "subject_id", "hosp/admissions": "hadm_id", "icu/icustays": "stay_id"}
"""Tables of the cohort, and the key of each."""


def _all_stays(rule: CohortRule) -> str:
    minutes = round(60 * rule.min_hours)
    return f"""
CREATE TABLE all_stays AS
SELECT s.stay_id, s.subject_id, s.intime, p.gender, a.insurance,
       p.anchor_age + year(s.intime) - p.anchor_year AS age,
       {DIED[rule.outcome]} AS died,
       coalesce(s.outtime >= s.intime + INTERVAL {minutes} MINUTE, false) AS stayed,
       coalesce(a.deathtime <= s.intime + INTERVAL {HOURS} HOUR, false) AS gone
FROM icustays s JOIN admissions a USING (hadm_id) JOIN patients p ON p.subject_id = s.subject_id
WHERE died IS NOT NULL
"""


_FLOW = """
SELECT count(*),
       count(*) FILTER (NOT stayed),
       count(*) FILTER (stayed AND gone),
       count(*) FILTER (stayed AND NOT gone),
       count(*) FILTER (stayed AND NOT gone AND died)
FROM all_stays
"""


def _one_row(database: duckdb.DuckDBPyConnection, query: str) -> tuple[int, ...]:
    (row,) = database.execute(query).fetchall()
    return tuple(row)


def _load(database: duckdb.DuckDBPyConnection, table: SourceTable, key: str) -> int:
    """Load a table of the cohort, and return how many rows are left out."""
    name = table.name.split("/")[1]
    with explaining(table.path):
        database.execute(f"CREATE TEMP TABLE loaded AS SELECT * FROM {table.relation}")
    database.execute(
        f"CREATE TABLE {name} AS SELECT * FROM (SELECT DISTINCT * FROM loaded) "
        f"WHERE {key} IS NOT NULL QUALIFY count(*) OVER (PARTITION BY {key}) = 1"
    )
    loaded, kept = _one_row(
        database, f"SELECT (SELECT count(*) FROM loaded), (SELECT count(*) FROM {name})"
    )
    database.execute("DROP TABLE loaded")
    n_rows = loaded + _count_rejected(database, table)
    what = f"rows cannot be read, lack a {key} or repeat one, as when two releases are joined"
    check_few_left_out(table.path, n_rows - kept, n_rows, what, MIXED_REMEDY)
    return n_rows - kept


def _count_rejected(database: duckdb.DuckDBPyConnection, table: SourceTable) -> int:
    """Count the rows of a table that DuckDB could not read."""
    (n,) = _one_row(
        database,
        "SELECT count(DISTINCT line) FROM reject_errors JOIN reject_scans USING (scan_id) "
        f"WHERE file_path = {quoted(table.path)}",
    )
    return n


def _check_one_release(
    database: duckdb.DuckDBPyConnection, tables: Mapping[str, SourceTable]
) -> None:
    for inner, key, outer in (
        ("icustays", "hadm_id", "admissions"),
        ("icustays", "subject_id", "patients"),
        ("admissions", "subject_id", "patients"),
    ):
        query = f"SELECT count(*) FROM {inner} ANTI JOIN {outer} USING ({key})"
        (orphans,) = _one_row(database, query)
        (n_rows,) = _one_row(database, f"SELECT count(*) FROM {inner}")
        what = f"rows have a {key} that is not in {_path(tables, outer)}"
        check_few_left_out(_path(tables, inner), orphans, n_rows, what, MIXED_REMEDY)


def _path(tables: Mapping[str, SourceTable], short: str) -> str:
    return next(str(table.path) for name, table in tables.items() if name.endswith(f"/{short}"))


@dataclass(frozen=True)
class Extraction:
    """The files extracted from a release, and what was read."""

    folder: Path
    flow: CohortFlow
    counts: tuple[ChartCount, ...]
    digests: Mapping[str, str]

    @property
    def notes(self) -> list[str]:
        """Counts of the readings, a sentence for each channel."""
        return [str(count) for count in self.counts]

    @property
    def stays(self) -> Path:
        """One row per stay of the cohort."""
        return self.folder / "stays.parquet"

    @property
    def buckets(self) -> Path:
        """One row per stay, channel and 2-hour bucket in which something was measured."""
        return self.folder / "buckets.parquet"


def extract(
    tables: Mapping[str, SourceTable], folder: Path, rule: CohortRule = PAPER_RULE
) -> Extraction:
    """Stream a release into two small Parquet files, or reuse those of an earlier run.

    They are kept in ``folder``, with a record of their tables and their rule.
    """
    note = folder / "extraction.json"
    sources = {}
    for name, table in tables.items():
        status = table.path.stat()
        sources[name] = [str(table.path.resolve()), status.st_size, status.st_mtime_ns]
    made_from = {"sources": sources, "rule": asdict(rule), "most left out": MOST_LEFT_OUT}
    held = json.loads(note.read_text()) if note.exists() else {}
    if {key: held.get(key) for key in made_from} == made_from:
        counts = tuple(ChartCount(**count) for count in held["counts"])
        return Extraction(folder, CohortFlow(**held["flow"]), counts, held["digests"])
    with explaining_full_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        scratch = TemporaryDirectory(dir=folder, prefix="scratch", ignore_cleanup_errors=True)
    with scratch as place, open_database(Path(place)) as database:
        flow = make_cohort(database, tables, rule)
        if flow.in_care == 0:
            raise ExperimentError(
                f"{tables['icu/icustays'].path}: the cohort is empty ({flow}). Take the whole "
                f"table: an extract may hold no stay of {rule.min_hours:g} hours"
            )
        stays = folder / "stays.parquet"
        with explaining(stays, writing=stays):
            database.execute(
                "COPY (SELECT stay_id, subject_id, age, gender, insurance, died FROM cohort "
                f"ORDER BY stay_id) TO {quoted(stays)} (FORMAT parquet)"
            )
        counts = tuple(stream_chart(database, tables[CHART], folder / "buckets.parquet"))
        in_chart = _count_rejected(database, tables[CHART])
        n_rows = in_chart + sum(count.readings for count in counts)
        what = "rows cannot be read, beside the cohort's readings"
        check_few_left_out(tables[CHART].path, in_chart, n_rows, what, DOWNLOAD_AGAIN)
        flow = replace(flow, left_out={**flow.left_out, CHART: in_chart})
    digests = {name: sha256_of(table.path) for name, table in tables.items()}
    saved = {"flow": asdict(flow), "counts": [asdict(c) for c in counts], "digests": digests}
    save_json(note, {**made_from, **saved})
    return Extraction(folder, flow, counts, digests)
