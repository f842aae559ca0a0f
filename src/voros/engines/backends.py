"""The engines, and the few steps of a query that narwhals does not offer alike for all of them."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw

from voros.engines.keys import IntArray
from voros.exceptions import ArgumentError
from voros.installing import missing_package

LazyFrame: TypeAlias = nw.LazyFrame[Any]

PACKAGES = {"polars": "polars", "duckdb": "duckdb", "spark": "pyspark"}
"""The package that each engine needs."""

_BY_IMPLEMENTATION = {
    nw.Implementation.POLARS: "polars",
    nw.Implementation.DUCKDB: "duckdb",
    nw.Implementation.PYSPARK: "spark",
    nw.Implementation.PYSPARK_CONNECT: "spark",
}


def check_engine(engine: str) -> None:
    """Raise, with a remedy, unless an engine can run here.

    Raises
    ------
    ImportError
        When its package is missing.
    OSError
        When Spark finds no Java.

    Examples
    --------
    >>> check_engine("polars")
    >>> check_engine("excel")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: engine='excel'; accepted are polars, duckdb, spark
    """
    if engine not in PACKAGES:
        raise ArgumentError("engine", f"={engine!r}; accepted are {', '.join(PACKAGES)}")
    if find_spec(PACKAGES[engine]) is None:
        raise missing_package(f"engine={engine!r}", PACKAGES[engine])
    if engine == "spark" and not has_java():
        raise OSError(
            "engine='spark' needs Java 17 or newer, and neither JAVA_HOME nor a java command "
            "was found; install one (Debian: apt install default-jre-headless), or set "
            "SPARK_REMOTE to a Spark Connect server"
        )


def has_java() -> bool:
    """Whether Java is installed here, or Spark Connect replaces it."""
    home = os.environ.get("JAVA_HOME")
    at_home = home is not None and Path(home, "bin", "java").exists()
    return at_home or which("java") is not None or "SPARK_REMOTE" in os.environ


def as_lazy(frame: Any) -> LazyFrame:
    """Return a frame of an engine as a narwhals frame.

    Raises
    ------
    TypeError
        When the rows are in memory: counting them there is simpler and faster.
    """
    lazy = nw.from_native(frame, pass_through=True)
    if isinstance(lazy, nw.LazyFrame) and lazy.implementation in _BY_IMPLEMENTATION:
        return lazy
    raise TypeError(
        f"frame is a {type(frame).__module__}.{type(frame).__name__}; accepted are a Polars "
        "LazyFrame, a DuckDB relation and a Spark data frame. For columns in memory use "
        "OperatingPoints.from_scores"
    )


def engine_of(frame: LazyFrame) -> str:
    """Return the name of the engine that holds a frame."""
    return _BY_IMPLEMENTATION[frame.implementation]


def collect(frame: LazyFrame) -> nw.DataFrame[Any]:
    """Run a query; Polars runs it by its streaming engine, so that rows may exceed the memory."""
    if engine_of(frame) == "polars":
        return frame.collect(backend="polars", engine="streaming")
    return frame.collect()


def first_rows(frame: Any, n_rows: int) -> Any:
    """Return the first rows that an engine finds in a frame, as a pyarrow table.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> import polars as pl
    >>> first_rows(pl.LazyFrame({"risk": [0.1, 0.7, 0.4]}), 2).to_pydict()
    {'risk': [0.1, 0.7]}
    """
    return collect(as_lazy(frame).head(n_rows)).to_arrow()


def column_of(frame: LazyFrame, name: str) -> nw.Expr:
    """Return a column, whatever its name."""
    # Spark reads a dot as a field of a struct, unless the name is quoted.
    quoted = "`" + name.replace("`", "``") + "`"
    return nw.col(quoted if engine_of(frame) == "spark" else name)


def where_listed(frame: LazyFrame, column: str, numbers: IntArray) -> LazyFrame:
    """Keep the rows whose number in a column is one of a few thousand."""
    if engine_of(frame) == "polars":
        return frame.filter(nw.col(column).is_in(numbers.tolist()))
    # SQL looks constants up in a table; by narwhals DuckDB would compare them one by one.
    listed = ", ".join(map(str, numbers.tolist()))
    return as_lazy(frame.to_native().filter(f"{column} IN ({listed})"))
