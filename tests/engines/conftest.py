"""Frames of every engine, made of the same columns."""

import os
import sys
from pathlib import Path

import pytest


def _polars(columns):
    import polars as pl

    return pl.DataFrame(columns).lazy()


def _duckdb(columns):
    import duckdb
    import polars as pl

    table = pl.DataFrame(columns).to_arrow()
    return duckdb.connect().from_arrow(table)


def _dask(columns):
    import dask.dataframe as dd
    import pandas as pd

    return dd.from_pandas(pd.DataFrame(columns), npartitions=3)


MAKERS = {"polars": _polars, "duckdb": _duckdb, "dask": _dask}


@pytest.fixture(params=list(MAKERS))
def make_frame(request):
    """A function from columns to a lazy frame, for each engine that runs in this process."""
    for package in ("polars", "pyarrow", "pandas", request.param):
        pytest.importorskip(package)
    return MAKERS[request.param]


@pytest.fixture(scope="session")
def spark():
    """A Spark cluster of two worker processes on this machine."""
    pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")
    from voros.engines.backends import has_java

    if not has_java():
        pytest.skip("Spark needs Java, and none was found")
    session = _local_cluster()
    yield session
    session.stop()


def _local_cluster():
    import pyspark
    from pyspark.sql import SparkSession

    # Workers are separate Java processes; they find Spark in the package's own folder.
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "1g",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
