"""How fast, and in how much memory, a chart of millions of rows is streamed.

Run ``python benchmarks/streaming.py``: for 5 and 20 million rows, gzipped, it prints rows per
second and the peak memory of a process that does nothing but extract them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from long_chart import write_long_chart

from voros_studies.hospital.extraction import extract
from voros_studies.hospital.release import find_tables
from voros_studies.hospital.synthetic import write_hospital

N_PATIENTS = 5000
"""About 6,000 stays, so that 20 million rows are as many a stay as in the real table."""

KILOBYTES_PER_MEGABYTE = 1024


def extract_and_measure(data: Path, out: Path) -> dict[str, float]:
    """Extract in this process; return the time it took and its peak memory."""
    started, computed = time.perf_counter(), time.process_time()
    extraction = extract(find_tables(data), out)
    seconds, computed = time.perf_counter() - started, time.process_time() - computed
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KILOBYTES_PER_MEGABYTE
    readings = sum(count.used for count in extraction.counts)
    return {"seconds": seconds, "cpu_seconds": computed, "peak_mb": peak, "readings": readings}


def measure(n_rows: int) -> dict[str, float]:
    """Make a release with a chart of so many rows, and extract it in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data"
        write_hospital(data, N_PATIENTS, release="2.2", rng=np.random.default_rng(0))
        chart = write_long_chart(data, n_rows)
        size = chart.stat().st_size / KILOBYTES_PER_MEGABYTE**2
        command = [sys.executable, __file__, "--extract", str(data), str(Path(place) / "out")]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {"rows": n_rows, "gzip_mb": size, **json.loads(told)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000_000, 20_000_000])
    parser.add_argument("--extract", type=Path, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.extract:
        print(json.dumps(extract_and_measure(*asked.extract)))
        return
    print(f"{'rows':>12} {'gzip MB':>8} {'seconds':>8} {'CPU s':>7} {'rows/s':>10} {'peak MB':>8}")
    for n_rows in asked.rows:
        found = measure(n_rows)
        rate = found["rows"] / found["seconds"]
        print(
            f"{n_rows:>12,} {found['gzip_mb']:>8.0f} {found['seconds']:>8.1f} "
            f"{found['cpu_seconds']:>7.1f} {rate:>10,.0f} {found['peak_mb']:>8.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
