"""Engines are checked before they are used."""

import numpy as np
import pytest

from voros.engines import check_engine, open_files

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")


@pytest.fixture
def file(tmp_path):
    table = pl.DataFrame({"label": [True, False] * 500, "risk": np.linspace(0, 1, 1000)})
    table.write_parquet(tmp_path / "cases.parquet")
    return tmp_path / "cases.parquet"


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_opened_files_hold_their_rows(engine, file):
    pytest.importorskip(engine)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(open_files(file, engine))
    total = frame.select(nw.col("risk").sum()).collect()["risk"].to_list()[0]
    assert total == pytest.approx(500)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_folder_is_one_frame(engine, file):
    pytest.importorskip(engine)
    import narwhals.stable.v2 as nw

    pl.read_parquet(file).write_parquet(file.with_name("more.parquet"))
    frame = nw.from_native(open_files(file.parent, engine))
    assert frame.select(nw.len()).collect().to_numpy().item() == 2000


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="engine='hive'; accepted are polars, duckdb, spark"):
        check_engine("hive")


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setattr("voros.engines.backends.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r'not installed: pip install "duckdb>=2\.0"'):
        check_engine("duckdb")


def test_spark_without_java_says_so(monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PATH", "")
    for name in ("JAVA_HOME", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OSError, match="needs Java 17 or newer"):
        check_engine("spark")
