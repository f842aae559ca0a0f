"""Delta and Iceberg tables are read as tables: rows that were replaced do not count."""

import json

import numpy as np
import pytest
from cli.cases import LIMITS

import voros
from voros.engines import count_frame, open_files
from voros.engines.backends import has_java

pl = pytest.importorskip("polars")

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("ignore:Iceberg scan planning"),
]

SCENARIO = voros.Scenario(0.2, 0.3, (0.05, 0.2))


def draw(seed, size=1500):
    rng = np.random.default_rng(seed)
    died = rng.random(size) < 0.2
    return pl.DataFrame({"died": died, "risk": rng.normal(size=size) + died})


def write_delta(folder, *versions):
    writer = pytest.importorskip("deltalake", reason="the lakes extra")
    for version in versions:
        writer.write_deltalake(str(folder), version.to_arrow(), mode="overwrite")


def write_iceberg(folder, *versions):
    catalogs = pytest.importorskip(
        "pyiceberg.catalog.sql", reason="the lakes extra, and SQLAlchemy"
    )
    catalog = catalogs.SqlCatalog(
        "here", uri=f"sqlite:///{folder.parent}/catalog.db", warehouse=f"file://{folder.parent}"
    )
    catalog.create_namespace("bank")
    table = catalog.create_table(
        "bank.cases", schema=versions[0].to_arrow().schema, location=f"file://{folder}"
    )
    table.append(versions[0].to_arrow())
    for version in versions[1:]:
        table.overwrite(version.to_arrow())
    catalog.engine.dispose()


@pytest.fixture(params=["Delta", "Iceberg"])
def lake(request, tmp_path):
    """A table whose first rows were all replaced, and what it holds now."""
    now = draw(2)
    write = write_delta if request.param == "Delta" else write_iceberg
    write(tmp_path / "cases", draw(1), now)
    return request.param, tmp_path / "cases", now


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_table_is_counted_as_it_is_now(lake, engine):
    kind, folder, now = lake
    pytest.importorskip(engine)
    if (kind, engine) == ("Iceberg", "duckdb"):
        with pytest.raises(ValueError, match="a table of Iceberg, which engine='duckdb' does not"):
            open_files(folder, engine)
        return
    frame = open_files(folder, engine)
    points = count_frame(frame, label="died", scores=["risk"], scenarios=[SCENARIO])["risk"]
    truth = voros.evaluate(now["died"], now["risk"], SCENARIO).score
    assert points.covers.usage.rows == len(now)
    assert points.covers.interval == pytest.approx((truth, truth), abs=1e-12)


def test_the_command_line_reads_a_table(lake, voros_command):
    _, _, now = lake
    ran = voros_command(
        *("score", "cases", "--engine", "polars", "--label", "died", "--json"), *LIMITS
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["cases"] == len(now)


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_an_engine_without_a_reader_refuses(tmp_path, engine, voros_command):
    if engine == "spark" and not has_java():
        pytest.skip("Spark needs Java")
    pytest.importorskip("pyspark" if engine == "spark" else engine)
    (tmp_path / "cases/_delta_log").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"take polars or duckdb, or open it yourself"):
        open_files(tmp_path / "cases", engine)
    ran = voros_command("score", "cases", "--engine", engine, "--label", "died", *LIMITS)
    assert ran.code == 2
    assert "voros.engines.count_frame" in ran.errors[0]
