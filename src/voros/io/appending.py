"""Add columns to a table of cases, and leave every other cell as it is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from voros.exceptions import PredictionFileError
from voros.io.source import Source
from voros.io.tables import read_as_written
from voros.typing import AnyArray, BoolArray

Written: TypeAlias = Literal["csv", "tsv", "parquet", "arrow"]

FORMATS: dict[str, Written] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
"""Formats by the end of a file's name."""


def append_columns(
    source: Source, columns: Mapping[str, AnyArray], kept: BoolArray | None = None
) -> Any:
    r"""Return all columns of a file, and more at the end.

    Cells of delimited text stay text: an identifier of 007 stays 007. Rows that are not ``kept``
    are left out.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> import pathlib, tempfile, voros
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.csv")
    >>> _ = file.write_text("id,risk\n007,0.9\n008,0.2\n")
    >>> append_columns(voros.io.open_source(file), {"alarm": [True, False]}).to_pydict()
    {'id': ['007', '008'], 'risk': ['0.9', '0.2'], 'alarm': [True, False]}
    """
    import pyarrow as pa

    table = read_as_written(source)
    if kept is not None:
        table = table.filter(pa.array(kept))
    for name, values in columns.items():
        if name in table.column_names:
            raise PredictionFileError(
                f"{source.name} has a column {name!r} already; rename it first"
            )
        table = table.append_column(name, pa.array(values))
    return table


def format_of(path: Path) -> Written:
    """Return the format for the end of a file's name.

    Returns
    -------
    str

    Examples
    --------
    >>> format_of(Path("cases.tsv")), format_of(Path("cases.parquet"))
    ('tsv', 'parquet')
    """
    if path.suffix.lower() not in FORMATS:
        accepted = ", ".join(FORMATS)
        raise PredictionFileError(f"{path}: the name must end in one of {accepted}")
    return FORMATS[path.suffix.lower()]


def table_bytes(table: Any, file_format: Written) -> bytes:
    r"""Return a table as bytes in a format.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import pyarrow as pa
    >>> table_bytes(pa.table({"id": [7, 8], "alarm": [True, False]}), "csv")
    b'id,alarm\n7,true\n8,false\n'
    """
    import pyarrow as pa

    repeated = {name for name, count in Counter(table.column_names).items() if count > 1}
    if repeated and file_format not in ("csv", "tsv"):
        raise PredictionFileError(
            f"more than one column {min(repeated)!r} cannot be written as {file_format}; rename "
            "them, or write CSV"
        )
    if file_format in ("csv", "tsv"):
        return _delimited(table, "," if file_format == "csv" else "\t")
    sink = io.BytesIO()
    if file_format == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def _delimited(table: Any, delimiter: str) -> bytes:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    header = io.StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)

    def written(quoting: str) -> bytes:
        sink = io.BytesIO(header.getvalue().encode())
        sink.seek(0, io.SEEK_END)
        options = arrow_csv.WriteOptions(
            include_header=False, delimiter=delimiter, quoting_style=quoting
        )
        arrow_csv.write_csv(table, sink, options)
        return sink.getvalue()

    try:
        return written("none")
    except pa.ArrowInvalid:
        # A cell contains a delimiter or a quote.
        return written("needed")
