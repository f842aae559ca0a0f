"""`voros score --engine` prints what `voros score` prints."""

import json

import numpy as np
import pytest
from cli.cases import LIMITS

from voros.engines.backends import has_java

pl = pytest.importorskip("polars")


@pytest.fixture
def parquet(tmp_path):
    rng = np.random.default_rng(8)
    died = rng.random(3000) < 0.2
    columns = {
        "died": died,
        "outcome": np.where(died, "died", "lived"),
        "good": rng.normal(size=3000) + 2.0 * died,
        "fair": (rng.normal(size=3000) + 1.0 * died).round(1),
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "cases.parquet")
    return tmp_path / "cases.parquet"


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_an_engine_gives_the_scores_of_memory(voros_command, parquet, engine):
    pytest.importorskip(engine)
    options = ("--label", "died", "--json", *LIMITS)
    counted = voros_command("score", parquet, "--engine", engine, *options)
    in_memory = voros_command("score", parquet, *options)
    assert counted.code == in_memory.code == 0
    document, expected = json.loads(counted.out), json.loads(in_memory.out)
    assert document["cases"] == expected["cases"] == 3000
    for one, other in zip(document["models"], expected["models"], strict=True):
        assert one["model"] == other["model"]
        assert one["partial_voros"] == pytest.approx(other["partial_voros"], abs=1e-12)
        assert one["choices"] == other["choices"]


def test_text_labels_take_pos_label(voros_command, parquet):
    options = ("--label", "outcome", "--pos-label", "died", "--score", "good", "--json", *LIMITS)
    counted = voros_command("score", parquet, "--engine", "polars", *options)
    expected = voros_command("score", parquet, *options)
    assert json.loads(counted.out)["models"] == json.loads(expected.out)["models"]


def test_a_file_too_large_for_memory_is_given_to_an_engine(voros_command, parquet, monkeypatch):
    monkeypatch.setattr("voros.io.memory.available_memory", lambda: 1000)
    ran = voros_command("score", parquet, "--label", "died", *LIMITS)
    assert ran.code == 0
    assert "is too large for memory; counting it with" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "hive"), "accepted are polars, duckdb, spark"),
        (("--engine", "polars", "--drop-missing"), "--drop-missing is for single files"),
        (
            ("--engine", "polars", "--model", "fair"),
            "--model is for single files that fit into memory",
        ),
    ],
)
def test_what_an_engine_cannot_do_is_refused(voros_command, parquet, options, message):
    ran = voros_command("score", parquet, "--label", "died", *options, *LIMITS)
    assert ran.code == 2
    assert message in ran.err


def test_other_formats_are_not_for_engines(voros_command, tmp_path):
    pl.DataFrame({"died": [1], "risk": [0.5]}).write_ipc(tmp_path / "cases.arrow")
    ran = voros_command("score", "cases.arrow", "--engine", "duckdb", *LIMITS)
    assert ran.code == 2
    assert "cases.arrow is arrow; engines count Parquet and CSV" in ran.err


def test_an_engine_that_reads_no_csv_says_so(voros_command, cases):
    pytest.importorskip("pyspark")
    if not has_java():
        pytest.skip("Spark needs Java")
    ran = voros_command("score", cases, "--engine", "spark", *LIMITS)
    assert ran.code == 2
    assert "is CSV, which spark does not read; use duckdb or polars" in ran.err


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_csv_is_counted_as_memory_reads_it(voros_command, cases, engine):
    pytest.importorskip(engine)
    document, expected = (
        json.loads(voros_command("score", cases, *how, "--json", *LIMITS).out)
        for how in (("--engine", engine), ())
    )
    assert document["cases"] == expected["cases"] == 400
    for one, other in zip(document["models"], expected["models"], strict=True):
        assert one["partial_voros"] == pytest.approx(other["partial_voros"], abs=1e-12)
        assert one["choices"] == other["choices"]


def test_csv_too_large_for_memory_is_given_to_an_engine(voros_command, cases, monkeypatch):
    monkeypatch.setattr("voros.io.memory.available_memory", lambda: 1000)
    ran = voros_command("score", cases, *LIMITS)
    assert ran.code == 0
    assert "is too large for memory; counting it with" in ran.err


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_a_great_many_rows_are_announced(voros_command, parquet, engine, monkeypatch):
    pytest.importorskip(engine)
    how = ("score", parquet, "--label", "died", "--engine", engine, "--json", *LIMITS)
    assert "passes" not in voros_command(*how).err
    monkeypatch.setattr("voros.engines.search.MANY_ROWS", 1000)
    ran = voros_command(*how)
    said = "3,000 rows take three to five passes, to an interval of 1e-06 or narrower"
    assert said in ran.err
