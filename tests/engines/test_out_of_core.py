"""DuckDB and Polars on a file that is larger than the memory they may use."""

import json
import subprocess
import sys

import pytest

import voros

pytestmark = pytest.mark.slow

N_CASES = 60_000_000
DATA_BYTES = N_CASES * 9
"""A float64 score and a label of one byte."""

COUNT = """
import json, resource, sys
engine, file, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
import voros
from voros.engines import count_frame
if engine == "duckdb":
    import duckdb
    settings = {"memory_limit": f"{limit}B", "threads": 2}
    connection = duckdb.connect(config=settings)
    # On a busy machine it would draw a bar on the standard output.
    connection.execute("SET enable_progress_bar = false")
    frame = connection.read_parquet(file)
else:
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    import polars as pl
    frame = pl.scan_parquet(file)
scenario = voros.Scenario(0.5, 0.01, (1 / 40, 1 / 20))
points = count_frame(frame, label="label", scores=["score"], scenarios=[scenario])["score"]
print(json.dumps([points.covers.interval, points.covers.usage.passes]))
"""


@pytest.fixture(scope="module")
def large_file(tmp_path_factory):
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path_factory.mktemp("large") / "cases.parquet"
    connection = duckdb.connect(config={"threads": 2})
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        "COPY (SELECT score, random() < 0.9 * score ** 6 AS label "
        f"FROM (SELECT random() ** 3 AS score FROM range({N_CASES}))) "
        f"TO '{file}' (ROW_GROUP_SIZE 122880)"
    )
    yield file
    file.unlink()


@pytest.fixture(scope="module")
def score_in_memory(large_file):
    """The score of all the cases, sorted in memory."""
    duckdb = pytest.importorskip("duckdb")
    table = duckdb.connect(config={"threads": 2}).read_parquet(str(large_file)).fetchnumpy()
    return voros.partial_voros_score(
        table["label"],
        table["score"],
        min_precision=0.5,
        capacity=0.01,
        cost_ratio=(1 / 40, 1 / 20),
    )


@pytest.mark.parametrize(("engine", "share"), [("duckdb", 0.25), ("polars", 0.95)])
def test_counts_a_file_larger_than_its_memory(engine, share, large_file, score_in_memory):
    """Polars has no memory limit, so the system limits the whole process."""
    pytest.importorskip(engine)
    limit = str(int(share * DATA_BYTES))
    done = subprocess.run(
        [sys.executable, "-c", COUNT, engine, str(large_file), limit],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    (low, high), passes = json.loads(done.stdout)
    assert low == high == pytest.approx(score_in_memory, abs=1e-12)
    assert passes <= 4
