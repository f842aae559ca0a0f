"""The paper's tables as text, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from itertools import groupby

from voros.studies.paper.cells import Absent
from voros.studies.paper.layout import Column, Table, Value
from voros.text.table import text_table

LATEX_SPECIAL = re.compile(r"([&%$#_{}])")


def as_text(table: Table) -> str:
    """Return a table as aligned text, its groups of columns explained above it.

    A star marks the least cost.
    """
    groups = list(dict.fromkeys(c.group for c in table.columns if c.group))
    marks = {group: chr(ord("A") + i) for i, group in enumerate(groups)}
    heading = tuple(
        f"{marks[column.group]} {column.title}" if column.group else column.title
        for column in table.columns
    )
    body = [
        tuple(
            _shown(value, column, table) for value, column in zip(row, table.columns, strict=True)
        )
        for row in table.rows
    ]
    lines = [table.title, *(f"  {mark}: {group}" for group, mark in marks.items())]
    return "\n".join([*lines, text_table([heading, *body]), *table.notes]) + "\n"


def as_csv(table: Table) -> str:
    """Return a table as CSV, numbers at full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.rows:
        writer.writerow([_raw(value) for value in row])
    return text.getvalue()


def as_latex(table: Table) -> str:
    """Return a table as a LaTeX float of plain rules; the least cost is bold."""
    body = [
        " & ".join(
            _latex_cell(value, column, table)
            for value, column in zip(row, table.columns, strict=True)
        )
        for row in table.rows
    ]
    notes = [rf"\par\smallskip {_escape(note)}." for note in table.notes]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}",
        r"\hline",
        _latex_groups(table) + r" \\",
        " & ".join(_escape(column.title) for column in table.columns) + r" \\",
        r"\hline",
        *(line + r" \\" for line in body),
        r"\hline",
        r"\end{tabular}",
        *notes,
        rf"\caption{{{_escape(_latex_caption(table))}.}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_groups(table: Table) -> str:
    spans = []
    for group, columns in groupby(table.columns, key=lambda column: column.group):
        width = len(list(columns))
        short = re.split("[:,]", group)[0]
        spans.append(rf"\multicolumn{{{width}}}{{c}}{{{_escape(short)}}}" if group else "")
    return " & ".join(spans)


def _latex_caption(table: Table) -> str:
    groups = dict.fromkeys(c.group for c in table.columns if re.search("[:,]", c.group))
    return "; ".join([table.title, *groups])


def _latex_cell(value: Value, column: Column, table: Table) -> str:
    shown = _escape(_plain(value, column))
    return rf"\textbf{{{shown}}}" if _is_least(value, column, table) else shown


def _shown(value: Value, column: Column, table: Table) -> str:
    if not column.least_is_best:
        return _plain(value, column)
    # A blank in the place of the star keeps the decimal points below each other.
    return _plain(value, column) + ("*" if _is_least(value, column, table) else " ")


def _plain(value: Value, column: Column) -> str:
    if isinstance(value, Absent):
        return "absent"
    if isinstance(value, str):
        return value
    shown = f"{value:.{column.decimals}f}"
    return shown.removesuffix(".0")


def _raw(value: Value) -> str:
    if isinstance(value, Absent):
        return f"absent: {value.reason}"
    return value if isinstance(value, str) else repr(float(value))


def _is_least(value: Value, column: Column, table: Table) -> bool:
    if not column.least_is_best or not isinstance(value, float):
        return False
    position = table.columns.index(column)
    values = [row[position] for row in table.rows]
    least = min(v for v in values if isinstance(v, float))
    return _plain(value, column) == _plain(least, column)


def _escape(text: str) -> str:
    return LATEX_SPECIAL.sub(r"\\\1", text)
