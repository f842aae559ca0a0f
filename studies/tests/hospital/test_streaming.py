"""A long chart is streamed: memory stays flat, and time grows with the rows alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("duckdb")

from hospital.long_chart import write_long_chart
from hospital.made_up_release import write_hospital

from voros_studies.hospital.extraction import extract
from voros_studies.hospital.release import find_tables

EXTRACT = """
import json, re, sys, time
from pathlib import Path
from voros_studies.hospital.extraction import extract
from voros_studies.hospital.release import find_tables
started = time.process_time()
extract(find_tables(Path(sys.argv[1])), Path(sys.argv[2]))
# Not ru_maxrss, which starts from the memory of the process that started this one.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({"cpu": time.process_time() - started, "peak_mb": peak}))
"""


def measure(place, n_rows):
    data = place / f"data_{n_rows}"
    write_hospital(data, 2000, release="2.2", rng=np.random.default_rng(0))
    write_long_chart(data, n_rows)
    command = [sys.executable, "-c", EXTRACT, str(data), str(place / f"out_{n_rows}")]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc tells the peak memory")
def test_memory_is_flat_and_time_linear(tmp_path):
    """From half a million rows to two million."""
    few, many = (measure(tmp_path, n_rows) for n_rows in (500_000, 2_000_000))
    assert many["peak_mb"] < 1000
    assert many["peak_mb"] - few["peak_mb"] < 250
    assert many["cpu"] / few["cpu"] < 6


@pytest.mark.slow
def test_a_long_chart_has_its_rows_and_every_reading_is_found(tmp_path):
    """Compare with a DuckDB count of the readings in the first 48 hours of stays of 50 hours."""
    import duckdb

    write_hospital(tmp_path, 100, release="2.2", rng=np.random.default_rng(0))
    chart = write_long_chart(tmp_path, 30_000)
    extraction = extract(find_tables(tmp_path), tmp_path / "out")
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE chart AS FROM read_csv('{chart}')")
        database.execute(f"CREATE TABLE stay AS FROM read_csv('{tmp_path}/icu/icustays.csv.gz')")
        assert database.execute("SELECT count(*) FROM chart").fetchall() == [(30_000,)]
        ((distinct,),) = database.execute(
            "SELECT count(DISTINCT (c.stay_id, itemid, charttime, valuenum, valueuom)) "
            "FROM chart c JOIN stay s USING (stay_id) WHERE itemid < 229000 AND itemid <> 220739 "
            "AND charttime >= intime AND charttime < intime + INTERVAL 48 HOUR "
            "AND outtime >= intime + INTERVAL 50 HOUR"
        ).fetchall()
    counts = [(c.used, c.implausible, c.unknown_unit) for c in extraction.counts]
    assert np.sum(counts) == distinct
