"""What differs from engine to engine; everything else is asked through narwhals.

An adapter reads the bits of a float in its engine's own language, to number the cells of
`voros.engines.keys`, and opens Parquet files.
"""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw

from voros.core.arrays import LARGEST_FINITE
from voros.engines.keys import MAGNITUDE, cell_of
from voros.installing import missing_package

LazyFrame: TypeAlias = nw.LazyFrame[Any]

FRACTION_BITS, EXPONENT_BIAS = 52, 1023
"""How a float64 is laid out."""

SMALLEST_NORMAL = 2.0**-1022
SCALE_HALF = 2.0**537
"""Its square makes a whole number of the smallest float."""


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
    def with_cell(self, frame: LazyFrame, score: str, cell: str, level: int) -> LazyFrame:
        """Add the number of the cell of a level that each score falls in.

        The same as `voros.engines.keys.cell_of`, in the engine's own language.
        """

    def pick(self, frame: LazyFrame, columns: Mapping[str, str]) -> LazyFrame:
        """Take some columns only; `columns` names what each is called afterwards."""
        return frame.select(*(nw.col(name).alias(short) for short, name in columns.items()))

    def with_membership(self, frame: LazyFrame, column: str, values: Sequence[int]) -> LazyFrame:
        """Replace a column of integers by whether each is one of the values."""
        return frame.with_columns(nw.col(column).is_in(values))

    def how_many(self, condition: nw.Expr) -> nw.Expr:
        """Number of rows where a condition holds; a float, whole and exact below 2**53."""
        return condition.cast(nw.Float64).sum()

    def how_many_missing(self, score: nw.Expr) -> nw.Expr:
        """Number of rows where a float is null or NaN."""
        return self.how_many(score.is_null() | score.is_nan())

    def collect(self, answer: LazyFrame) -> nw.DataFrame[Any]:
        """Run the query."""
        return answer.collect()


