"""Scoring a Parquet file of ten million rows, beside reading it and doing nothing else.

Once inside a process that has everything loaded, and once as whole processes, the way a command
line is met. Processor time is counted, of all threads, so that neighbours on the machine matter
less.

    python benchmarks/reading.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from voros import Scenario
from voros.cli.score import evaluate_model
from voros.io import Predictions, read_predictions

ROWS = 10_000_000
REPEATS = 5

SCENARIOS = {
    "a tenth": (("0.5", "0.1", "1/40:1/20"), Scenario(0.5, 0.1, (1 / 40, 1 / 20))),
    "half": (("0.15", "0.5", "1/9:1/6"), Scenario(0.15, 0.5, (1 / 9, 1 / 6))),
    "no limit": (("0", "1.0", "1/9:1/6"), Scenario(0.0, 1.0, (1 / 9, 1 / 6))),
}
"""By capacity: the options of the command line, and the same scenario."""

READ_ALONE = "import sys, pyarrow.parquet as parquet; parquet.{how}"
READERS = {
    "read_table": READ_ALONE.format(how="read_table(sys.argv[1])"),
    "ParquetFile.read": READ_ALONE.format(how="ParquetFile(sys.argv[1]).read()"),
}
"""The usual way, which loads pyarrow.dataset too (and pandas where it is installed); the barest."""


@dataclass(frozen=True)
class Beside:
    """Processor seconds to read, and to score what was read, by capacity."""

    read: float
    score: dict[str, float]


def write_cases(file: Path, rows: int = ROWS) -> None:
    rng = np.random.default_rng(0)
    label = rng.random(rows) < 0.1
    score = rng.normal(size=rows) + 1.5 * label
    parquet.write_table(pa.table({"label": label, "score": score}), file)


def least(action: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    taken = []
    for _ in range(REPEATS):
        start = clock()
        action()
        taken.append(clock() - start)
    return min(taken)


def inside_a_process(file: Path) -> Beside:
    cases = read_predictions(file, label="label")
    return Beside(
        least(partial(read_predictions, file, label="label")),
        {
            name: least(partial(_score, cases, scenario))
            for name, (_, scenario) in SCENARIOS.items()
        },
    )


def _score(cases: Predictions, scenario: Scenario) -> object:
    return evaluate_model(cases, "score", scenario).choices


def of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def whole_process(*arguments: object) -> float:
    command = [sys.executable, *map(str, arguments)]
    return least(partial(subprocess.run, command, check=True, capture_output=True), of_children)


def score_process(file: Path, capacity: str) -> float:
    floor, limit, costs = SCENARIOS[capacity][0]
    limits = ("--min-precision", floor, "--capacity", limit, "--cost-ratio", costs)
    return whole_process("-m", "voros", "score", file, "--label", "label", *limits)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cases.parquet")
        write_cases(file)
        beside = inside_a_process(file)
        print(f"inside a process: read {beside.read:.3f} s")
        for name, taken in beside.score.items():
            print(f"  score, capacity {name:<10} {taken:.3f} s, {taken / beside.read:.2f} reads")
        readers = {name: whole_process("-c", code, file) for name, code in READERS.items()}
        for name, taken in readers.items():
            print(f"whole process that only reads, {name}: {taken:.3f} s")
        for name in SCENARIOS:
            taken = score_process(file, name)
            ratios = ", ".join(f"{taken / alone:.2f} {how}" for how, alone in readers.items())
            print(f"  voros score, capacity {name:<10} {taken:.3f} s: {ratios}")


if __name__ == "__main__":
    main()
