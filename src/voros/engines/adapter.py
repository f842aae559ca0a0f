"""What differs from engine to engine; everything else is asked through narwhals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from voros.installing import missing_package

ENGINES = ("polars", "duckdb", "dask", "spark")
"""Engines with an adapter, each in the module of its name."""

_BY_IMPLEMENTATION = {
    nw.Implementation.POLARS: "polars",
    nw.Implementation.DUCKDB: "duckdb",
    nw.Implementation.DASK: "dask",
    nw.Implementation.PYSPARK: "spark",
    nw.Implementation.PYSPARK_CONNECT: "spark",
}


class Adapter(ABC):
    """The parts of a query that narwhals does not put into words for every engine."""

    name: str
    package: str
    """What the engine is installed as."""

    def check(self) -> None:
        """Raise where something that the engine needs is not installed."""
        if find_spec(self.package) is None:
            raise missing_package(f"engine={self.name!r}", self.package)

    @abstractmethod
    def open_parquet(self, path: str) -> Any:
        """Open a Parquet file, or a folder or pattern of them."""

    @abstractmethod
    def with_cell(
        self, frame: nw.LazyFrame[Any], score: str, cell: str, level: int
    ) -> nw.LazyFrame[Any]:
        """Add the number of the cell of a level that each score falls in.

        The same as `voros.engines.keys.cell_of`, in the engine's own language.
        """

    def pick(self, frame: nw.LazyFrame[Any], columns: Mapping[str, str]) -> nw.LazyFrame[Any]:
        """Take some columns only; `columns` names what each is called afterwards."""
        return frame.select(*(nw.col(name).alias(short) for short, name in columns.items()))

    def with_membership(
        self, frame: nw.LazyFrame[Any], column: str, values: Sequence[int]
    ) -> nw.LazyFrame[Any]:
        """Replace a column of integers by whether each is one of the values."""
        return frame.with_columns(nw.col(column).is_in(values))

    def how_many(self, condition: nw.Expr) -> nw.Expr:
        """Number of rows where a condition holds; a float, whole and exact below 2**53."""
        return condition.cast(nw.Float64).sum()

    def how_many_missing(self, score: nw.Expr) -> nw.Expr:
        """Number of rows where a float is null or NaN."""
        return self.how_many(score.is_null() | score.is_nan())

    def collect(self, answer: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """Run the query."""
        return answer.collect()


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
    return _adapter(engine).open_parquet(str(path))


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
    _adapter(engine).check()


def as_lazy(frame: Any) -> nw.LazyFrame[Any]:
    """Read a frame of one of the engines.

    Raises
    ------
    TypeError
        When the rows are in memory already: counting them there is simpler and faster.
    """
    lazy = nw.from_native(frame, pass_through=True)
    if isinstance(lazy, nw.LazyFrame):
        return lazy
    raise TypeError(
        f"frame is a {type(frame).__module__}.{type(frame).__name__}; accepted are a Polars "
        "LazyFrame, a DuckDB relation, and Dask and Spark data frames. For columns in memory use "
        "OperatingPoints.from_scores"
    )


def adapter_for(frame: nw.LazyFrame[Any]) -> Adapter:
    """Return the adapter of the engine that holds a frame."""
    engine = _BY_IMPLEMENTATION.get(frame.implementation)
    if engine is None:
        raise TypeError(
            f"frame is held by {frame.implementation}; accepted are frames of {', '.join(ENGINES)}"
        )
    return _adapter(engine)


def _adapter(engine: str) -> Adapter:
    adapter: Adapter = import_module(f"voros.engines.{engine}").ADAPTER
    return adapter
