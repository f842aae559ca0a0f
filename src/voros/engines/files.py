"""The files of a path, and the columns that all of them have in compatible types.

The rules are the same for every engine. A folder stands for its Parquet files, nested folders
included, or for its delimited text if it has no Parquet. Names that begin with ``_`` or ``.`` are
hidden, as in Hive and Spark. Names of folders such as ``year=2024`` are not columns.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any

from voros.exceptions import PredictionFileError
from voros.io.bad_rows import count_lines
from voros.io.source import open_source
from voros.io.tables import is_numeric, peek

SUFFIXES = (".parquet", ".parq", ".pq")
"""Endings of the names of Parquet files."""

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".tab.gz")
"""Endings of the names of delimited text."""

WILDCARD = re.compile(r"[*?\[]")

NUMBERS = {"whole", "float", "decimal"}


@dataclass(frozen=True)
class TableFile:
    """A file of a table.

    Attributes
    ----------
    name : str
        The path.
    format : {"parquet", "csv"}
    schema : pyarrow.Schema
        For delimited text, the types that the first rows suggest.
    delimiter : str
        The separator of columns in delimited text; otherwise empty.
    """

    name: str
    format: str
    schema: Any
    delimiter: str = ""

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """Types by column."""
        return dict(zip(self.schema.names, self.schema.types, strict=True))

    @cached_property
    def spellings(self) -> Counter[str]:
        """Number of columns by name in lower case."""
        return Counter(map(str.lower, self.schema.names))


def find_files(path: str) -> list[TableFile]:
    """Return the files of a path or pattern, with their columns.

    Raises
    ------
    FileNotFoundError
        If there is none.
    PredictionFileError
        If one is empty or is not a table.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("day-1.parquet", "_day-2.parquet", "notes.txt"):
    ...     pl.DataFrame({"risk": [0.1, 0.7]}).write_parquet(folder / name)
    >>> [Path(file.name).name for file in find_files(str(folder))]
    ['day-1.parquet']
    """
    _refuse_table(path)
    if Path(path).is_file():
        return [_local_file(path)]
    folder = Path(path).is_dir()
    matches = [path] if folder else glob(path, recursive=True)  # noqa: PTH207 (may be absolute)
    names = {name for match in matches for name in _files_at(match)}
    files = _tables_among(names, path if folder else _fixed_part(path))
    if not files:
        raise FileNotFoundError(_nothing_at(path))
    return [_local_file(name) for name in files]


def _refuse_table(path: str) -> None:
    """Refuse a folder with a log of its valid Parquet files: others hold deleted rows."""
    is_delta = Path(path, "_delta_log").exists()
    if is_delta or any(Path(path, "metadata").glob("*.metadata.json")):
        kind = "a Delta" if is_delta else "an Iceberg"
        raise PredictionFileError(
            f"{path} is {kind} table, and some of its files may have been replaced; open it "
            "with an engine and pass the frame to voros.engines.count_frame"
        )


def _files_at(path: str) -> list[str]:
    if not Path(path).is_dir():
        return [path]
    return [str(file) for file in Path(path).rglob("*") if file.is_file()]


def _tables_among(names: Iterable[str], base: str) -> list[str]:
    """Return the names of tables that are not hidden below a folder."""
    shown = sorted(name for name in names if not _is_hidden(name, base))
    parquet = [name for name in shown if name.lower().endswith(SUFFIXES)]
    return parquet or [name for name in shown if name.lower().endswith(TEXT_SUFFIXES)]


def _nothing_at(path: str) -> str:
    if Path(path).is_dir():
        return f"the folder holds no file that ends in {', '.join((*SUFFIXES, '.csv', '.tsv'))}"
    return "no files match" if WILDCARD.search(path) else "there is no such file or folder"


def _fixed_part(pattern: str) -> str:
    """Return the folders of a pattern before any wildcard, which are never hidden."""
    head = pattern[: wildcard.start()] if (wildcard := WILDCARD.search(pattern)) else pattern
    return head.rpartition("/")[0]


def _is_hidden(name: str, base: str) -> bool:
    """Whether a part of a path below a folder begins with ``_`` or ``.``."""
    relative = name[len(base) :].replace(os.sep, "/")
    return any(part.startswith(("_", ".")) for part in relative.split("/"))


def _local_file(name: str) -> TableFile:
    from pyarrow.parquet import read_schema

    source = open_source(name)
    if source.format == "csv":
        count_lines(source)  # refuses a quote that is never closed
        return TableFile(name, source.format, _suggested(peek(source)), source.delimiter)
    if source.format != "parquet":
        raise PredictionFileError(f"{name} is {source.format}; engines count Parquet and CSV")
    return TableFile(name, "parquet", read_schema(name))


def _suggested(first_rows: Any) -> Any:
    """Return types for text; numbers are floats, since later ones need not be whole."""
    import pyarrow as pa

    def wide(kind: Any) -> Any:
        if pa.types.is_boolean(kind):
            return kind
        return pa.float64() if is_numeric(kind) else pa.string()

    return pa.schema([(field.name, wide(field.type)) for field in first_rows.schema])


def common_types(files: Sequence[TableFile], needed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the columns that all files have, each in a type that holds the values of all files.

    A column is left out if a file lacks it, has it twice or has it in an incompatible type.

    Parameters
    ----------
    files : sequence of TableFile
    needed : sequence of str, optional
        Columns that must not be left out; by default all of them.

    Raises
    ------
    PredictionFileError
        If a needed column would be left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> days = [
    ...     TableFile("1.parquet", "parquet", pa.schema({"died": pa.int8(), "risk": pa.int64()})),
    ...     TableFile(
    ...         "2.parquet", "parquet", pa.schema({"died": pa.bool_(), "risk": pa.float32()})
    ...     ),
    ... ]
    >>> common_types(days, ["risk"])
    {'risk': DataType(double)}
    >>> common_types(days)
    Traceback (most recent call last):
    voros.exceptions.PredictionFileError: column 'died' is int8 in 1.parquet and bool in 2.parquet;
    write it in one type
    """
    names = dict.fromkeys([*needed, *(name for file in files for name in file.types)])
    types = {}
    for name in names:
        reason = next(filter(None, (_why_unusable(name, file) for file in files)), None)
        kind = None if reason else _widest([file.types[name] for file in files])
        if kind is not None:
            types[name] = kind
        elif not needed or name in needed:
            raise PredictionFileError(reason or _conflict(name, files))
    return types


