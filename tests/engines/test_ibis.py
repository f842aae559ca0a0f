"""Ibis tables are counted as cases in memory are, and their queries can be written everywhere."""

import re

import numpy as np
import pytest
from engine_answers import assert_chooses_alike

pytest.importorskip("ibis", reason="the ibis extra")
pytest.importorskip("polars")

import ibis
import narwhals.stable.v2 as nw
import polars as pl

import voros
from voros.engines import BinnedCounts, count_frame
from voros.engines.arithmetic_keys import ibis_bucket, ibis_size_key
from voros.engines.backends import Ibis, as_lazy
from voros.engines.keys import bucket_of, to_key

# Slow, for only those run where continuous integration has Ibis. Warnings of Ibis are its own.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SCENARIOS = [voros.Scenario(0.3, 0.1, (0.1, 0.3)), voros.Scenario(cost_ratio=(0.05, 0.2))]
BACKENDS = ["duckdb", "sqlite"]


def make_table(columns, backend, folder):
    frame = pl.DataFrame(columns)
    if backend == "duckdb":
        pytest.importorskip("duckdb")
        frame.write_parquet(folder / "cases.parquet")
        return ibis.duckdb.connect().read_parquet(folder / "cases.parquet")
    connection = ibis.sqlite.connect(folder / "cases.db")
    kinds = ["real" if kind.is_float() else "integer" for kind in frame.dtypes]
    names = ", ".join(f'"{n}" {kind}' for n, kind in zip(frame.columns, kinds, strict=True))
    connection.con.execute(f"create table cases ({names})")
    places = ", ".join("?" * frame.width)
    connection.con.executemany(f"insert into cases values ({places})", frame.rows())
    connection.con.commit()
    return connection.table("cases")


def draw(random_state, n_cases=30_000):
    rng = np.random.default_rng(random_state)
    labels = (rng.random(n_cases) < 0.3).astype(int)
    return {
        "died": labels,
        "risk": rng.normal(size=n_cases) + labels,
        "rounded": (rng.random(n_cases) + labels / 2).round(2),
        "weight": rng.random(n_cases) + 0.5,
    }


@pytest.mark.parametrize("backend", BACKENDS)
def test_keys_are_those_of_the_bits(backend, tmp_path):
    rng = np.random.default_rng(0)
    powers = 2.0 ** rng.integers(-1022, 1023, 500)
    ends = [0.0, 5e-324, -5e-324, 2.0**-1022, 1.0, 2.0, -np.inf, np.finfo(float).max]
    spread = rng.normal(size=2000) * 10.0 ** rng.integers(-300, 300, 2000)
    beside = np.concatenate([np.nextafter(powers, 0), np.nextafter(powers, np.inf)])
    scores = np.concatenate([ends, powers, beside, spread, rng.random(1000)])
    table = make_table({"score": scores}, backend, tmp_path)
    found = table.mutate(key=ibis_size_key(table.score)).to_pyarrow()
    expected = to_key(np.abs(found.column("score").to_numpy()))
    assert found.column("key").to_numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "trino", "postgres"])
def test_buckets_can_be_written_for_warehouses(dialect):
    table = ibis.table({"score": "float64"}, name="cases")
    buckets = table.mutate(bucket=ibis_bucket(table.score, 40), missing=table.score.isnan())
    text = ibis.to_sql(buckets, dialect=dialect)
    assert "score" in text


@pytest.mark.parametrize("level", [0, 40, 62])
def test_buckets_are_those_of_memory(level, tmp_path):
    scores = np.random.default_rng(1).normal(size=500) * 10.0 ** np.arange(-250, 250)
    table = make_table({"score": scores}, "duckdb", tmp_path)
    found = table.mutate(bucket=ibis_bucket(table.score, level)).to_pyarrow()
    expected = bucket_of(found.column("score").to_numpy(), level)
    assert found.column("bucket").to_numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("weight", [None, "weight"])
def test_scores_are_those_of_memory(weight, tmp_path):
    cases = draw(1)
    table = make_table(cases, "duckdb", tmp_path)
    counted = count_frame(
        table, label="died", scores=["risk", "rounded"], weight=weight, scenarios=SCENARIOS
    )
    for model, points in counted.items():
        weights = None if weight is None else cases[weight]
        every = voros.OperatingPoints.from_scores(
            cases["died"], cases[model], sample_weight=weights
        )
        assert_chooses_alike(points, every, SCENARIOS)
        assert points.covers.usage.engine == "ibis"


def test_summaries_are_those_of_memory(tmp_path):
    cases = draw(2, 3000)
    table = make_table(cases, "duckdb", tmp_path)
    found = BinnedCounts.from_frame(table, label="died", score="risk")
    expected = BinnedCounts.from_scores(cases["died"], cases["risk"])
    for name in ("buckets", "rows", "positive", "negative"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def test_missing_scores_are_refused(tmp_path):
    cases = draw(3, 100)
    cases["risk"] = [None, *cases["risk"][1:].tolist()]
    table = make_table(cases, "duckdb", tmp_path)
    with pytest.raises(ValueError, match="score column 'risk' is missing or NaN in 1 of 100 rows"):
        count_frame(table, label="died", scores=["risk"])


def test_nan_in_a_file_is_refused(tmp_path):
    cases = draw(4, 100)
    cases["risk"][3] = np.nan
    table = make_table(cases, "duckdb", tmp_path)
    with pytest.raises(ValueError, match=r"'risk' (is missing or|holds) NaN"):
        count_frame(table, label="died", scores=["risk"])


def test_a_file_is_opened_by_ibis(tmp_path):
    pytest.importorskip("duckdb")
    cases = draw(5, 1000)
    pl.DataFrame(cases).write_parquet(tmp_path / "cases.parquet")
    frame = voros.engines.open_files(tmp_path / "cases.parquet", "ibis")
    found = count_frame(frame, label="died", scores=["risk"], scenarios=SCENARIOS)["risk"]
    expected = voros.evaluate(cases["died"], cases["risk"], SCENARIOS[0]).score
    assert voros.evaluate(found, scenario=SCENARIOS[0]).score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scenarios", [[], SCENARIOS])
def test_nan_weights_in_a_file_are_refused(tmp_path, scenarios):
    """DuckDB looks for NaN in the statistics of a file, where it is left out."""
    cases = draw(6, 100)
    cases["weight"][3] = np.nan
    table = make_table(cases, "duckdb", tmp_path)
    with pytest.raises(ValueError, match="must be finite and not negative; 1 of 100"):
        count_frame(table, label="died", scores=["risk"], weight="weight", scenarios=scenarios)


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "trino", "postgres"])
def test_queries_stay_short_and_make_no_float_of_a_truth_value(dialect):
    """Warehouses limit the length of a query; BigQuery and PostgreSQL cast no truth values."""
    table = ibis.table({"died": "boolean", "score": "float64"}, name="cases")
    positive = Ibis().as_number(nw.col("died")).alias("positive")
    asked = as_lazy(table.mutate(bucket=ibis_bucket(table.score, 40))).with_columns(positive)
    text = ibis.to_sql(asked.to_native(), dialect=dialect)
    assert len(text) < 5000
    assert not re.search(r"CAST\(\S*died\S* AS", text)
