"""Alarms over stays at 1, 10 and 100 million hourly rows: seconds, and the most memory.

Rows lie in Parquet files and are read lazily, in batches of whole stays. Each size is counted in a
process of its own, once by DuckDB and once by Polars; up to 10 million rows also in memory.

    python benchmarks/stay_scale.py 1_000_000 10_000_000 100_000_000
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import voros

HOURS = 72
"""Rows of each stay."""

MOST_IN_MEMORY = 10_000_000
RULE = voros.AlarmRule(snooze="12h", horizon="12h", lead="1h")
SCENARIO = voros.Scenario(0.05, 0.1, (1 / 40, 1 / 20), per="patient-day")


def generate(n_rows: int, file: Path) -> None:
    """Write hourly scores; a tenth of the stays has an event at its end, and scores that rise."""
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "2GB"})
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        f"COPY (SELECT stay, hour, random() + CASE WHEN stay % 10 = 0 THEN hour / {4 * HOURS} "
        f"ELSE 0 END AS score FROM (SELECT i // {HOURS} AS stay, i % {HOURS} AS hour "
        f"FROM range({n_rows}) r(i))) TO '{file}'"
    )


def open_rows(how: str, file: str) -> Any:
    """Open a file lazily, or read it."""
    if how == "duckdb":
        import duckdb

        return duckdb.connect(config={"memory_limit": "1GB"}).read_parquet(file)
    import polars as pl

    return pl.scan_parquet(file) if how == "polars" else pl.read_parquet(file)


def count(n_rows: int, how: str, file: str) -> None:
    """Count and choose; print processor seconds, seconds, and the most memory in MiB."""
    ill = np.arange(0, -(-n_rows // HOURS), 10)
    limits = {} if how == "memory" else {"scenario": SCENARIO}
    start = time.perf_counter()
    points = voros.alarm_points(
        open_rows(how, file),
        stay="stay",
        time="hour",
        score="score",
        events=(ill, np.full(len(ill), HOURS - 1)),
        rule=RULE,
        **limits,
    )
    score = voros.evaluate(points, scenario=SCENARIO).score
    wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    print(
        f"{n_rows:,} | {how} | {used.ru_utime + used.ru_stime:.1f} s | {wall:.1f} s "
        f"| {used.ru_maxrss / 1024:,.0f} MiB | {score:.6f}",
        flush=True,
    )


def main() -> None:
    """Print a row for each size and way of reading."""
    if len(sys.argv) == 4 and not sys.argv[2][0].isdigit():
        count(int(sys.argv[1]), sys.argv[2], sys.argv[3])
        return
    print("rows | read by | processor time | time | memory | score", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in map(int, sys.argv[1:] or ["1_000_000"]):
            file = Path(folder) / "rows.parquet"
            generate(n_rows, file)
            for how in ("memory", "polars", "duckdb"):
                if how != "memory" or n_rows <= MOST_IN_MEMORY:
                    command = [sys.executable, __file__, str(n_rows), how, str(file)]
                    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
