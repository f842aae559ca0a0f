"""A source becomes an Arrow table of the columns asked for, and no others."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from voros.exceptions import PredictionFileError
from voros.io.bad_rows import MISSING, check_text_numbers, explain_bad_row, no_rows
from voros.io.quotes import unclosed_quote
from voros.io.sources import ARROW_FILE_MAGIC, SNIFFED_BYTES, Source

PEEKED_ROWS = 1000
"""Number of rows that show what a column holds."""

BLOCK_BYTES = (1 << 20, 1 << 30)
"""Bytes read at a time; the second where some row is longer than the first."""

NO_OBJECT = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|\n)[ \t\r]*(?!\xef\xbb\xbf)[^{\s]")
"""A line that begins with anything but the brace of an object."""

TOO_LONG = "straddling"
"""How pyarrow says that a row does not fit into a block."""


def peek(source: Source) -> Any:
    """Return the first rows, all columns, with the types that these rows suggest."""
    try:
        rows = _readers(source)["peek"](source)
        names = rows.column_names
    except _unreadable() as error:
        raise explain_bad_row(source, (), reason=str(error)) from None
    if rows.num_rows == 0:
        raise PredictionFileError(f"{source.name}: {no_rows(names)}")
    return rows


def read_columns(source: Source, columns: Sequence[str], numeric: Collection[str]) -> Any:
    """Return the named columns of all rows; those in ``numeric`` must be numbers throughout."""
    import pyarrow as pa

    texts = [name for name in columns if name not in numeric]
    try:
        table = _readers(source)["read"](source, list(columns), numeric)
    except PredictionFileError as error:
        raise PredictionFileError(f"{source.name}: {error}") from None
    except _unreadable() as error:
        raise explain_bad_row(source, numeric, texts, str(error)) from None
    if any(pa.types.is_binary(table.column(name).type) for name in texts):
        raise explain_bad_row(source, numeric, texts, "the bytes are not UTF-8 text")
    return table


def read_as_written(source: Source) -> Any:
    """Return all columns of all rows, those of delimited text as text."""
    import pyarrow as pa

    names = peek(source).column_names
    try:
        if source.format not in ("csv", "tsv"):
            return _readers(source)["read"](source, names, ())
        return _read_csv(source, column_types=dict.fromkeys(names, pa.string()))
    except PredictionFileError as error:
        raise PredictionFileError(f"{source.name}: {error}") from None
    except _unreadable() as error:
        raise explain_bad_row(source, (), names, str(error)) from None


def _unreadable() -> tuple[type[Exception], ...]:
    """What pyarrow raises on a file that is not as it should be."""
    import pyarrow as pa

    return (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, KeyError)


def _readers(source: Source) -> dict[str, Any]:
    return {
        "csv": {"peek": _peek_text, "read": _read_text},
        "tsv": {"peek": _peek_text, "read": _read_text},
        "parquet": {"peek": _peek_parquet, "read": _read_parquet},
        "arrow": {"peek": _peek_arrow, "read": _read_arrow},
        "jsonl": {"peek": _peek_json, "read": _read_json},
    }[source.format]


def _with_longer_blocks(read: Callable[[int], Any]) -> Any:
    """Read with blocks of the usual size, and with longer ones where a row needs them."""
    import pyarrow as pa

    usual, longer = BLOCK_BYTES
    try:
        return read(usual)
    except pa.ArrowInvalid as error:
        if TOO_LONG not in str(error):
            raise
        return read(longer)


def _parse_options(source: Source) -> Any:
    from pyarrow import csv

    # Without this, a line break within quotes ends a row wherever blocks happen to meet.
    return csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True)


def _peek_text(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    def first(block: int) -> Any:
        options = {
            "read_options": csv.ReadOptions(block_size=block),
            "parse_options": _parse_options(source),
            "convert_options": csv.ConvertOptions(null_values=sorted(MISSING)),
        }
        with csv.open_csv(source.open(), **options) as reader:
            rows = next(iter(reader), None)
            return pa.Table.from_batches([] if rows is None else [rows], reader.schema)

    return _with_longer_blocks(first).slice(0, PEEKED_ROWS)


def _read_csv(source: Source, **convert: Any) -> Any:
    from pyarrow import csv

    line = unclosed_quote(source.open(), source.delimiter)
    if line is not None:
        raise PredictionFileError(
            f"the quote that opens in line {line} is never closed; close or remove "
            "it, for all that follows would be one cell"
        )
    return _with_longer_blocks(
        lambda block: csv.read_csv(
            source.open(),
            read_options=csv.ReadOptions(block_size=block),
            parse_options=_parse_options(source),
            convert_options=csv.ConvertOptions(**convert),
        )
    )


def _read_text(source: Source, columns: list[str], numeric: Collection[str]) -> Any:
    import pyarrow as pa

    return _read_csv(
        source,
        include_columns=columns,
        column_types=dict.fromkeys(numeric, pa.float64()),
        strings_can_be_null=True,
        null_values=sorted(MISSING),
    )


def _peek_parquet(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(source.open()) as file:
        rows = next(file.iter_batches(PEEKED_ROWS), None)
        return pa.Table.from_batches([] if rows is None else [rows], file.schema_arrow)


def _read_parquet(source: Source, columns: list[str], numeric: Collection[str]) -> Any:
    from pyarrow import parquet

    with parquet.ParquetFile(source.open()) as file:
        return _as_numbers(file.read(columns), numeric)


def _peek_arrow(source: Source) -> Any:
    return _open_arrow(source).slice(0, PEEKED_ROWS)


def _read_arrow(source: Source, columns: list[str], numeric: Collection[str]) -> Any:
    return _as_numbers(_open_arrow(source).select(columns), numeric)


def _open_arrow(source: Source) -> Any:
    import pyarrow as pa

    if not source.head.startswith(ARROW_FILE_MAGIC):
        return pa.ipc.open_stream(source.open()).read_all()
    if source.path is not None and not source.zipped:
        # Mapped, not read: columns that are not asked for are never touched.
        return pa.ipc.open_file(pa.memory_map(str(source.path))).read_all()
    return pa.ipc.open_file(pa.BufferReader(source.open().read())).read_all()


def _peek_json(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import json

    lines = source.head.splitlines(keepends=True)
    # The last line may be cut off in the middle of a row.
    cut_off = len(source.head) == SNIFFED_BYTES
    if cut_off and len(lines) == 1:
        return _all_json(source).slice(0, PEEKED_ROWS)
    first = b"".join((lines[:-1] if cut_off else lines)[:PEEKED_ROWS])
    _check_objects(io.BytesIO(first))
    return json.read_json(pa.BufferReader(first))


def _read_json(source: Source, columns: list[str], numeric: Collection[str]) -> Any:
    return _as_numbers(_all_json(source).select(columns), numeric)


def _check_objects(stream: Any) -> None:
    """Raise where a line is no object: pyarrow crashes on a block that begins with null."""
    import pyarrow as pa

    rest = b""
    while chunk := stream.read(BLOCK_BYTES[0]):
        lines = rest + chunk
        if NO_OBJECT.search(lines):
            raise pa.ArrowInvalid("a line is not a JSON object")
        rest = lines[lines.rfind(b"\n") + 1 :]


def _all_json(source: Source) -> Any:
    from pyarrow import json

    _check_objects(source.open())
    return _with_longer_blocks(
        lambda block: json.read_json(source.open(), json.ReadOptions(block_size=block))
    )


def _as_numbers(table: Any, names: Collection[str]) -> Any:
    """Cast the columns that came as text; numbers of any width stay as they are."""
    import pyarrow as pa

    for position, name in enumerate(table.column_names):
        kind = table.schema.field(position).type
        if name in names and not is_numeric(kind):
            column = table.column(position)
            if not pa.types.is_decimal(kind):
                check_text_numbers(column, name)
            table = table.set_column(position, name, column.cast(pa.float64()))
    return table


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is of plain numbers that numpy can take as they are."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
