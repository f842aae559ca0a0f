"""Read a file of any format into an Arrow table, with only the columns that are needed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from voros.exceptions import PredictionFileError
from voros.io.bad_rows import (
    NO_VALUE,
    check_text_numbers,
    count_lines,
    explain_bad_row,
    no_rows,
)
from voros.io.memory import check_fits_rows, fits_in_memory
from voros.io.source import BLOCK_BYTES, PEEKED_ROWS, Source
from voros.text.table import shortened

MOST_UNPACKED = 1032
"""The most bytes that one byte of gzip can hold."""


def peek(source: Source) -> Any:
    """Return the first rows with all columns, and the types of these rows; read only once."""
    known = vars(source)
    if "first_rows" not in known:
        known["first_rows"] = _first_rows(source)
    return known["first_rows"]


def _first_rows(source: Source) -> Any:
    if source.format == "document":
        raise PredictionFileError(
            f"{source.name} was written by voros and holds no cases; voros score and select read "
            "counts, under limits that are not per period"
        )
    first = {"csv": _peek_text, "parquet": _peek_parquet, "arrow": _open_arrow}
    with _naming_bad_rows(source):
        rows = first[source.format](source).slice(0, PEEKED_ROWS)
        names = rows.column_names
    if rows.num_rows == 0:
        raise PredictionFileError(f"{source.name}: {no_rows(names)}")
    return rows


def read_columns(
    source: Source, columns: Sequence[str], numeric: Collection[str], as_text: Collection[str] = ()
) -> Any:
    """Return the named columns of all rows; those in ``numeric`` must hold numbers only.

    Columns ``as_text`` of a text file stay text: converted, an identifier would lose its zeros, and
    a time its offset.
    """
    import pyarrow as pa

    # The order decides which of two bad cells in a row an error names.
    numeric = tuple(dict.fromkeys(numeric))
    texts = [name for name in columns if name not in numeric]
    with _naming_bad_rows(source, numeric, texts):
        if source.format != "csv":
            table = _as_numbers(_check_flat(_select(source, columns)), numeric)
        else:
            kinds = dict.fromkeys(numeric, pa.float64()) | dict.fromkeys(as_text, pa.string())
            missing = {"strings_can_be_null": True, "null_values": sorted(NO_VALUE)}
            table = _read_csv(source, include_columns=columns, column_types=kinds, **missing)
    if any(pa.types.is_binary(table.column(name).type) for name in texts):
        raise explain_bad_row(source, numeric, texts, "the bytes are not UTF-8 text")
    return table


def most_rows(source: Source) -> int:
    """Return an upper bound on the number of rows of a file of Parquet or delimited text.

    Only text that may exceed memory is read to count its lines.
    """
    from pyarrow import parquet

    if source.format == "parquet":
        with parquet.ParquetFile(source.open()) as file:
            return int(file.metadata.num_rows)
    size = source.path.stat().st_size if source.path else len(source.content or b"")
    at_most = size * (MOST_UNPACKED if source.zipped else 1) // 2
    if fits_in_memory(at_most, 1):
        return at_most
    with _naming_bad_rows(source):
        return count_lines(source)


def read_as_written(source: Source) -> Any:
    """Return all columns of all rows; delimited text stays text."""
    import pyarrow as pa

    names = peek(source).column_names
    with _naming_bad_rows(source, (), names):
        if source.format != "csv":
            return _select(source, names)
        return _read_csv(source, column_types=dict.fromkeys(names, pa.string()))


@contextmanager
def _naming_bad_rows(
    source: Source, numeric: Collection[str] = (), texts: Collection[str] = ()
) -> Iterator[None]:
    """Turn errors of a reader into one that names file and row."""
    import pyarrow as pa

    try:
        yield
    except PredictionFileError as error:
        raise PredictionFileError(f"{source.name}: {error}") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, KeyError) as error:
        raise explain_bad_row(source, numeric, texts, str(error)) from None


def _parse_options(source: Source) -> Any:
    from pyarrow import csv

    # By default, a line break within quotes ends a row at the end of a block.
    return csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True)


def _peek_text(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    options = {
        "read_options": csv.ReadOptions(block_size=BLOCK_BYTES),
        "parse_options": _parse_options(source),
        "convert_options": csv.ConvertOptions(
            null_values=sorted(NO_VALUE), decimal_point=source.decimal
        ),
    }
    with csv.open_csv(source.open(), **options) as reader:
        rows = next(iter(reader), None)
        return pa.Table.from_batches([] if rows is None else [rows], reader.schema)


def _read_csv(source: Source, **convert: Any) -> Any:
    from pyarrow import csv

    n_columns = len(convert.get("include_columns", convert["column_types"]))
    check_fits_rows(count_lines(source), n_columns)
    return csv.read_csv(
        source.open(),
        read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=_parse_options(source),
        convert_options=csv.ConvertOptions(**convert, decimal_point=source.decimal),
    )


def _peek_parquet(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(source.open()) as file:
        rows = next(file.iter_batches(PEEKED_ROWS), None)
        return pa.Table.from_batches([] if rows is None else [rows], file.schema_arrow)


def _select(source: Source, columns: Sequence[str]) -> Any:
    """Read some columns of a Parquet or Arrow file."""
    from pyarrow import parquet

    if source.format == "parquet":
        with parquet.ParquetFile(source.open()) as file:
            check_fits_rows(file.metadata.num_rows, len(columns))
            return file.read(list(columns))
    return _open_arrow(source).select(list(columns))


def _check_flat(table: Any) -> Any:
    """Return a table, or raise where a column holds lists or objects."""
    import pyarrow as pa

    for name, kind in zip(table.schema.names, table.schema.types, strict=True):
        if pa.types.is_nested(kind):
            raise PredictionFileError(
                f"column {name!r} holds values of type {shortened(str(kind))}; numbers, text, "
                "booleans, dates and times are accepted"
            )
    return table


def _open_arrow(source: Source) -> Any:
    import pyarrow as pa

    # Mapped, not read: other columns are never loaded.
    mapped = pa.BufferReader(source.content) if source.content else pa.memory_map(source.name)
    return pa.ipc.open_file(mapped).read_all()


def _as_numbers(table: Any, names: Collection[str]) -> Any:
    """Cast text and decimal columns to floats; numbers of any width keep their type."""
    import pyarrow as pa

    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in names and not is_numeric(column.type):
            if not pa.types.is_decimal(column.type):
                check_text_numbers(column, name)
            columns.append(column.cast(pa.float64()))
        else:
            columns.append(column)
    return pa.table(columns, names=table.column_names)


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type holds plain numbers that numpy takes without conversion."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
