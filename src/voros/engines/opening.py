"""Parquet files opened by an engine, with what the engine needs checked first."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

from voros.engines.adapter import ENGINES
from voros.installing import missing_package

PACKAGES = {"polars": "polars", "duckdb": "duckdb", "dask": "dask.dataframe", "spark": "pyspark"}
"""What each engine is installed as."""


def open_parquet(path: str | Path, engine: str) -> Any:
    """Open a Parquet file, or a folder or pattern of them, as a lazy frame of an engine.

    Parameters
    ----------
    path : path-like
    engine : {"polars", "duckdb", "dask", "spark"}

    Examples
    --------
    >>> import tempfile, pathlib, polars as pl
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.parquet")
    >>> pl.DataFrame({"risk": [0.1, 0.7]}).write_parquet(file)
    >>> open_parquet(file, "duckdb").columns
    ['risk']
    """
    check_engine(engine)
    return _OPENERS[engine](str(path))


def check_engine(engine: str) -> None:
    """Raise, with the way out, unless an engine can run here.

    Raises
    ------
    ImportError
        When its package is missing.
    OSError
        When Spark finds no Java.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r}; accepted are {', '.join(ENGINES)}")
    package = PACKAGES[engine].partition(".")[0]
    if find_spec(package) is None:
        raise missing_package(f"engine={engine!r}", package)
    if engine == "spark" and not has_java():
        raise OSError(
            "engine='spark' needs Java 17 or newer, and neither JAVA_HOME nor a java command was "
            "found; install one (Debian: apt install default-jre-headless), or set SPARK_REMOTE "
            "to a Spark Connect server"
        )


def has_java() -> bool:
    """Whether Spark has a Java to run on, here or behind Spark Connect."""
    home = os.environ.get("JAVA_HOME")
    at_home = home is not None and Path(home, "bin", "java").exists()
    return at_home or which("java") is not None or "SPARK_REMOTE" in os.environ


def _open_polars(path: str) -> Any:
    import polars as pl

    return pl.scan_parquet(path)


def _open_duckdb(path: str) -> Any:
    import duckdb

    # A connection of its own, spilling where temporary files belong.
    connection = duckdb.connect(config={"temp_directory": tempfile.gettempdir()})
    pattern = f"{path}/**/*.parquet" if Path(path).is_dir() else path
    return connection.read_parquet(pattern)


def _open_dask(path: str) -> Any:
    import dask.dataframe as dd

    return dd.read_parquet(path)


def _open_spark(path: str) -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession() or SparkSession.builder.appName("voros").getOrCreate()
    return session.read.parquet(path)


_OPENERS = {
    "polars": _open_polars,
    "duckdb": _open_duckdb,
    "dask": _open_dask,
    "spark": _open_spark,
}
