"""Which row is to blame, once the fast reader has refused a file.

The fast reader works on blocks in parallel and does not count rows. So the file is read a second
time, row by row, which takes seconds but happens only after an error.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from voros.exceptions import Argument, Message, PredictionFileError

if TYPE_CHECKING:
    from voros.io.source import Source

NO_VALUE = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>", "None"})
"""Texts that stand for no value; they are found later, with their row."""

SHOWN_CHARACTERS, LONGEST_REASON = 40, 200
"""Characters of a cell, and of what a reader says of a file, that a message shows."""

LONGEST_CELL = 2**31 - 1
"""Characters of a cell; Python's own reader stops at 131,072 by default."""

NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|inf|infinity|nan)\s*", re.A | re.I)

WITH_COMMA = re.compile(r"[+-]?\d+(,\d+)+(\.\d+)?", re.A)
PERCENTAGE = re.compile(r"[+-]?\d+(\.\d+)? ?%", re.A)


def explain_bad_row(
    source: Source, numeric: Collection[str], texts: Collection[str] = (), reason: str = ""
) -> PredictionFileError:
    """Return an error that names the first bad row, or else repeats the reader's own reason.

    ``texts`` are the columns that are read as text.
    """
    try:
        problem = _first_bad_row(source, numeric, texts)
    except UnicodeDecodeError:
        problem = Message(
            "this is not UTF-8 text; save it as UTF-8, or name its format with ",
            Argument("file_format"),
        )
    except (csv.Error, OSError, ValueError) as error:
        problem = f"cannot be read as {source.format}: {shortened(str(error), LONGEST_REASON)}"
    if problem is None:
        said = shortened(" ".join(reason.split()), LONGEST_REASON)
        problem = Message(
            f"cannot be read as {source.format} ({said}); another format: ",
            Argument("file_format"),
        )
    return PredictionFileError(Message(f"{source.name}: ", problem))


def _first_bad_row(source: Source, numeric: Collection[str], texts: Collection[str]) -> str | None:
    if source.format == "jsonl":
        return next(_scan_json(source, numeric), None)
    if source.format not in ("csv", "tsv"):
        return None
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        return next(_scan_text(source, numeric, texts), None)
    finally:
        csv.field_size_limit(limit)


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


def _scan_json(source: Source, numeric: Collection[str]) -> Iterator[str]:
    lines = io.TextIOWrapper(source.open(), encoding="utf-8-sig")
    kinds: dict[str, type] = {}
    for row, line in enumerate((line for line in lines if line.strip()), start=1):
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError) as error:
            said = shortened(str(error), LONGEST_REASON)
            yield f"row {row} is not JSON ({said}); every line must be one object"
            return
        if not isinstance(cells, dict):
            yield f"row {row} is not a JSON object; every line must be one, with names and values"
            return
        yield from _odd_cells(cells, numeric, kinds, f"row {row}")


def _odd_cells(
    cells: dict[str, Any], numeric: Collection[str], kinds: dict[str, type], where: str
) -> Iterator[str]:
    """Values that are no numbers where numbers are due, or of another kind than those before."""
    for name, value in cells.items():
        if value is None:
            continue
        kind = float if isinstance(value, (int, float)) else type(value)
        if name in numeric and not is_number(str(value)):
            yield _bad_number(name, str(value), where)
        elif kinds.setdefault(name, kind) is not kind:
            expected = "a number" if kinds[name] is float else f"a {kinds[name].__name__}"
            shown = shortened(repr(value))
            yield f"{where}, column {name!r}: {shown} is not {expected} as in the rows before"


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
