"""The parts of queries that differ between engines; narwhals expresses everything else.

An adapter numbers the buckets of `voros.engines.keys` in the language of its engine.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.engines.keys import MAGNITUDE, Scale
from voros.engines.plan import BucketSet
from voros.exceptions import ArgumentError
from voros.installing import missing_package
from voros.typing import BoolArray

LazyFrame: TypeAlias = nw.LazyFrame[Any]

SHORT_LIST = 2048
"""Number of values up to which DuckDB compares them one by one as fast as it looks them up."""

FRACTION_BITS, EXPONENT_BIAS = 52, 1023
"""Layout of a float64."""

HIGHEST_POWER = (2 * EXPONENT_BIAS + 1) * 2**FRACTION_BITS
"""Key of an infinity."""

SMALLEST_NORMAL = 2.0**-1022
SCALE_HALF = 2.0**537
"""The smallest float times its square is 1."""


class Adapter(ABC):
    """The parts of a query that narwhals does not offer for every engine."""

    name: str
    package: str
    """Name of the package to install."""

    def check(self) -> None:
        """Raise unless everything that the engine needs is installed."""
        if find_spec(self.package) is None:
            raise missing_package(f"engine={self.name!r}", self.package)

    @abstractmethod
    def with_bits(self, frame: LazyFrame, score: str, bucket: str, level: int) -> LazyFrame:
        """Add the number of each score's bucket by the bits of the float.

        It equals `voros.engines.keys.bucket_of`.
        """

    def with_bucket(
        self, frame: LazyFrame, score: str, bucket: str, scale: Scale, level: int
    ) -> LazyFrame:
        """Add the number of each score's bucket; it equals `Scale.buckets`."""
        if scale.exponent is None:
            return self.with_bits(frame, score, bucket, level)
        inside = nw.col(score).clip(scale.lowest, scale.highest)
        number = (inside * scale.factor(level)).floor().cast(nw.Int64)
        return frame.with_columns(number.alias(bucket))

    def pick(self, frame: LazyFrame, columns: Mapping[str, str]) -> LazyFrame:
        """Select columns and rename them; `columns` maps new names to present ones."""
        return frame.select(*(nw.col(name).alias(short) for short, name in columns.items()))

    def with_membership(self, frame: LazyFrame, column: str, buckets: BucketSet) -> LazyFrame:
        """Replace a column of bucket numbers by whether each is in a set."""
        return frame.with_columns(nw.col(column).is_in(buckets.numbers.tolist()))

    def how_many(self, condition: nw.Expr) -> nw.Expr:
        """Count the rows where a condition holds, as a float, which is exact below 2**53."""
        return condition.cast(nw.Float64).sum()

    def how_many_missing(self, score: nw.Expr) -> nw.Expr:
        """Count the rows where a float is null or NaN."""
        return self.how_many(score.is_null() | score.is_nan())

    def collect(self, answer: LazyFrame) -> nw.DataFrame[Any]:
        """Run the query."""
        return answer.collect()


