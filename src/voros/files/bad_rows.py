"""Which row is to blame, once the fast reader has refused a file.

The fast reader works on blocks in parallel and does not count rows. So the file is read a second
time, row by row, which takes seconds but happens only when there is something to tell.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator
from typing import Any

from voros.exceptions import PredictionFileError
from voros.files.sources import Source

MISSING = frozenset({"", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>", "None"})
"""Texts that stand for no value; they are found and told apart later, with their row."""

SHOWN_CHARACTERS = 40


def explain_bad_row(
    source: Source, numeric: Collection[str], reason: str = ""
) -> PredictionFileError:
    """Return an error that names the first bad row, or else repeats the reader's own reason."""
    scan = {"csv": _scan_text, "tsv": _scan_text, "jsonl": _scan_json}.get(source.format)
    try:
        found = next(scan(source, numeric), None) if scan else None
    except UnicodeDecodeError:
        found = "this is not UTF-8 text; save it as UTF-8, or name its format with --format"
    except (csv.Error, OSError) as error:
        found = f"cannot be read as {source.format}: {error}"
    if found is None:
        said = " ".join(reason.split())
        found = f"cannot be read as {source.format} ({said}); another format: --format"
    return PredictionFileError(f"{source.name}: {found}")


def _scan_text(source: Source, numeric: Collection[str]) -> Iterator[str]:
    text = io.TextIOWrapper(source.open(), encoding="utf-8-sig", newline="")
    rows = csv.reader(text, delimiter=source.delimiter)
    header = next(rows, [])
    wanted = [(header.index(name), name) for name in numeric]
    kept = (cells for cells in rows if cells)
    for row, cells in enumerate(kept, start=1):
        where = f"row {row} (line {rows.line_num})"
        if len(cells) != len(header):
            yield f"{where} has {len(cells)} cells and the header {len(header)}; mend that row"
        else:
            for position, name in wanted:
                if not is_number(cells[position]):
                    yield _bad_number(name, cells[position], where)


def _scan_json(source: Source, numeric: Collection[str]) -> Iterator[str]:
    lines = io.TextIOWrapper(source.open(), encoding="utf-8-sig")
    kinds: dict[str, type] = {}
    for row, line in enumerate((line for line in lines if line.strip()), start=1):
        try:
            cells = json.loads(line)
        except json.JSONDecodeError as error:
            yield f"row {row} is not JSON ({error}); every line must be one object"
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
            yield f"{where}, column {name!r}: {value!r} is not {expected} as in the rows before"


def check_text_numbers(column: Any, name: str) -> None:
    """Raise at the first text of an Arrow column that is not a number."""
    for row, cell in enumerate(column.to_pylist(), start=1):
        if cell is not None and not is_number(str(cell)):
            raise PredictionFileError(_bad_number(name, str(cell), f"row {row}"))


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, or stands for a missing one."""
    if cell.strip() in MISSING:
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _bad_number(name: str, cell: str, where: str) -> str:
    shown = cell if len(cell) <= SHOWN_CHARACTERS else cell[:SHOWN_CHARACTERS] + "..."
    return f"{where}, column {name!r}: {shown!r} is not a number; mend or remove that row"
