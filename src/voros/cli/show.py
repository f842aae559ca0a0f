"""Results on the standard output stream: a table for people, JSON or CSV for programs."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from voros.cli.options import ShowOptions
from voros.serialisation import json_text

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


def show(sheet: Sheet, options: ShowOptions) -> None:
    """Print a result in the form that was asked for."""
    if options.as_json:
        sys.stdout.write(json_text(sheet.document))
    elif options.as_csv:
        sys.stdout.write(csv_text(sheet.rows))
    else:
        _print_table(sheet)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows of plain values as CSV with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _print_table(sheet: Sheet) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    table = Table(box=box.SIMPLE_HEAD)
    for position, name in enumerate(sheet.columns):
        table.add_column(name, justify="left" if position == 0 else "right", no_wrap=True)
    for cells in zip(*sheet.columns.values(), strict=True):
        table.add_row(*map(_escape, cells))
    console.print(_escape(sheet.title))
    console.print(table)
    for note in sheet.notes:
        console.print(_escape(note))


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)