def _why_unusable(name: str, file: TableFile) -> str | None:
    if name not in file.types:
        if f"/{name}=" in file.name:
            return (
                f"column {name!r} is only in the names of folders ({file.name}), which are not "
                "read as columns; write it into the files"
            )
        return f"column {name!r} is not in {file.name}"
    if file.spellings[name.lower()] > 1:
        return f"{file.name} has more than one column {name!r}, in upper or lower case; rename them"
    return None


def _conflict(name: str, files: Sequence[TableFile]) -> str:
    first = files[0].types[name]
    other = next(file for file in files if _widest([first, file.types[name]]) is None)
    return (
        f"column {name!r} is {first} in {files[0].name} and {other.types[name]} in {other.name}; "
        "write it in one type"
    )


def _widest(types: Sequence[Any]) -> Any:
    """Return a type that holds the values of all types; None if they are incompatible."""
    import pyarrow as pa

    distinct = list(dict.fromkeys(types))
    if len(distinct) == 1:
        return distinct[0]
    kinds = {_kind_of(kind) for kind in distinct}
    if kinds == {"whole"}:
        return pa.int64()
    if kinds <= NUMBERS:
        return pa.float64()
    return pa.string() if kinds == {"text"} else None


def _kind_of(kind: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _kind_of(kind.value_type)
    tests = {"whole": types.is_integer, "float": types.is_floating, "decimal": types.is_decimal}
    for name, test in tests.items():
        if test(kind):
            return name
    text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return "text" if text else str(kind)
