"""Ibis on databases: a PostgreSQL server that the test starts, and DataFusion in this process."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from engine_answers import assert_chooses_alike

pytest.importorskip("ibis", reason="the ibis extra")
pytest.importorskip("pyarrow")

import ibis
import pyarrow as pa
import pyarrow.parquet as pq

import voros
from voros.engines import BinnedCounts, count_frame
from voros.engines.arithmetic_keys import ibis_bucket
from voros.engines.keys import bucket_of

# Slow, for only those run where continuous integration has Ibis. Warnings of Ibis are its own.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SCENARIOS = [
    voros.Scenario(0.3, 0.1, (0.1, 0.3)),
    voros.Scenario(cost_ratio=(0.05, 0.2)),
    voros.Scenario(cost_ratio=(0.01, 1.0)),
]
TYPES = {"double": "double precision", "bool": "boolean", "int64": "bigint", "string": "text"}


def program(name):
    """A program of PostgreSQL; Debian keeps those of a server out of the search path."""
    here = [*Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), shutil.which(name)]
    if here[0] is None:
        pytest.skip("PostgreSQL is not installed")
    return str(here[0])


def servant():
    """Who may run the server, which refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    return {"user": "postgres" if "postgres" in names else "nobody"}


@pytest.fixture(scope="module")
def postgres():
    """A server that listens to a socket in a folder of its own."""
    pytest.importorskip("psycopg", reason="ibis-framework[postgres]")
    initdb, server, who = program("initdb"), program("postgres"), servant()
    with tempfile.TemporaryDirectory(prefix="voros-", ignore_cleanup_errors=True) as folder:
        if who:
            shutil.chown(folder, who["user"])
        data = f"{folder}/data"
        how = ("-D", data, "-A", "trust", "-U", "voros", "--no-sync", "-E", "UTF8", "--locale=C")
        made = subprocess.run([initdb, *how], capture_output=True, cwd="/", check=False, **who)
        if made.returncode:
            pytest.skip(f"no database can be made here: {made.stderr.decode()[-200:]}")
        sockets = ("-k", folder, "-c", "listen_addresses=", "-F")
        with subprocess.Popen(
            [server, "-D", data, *sockets], cwd="/", stderr=subprocess.DEVNULL, **who
        ) as running:
            try:
                yield connect(folder)
            finally:
                # At once: to terminate would wait for connections to be closed.
                running.send_signal(signal.SIGINT)


def connect(folder):
    import psycopg

    for _ in range(100):
        try:
            return ibis.postgres.connect(host=folder, user="voros", database="postgres")
        except psycopg.OperationalError:
            # The server is starting; it says so by refusing.
            subprocess.run(["sleep", "0.1"], check=True)
    raise AssertionError("PostgreSQL did not start")


@pytest.fixture(params=["postgres", "datafusion"])
def store(request, tmp_path):
    """Put columns into a table of a database."""
    if request.param == "datafusion":
        pytest.importorskip("datafusion", reason="ibis-framework[datafusion]")
        try:
            database = ibis.datafusion.connect()
        except TypeError as error:
            pytest.skip(f"Ibis does not know this DataFusion: {error}")

        def put(columns):
            pq.write_table(pa.table(columns), tmp_path / "cases.parquet")
            return database.read_parquet(tmp_path / "cases.parquet")

        return put
    database = request.getfixturevalue("postgres")
    return lambda columns: copied(database, pa.table(columns))


def copied(database, table):
    names = ", ".join(f'"{field.name}" {TYPES[str(field.type)]}' for field in table.schema)
    with database.con.cursor() as cursor:
        cursor.execute("drop table if exists cases")
        cursor.execute(f"create table cases ({names})")
        with cursor.copy("copy cases from stdin") as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    database.con.commit()
    return database.table("cases")


def draw(kind, n_cases=5000):
    rng = np.random.default_rng(1)
    died = rng.random(n_cases) < 0.3
    normal = rng.normal(size=n_cases) + died
    scores = {
        "normal": normal,
        "ties": (rng.random(n_cases) + died / 2).round(2),
        "negative": -np.exp(rng.normal(size=n_cases) - died),
        "denormal": rng.integers(0, 500, n_cases) * 5e-324 * (1 + died),
        "wide": normal * 10.0 ** rng.integers(-300, 300, n_cases),
        "infinite": np.where(rng.random(n_cases) < 0.1, np.inf * normal, normal),
        "zeros": np.where(rng.random(n_cases) < 0.5, rng.choice([0.0, -0.0], n_cases), normal),
    }
    return died, scores[kind], rng.random(n_cases) + 0.5