class Polars(Adapter):
    """Polars lazy frames, run by the streaming engine, so that they may exceed the memory."""

    name = package = "polars"

    def with_bits(self, frame: LazyFrame, score: str, bucket: str, level: int) -> LazyFrame:
        """Add the bucket; floor division by a power of two is a shift."""
        import polars as pl

        bits = pl.col(score).reinterpret(dtype=pl.Int64)
        key = pl.when(bits >= 0).then(bits).otherwise(-(bits & int(MAGNITUDE)))
        return as_lazy(frame.to_native().with_columns((key // 2**level).alias(bucket)))

    def how_many(self, condition: nw.Expr) -> nw.Expr:
        """Count bits, which is faster than adding floats."""
        return condition.sum()

    def collect(self, answer: LazyFrame) -> nw.DataFrame[Any]:
        """Run the query out of core."""
        return answer.collect(backend="polars", engine="streaming")


class DuckDB(Adapter):
    """DuckDB relations, which spill to disk beyond the memory limit of their connection."""

    name = package = "duckdb"

    def with_bits(self, frame: LazyFrame, score: str, bucket: str, level: int) -> LazyFrame:
        """Add the bucket in SQL, through the type BIT."""
        key = _key_in_sql(f'CAST(CAST("{score}" AS BIT) AS BIGINT)')
        return as_lazy(frame.to_native().project(f'*, ({key}) >> {level} AS "{bucket}"'))

    def with_membership(self, frame: LazyFrame, column: str, buckets: BucketSet) -> LazyFrame:
        """Look each bucket up in a string of bits, which is faster than a join with a long list."""
        if np.count_nonzero(buckets.members) <= SHORT_LIST:
            return super().with_membership(frame, column, buckets)
        bits = "".join(np.where(buckets.members, "1", "0"))
        last = len(bits) - 1
        place = f'CAST(least(greatest("{column}" - {buckets.first}, 0), {last}) AS INTEGER)'
        is_member = f"get_bit('{bits}'::BIT, {place}) = 1"
        return as_lazy(frame.to_native().project(f'* REPLACE ({is_member} AS "{column}")'))

    def how_many_missing(self, score: nw.Expr) -> nw.Expr:
        """Count nulls, and values that are neither finite nor infinite.

        DuckDB answers ``isnan`` from the statistics of a Parquet file, from which writers leave NaN
        out.
        """
        infinite = (score == float("inf")) | (score == float("-inf"))
        nan = self.how_many(~score.is_finite()) - self.how_many(infinite)
        return self.how_many(score.is_null()) + nan


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

    def pick(self, frame: LazyFrame, columns: Mapping[str, str]) -> LazyFrame:
        """Select columns by quoted names: Spark reads a dot as a field of a struct."""
        from pyspark.sql.functions import col

        quoted = {short: "`" + name.replace("`", "``") + "`" for short, name in columns.items()}
        picked = [col(name).alias(short) for short, name in quoted.items()]
        return as_lazy(frame.to_native().select(*picked))

    def with_membership(self, frame: LazyFrame, column: str, buckets: BucketSet) -> LazyFrame:
        """Look each bucket up in the bits of an array, sent as one string: literals are slow."""
        from pyspark.sql.functions import expr

        first, last = buckets.first, buckets.first + len(buckets.members) - 1
        # Clipped before the subtraction, because overflow is an error in Spark.
        place = f"least(greatest(`{column}`, {first}L), {last}L) - {first}L"
        words = " ".join(map(str, _words(buckets.members)))
        table = f"CAST(split('{words}', ' ') AS ARRAY<BIGINT>)"
        word = f"element_at({table}, CAST(({place}) DIV 64 AS INT) + 1)"
        is_member = expr(f"getbit({word}, CAST(({place}) % 64 AS INT)) = 1")
        return as_lazy(frame.to_native().withColumn(column, is_member))

    def with_bits(self, frame: LazyFrame, score: str, bucket: str, level: int) -> LazyFrame:
        """Add the bucket by exact arithmetic: shared clusters allow no Java method."""
        from pyspark.sql.functions import expr

        native, size, power = frame.to_native(), f"{bucket}_size", f"{bucket}_power"
        for name, step in _spark_size_key(f"abs(`{score}`)", size, power):
            native = native.withColumn(name or bucket, expr(step))
        signed = f"IF(`{score}` < 0, -`{bucket}`, `{bucket}`)"
        numbered = native.withColumn(bucket, expr(f"shiftright({signed}, {level})"))
        return as_lazy(numbered.drop(size, power))


def _spark_size_key(absolute: str, size: str, power: str) -> list[tuple[str, str]]:
    """Return successive columns in SQL; the last one, unnamed, is the key of an absolute value."""
    denormal = f"{absolute} < {SMALLEST_NORMAL!r}D"
    infinite = f"{absolute} > {float(LARGEST_FINITE)!r}D"
    fraction = f"CAST((`{size}` / pow(2D, `{power}`) - 1) * {2.0**FRACTION_BITS!r}D AS BIGINT)"
    normal = f"(CAST(`{power}` AS BIGINT) + {EXPONENT_BIAS}) * {2**FRACTION_BITS} + {fraction}"
    return [
        (size, f"IF({denormal} OR {infinite}, 1D, {absolute})"),
        (power, f"greatest(least(floor(log2(`{size}`)), {EXPONENT_BIAS}), {1 - EXPONENT_BIAS})"),
        # The logarithm of a number next to a power of two may round to the wrong side.
        (power, f"`{power}` - IF(`{size}` < pow(2D, `{power}`), 1, 0)"),
        (power, f"`{power}` + IF(`{size}` / pow(2D, `{power}`) >= 2, 1, 0)"),
        (
            "",
            f"CASE WHEN {denormal} THEN CAST({absolute} * {SCALE_HALF!r}D * {SCALE_HALF!r}D "
            f"AS BIGINT) WHEN {infinite} THEN {HIGHEST_POWER} ELSE {normal} END",
        ),
    ]


def _words(members: BoolArray) -> list[int]:
    """Pack marks into numbers of 64 bits, from the lowest bit of the first number up."""
    padded = np.append(members, np.zeros(-len(members) % 64, dtype=np.bool_))
    packed = np.packbits(padded, bitorder="little").view("<i8").tolist()
    # SQL has no literal for the lowest number; one more bucket does no harm.
    return [max(word, -(2**63) + 1) for word in packed]


def has_java() -> bool:
    """Whether Java is installed here, or Spark Connect replaces it."""
    home = os.environ.get("JAVA_HOME")
    at_home = home is not None and Path(home, "bin", "java").exists()
    return at_home or which("java") is not None or "SPARK_REMOTE" in os.environ


def _key_in_sql(bits: str) -> str:
    return f"CASE WHEN {bits} >= 0 THEN {bits} ELSE -({bits} & {MAGNITUDE}) END"


_ADAPTERS: dict[str, Adapter] = {adapter.name: adapter for adapter in (Polars(), DuckDB(), Spark())}

_BY_IMPLEMENTATION = {
    nw.Implementation.POLARS: "polars",
    nw.Implementation.DUCKDB: "duckdb",
    nw.Implementation.PYSPARK: "spark",
    nw.Implementation.PYSPARK_CONNECT: "spark",
}


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
    lazy = as_lazy(frame)
    return adapter_of(lazy).collect(lazy.head(n_rows)).to_arrow()


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
    if engine not in _ADAPTERS:
        raise ArgumentError("engine", f"={engine!r}; accepted are {', '.join(_ADAPTERS)}")
    _ADAPTERS[engine].check()


def as_lazy(frame: Any) -> LazyFrame:
    """Return a frame of an engine as a narwhals frame.

    Raises
    ------
    TypeError
        When the rows are in memory: counting them there is simpler and faster.
    """
    lazy = nw.from_native(frame, pass_through=True)
    if isinstance(lazy, nw.LazyFrame):
        return lazy
    raise TypeError(
        f"frame is a {type(frame).__module__}.{type(frame).__name__}; accepted are a Polars "
        "LazyFrame, a DuckDB relation and a Spark data frame. For columns in memory use "
        "OperatingPoints.from_scores"
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
