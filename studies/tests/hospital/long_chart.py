"""A chart of any length for a simulated MIMIC-IV release, to measure streaming."""

from __future__ import annotations

from pathlib import Path

from hospital.made_up_release import ITEMS

from voros_studies.hospital.release import quoted

UNREAD_ITEMS = 2 * len(ITEMS)
"""Items that the experiment does not read: two thirds of the rows."""


def write_long_chart(folder: Path, n_rows: int) -> Path:
    """Write a chart of exactly `n_rows` rows for a simulated release, for measurements.

    Stays follow one another as in the real table. A third of the rows are of items that the
    experiment reads, and half of those fall into the first 48 hours.

    Parameters
    ----------
    folder : Path
        Of `write_hospital`.
    n_rows : int

    Returns
    -------
    Path
        Of the gzipped table.
    """
    import duckdb

    target = folder / "icu/chartevents.csv.gz"
    used = [(item, how.unit, how.usual, how.spread) for item, how in ITEMS.items()]
    unused = [(229_000 + number, "", 10.0, 3.0) for number in range(UNREAD_ITEMS)]
    items = [(n, *row) for n, row in enumerate([*used, *unused])]
    with duckdb.connect(":memory:") as database:
        database.execute(
            "CREATE TABLE stay AS SELECT row_number() OVER (ORDER BY stay_id) - 1 AS n, * "
            f"FROM read_csv({quoted(folder / 'icu/icustays.csv.gz')})"
        )
        database.execute(
            "CREATE TABLE item (n UBIGINT, itemid INTEGER, unit VARCHAR, usual DOUBLE, "
            "spread DOUBLE)"
        )
        database.executemany("INSERT INTO item VALUES (?, ?, ?, ?, ?)", items)
        ((n_stays,),) = database.execute("SELECT count(*) FROM stay").fetchall()
        chart = _CHART.format(rows=n_rows, stays=n_stays, items=len(items))
        written = "(FORMAT csv, HEADER, COMPRESSION gzip)"
        database.execute(f"COPY ({chart}) TO {quoted(target)} {written}")
    return target


_CHART = """
SELECT subject_id, hadm_id, stay_id, 6 AS caregiver_id, minute AS charttime, minute AS storetime,
       itemid, number AS value, number AS valuenum, unit AS valueuom, 0 AS warning
FROM (
    SELECT s.subject_id, s.hadm_id, s.stay_id, i.itemid, i.unit,
           strftime(s.intime + to_seconds(r.seconds), '%Y-%m-%d %H:%M:00') AS minute,
           round(i.usual + i.spread * r.deviation, 2) AS number
    FROM (
        SELECT range * {stays} // {rows} AS stay,
               hash(range, 3) % {items} AS item,
               CAST(hash(range, 1) % 345600 AS BIGINT) AS seconds,
               (hash(range, 2) % 1000) / 500.0 - 1 AS deviation
        FROM range({rows})
    ) r
    JOIN stay s ON s.n = r.stay
    JOIN item i ON i.n = r.item
)
"""
