"""Find the bad row of a file that the fast reader has refused.

The fast reader works on blocks in parallel and does not count rows. After an error the file is read
again, row by row, which takes seconds.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from voros.exceptions import PredictionFileError
from voros.io.source import BLOCK_BYTES
from voros.text.numbers import counted
from voros.text.table import LONGEST_SHOWN, shortened

if TYPE_CHECKING:
    from voros.io.source import Source

NO_VALUE = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>", "None"})
"""Texts that stand for a missing value."""

LONGEST_REASON = 200
"""Most characters of a reader's error that a message shows."""

LONGEST_CELL = BLOCK_BYTES
"""Most characters of a cell; the default of Python's reader is 131,072."""

TOO_LONG = f"a row has more than {BLOCK_BYTES >> 20} MB; see whether it is a table"

NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan)\s*", re.A | re.I)

LITERAL = re.compile(rb'[^",;\t\r\n]"[^",;\t\r\n]')
"""A quote within a cell, which neither opens nor closes it."""

WITH_COMMA = re.compile(r"[+-]?\d+(,\d+)+(\.\d+)?", re.A)
PERCENTAGE = re.compile(r"[+-]?\d+(\.\d+)? ?%", re.A)


def explain_bad_row(
    source: Source, numeric: Collection[str], texts: Collection[str] = (), reason: str = ""
) -> PredictionFileError:
    """Return an error that names the first bad row, or else gives the reader's reason.

    ``texts`` are the columns read as text.
    """
    problem = None
    try:
        if "straddling" in reason:  # pyarrow's word for a row longer than a block
            problem = TOO_LONG
        elif source.format == "csv":
            problem = next(_scan_text(source, numeric, texts), None)
    except UnicodeDecodeError:
        problem = "this is not UTF-8 text; save it as UTF-8"
    except (csv.Error, OSError, ValueError) as error:
        problem = f"cannot be read as {source.format}: {shortened(str(error), LONGEST_REASON)}"
    if problem is None:
        said = shortened(" ".join(reason.split()), LONGEST_REASON)
        problem = f"cannot be read as {source.format} ({said})"
    return PredictionFileError(f"{source.name}: {problem}")


@contextmanager
def _csv_rows(source: Source, errors: str, *, strict: bool = False) -> Iterator[Any]:
    """Open a file with Python's reader of delimited text, which counts lines."""
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        text = io.TextIOWrapper(source.open(), encoding="utf-8-sig", errors=errors, newline="")
        yield csv.reader(text, delimiter=source.delimiter, strict=strict)
    finally:
        csv.field_size_limit(limit)


def count_lines(source: Source) -> int:
    """Return the number of lines of delimited text, which has at most that many rows.

    Raises
    ------
    PredictionFileError
        If a quote is never closed, which makes one cell of everything after it without an error of
        the fast reader, or if a row is longer than a block.
    """
    n_lines, n_quotes, doubtful = 0, 0, False
    with source.open() as stream:
        while chunk := bytes(stream.read(BLOCK_BYTES)):
            if len(chunk) == BLOCK_BYTES and b"\n" not in chunk and b"\r" not in chunk:
                raise PredictionFileError(TOO_LONG)
            n_lines, n_quotes = n_lines + chunk.count(b"\n"), n_quotes + chunk.count(b'"')
            doubtful = doubtful or LITERAL.search(chunk) is not None
    if doubtful or n_quotes % 2:
        _check_closed(source)
    return n_lines + 1


def _check_closed(source: Source) -> None:
    """Raise if the text ends within quotes."""
    line = 1
    try:
        with _csv_rows(source, "replace", strict=True) as rows:
            for _ in rows:
                line = rows.line_num + 1
    except csv.Error as error:
        if "field larger" in str(error) or "unexpected end" in str(error):
            raise PredictionFileError(
                f"the quote that opens in line {line} is never closed; close or remove it, because "
                "all text after it would be one cell"
            ) from None


def _scan_text(source: Source, numeric: Collection[str], texts: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with each bad row."""
    # Bytes that are not UTF-8 become lone surrogates, so that an error can name their row.
    with _csv_rows(source, "surrogateescape") as rows:
        yield from _scan_rows(rows, source.decimal, numeric, texts)


def _scan_rows(
    rows: Any, decimal: str, numeric: Collection[str], texts: Collection[str]
) -> Iterator[str]:
    kept = (cells for cells in rows if cells)
    header: list[str] = next(kept, [])
    yield from _undecoded(header, f"the header (line {rows.line_num})")
    numbers = [(header.index(name), name) for name in numeric]
    words = [header.index(name) for name in (*texts, *numeric)]
    row = 0
    for row, cells in enumerate(kept, start=1):
        where = f"row {row} (line {rows.line_num})"
        if len(cells) != len(header):
            n_cells = counted(len(cells), "cell")
            yield f"{where} has {n_cells} and the header {len(header)}; fix that row"
            continue
        yield from _undecoded([cells[position] for position in words], where)
        for position, name in numbers:
            if not is_number(cells[position].replace(decimal, ".")):
                yield _bad_number(name, cells[position], where)
    if row == 0:
        yield no_rows(header)


def no_rows(header: Sequence[str]) -> str:
    """Return an error on a file with a header and no rows."""
    names = shortened(", ".join(header), LONGEST_REASON)
    return f"there are column names ({names}) and no rows; add the cases"


def _undecoded(cells: Sequence[str], where: str) -> Iterator[str]:
    for cell in cells:
        if not cell.isascii() and any("\udc80" <= mark <= "\udcff" for mark in cell):
            raw = cell.encode("utf-8", "surrogateescape")[:LONGEST_SHOWN]
            meant = raw.decode("latin-1")
            yield (
                f"{where} is not UTF-8 text: {raw!r}, which is {meant!r} in Latin-1; save the file "
                "as UTF-8"
            )


def check_text_numbers(column: Any, name: str) -> None:
    """Raise at the first cell of an Arrow text column that is not a number."""
    for row, cell in enumerate(column.to_pylist(), start=1):
        if cell is not None and not is_number(str(cell)):
            raise PredictionFileError(_bad_number(name, str(cell), f"row {row}"))


def is_number(cell: str) -> bool:
    """Whether a cell is a number to the fast reader, or a missing value.

    Examples
    --------
    >>> [is_number(cell) for cell in ("0.5", "1e-3", "NA", " NA", "0,5", "12%")]
    [True, True, True, False, False, False]
    """
    return cell in NO_VALUE or NUMBER.fullmatch(cell) is not None


def almost_a_number(cell: str) -> str | None:
    """Say how to write a number that has a comma or a percent sign; None for any other text.

    Examples
    --------
    >>> almost_a_number("12.3%"), almost_a_number("ward")
    ('a percentage; write 12.3% as 0.123', None)
    """
    text = cell.strip()
    if WITH_COMMA.fullmatch(text):
        return "a number with a comma; write a decimal point, and nothing between thousands"
    if PERCENTAGE.fullmatch(text):
        return f"a percentage; write {text} as {Decimal(text.rstrip('% ')).scaleb(-2)}"
    return None


def _bad_number(name: str, cell: str, where: str) -> str:
    shown = shortened(cell)
    almost = almost_a_number(cell) if shown == cell else None
    remedy = "is not a number; fix or remove that row" if almost is None else f"is {almost}"
    return f"{where}, column {name!r}: {shown!r} {remedy}"
