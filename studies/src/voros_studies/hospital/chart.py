"""Reduce over 300 million charted readings to one number per stay, channel and 2 hours.

DuckDB streams the file: rows are filtered by item and stay as they are read, and only the sums of
the cohort's readings are kept, on disk where they outgrow the memory allowed. So memory does not
depend on how long the file is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voros_studies.experiments.errors import ExperimentError
from voros_studies.hospital.channels import CHANNELS, ITEM_IDS, conversion_rows
from voros_studies.hospital.features import BUCKET_HOURS, HOURS
from voros_studies.hospital.release import SourceTable, explaining, quoted

if TYPE_CHECKING:
    import duckdb

MOST_UNKNOWN_UNITS = 0.5
"""Largest share of a channel's readings that may have unknown units."""


@dataclass(frozen=True)
class ChartCount:
    """Counts of the cohort's readings of one channel: used and left out."""

    channel: str
    used: int
    implausible: int
    unknown_unit: int
    example_unit: str | None

    @property
    def readings(self) -> int:
        """Number of readings, including those left out."""
        return self.used + self.implausible + self.unknown_unit

    def __str__(self) -> str:
        """Return the counts as a sentence."""
        text = f"{self.channel}: {self.used} readings"
        if self.implausible:
            text += f", {self.implausible} implausible left out"
        if self.unknown_unit:
            text += f", {self.unknown_unit} in unknown units such as {self.example_unit!r} left out"
        return text


def stream_chart(
    database: duckdb.DuckDBPyConnection, chart: SourceTable, target: Path
) -> list[ChartCount]:
    """Write the buckets of the cohort's stays to a Parquet file, and count the readings.

    A row counts once even if it is in the file twice: readings alike in stay, item, time, value
    and unit are one reading. A bucket's value is the mean of its plausible readings.
    """
    database.execute(
        "CREATE OR REPLACE TABLE conversion (channel UTINYINT, itemid INTEGER, unit VARCHAR, "
        "shift DOUBLE, factor DOUBLE, low DOUBLE, high DOUBLE)"
    )
    named = [(number, item, unit or "", *rest) for number, item, unit, *rest in conversion_rows()]
    database.executemany("INSERT INTO conversion VALUES (?, ?, ?, ?, ?, ?, ?)", named)
    unfinished = target.with_name(f".{target.name}.part")
    try:
        with explaining(chart.path, writing=target):
            database.execute(f"COPY ({_buckets(chart)}) TO {quoted(unfinished)} (FORMAT parquet)")
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return _counts(database, chart, target)


def _buckets(chart: SourceTable) -> str:
    items = ", ".join(map(str, ITEM_IDS))
    return f"""
    WITH reading AS (
        SELECT DISTINCT e.stay_id, e.itemid, e.charttime, e.valuenum,
               lower(replace(coalesce(e.valueuom, ''), ' ', '')) AS unit,
               CAST(floor(epoch(e.charttime - s.intime) / {3600 * BUCKET_HOURS}) AS UTINYINT)
                   AS bucket
        FROM {chart.relation} e JOIN cohort s USING (stay_id)
        WHERE e.itemid IN ({items}) AND e.valuenum IS NOT NULL
          AND e.charttime >= s.intime AND e.charttime < s.intime + INTERVAL {HOURS} HOUR
    ), known AS (
        SELECT r.stay_id, r.bucket, r.unit, i.channel,
               (r.valuenum - c.shift) * c.factor AS value,
               (r.valuenum - c.shift) * c.factor BETWEEN c.low AND c.high AS plausible
        FROM reading r
        JOIN (SELECT DISTINCT channel, itemid FROM conversion) i USING (itemid)
        LEFT JOIN conversion c ON c.itemid = r.itemid AND c.unit = r.unit
    )
    SELECT stay_id, channel, bucket,
           favg(value) FILTER (plausible) AS value,
           count(*) FILTER (plausible) AS used,
           count(*) FILTER (NOT plausible) AS implausible,
           count(*) FILTER (plausible IS NULL) AS unknown_unit,
           any_value(unit) FILTER (plausible IS NULL) AS example_unit
    FROM known GROUP BY stay_id, channel, bucket ORDER BY stay_id, channel, bucket
    """


def _counts(
    database: duckdb.DuckDBPyConnection, chart: SourceTable, target: Path
) -> list[ChartCount]:
    rows = database.execute(
        "SELECT channel, sum(used), sum(implausible), sum(unknown_unit), any_value(example_unit) "
        f"FROM read_parquet({quoted(target)}) GROUP BY channel ORDER BY channel"
    ).fetchall()
    if not rows:
        raise ExperimentError(
            f"{chart.path}: not one reading belongs to the first {HOURS} hours of a stay of the "
            "cohort. Take all four tables from the same release"
        )
    counts = [
        ChartCount(CHANNELS[number].name, int(used), int(implausible), int(unknown), unit)
        for number, used, implausible, unknown, unit in rows
    ]
    for count in counts:
        if count.unknown_unit > MOST_UNKNOWN_UNITS * count.readings:
            raise ExperimentError(
                f"{chart.path}: {count.unknown_unit} of {count.readings} readings of "
                f"{count.channel} are in a unit that is not known here, such as "
                f"{count.example_unit!r}. Convert them, or report the unit as an issue: guessing "
                "would change the features"
            )
    return counts
