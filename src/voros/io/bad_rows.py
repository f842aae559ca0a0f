"""Which row is to blame, once the fast reader has refused a file.

The fast reader works on blocks in parallel and does not count rows. So the file is read a second
time, row by row, which takes seconds but happens only after an error.
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

if TYPE_CHECKING:
    from voros.io.source import Source

NO_VALUE = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>", "None"})
"""Texts that stand for no value; they are found later, with their row."""

SHOWN_CHARACTERS, LONGEST_REASON = 40, 200
"""Characters of a cell, and of what a reader says of a file, that a message shows."""

LONGEST_CELL = BLOCK_BYTES
"""Characters of a cell; Python's own reader stops at 131,072 by default."""

TOO_LONG = f"a row has more than {BLOCK_BYTES >> 20} MB; see whether it is a table"

NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan)\s*", re.A | re.I)

LITERAL = re.compile(rb'[^",;\t\r\n]"[^",;\t\r\n]')
"""A quote between other characters, which opens and closes nothing."""

WITH_COMMA = re.compile(r"[+-]?\d+(,\d+)+(\.\d+)?", re.A)
PERCENTAGE = re.compile(r"[+-]?\d+(\.\d+)? ?%", re.A)


def explain_bad_row(
    source: Source, numeric: Collection[str], texts: Collection[str] = (), reason: str = ""
) -> PredictionFileError:
    """Return an error that names the first bad row, or else repeats the reader's own reason.

    ``texts`` are the columns that are read as text.
    """
    try:
        if "straddling" in reason:  # as pyarrow says it; such a row is not read here either
            problem: str | None = TOO_LONG
        else:
            problem = _first_bad_row(source, numeric, texts)
    except UnicodeDecodeError:
        problem = "this is not UTF-8 text; save it as UTF-8"
    except (csv.Error, OSError, ValueError) as error:
        problem = f"cannot be read as {source.format}: {shortened(str(error), LONGEST_REASON)}"
    if problem is None:
        said = shortened(" ".join(reason.split()), LONGEST_REASON)
        problem = f"cannot be read as {source.format} ({said})"
    return PredictionFileError(f"{source.name}: {problem}")


def _first_bad_row(source: Source, numeric: Collection[str], texts: Collection[str]) -> str | None:
    if source.format != "csv":
        return None
    with _long_cells():
        return next(_scan_text(source, numeric, texts), None)


@contextmanager
def _long_cells() -> Iterator[None]:
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def count_lines(source: Source) -> int:
    """Return the number of lines of delimited text, which is at least that of its rows.

    Raises
    ------
    PredictionFileError
        Where a quote is never closed: the fast reader takes everything after it as one cell, and
        says nothing. Where a row is longer than any table's.
    """
    n_lines, n_quotes, doubtful = 0, 0, False
    with source.open() as stream:
        while chunk := bytes(stream.read(BLOCK_BYTES)):
            if len(chunk) == BLOCK_BYTES and b"\n" not in chunk and b"\r" not in chunk:
                raise PredictionFileError(TOO_LONG)
            n_lines, n_quotes = n_lines + chunk.count(b"\n"), n_quotes + chunk.count(b'"')
            doubtful = doubtful or LITERAL.search(chunk) is not None
    if doubtful or n_quotes % 2:
        with _long_cells():
            _check_closed(source)
    return n_lines + 1


def _check_closed(source: Source) -> None:
    """Raise where the text ends within quotes; a single one may stand inside a cell."""
    text = io.TextIOWrapper(source.open(), encoding="utf-8", errors="replace", newline="")
    rows, line = csv.reader(text, delimiter=source.delimiter, strict=True), 1
    try:
        for _ in rows:
            line = rows.line_num + 1
    except csv.Error as error:
        if "field larger" in str(error) or "unexpected end" in str(error):
            raise PredictionFileError(
                f"the quote that opens in line {line} is never closed; close or remove it, for all "
                "that follows would be one cell"
            ) from None


def _scan_text(source: Source, numeric: Collection[str], texts: Collection[str]) -> Iterator[str]:
    # Bytes that are no UTF-8 become lone surrogates, so that their row can be named.
    stream = io.TextIOWrapper(
        source.open(), encoding="utf-8-sig", errors="surrogateescape", newline=""
    )
    rows = csv.reader(stream, delimiter=source.delimiter)
    kept = (cells for cells in rows if cells)
    header = next(kept, [])
    yield from _undecoded(header, f"the header (line {rows.line_num})")
    numbers = [(header.index(name), name) for name in numeric]
    words = [header.index(name) for name in (*texts, *numeric)]
    row = 0
    for row, cells in enumerate(kept, start=1):
        where = f"row {row} (line {rows.line_num})"
        if len(cells) != len(header):
            yield f"{where} has {len(cells)} cells and the header {len(header)}; fix that row"
            continue
        yield from _undecoded([cells[position] for position in words], where)
        for position, name in numbers:
            if not is_number(cells[position].replace(source.decimal, ".")):
                yield _bad_number(name, cells[position], where)
    if row == 0:
        yield no_rows(header)


def no_rows(header: Sequence[str]) -> str:
    """Say that there is a header alone."""
    names = shortened(", ".join(header), LONGEST_REASON)
    return f"there are column names ({names}) and no rows; add the cases"


def _undecoded(cells: Sequence[str], where: str) -> Iterator[str]:
    for cell in cells:
        if not cell.isascii() and any("\udc80" <= mark <= "\udcff" for mark in cell):
            raw = cell.encode("utf-8", "surrogateescape")[:SHOWN_CHARACTERS]
            meant = raw.decode("latin-1")
            yield (
                f"{where} is not UTF-8 text: {raw!r}, which is {meant!r} in Latin-1; save the file "
                "as UTF-8"
            )


def check_text_numbers(column: Any, name: str) -> None:
    """Raise at the first text of an Arrow column that is not a number."""
    for row, cell in enumerate(column.to_pylist(), start=1):
        if cell is not None and not is_number(str(cell)):
            raise PredictionFileError(_bad_number(name, str(cell), f"row {row}"))


def is_number(cell: str) -> bool:
    """Whether a cell holds a number as the fast reader takes it, or stands for a missing one.

    Examples
    --------
    >>> [is_number(cell) for cell in ("0.5", "1e-3", "NA", " NA", "0,5", "12%")]
    [True, True, True, False, False, False]
    """
    return cell in NO_VALUE or NUMBER.fullmatch(cell) is not None


def almost_a_number(cell: str) -> str | None:
    """Say how to write a number that is written in another way; None for any other text.

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


def shortened(text: str, characters: int = SHOWN_CHARACTERS) -> str:
    """Cut a text that comes from a file: rows of patients do not belong into a message.

    Examples
    --------
    >>> shortened("x" * 50, 5), shortened("short")
    ('xxxxx...', 'short')
    """
    return text if len(text) <= characters else text[:characters] + "..."


def _bad_number(name: str, cell: str, where: str) -> str:
    shown = shortened(cell)
    almost = almost_a_number(cell) if shown == cell else None
    remedy = "is not a number; fix or remove that row" if almost is None else f"is {almost}"
    return f"{where}, column {name!r}: {shown!r} {remedy}"
