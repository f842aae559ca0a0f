"""Results on the standard output stream: a table for people, JSON or CSV for programs."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from voros.cli.options import ShowOptions
from voros.io.serialisation import json_text
from voros.text.table import printable

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes a cell for a formula."""

PLAIN_WIDTH = 160
"""Width of a table that goes into a file or a pipe, where nothing tells the width of a page."""


@dataclass(frozen=True)
class Sheet:
    """A result in its three forms.

    Attributes
    ----------
    title : str
    columns : mapping of str to sequence of str
        What people see, as text.
    rows : sequence of mappings
        What ``--csv`` prints: plain values, a line each.
    document : mapping
        What ``--json`` prints.
    notes : sequence of str
        Lines under the table.
    """

    title: str
    columns: Mapping[str, Sequence[str]]
    rows: Sequence[Mapping[str, Any]]
    document: Mapping[str, Any]
    notes: Sequence[str] = field(default=())

    def beside(self, **facts: Any) -> Sheet:
        """Return the sheet with facts in front of its document, such as which file was written."""
        return replace(self, document={**facts, **self.document})


def show(sheet: Sheet, options: ShowOptions, *, aside: bool = False) -> None:
    """Print a result in the form that was asked for.

    A table goes to the standard error stream where something else has the standard output, which
    is said by ``aside``.
    """
    if options.as_json:
        sys.stdout.write(json_text(sheet.document))
    elif options.as_csv:
        sys.stdout.write(csv_text(sheet.rows))
    else:
        _print_table(sheet, aside)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows of plain values as CSV with a header.

    Examples
    --------
    >>> print(csv_text([{"model": "=1+2", "score": -0.5}]), end="")
    model,score
    '=1+2,-0.5
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_cell(name) for name in rows[0]])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return text that no spreadsheet computes and no terminal obeys; numbers as they are."""
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(FORMULA_STARTS) else printable(value)


def _print_table(sheet: Sheet, aside: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, stderr=aside)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH, stderr=aside)
    table = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(sheet.columns):
        table.add_column(_escape(name), justify="left" if position == 0 else "right", no_wrap=True)
    for cells in zip(*sheet.columns.values(), strict=True):
        table.add_row(*map(_escape, cells))
    console.print(_escape(sheet.title))
    console.print(table)
    for note in sheet.notes:
        console.print(_escape(note))


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(printable(text))
