"""Hundreds of millions of scores: counted exactly, beside a plain scan by the same engine.

Generates Parquet files, and for each engine times ``sum(score), sum(label)`` over the whole file
and the exact score by refinement, in turn, in a process of its own that may use 2 GB. What counts
is the ratio of the two, best of several.

    python benchmarks/scale.py --rows 20_000_000 200_000_000 --engines duckdb polars
    python benchmarks/scale.py --rows 20_000_000 --kinds even sorted weighted
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import voros
from voros.engines import count_frame, open_files

MEMORY_LIMIT = 2 * 10**9

SCENARIOS = {
    "small capacity": voros.Scenario(0.5, 0.01, (1 / 40, 1 / 20)),
    "half of the cases": voros.Scenario(0.15, 0.5, (1 / 9, 1 / 6)),
    "no limit": voros.Scenario(cost_ratio=(1 / 9, 1 / 6)),
}


KINDS = ("even", "sorted", "weighted")
"""Scores in any order; rising, so that the first rows mislead; with a weight for every row."""


def generate(rows: int, file: Path, kind: str) -> None:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "2GB"})
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        f"COPY (SELECT score, random() < 0.9 * score ** 6 AS label{WEIGHT.get(kind, '')} "
        f"FROM (SELECT random() ** 3 AS score FROM range({rows})){ORDER.get(kind, '')}) TO '{file}'"
    )


WEIGHT = {"weighted": ", 0.5 + random() AS weight"}
ORDER = {"sorted": " ORDER BY score"}


def open_limited(engine: str, file: str) -> Any:
    """Open a file in a process that may use 2 GB; Spark limits its own workers."""
    if engine == "duckdb":
        import duckdb

        limit = f"{MEMORY_LIMIT}B"
        return duckdb.connect(config={"memory_limit": limit}).read_parquet(file)
    if engine == "polars":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    return open_files(file, engine)


def scan_duckdb(frame: Any) -> Any:
    return frame.aggregate("sum(score), sum(CAST(label AS INTEGER))").fetchall()


def scan_polars(frame: Any) -> Any:
    return frame.select("score", "label").sum().collect(engine="streaming")


def scan_spark(frame: Any) -> Any:
    return frame.selectExpr("sum(score)", "sum(CAST(label AS INT))").collect()


SCANS: dict[str, Callable[[Any], Any]] = {
    "duckdb": scan_duckdb,
    "polars": scan_polars,
    "spark": scan_spark,
}


class Best:
    """Least wall and processor time of several runs; all threads of this process count."""

    def __init__(self) -> None:
        self.wall = self.processor = float("inf")

    def run(self, action: Callable[[], Any]) -> Any:
        """Time an action and return what it returns."""
        wall, processor = time.perf_counter(), time.process_time()
        result = action()
        self.wall = min(self.wall, time.perf_counter() - wall)
        self.processor = min(self.processor, time.process_time() - processor)
        return result


def measure(engine: str, file: str, repeats: int, kind: str) -> dict[str, Any]:
    """Time scan and count in turn, so that both see the same load of the machine."""
    frame = open_limited(engine, file)
    scan, counts = Best(), {name: Best() for name in SCENARIOS}
    points: dict[str, Any] = {}
    for _ in range(repeats):
        scan.run(partial(SCANS[engine], frame))
        for name, scenario in SCENARIOS.items():
            points[name] = counts[name].run(partial(_count, frame, scenario, kind))
    return {
        "scan": scan.wall,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "counts": [
            {
                "name": name,
                "seconds": best.wall,
                "ratio": best.wall / scan.wall,
                "processor_ratio": best.processor / scan.processor,
                "interval": points[name].covers.interval,
                "passes": points[name].covers.usage.passes,
                "rows_counted": points[name].covers.usage.rows_counted,
                "bytes_received": points[name].covers.usage.bytes_received,
            }
            for name, best in counts.items()
        ],
    }


def _count(frame: Any, scenario: voros.Scenario, kind: str) -> Any:
    weight = "weight" if kind == "weighted" else None
    how: dict[str, Any] = {"label": "label", "scores": ["score"], "weight": weight}
    return count_frame(frame, scenarios=[scenario], **how)["score"]


def run_apart(engine: str, file: Path, repeats: int, kind: str) -> dict[str, Any]:
    """Measure in a fresh process, so that its memory limit binds it alone."""
    command = [sys.executable, __file__, "--apart", engine, str(file), str(repeats), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def report(engine: str, rows: int, measurements: dict[str, Any]) -> None:
    peak = measurements["peak"] / 1e9
    scan = measurements["scan"]
    print(f"\n{engine}, {rows:,} rows: plain scan {scan:.2f} s, peak memory {peak:.2f} GB")
    for count in measurements["counts"]:
        low, high = count["interval"]
        print(
            f"  {count['name']:<18} {low:.6f} {'exact' if low == high else f'to {high:.6f}'} "
            f"{count['seconds']:7.2f} s, {count['ratio']:5.2f} scans"
            f"{_by_processor(engine, count)}, {count['passes']} passes, "
            f"{rows / count['seconds'] / 1e6:.1f} M rows/s, "
            f"{count['rows_counted'] / rows:.2%} of rows counted, "
            f"{count['bytes_received'] / 1e6:.1f} MB received",
            flush=True,
        )


def _by_processor(engine: str, count: dict[str, Any]) -> str:
    """Add the ratio by processor time, where the engine works in the process that measures."""
    if engine not in ("duckdb", "polars"):
        return ""
    return f" ({count['processor_ratio']:.2f} by processor time)"


def main() -> None:
    if sys.argv[1:2] == ["--apart"]:
        engine, name, repeats, kind = sys.argv[2:]
        print(json.dumps(measure(engine, name, int(repeats), kind)))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000_000, 200_000_000])
    parser.add_argument("--engines", nargs="+", default=["duckdb", "polars"], choices=list(SCANS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=["even"], choices=KINDS)
    options = parser.parse_args()
    for rows, kind in product(options.rows, options.kinds):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "cases.parquet")
            generate(rows, file, kind)
            print(f"\n{rows:,} rows, {kind}: {file.stat().st_size / 1e9:.2f} GB of Parquet")
            for engine in options.engines:
                report(engine, rows, run_apart(engine, file, options.repeats, kind))


if __name__ == "__main__":
    main()
