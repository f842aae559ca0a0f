"""A release is read once: two small Parquet files hold the cohort and its chart."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from voros.core.arguments import check_choice
from voros.present.flow import FlowStep
from voros_studies.experiments.errors import ExperimentError, explaining_full_disk
from voros_studies.experiments.folder import save_json, sha256_of
from voros_studies.hospital.chart import ChartCount, stream_chart
from voros_studies.hospital.features import HOURS
from voros_studies.hospital.release import CHART, SourceTable, explaining, open_database, quoted

if TYPE_CHECKING:
    import duckdb

MIXED_REMEDY = "Take all four tables from the same release"


PIPELINE = "the pipeline of Gupta et al. (2022), which the paper used"
PAPER_STAYS, PAPER_PREVALENCE = 31_137, 0.105
"""Of the paper's cohort, over its three parts."""

DIED = {
    "icu": "coalesce(CAST(p.dod AS TIMESTAMP) BETWEEN s.intime AND s.outtime, false)",
    "hospital": "a.hospital_expire_flag = 1",
}
"""The outcomes in SQL. A date of death stands for its first moment, as in the pipeline."""


@dataclass(frozen=True)
class CohortRule:
    """Which stays are in the cohort, and which death is the outcome.

    Parameters
    ----------
    outcome : {"icu", "hospital"}
        "icu" is the label of the pipeline of Gupta et al.: the date of death lies between admission
        to the ICU and leaving it. "hospital" is ``hospital_expire_flag``.
    min_hours : float, default 50
        How long a stay must have lasted. The pipeline asks for the observed 48 hours and a
        prediction window of 2 to 8 more; the paper does not say which.
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
    """How many stays there are, and why others were left out."""

    stays: int
    left_before: int
    died_before: int
    in_care: int
    deaths: int

    def __str__(self) -> str:
        """Say it in a sentence."""
        return (
            f"{self.stays} ICU stays; {self.left_before} ended too early, {self.died_before} died "
            f"within {HOURS} h; {self.in_care} in the cohort, of whom {self.deaths} met the outcome"
        )

    def steps(self, rule: CohortRule) -> tuple[FlowStep, ...]:
        """Return the steps of a flow diagram."""
        lasted = self.stays - self.left_before
        return (
            FlowStep("ICU stays", self.stays),
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

    A stay without a recorded end did not demonstrably last long enough and counts as ended before.
    Tables that do not belong together are an `ExperimentError`.
    """
    for name in KEYS:
        with explaining(tables[name].path):
            relation = tables[name].relation
            database.execute(f"CREATE TABLE {name.split('/')[1]} AS SELECT * FROM {relation}")
    _check_keys(database, tables)
    _check_one_release(database, tables)
    database.execute(_all_stays(rule))
    database.execute("CREATE TABLE cohort AS SELECT * FROM all_stays WHERE stayed AND NOT gone")
    return CohortFlow(*_one_row(database, _FLOW))


KEYS = {"hosp/patients": "subject_id", "hosp/admissions": "hadm_id", "icu/icustays": "stay_id"}
"""Tables of the cohort, and what identifies a row of each."""


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


def _check_keys(database: duckdb.DuckDBPyConnection, tables: Mapping[str, SourceTable]) -> None:
    for name, key in KEYS.items():
        counted = f"SELECT count(*), count(DISTINCT {key}) FROM {name.split('/')[1]}"
        rows, distinct = _one_row(database, counted)
        if rows != distinct:
            raise ExperimentError(
                f"{tables[name].path}: {rows - distinct} of {rows} rows repeat a {key} or lack it, "
                f"as when two releases are joined in one file. {MIXED_REMEDY}"
            )


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
        if orphans:
            raise ExperimentError(
                f"{_path(tables, inner)}: {orphans} rows have a {key} that is not in "
                f"{_path(tables, outer)}, so the two are of different releases. {MIXED_REMEDY}"
            )


def _path(tables: Mapping[str, SourceTable], short: str) -> str:
    return next(str(table.path) for name, table in tables.items() if name.endswith(f"/{short}"))


@dataclass(frozen=True)
class Extraction:
    """What was read from a release, and where it is kept."""

    folder: Path
    flow: CohortFlow
    counts: tuple[ChartCount, ...]
    unreadable: int
    digests: Mapping[str, str]

    @property
    def notes(self) -> list[str]:
        """What became of the readings, a sentence for each channel."""
        left_out = f"chart: {self.unreadable:,} rows that cannot be read left out"
        return [*([left_out] if self.unreadable else []), *map(str, self.counts)]

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
    """Stream a release into two small Parquet files, or take those of an earlier run.

    They are kept in ``folder``, with a note of the tables and the rule that they were made from.
    """
    note = folder / "extraction.json"
    sources = {}
    for name, table in tables.items():
        status = table.path.stat()
        sources[name] = [str(table.path.resolve()), status.st_size, status.st_mtime_ns]
    made_from = {"sources": sources, "rule": asdict(rule)}
    held = json.loads(note.read_text()) if note.exists() else {}
    if {key: held.get(key) for key in made_from} == made_from:
        counts = tuple(ChartCount(**count) for count in held["counts"])
        flow, rest = CohortFlow(**held["flow"]), (held["unreadable"], held["digests"])
        return Extraction(folder, flow, counts, *rest)
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
        unreadable = _count_rejected(database)
    digests = {name: sha256_of(table.path) for name, table in tables.items()}
    saved = {"flow": asdict(flow), "counts": [asdict(c) for c in counts], "digests": digests}
    save_json(note, {**made_from, **saved, "unreadable": unreadable})
    return Extraction(folder, flow, counts, unreadable, digests)


def _count_rejected(database: duckdb.DuckDBPyConnection) -> int:
    """Count the rows of the chart that DuckDB could not read."""
    (n,) = _one_row(database, "SELECT count(DISTINCT line) FROM reject_errors")
    return n
