"""Files opened as one lazy frame of an engine, although their columns and types may differ."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw

from voros.engines.backends import LazyFrame, as_lazy, check_engine, column_of
from voros.engines.files import TableFile, common_types, find_files
from voros.exceptions import PredictionFileError
from voros.io.bad_rows import NO_VALUE

Part: TypeAlias = Sequence[TableFile]
"""Files that have the same columns, in the same types."""

Reader: TypeAlias = Callable[[Part], Any]
"""Opens files as one frame; columns of delimited text may all be text."""

WIDER = {"int64": nw.Int64(), "double": nw.Float64(), "string": nw.String()}
"""Types to which columns of several files are widened."""

READ_TEXT = ("duckdb", "polars")
"""Engines that read CSV."""


def open_files(path: str | Path, engine: str, columns: Sequence[str] = ()) -> Any:
    """Open Parquet or CSV, a file or a folder or pattern of them, as a lazy frame of an engine.

    DuckDB and Polars read CSV. A folder stands for its Parquet files, or for CSV if it has no
    Parquet. Folders may be nested; names such as ``year=2024`` are not columns, and files and
    folders whose names begin with ``_`` or ``.`` are skipped. Open a Delta or Iceberg table, or
    files in an object store, with the engine, and pass the frame to `count_frame`.

    Parameters
    ----------
    path : path-like
    engine : {"polars", "duckdb", "spark"}
    columns : sequence of str, optional
        Needed columns, by default all. Numbers of different types in different files are widened.
        A column that differs otherwise is refused if it is needed, and left out if not.

    Returns
    -------
    lazy frame
        Of the engine.

    Raises
    ------
    PredictionFileError
        If a file is empty, or lacks a needed column, or has it twice or in another type.

    Examples
    --------
    >>> import tempfile, pathlib, polars as pl
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.parquet")
    >>> pl.DataFrame({"risk": [0.1, 0.7]}).write_parquet(file)
    >>> open_files(file, "duckdb").columns
    ['risk']
    """
    check_engine(engine)
    files = find_files(str(path))
    types = common_types(files, columns)
    if files[0].format != "parquet" and engine not in READ_TEXT:
        raise PredictionFileError(
            f"{files[0].name} is {files[0].format.upper()}, which {engine} does not read; use "
            f"{' or '.join(READ_TEXT)}"
        )
    parts: dict[Any, list[TableFile]] = {}
    for file in files:
        parts.setdefault((file.delimiter, *file.types.items()), []).append(file)
    reader = _READERS[engine]()
    frames = [_typed(as_lazy(reader(part)), part[0], types) for part in parts.values()]
    return nw.concat(frames).to_native()


def _typed(frame: LazyFrame, file: TableFile, types: Mapping[str, Any]) -> LazyFrame:
    """Return these columns of a file, in these types."""
    columns, schema = [], frame.collect_schema()
    for name, kind in types.items():
        column, own_kind = column_of(frame, name), file.types[name]
        if file.delimiter and schema[name] == nw.String:
            column = _from_text(column, str(own_kind))
        elif own_kind != kind:
            column = column.cast(WIDER[str(kind)])
        columns.append(column.alias(name))
    return frame.select(*columns)


def _from_text(column: nw.Expr, kind: str) -> nw.Expr:
    """Read text as numbers, as true or false in upper or lower case, or as it is."""
    if kind == "double":
        # DuckDB alone would read 1_0 as a number.
        return column.str.replace_all("_", "?", literal=True).cast(nw.Float64)
    if kind == "bool":
        text = column.str.to_lowercase()
        is_false = nw.when(text == "false").then(nw.lit(False))
        return nw.when(text == "true").then(nw.lit(True)).otherwise(is_false)
    return column


def _polars_reader() -> Reader:
    import polars as pl

    def read(part: Part) -> Any:
        names = [file.name for file in part]
        if part[0].format == "parquet":
            return pl.scan_parquet(names, hive_partitioning=False, glob=False)
        schema = {
            name: pl.Float64 if kind == "double" else pl.String
            for name, kind in part[0].types.items()
        }
        return pl.scan_csv(
            names,
            schema=schema,
            glob=False,
            separator=part[0].delimiter,
            null_values=sorted(NO_VALUE),
        )

    return read


def _duckdb_reader() -> Reader:
    """Read on a new connection, which spills into the folder of temporary files."""
    import duckdb

    connection: Any = duckdb.connect(config={"temp_directory": tempfile.gettempdir()})

    def read(part: Part) -> Any:
        names = [escape(file.name) for file in part]
        if part[0].format == "parquet":
            return connection.read_parquet(names, hive_partitioning=False)
        return connection.read_csv(
            names,
            columns=dict.fromkeys(part[0].types, "VARCHAR"),
            sep=part[0].delimiter,
            na_values=sorted(NO_VALUE),
            header=True,
            quotechar='"',
            escapechar='"',
            auto_detect=False,
        )

    return read


def _spark_reader() -> Reader:
    """Read in the active session, or in a new one."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    session = active or SparkSession.builder.appName("voros").getOrCreate()
    # This option also keeps the names of nested folders out of the columns.
    reader = session.read.option("recursiveFileLookup", True)
    return lambda part: reader.parquet(*(file.name for file in part))


_READERS: Mapping[str, Callable[[], Reader]] = {
    "polars": _polars_reader,
    "duckdb": _duckdb_reader,
    "spark": _spark_reader,
}
