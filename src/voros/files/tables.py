"""A source becomes an Arrow table of the columns asked for, and no others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from voros.exceptions import PredictionFileError
from voros.files.bad_rows import check_text_numbers, explain_bad_row
from voros.files.sources import ARROW_FILE_MAGIC, SNIFFED_BYTES, Source, load_pyarrow

PEEKED_ROWS = 1000
"""How many rows are looked at to tell what a column holds."""


def peek(source: Source) -> Any:
    """Return the first rows, all columns, with the types that these rows suggest."""
    pa = load_pyarrow()
    try:
        return _readers(source)["peek"](source)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise explain_bad_row(source, (), str(error)) from None


def read_columns(source: Source, columns: Sequence[str], numeric: Collection[str]) -> Any:
    """Return the named columns of all rows; those in ``numeric`` must be numbers throughout."""
    pa = load_pyarrow()
    try:
        table = _readers(source)["read"](source, list(columns), numeric)
    except PredictionFileError as error:
        raise PredictionFileError(f"{source.name}: {error}") from None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise explain_bad_row(source, numeric, str(error)) from None
    if table.num_rows == 0:
        raise PredictionFileError(f"{source.name} has column names and no rows")
    return table


def read_as_written(source: Source) -> Any:
    """Return all columns of all rows, those of delimited text as text."""
    pa = load_pyarrow()
    if source.format not in ("csv", "tsv"):
        return _readers(source)["read"](source, peek(source).column_names, ())
    from pyarrow import csv

    names = peek(source).column_names
    return csv.read_csv(
        source.open(),
        parse_options=csv.ParseOptions(delimiter=source.delimiter),
        convert_options=csv.ConvertOptions(column_types={name: pa.string() for name in names}),
    )


def _readers(source: Source) -> dict[str, Any]:
    return {
        "csv": {"peek": _peek_text, "read": _read_text},
        "tsv": {"peek": _peek_text, "read": _read_text},
        "parquet": {"peek": _peek_parquet, "read": _read_parquet},
        "arrow": {"peek": _peek_arrow, "read": _read_arrow},
        "jsonl": {"peek": _peek_json, "read": _read_json},
    }[source.format]


def _first_lines(source: Source) -> Any:
    lines = source.head.splitlines(keepends=True)
    # The last line may be cut off in the middle of a row.
    cut_off = len(source.head) == SNIFFED_BYTES and len(lines) > 1
    whole = lines[:-1] if cut_off else lines
    return load_pyarrow().BufferReader(b"".join(whole[: PEEKED_ROWS + 1]))


def _peek_text(source: Source) -> Any:
    from pyarrow import csv

    options = csv.ParseOptions(delimiter=source.delimiter)
    return csv.read_csv(_first_lines(source), parse_options=options)


def _read_text(source: Source, columns: list[str], numeric: Collection[str]) -> Any:
    pa = load_pyarrow()
    from pyarrow import csv

    return csv.read_csv(
        source.open(),
        parse_options=csv.ParseOptions(delimiter=source.delimiter),
        convert_options=csv.ConvertOptions(
            include_columns=columns,
            column_types={name: pa.float64() for name in numeric},
            strings_can_be_null=True,
        ),
    )


def _peek_parquet(source: Source) -> Any:
    pa = load_pyarrow()
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
    pa = load_pyarrow()
    if not source.head.startswith(ARROW_FILE_MAGIC):
        return pa.ipc.open_stream(source.open()).read_all()
    if source.path is not None and not source.zipped:
        # Mapped, not read: columns that are not asked for are never touched.
        return pa.ipc.open_file(pa.memory_map(str(source.path))).read_all()
    return pa.ipc.open_file(pa.BufferReader(source.open().read())).read_all()


def _peek_json(source: Source) -> Any:
    from pyarrow import json

    return json.read_json(_first_lines(source))


def _read_json(source: Source, columns: list[str], numeric: Collection[str]) -> Any:
    from pyarrow import json

    return _as_numbers(json.read_json(source.open()).select(columns), numeric)


def _as_numbers(table: Any, names: Collection[str]) -> Any:
    """Cast the columns that came as text; numbers of any width stay as they are."""
    pa = load_pyarrow()
    for position, name in enumerate(table.column_names):
        kind = table.schema.field(position).type
        if name in names and not is_numeric(kind):
            column = table.column(position)
            check_text_numbers(column, name)
            table = table.set_column(position, name, column.cast(pa.float64()))
    return table


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is of plain numbers that numpy can take as they are."""
    types = load_pyarrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
