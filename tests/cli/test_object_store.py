"""Addresses of an object store are read as files are, from a server that speaks S3."""

import json
import re

import numpy as np
import pytest
from cli.cases import LIMITS

pl = pytest.importorskip("polars")
moto = pytest.importorskip("moto.server", reason="a server that speaks S3: moto[s3], flask-cors")
pytest.importorskip("s3fs", reason="DuckDB and Dask read s3:// through it")

# The warning is dask's own, with pandas 3.1.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:The inplace keyword")]

ENGINES = ["polars", "duckdb", "dask"]
ADDRESSES = ["cards.parquet", "days", "hive", "days/day-*.parquet", "hive/*/*/*.parquet"]
GRID = ("--min-precision", "0.2:0.6:2", "--capacity", "0.1:0.3:2", "--miss-costs", "5:20")


def draw():
    rng = np.random.default_rng(8)
    died = rng.random(3000) < 0.2
    scores = {"good": rng.normal(size=3000) + 2 * died, "fair": rng.normal(size=3000).round(1)}
    return pl.DataFrame({"died": died, **scores})


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    """A bucket with one file, a folder, and nested folders; the server's address."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    known = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    client = pytest.importorskip("boto3").client(
        "s3", endpoint_url=address, region_name="us-east-1", **known
    )
    client.create_bucket(Bucket="bank")
    cases = draw()
    file = tmp_path_factory.mktemp("bank") / "part.parquet"
    for key, part in {
        "cards.parquet": cases,
        **{f"days/day-{day}.parquet": cases[day * 1000 :][:1000] for day in range(3)},
        **{f"hive/year={2020 + n}/month={n}/x.parquet": cases[n * 600 :][:600] for n in range(5)},
    }.items():
        part.write_parquet(file)
        client.put_object(Bucket="bank", Key=key, Body=file.read_bytes())
        client.put_object(Bucket="bank", Key=f"delta/{key}", Body=file.read_bytes())
        client.put_object(Bucket="bank", Key=f"ice/data/{key}", Body=file.read_bytes())
    for key in ("days/_SUCCESS", "delta/_delta_log/00000.json", "ice/metadata/v1.metadata.json"):
        client.put_object(Bucket="bank", Key=key, Body=b"{}")
    client.close()
    yield address
    server.stop()


@pytest.fixture
def stored(bank, monkeypatch, tmp_path):
    """Environment variables of the store, and the same cases in a file."""
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name, value in {
        "AWS_ENDPOINT_URL": bank,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    draw().write_parquet(tmp_path / "all.parquet")
    forget_stores()
    yield
    forget_stores()


def forget_stores():
    """Let s3fs read the environment again."""
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()


def answer(voros_command, *arguments):
    ran = voros_command(*arguments, "--label", "died", "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("engine", [*ENGINES, None])
@pytest.mark.parametrize("where", ADDRESSES)
def test_scores_are_those_of_a_file(voros_command, where, engine):
    how = () if engine is None else (pytest.importorskip(engine) and "--engine", engine)
    found = answer(voros_command, "score", f"s3://bank/{where}", *how, *LIMITS)
    expected = answer(voros_command, "score", "all.parquet", *LIMITS)
    assert found["cases"] == expected["cases"] == 3000
    assert len(found["models"]) == 2
    for one, other in zip(found["models"], expected["models"], strict=True):
        assert one["partial_voros"] == pytest.approx(other["partial_voros"], abs=1e-12)
        assert one["choices"] == other["choices"]


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("engine", ENGINES)
def test_select_map_and_count_read_addresses(voros_command, engine):
    pytest.importorskip(engine)
    how = ("--engine", engine)
    found = answer(voros_command, "select", "s3://bank/hive", *how, *LIMITS)
    expected = answer(voros_command, "select", "all.parquet", *LIMITS)
    assert found["winner"] == expected["winner"] == "good"
    assert found["policy"]["choices"] == expected["policy"]["choices"]
    found = answer(voros_command, "map", "s3://bank/hive", *how, *GRID)
    expected = answer(voros_command, "map", "all.parquet", *GRID)
    for one, other in zip(found["cells"], expected["cells"], strict=True):
        assert one["score of good"] == pytest.approx(other["score of good"], abs=1e-12)
    found = voros_command("count", "s3://bank/hive", *how, "--label", "died")
    expected = voros_command("count", "all.parquet", "--label", "died")
    assert json.loads(found.out)["models"] == json.loads(expected.out)["models"]


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("nobody/cards.parquet", "does not exist|no such file"),
        ("nobody/cards", "does not exist|no such file"),
        ("bank/none.parquet", "does not exist|no such file|No files found"),
        ("bank/none-*.parquet", "no files match|No files found"),
    ],
)
def test_what_is_not_there_is_named_in_one_line(voros_command, engine, where, reason):
    pytest.importorskip(engine)
    ran = voros_command("score", f"s3://{where}", "--engine", engine, "--label", "died", *LIMITS)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert ran.err.startswith(f"voros: error: {engine} cannot open s3://{where}: ")
    assert re.search(reason, ran.err)
    assert len(ran.err) < 200


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("engine", ["duckdb", "dask"])
def test_missing_credentials_are_named(voros_command, engine, monkeypatch):
    pytest.importorskip(engine)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    ran = voros_command(
        *("score", "s3://bank/days", "--engine", engine, "--label", "died"), *LIMITS
    )
    assert ran.code == 2
    assert ran.err.startswith(f"voros: error: {engine} cannot open s3://bank/days: ")
    assert "Unable to locate credentials" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("where", "kind"), [("delta", "Delta"), ("ice", "Iceberg")])
def test_a_table_is_not_read_as_its_files(voros_command, engine, where, kind):
    """Rows that were replaced lie there still."""
    pytest.importorskip(engine)
    ran = voros_command(
        *("score", f"s3://bank/{where}", "--engine", engine, "--label", "died"), *LIMITS
    )
    assert ran.code == 2
    assert f"s3://bank/{where} is a table of {kind}" in ran.errors[0]
    assert "count_frame" in ran.errors[0]
