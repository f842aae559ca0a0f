"""Files opened as one lazy frame of an engine, although their columns and types may differ."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw

from voros.engines.backends import as_lazy, check_engine, pick
from voros.engines.files import TableFile, common_types, find_files
from voros.engines.scales import LazyFrame
from voros.exceptions import PredictionFileError
from voros.io.bad_rows import NO_VALUE

Part: TypeAlias = Sequence[TableFile]
"""Files that have the same columns, in the same types."""

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
    frames = list(map(as_lazy, _OPENERS[engine](list(parts.values()))))
    firsts = [part[0] for part in parts.values()]
    if len(parts) == 1 and types == firsts[0].types and not _flags(firsts[0], types):
        return frames[0].to_native()
    same = {name: name for name in types}
    alike = [
        _with_types(pick(frame, same), file, types)
        for frame, file in zip(frames, firsts, strict=True)
    ]
    return nw.concat(alike).to_native()


def _with_types(frame: LazyFrame, file: TableFile, types: Mapping[str, Any]) -> LazyFrame:
    """Cast the columns of a file to these types."""
    wider = {"int64": nw.Int64(), "double": nw.Float64(), "string": nw.String()}
    changed = {name: str(kind) for name, kind in types.items() if file.types[name] != kind}
    casts = [nw.col(name).cast(wider[kind]) for name, kind in changed.items()]
    casts += [_truth(name) for name in _flags(file, types)]
    return frame.with_columns(*casts) if casts else frame


def _flags(file: TableFile, types: Mapping[str, Any]) -> list[str]:
    """Return the Boolean columns of a text file."""
    return [name for name in types if file.delimiter and str(types[name]) == "bool"]


def _truth(name: str) -> nw.Expr:
    """Return true or false for these words in upper or lower case, and null for others."""
    text = nw.col(name).str.to_lowercase()
    is_false = nw.when(text == "false").then(nw.lit(False))
    return nw.when(text == "true").then(nw.lit(True)).otherwise(is_false).alias(name)


def _names(part: Part, written: Callable[[str], str] = str) -> list[str]:
    return [written(file.name) for file in part]


def _numbers(part: Part) -> list[tuple[str, bool]]:
    """Return the columns of delimited text, and whether each holds numbers."""
    return [(name, str(kind) == "double") for name, kind in part[0].types.items()]


def _open_polars(parts: Sequence[Part]) -> list[Any]:
    import polars as pl

    def scan(part: Part) -> Any:
        names = _names(part)
        if part[0].format == "parquet":
            return pl.scan_parquet(names, hive_partitioning=False, glob=False)
        schema = {name: pl.Float64 if number else pl.String for name, number in _numbers(part)}
        return pl.scan_csv(
            names,
            schema=schema,
            glob=False,
            separator=part[0].delimiter,
            null_values=sorted(NO_VALUE),
        )

    return [scan(part) for part in parts]


def _open_duckdb(parts: Sequence[Part]) -> list[Any]:
    """Read on a new connection, which spills into the folder of temporary files."""
    import duckdb

    connection = duckdb.connect(config={"temp_directory": tempfile.gettempdir()})
    return [_read_by_duckdb(connection, part) for part in parts]


def _read_by_duckdb(connection: Any, part: Part) -> Any:
    names = _names(part, escape)
    if part[0].format == "parquet":
        return connection.read_parquet(names, hive_partitioning=False)
    columns = {name: "VARCHAR" for name, _ in _numbers(part)}
    text = connection.read_csv(
        names,
        columns=columns,
        sep=part[0].delimiter,
        na_values=sorted(NO_VALUE),
        header=True,
        quotechar='"',
        escapechar='"',
        auto_detect=False,
    )
    return text.project(", ".join(_from_text(*column) for column in _numbers(part)))


def _from_text(name: str, number: bool) -> str:
    """Return SQL that reads a column; DuckDB alone would read 1_0 as a number."""
    quoted = '"' + name.replace('"', '""') + '"'
    if not number:
        return quoted
    wrong = f"error('a number with an underscore: ' || {quoted})"
    good = f"CAST({quoted} AS DOUBLE)"
    return f"CASE WHEN contains({quoted}, '_') THEN {wrong} ELSE {good} END AS {quoted}"


def _open_spark(parts: Sequence[Part]) -> list[Any]:
    """Read in the active session, or in a new one."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    session = active or SparkSession.builder.appName("voros").getOrCreate()
    # This option also keeps the names of nested folders out of the columns.
    reader = session.read.option("recursiveFileLookup", True)
    return [reader.parquet(*_names(part)) for part in parts]


_OPENERS: Mapping[str, Callable[[Sequence[Part]], list[Any]]] = {
    "polars": _open_polars,
    "duckdb": _open_duckdb,
    "spark": _open_spark,
}