def test_buckets_are_those_of_memory(store):
    rng = np.random.default_rng(0)
    powers = 2.0 ** rng.integers(-1022, 1023, 500)
    beside = np.concatenate([np.nextafter(powers, 0), np.nextafter(powers, np.inf)])
    ends = [0.0, 5e-324, -5e-324, 2.0**-1022, 1.0, 2.0, -np.inf, np.inf, np.finfo(float).max]
    spread = rng.normal(size=2000) * 10.0 ** rng.integers(-300, 300, 2000)
    table = store({"score": np.concatenate([ends, powers, beside, spread])})
    for level in (0, 40, 62):
        found = table.mutate(bucket=ibis_bucket(table.score, level)).to_pyarrow()
        expected = bucket_of(found.column("score").to_numpy(), level)
        assert found.column("bucket").to_numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "kind", ["normal", "ties", "negative", "denormal", "wide", "infinite", "zeros"]
)
def test_scores_are_those_of_memory(store, request, kind, weighted):
    died, scores, weights = draw(kind)
    table = store({"died": died, "risk": scores, "weight": weights})
    ask = {"label": "died", "scores": ["risk"], "weight": "weight" if weighted else None}
    try:
        points = count_frame(table, scenarios=SCENARIOS, **ask)["risk"]
    except ValueError as error:
        # It says that the highest of some scores of -inf is -1.8e308, which is refused.
        known = kind == "infinite" and "datafusion" in request.node.name
        if not known or "does not keep to the rules of floats" not in str(error):
            raise
        return
    every = voros.OperatingPoints.from_scores(
        died, scores, sample_weight=weights if weighted else None
    )
    assert_chooses_alike(points, every, SCENARIOS)


def test_many_passes_give_the_answer_of_memory(store):
    died, scores, _ = draw("normal", 40_000)
    table = store({"died": np.where(died, "yes", "no"), "risk": scores})
    points = count_frame(
        table,
        label="died",
        scores=["risk"],
        pos_label="yes",
        scenarios=SCENARIOS,
        largest_answer=1000,
    )["risk"]
    assert points.covers.usage.passes > 3
    for scenario in SCENARIOS:
        expected = voros.evaluate(died, scores, scenario).score
        assert voros.evaluate(points, scenario=scenario).score == pytest.approx(expected, abs=1e-12)


def test_counts_by_ranges_are_those_of_memory(store):
    died, scores, _ = draw("normal")
    found = BinnedCounts.from_frame(
        store({"died": died, "risk": scores}), label="died", score="risk"
    )
    expected = BinnedCounts.from_scores(died, scores)
    for name in ("buckets", "rows", "positive", "negative"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("risk", None, "score column 'risk' is missing or NaN in 1 of 200 rows"),
        ("risk", float("nan"), "score column 'risk' is missing or NaN in 1 of 200 rows"),
        ("died", None, "label column 'died' is missing in 1 of 200 rows"),
        ("weight", float("nan"), "weight='weight' must be finite and not negative; 1 of 200"),
        ("weight", float("inf"), "weight='weight' must be finite and not negative; 1 of 200"),
        ("weight", -1.0, "weight='weight' must be finite and not negative; 1 of 200"),
        ("weight", None, "weight='weight' must be finite and not negative; 1 of 200"),
    ],
)
def test_what_is_missing_is_refused(store, column, value, message):
    died, scores, weights = draw("normal", 200)
    cases = {"died": died.tolist(), "risk": scores.tolist(), "weight": weights.tolist()}
    cases[column][3] = value
    table = store({name: pa.array(values, from_pandas=False) for name, values in cases.items()})
    weight = "weight" if column == "weight" else None
    for scenarios in ([], SCENARIOS):
        with pytest.raises(ValueError, match=message):
            count_frame(table, label="died", scores=["risk"], weight=weight, scenarios=scenarios)


def test_whole_numbers_beyond_floats_are_refused(store):
    table = store({"died": np.arange(200) % 3 == 0, "risk": np.arange(200) + 2**53})
    with pytest.raises(ValueError, match="whole numbers of 2"):
        count_frame(table, label="died", scores=["risk"])
