"""Which ICU stays are studied: those still in care after 48 hours, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from voros.studies.experiments.errors import ExperimentError
from voros.studies.hospital.features import HOURS
from voros.studies.hospital.release import SourceTable, explaining

if TYPE_CHECKING:
    import duckdb

NEWEST_YEARS = "2020 - 2022"
"""Patients of these years are in MIMIC-IV since 3.0, and in no table of 2.x."""

FEWEST_NEWEST = 20
"""If one table has this many patients of those years and another none, that is no accident."""

MIXED_REMEDY = "Take all four tables from the same release"


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
            f"{self.stays} ICU stays; {self.left_before} ended before {HOURS} h, "
            f"{self.died_before} died before; {self.in_care} in care at {HOURS} h, of whom "
            f"{self.deaths} died in the rest of the hospital stay"
        )


def make_cohort(
    database: duckdb.DuckDBPyConnection, tables: Mapping[str, SourceTable]
) -> CohortFlow:
    """Make the table ``cohort``: stay, patient, admission to the ICU, static facts, outcome.

    A stay without a recorded end did not demonstrably last 48 hours and counts as ended before.

    Raises
    ------
    ExperimentError
        When a table cannot be read, or the tables do not belong together.
    """
    for name in ("hosp/patients", "hosp/admissions", "icu/icustays"):
        table = tables[name]
        short = name.split("/")[1]
        with explaining(table.path):
            database.execute(f"CREATE TABLE {short} AS SELECT * FROM {table.relation}")
    _check_keys(database, tables)
    _check_one_release(database, tables)
    database.execute(_ALL_STAYS)
    database.execute("CREATE TABLE cohort AS SELECT * FROM all_stays WHERE stayed AND NOT gone")
    return CohortFlow(*_one_row(database, _FLOW))


_ALL_STAYS = f"""
CREATE TABLE all_stays AS
SELECT s.stay_id, s.subject_id, s.intime, p.gender, p.anchor_year_group, a.insurance,
       p.anchor_age + year(s.intime) - p.anchor_year AS age,
       a.hospital_expire_flag = 1 AS died,
       coalesce(s.outtime >= s.intime + INTERVAL {HOURS} HOUR, false) AS stayed,
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
    for short, key, name in (
        ("patients", "subject_id", "hosp/patients"),
        ("admissions", "hadm_id", "hosp/admissions"),
        ("icustays", "stay_id", "icu/icustays"),
    ):
        rows, distinct = _one_row(database, f"SELECT count(*), count(DISTINCT {key}) FROM {short}")
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
    for short in ("admissions", "icustays"):
        _check_newest_years(database, tables, short)


def _check_newest_years(
    database: duckdb.DuckDBPyConnection, tables: Mapping[str, SourceTable], short: str
) -> None:
    newest, held = _one_row(
        database,
        "SELECT count(*), count(t.subject_id) FROM patients p LEFT JOIN "
        f"(SELECT DISTINCT subject_id FROM {short}) t USING (subject_id) "
        f"WHERE anchor_year_group = '{NEWEST_YEARS}'",
    )
    if newest >= FEWEST_NEWEST and held == 0:
        raise ExperimentError(
            f"{_path(tables, short)}: it holds none of the {newest} patients of {NEWEST_YEARS} in "
            f"{_path(tables, 'patients')}, so it is of 2.x and the other of 3.x. {MIXED_REMEDY}"
        )


def _path(tables: Mapping[str, SourceTable], short: str) -> str:
    return next(str(table.path) for name, table in tables.items() if name.endswith(f"/{short}"))