class Polars(Adapter):
    """Polars lazy frames, run by its streaming engine so that they need not fit into memory."""

    name = package = "polars"

    def open_parquet(self, path: str) -> Any:
        """Scan the files."""
        import polars as pl

        return pl.scan_parquet(path)

    def with_cell(self, frame: LazyFrame, score: str, cell: str, level: int) -> LazyFrame:
        """Add the cell; floor division by a power of two is a shift."""
        import polars as pl

        bits = pl.col(score).reinterpret(dtype=pl.Int64)
        key = pl.when(bits >= 0).then(bits).otherwise(-(bits & int(MAGNITUDE)))
        return as_lazy(frame.to_native().with_columns((key // 2**level).alias(cell)))

    def how_many(self, condition: nw.Expr) -> nw.Expr:
        """Count bits, which is faster than to add floats."""
        return condition.sum()

    def collect(self, answer: LazyFrame) -> nw.DataFrame[Any]:
        """Run the query out of core."""
        return answer.collect(backend="polars", engine="streaming")


class DuckDB(Adapter):
    """DuckDB relations, which spill to disk within the connection's own memory limit."""

    name = package = "duckdb"

    def open_parquet(self, path: str) -> Any:
        """Read on a connection of its own, which spills where temporary files belong."""
        import duckdb

        connection = duckdb.connect(config={"temp_directory": tempfile.gettempdir()})
        address = "://" in path and not any(mark in path for mark in "*?[")
        folder = Path(path).is_dir() or (address and not path.endswith(".parquet"))
        pattern = f"{path.rstrip('/')}/**/*.parquet" if folder else path
        return connection.read_parquet(pattern)

    def with_cell(self, frame: LazyFrame, score: str, cell: str, level: int) -> LazyFrame:
        """Add the cell in SQL, through the type BIT."""
        key = _key_in_sql(f'CAST(CAST("{score}" AS BIT) AS BIGINT)')
        return as_lazy(frame.to_native().project(f'*, ({key}) >> {level} AS "{cell}"'))

    def with_membership(self, frame: LazyFrame, column: str, values: Sequence[int]) -> LazyFrame:
        """Look values up by IN, which DuckDB turns into a hash join; a list it would search."""
        found = f'"{column}" IN ({", ".join(map(str, values))})'
        return as_lazy(frame.to_native().project(f'* REPLACE ({found} AS "{column}")'))

    def how_many_missing(self, score: nw.Expr) -> nw.Expr:
        """Count nulls, and what is not finite less the infinities.

        DuckDB answers ``isnan`` from the statistics of a Parquet file, and writers leave NaN out
        of those.
        """
        infinite = (score == float("inf")) | (score == float("-inf"))
        nan = self.how_many(~score.is_finite()) - self.how_many(infinite)
        return self.how_many(score.is_null()) + nan


class Dask(Adapter):
    """Dask data frames, on whichever scheduler or cluster is in force."""

    name = package = "dask"

    def open_parquet(self, path: str) -> Any:
        """Read the files by partitions."""
        import dask.dataframe as dd

        return dd.read_parquet(path)

    def with_cell(self, frame: LazyFrame, score: str, cell: str, level: int) -> LazyFrame:
        """Add the cell where the partition lies; the workers need voros installed."""
        return as_lazy(frame.to_native().map_partitions(_add_cell, score, cell, level))


def _add_cell(part: Any, score: str, cell: str, level: int) -> Any:
    return part.assign(**{cell: cell_of(part[score].to_numpy(dtype="float64"), level)})


class Spark(Adapter):
    """Spark data frames, classic or Connect; no Python runs on the workers."""

    name, package = "spark", "pyspark"

    def check(self) -> None:
        """Raise where the package or Java is missing."""
        super().check()
        if not has_java():
            raise OSError(
                "engine='spark' needs Java 17 or newer, and neither JAVA_HOME nor a java command "
                "was found; install one (Debian: apt install default-jre-headless), or set "
                "SPARK_REMOTE to a Spark Connect server"
            )

    def open_parquet(self, path: str) -> Any:
        """Read in the session that is active, or in a new one."""
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        session = active or SparkSession.builder.appName("voros").getOrCreate()
        return session.read.parquet(path)

    def pick(self, frame: LazyFrame, columns: Mapping[str, str]) -> LazyFrame:
        """Take columns by quoted names: Spark reads a dot as a field of a struct."""
        from pyspark.sql.functions import col

        quoted = {short: "`" + name.replace("`", "``") + "`" for short, name in columns.items()}
        picked = [col(name).alias(short) for short, name in quoted.items()]
        return as_lazy(frame.to_native().select(*picked))

    def with_cell(self, frame: LazyFrame, score: str, cell: str, level: int) -> LazyFrame:
        """Add the cell in SQL, through the Java method that reads bits."""
        from pyspark.sql.functions import expr

        bits = f"CAST(java_method('java.lang.Double', 'doubleToLongBits', `{score}`) AS BIGINT)"
        with_bits = frame.to_native().selectExpr("*", f"{bits} AS `{cell}`")
        key = _key_in_sql(f"`{cell}`")
        return as_lazy(with_bits.withColumn(cell, expr(f"shiftright({key}, {level})")))


class Ibis(Adapter):
    """Ibis tables, and so the databases behind them: BigQuery, Snowflake, Trino, ...

    Databases differ in whether they show the bits of a float. Keys are computed by arithmetic that
    is exact: divisions by powers of two, and whole numbers below 2**53.
    """

    name = package = "ibis"

    def open_parquet(self, path: str) -> Any:
        """Read the files with the backend that is set, or Ibis' own choice."""
        import ibis

        return ibis.read_parquet(f"{path}/**/*.parquet" if Path(path).is_dir() else path)

    def with_cell(self, frame: LazyFrame, score: str, cell: str, level: int) -> LazyFrame:
        """Add the cell, as an expression that Ibis writes for its backend."""
        table = frame.to_native()
        return as_lazy(table.mutate(**{cell: ibis_cell(table[score], level)}))


def ibis_cell(score: Any, level: int) -> Any:
    """Return the cell of an Ibis column, shifting whole numbers that are not negative.

    Databases shift the sign bit each their own way: the cell of -k is -1 - ((k - 1) >> level).
    """
    import ibis

    negative = ibis.ifelse(score < 0, 1, 0)
    return ((ibis_size_key(score) - negative) >> level) * (1 - 2 * negative) - negative


def ibis_size_key(score: Any) -> Any:
    """Return the key of `voros.engines.keys.to_key` of the size of an Ibis column of float64."""
    import ibis

    two, size = ibis.literal(2.0), score.abs()
    denormal, infinite = size < SMALLEST_NORMAL, size > LARGEST_FINITE
    normal = ibis.ifelse(denormal | infinite, 1.0, size)
    power = normal.log2().floor().clip(lower=-EXPONENT_BIAS + 1, upper=EXPONENT_BIAS)
    # A logarithm beside a power of two may round to the wrong side.
    power = power - ibis.ifelse(normal < two.pow(power), 1, 0)
    power = power + ibis.ifelse(normal / two.pow(power) >= 2.0, 1, 0)
    fraction = ((normal / two.pow(power) - 1.0) * 2.0**FRACTION_BITS).cast("int64")
    key = (power.cast("int64") + EXPONENT_BIAS) * 2**FRACTION_BITS + fraction
    # By halves, for no float holds the whole factor.
    small = (size * SCALE_HALF * SCALE_HALF).cast("int64")
    highest = ibis.literal((2 * EXPONENT_BIAS + 1) * 2**FRACTION_BITS, "int64")
    return ibis.ifelse(denormal, small, ibis.ifelse(infinite, highest, key))


def has_java() -> bool:
    """Whether Spark has a Java to run on, here or behind Spark Connect."""
    home = os.environ.get("JAVA_HOME")
    at_home = home is not None and Path(home, "bin", "java").exists()
    return at_home or which("java") is not None or "SPARK_REMOTE" in os.environ


def _key_in_sql(bits: str) -> str:
    return f"CASE WHEN {bits} >= 0 THEN {bits} ELSE -({bits} & {MAGNITUDE}) END"


_ADAPTERS: dict[str, Adapter] = {
    adapter.name: adapter for adapter in (Polars(), DuckDB(), Dask(), Spark(), Ibis())
}

_BY_IMPLEMENTATION = {
    nw.Implementation.POLARS: "polars",
    nw.Implementation.DUCKDB: "duckdb",
    nw.Implementation.DASK: "dask",
    nw.Implementation.IBIS: "ibis",
    nw.Implementation.PYSPARK: "spark",
    nw.Implementation.PYSPARK_CONNECT: "spark",
}


def open_parquet(path: str | Path, engine: str) -> Any:
    """Open a Parquet file, or a folder or pattern of them, as a lazy frame of an engine.

    Parameters
    ----------
    path : path-like
    engine : {"polars", "duckdb", "dask", "spark", "ibis"}

    Examples
    --------
    >>> import tempfile, pathlib, polars as pl
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.parquet")
    >>> pl.DataFrame({"risk": [0.1, 0.7]}).write_parquet(file)
    >>> open_parquet(file, "duckdb").columns
    ['risk']
    """
    check_engine(engine)
    return _ADAPTERS[engine].open_parquet(str(path))


def first_rows(frame: Any, n_rows: int) -> Any:
    """Return the first rows of an engine's frame as a pyarrow table, wherever it finds them.

    Examples
    --------
    >>> import polars as pl
    >>> first_rows(pl.LazyFrame({"risk": [0.1, 0.7, 0.4]}), 2).to_pydict()
    {'risk': [0.1, 0.7]}
    """
    lazy = as_lazy(frame)
    table = adapter_of(lazy).collect(lazy.head(n_rows)).to_arrow()
    # An index, which is no column, would come along as one.
    return table.select(lazy.collect_schema().names())


def check_engine(engine: str) -> None:
    """Raise, with the way out, unless an engine can run here.

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
    ValueError: engine='excel'; accepted are polars, duckdb, dask, spark, ibis
    """
    if engine not in _ADAPTERS:
        raise ValueError(f"engine={engine!r}; accepted are {', '.join(_ADAPTERS)}")
    _ADAPTERS[engine].check()


def as_lazy(frame: Any) -> LazyFrame:
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
        "LazyFrame, a DuckDB relation, an Ibis table, and Dask and Spark data frames. For columns "
        "in memory use OperatingPoints.from_scores"
    )


def adapter_of(frame: LazyFrame) -> Adapter:
    """Return the adapter of the engine that holds a frame."""
    engine = _BY_IMPLEMENTATION.get(frame.implementation)
    if engine is None:
        raise TypeError(
            f"frame is held by {frame.implementation}; accepted are frames of "
            f"{', '.join(_ADAPTERS)}"
        )
    return _ADAPTERS[engine]
