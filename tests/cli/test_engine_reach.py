"""Folders and patterns of Parquet are counted by engines, with the answers of one file."""

import json
import re

import numpy as np
import pytest
from cli.cases import LIMITS

from voros.engines.backends import has_java

pl = pytest.importorskip("polars")

pytestmark = pytest.mark.slow

ENGINES = ["duckdb", "polars"]
GRID = ("--min-precision", "0.2:0.6:3", "--capacity", "0.1:0.3:2", "--miss-costs", "5:20")


@pytest.fixture
def folder(tmp_path):
    """Three days of cases, and all of them in one file beside the folder."""
    rng = np.random.default_rng(8)
    died = rng.random(3000) < 0.2
    scores = {
        "good": rng.normal(size=3000) + 2.0 * died,
        "fair": (rng.normal(size=3000) + 1.0 * died).round(1),
    }
    every = pl.DataFrame({"died": died, **scores})
    every.write_parquet(tmp_path / "all.parquet")
    (tmp_path / "days").mkdir()
    for day in range(3):
        every[day * 1000 : (day + 1) * 1000].write_parquet(tmp_path / f"days/day-{day}.parquet")
    return "days"


def answer(voros_command, *arguments):
    ran = voros_command(*arguments, "--label", "died", "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("where", ["days", "days/day-*.parquet"])
def test_score_of_a_folder_is_that_of_one_file(voros_command, folder, engine, where):
    pytest.importorskip(engine)
    document = answer(voros_command, "score", where, "--engine", engine, *LIMITS)
    expected = answer(voros_command, "score", "all.parquet", *LIMITS)
    assert document["cases"] == expected["cases"] == 3000
    for one, other in zip(document["models"], expected["models"], strict=True):
        assert one["partial_voros"] == pytest.approx(other["partial_voros"], abs=1e-12)
        assert one["choices"] == other["choices"]


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
@pytest.mark.parametrize("strategy", ["partial_voros", "voros", "recall", "partial_auroc"])
def test_select_by_an_engine(voros_command, folder, engine, strategy):
    pytest.importorskip(engine)
    how = ("--strategy", strategy, *LIMITS)
    document = answer(voros_command, "select", folder, "--engine", engine, *how)
    expected = answer(voros_command, "select", "all.parquet", *how)
    assert document["winner"] == expected["winner"]
    assert document["policy"]["choices"] == expected["policy"]["choices"]
    for one, other in zip(document["ranking"], expected["ranking"], strict=True):
        assert one[strategy] == pytest.approx(other[strategy], abs=1e-12)


def test_select_with_a_guarantee_and_a_test(voros_command, folder):
    pytest.importorskip("duckdb")
    how = ("--confidence", "0.9", "--test", "all.parquet", *LIMITS)
    document = answer(voros_command, "select", folder, "--engine", "duckdb", *how)
    expected = answer(voros_command, "select", "all.parquet", *how)
    assert document["policy"]["choices"] == expected["policy"]["choices"]
    assert document["test"] == expected["test"]


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_map_by_an_engine(voros_command, folder, engine):
    pytest.importorskip(engine)
    document = answer(voros_command, "map", folder, "--engine", engine, *GRID)
    expected = answer(voros_command, "map", "all.parquet", *GRID)
    for one, other in zip(document["cells"], expected["cells"], strict=True):
        assert one["winner"] == other["winner"]
        assert one["score of good"] == pytest.approx(other["score of good"], abs=1e-12)


def test_a_folder_needs_no_engine_named(voros_command, folder):
    pytest.importorskip("duckdb")
    document = answer(voros_command, "score", folder, *LIMITS)
    assert document["cases"] == 3000


@pytest.mark.parametrize("engine", [*ENGINES, "spark"])
def test_names_of_nested_folders_are_no_models(voros_command, folder, engine, tmp_path):
    """Numbers in ``year=2024`` would be ranked beside the models, and might win."""
    pytest.importorskip("pyspark" if engine == "spark" else engine)
    if engine == "spark" and not has_java():
        pytest.skip("Spark needs Java")
    for day in range(3):
        nested = tmp_path / f"nested/year={2020 + day}/month={day}"
        nested.mkdir(parents=True)
        (tmp_path / f"{folder}/day-{day}.parquet").rename(nested / "part.parquet")
    document = answer(voros_command, "score", "nested", "--engine", engine, *LIMITS)
    assert document["cases"] == 3000
    assert [model["model"] for model in document["models"]] == ["good", "fair"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_that_looks_like_a_pattern_is_a_name(voros_command, folder, engine, tmp_path):
    pytest.importorskip(engine)
    (tmp_path / folder).rename(tmp_path / "days [1]")
    (tmp_path / "all.parquet").rename(tmp_path / "all[1].parquet")
    for where in ("days [1]", "all[1].parquet"):
        assert answer(voros_command, "score", where, "--engine", engine, *LIMITS)["cases"] == 3000


@pytest.mark.parametrize("engine", ENGINES)
def test_a_broken_file_is_no_fault_of_voros(voros_command, folder, engine, tmp_path):
    pytest.importorskip(engine)
    last = tmp_path / folder / "day-2.parquet"
    data = last.read_bytes()
    last.write_bytes(data[:4] + b"\xff" * (len(data) - 2000) + data[-1996:])
    ran = voros_command("score", folder, "--engine", engine, "--label", "died", *LIMITS)
    assert ran.code == 2
    assert len(ran.errors) == 1
    assert re.match(rf"voros: error: {engine} cannot (open|count) {folder}: ", ran.errors[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "days", "--drop-missing", *LIMITS), "--drop-missing is for single files"),
        (("score", "nothing-*.parquet", *LIMITS), "duckdb cannot open nothing-*.parquet"),
        (("select", "days", "--confidence", "0.9", "--group", "good", *LIMITS), "--group is for"),
        (
            ("score", "days", "--capacity", "20/day", "--miss-costs", "9", "--period", "good"),
            "cannot count by period",
        ),
        (("compare", "days", *LIMITS), "is a folder, not a file"),
        (("count", "days"), "is a folder, not a file"),
    ],
)
def test_what_does_not_go_together_is_refused(voros_command, folder, arguments, message):
    ran = voros_command(*arguments, "--label", "died")
    assert ran.code == 2
    assert len(ran.errors) == 1
    assert message in ran.err
    assert "fault of voros" not in ran.err
