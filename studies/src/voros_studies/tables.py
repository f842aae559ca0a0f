"""Tables of studies: grouped columns, absent cells, the least value marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from voros.text.table import aligned, csv_text, element, html_row, html_table, latex_text


@dataclass(frozen=True)
class Absent:
    """Content of a cell that could not be computed."""

    reason: str

    @property
    def said(self) -> str:
        """The reason, for notes and programs."""
        return f"absent: {self.reason}"


Value: TypeAlias = str | float | Absent


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
    name : str
        For CSV; the title where it is empty.
    group : str
        Heading above neighbouring columns of the same group. Text after its first colon or comma is
        shown beside the table.
    decimals : int
        Decimals to show; whole numbers are shown without them if `decimals` is 1.
    least_if : str
        Name of another column. The least value of the rows with "yes" in it is marked; none if
        empty.
    """

    title: str
    name: str = ""
    group: str = ""
    decimals: int = 3
    least_if: str = ""

    @property
    def key(self) -> str:
        """The name, or the title where there is none."""
        return self.name or self.title

    def shown(self, value: Value) -> str:
        """Return a value as text for people."""
        if isinstance(value, str):
            return value
        if isinstance(value, Absent):
            return "absent"
        return f"{value:.{self.decimals}f}".removesuffix(".0")


@dataclass(frozen=True)
class Table:
    """A table of values; `name` serves as a file name.

    Examples
    --------
    >>> print(Table((Column("model"), Column("score")), (("a", 0.5), ("long name", 12.25))).text())
    model       score
    a           0.500
    long name  12.250
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str = ""
    name: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Why cells are absent."""
        said = [v.said for row in self.rows for v in row if isinstance(v, Absent)]
        return tuple(dict.fromkeys(said))

    def _legend(self, mark: str) -> list[str]:
        """Explanation of the mark, if the table has one."""
        if not any(best for row in self._cells for _, _, best in row):
            return []
        named = {column.key: column for column in self.columns}
        least = [(column, named[column.least_if]) for column in self.columns if column.least_if]
        said = (f"{mark} least {column.title} with {kept.title}: yes" for column, kept in least)
        return list(dict.fromkeys(said))

    def text(self) -> str:
        """Return aligned text: the first column to the left, the others to the right.

        Groups of columns are explained above it, and marks below it.
        """
        groups = dict.fromkeys(c.group for c in self.columns if c.group)
        letters = {group: chr(ord("A") + i) for i, group in enumerate(groups)}
        head = [f"{letters.get(c.group, '')} {c.title}".lstrip() for c in self.columns]
        # A blank in the place of the star keeps the decimal points below each other.
        body = [
            [shown + " *"[best] if column.least_if else shown for column, shown, best in row]
            for row in self._cells
        ]
        explained = [f"  {letter}: {group}" for group, letter in letters.items()]
        above = [self.title, *explained] if self.title else explained
        return "\n".join([*above, aligned([head, *body]), *self._legend("*"), *self.notes])

    def csv(self) -> str:
        """Return CSV, numbers at full precision."""
        rows = ([v.said if isinstance(v, Absent) else v for v in row] for row in self.rows)
        return csv_text([c.key for c in self.columns], rows)

    def latex(self) -> str:
        """Return a LaTeX float of plain rules; a value that is marked is bold."""
        body = [
            [
                rf"\textbf{{{latex_text(shown)}}}" if best else latex_text(shown)
                for _, shown, best in row
            ]
            for row in self._cells
        ]
        groups = [
            rf"\multicolumn{{{width}}}{{c}}{{{latex_text(group)}}}" if group else ""
            for group, width in self._spans
        ]
        titles = [latex_text(column.title) for column in self.columns]
        long = dict.fromkeys(c.group for c in self.columns if re.search("[:,]", c.group))
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}",
            r"\hline",
            *(" & ".join(cells) + r" \\" for cells in (groups, titles)),
            r"\hline",
            *(" & ".join(cells) + r" \\" for cells in body),
            r"\hline",
            r"\end{tabular}",
            *(
                rf"\par\smallskip {latex_text(note)}."
                for note in (*self._legend("bold:"), *self.notes)
            ),
            rf"\caption{{{latex_text('; '.join([self.title, *long]))}.}}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def html(self, *, row_headings: bool = False) -> str:
        """Return HTML; the title is its caption, and headings of groups have a row of their own."""
        head = html_row(element("th", column.title) for column in self.columns)
        if any(column.group for column in self.columns):
            spans = (element(f'th colspan="{n}"', group) for group, n in self._spans)
            head = html_row(spans) + head
        body = [[shown for _, shown, _ in row] for row in self._cells]
        return html_table(self.title, head, body, row_headings=row_headings)

    @property
    def _spans(self) -> list[tuple[str, int]]:
        """Groups of neighbouring columns: text before a colon or comma, and number of columns."""
        grouped = groupby(self.columns, key=lambda column: column.group)
        return [(re.split("[:,]", group)[0], len(list(columns))) for group, columns in grouped]

    @property
    def _cells(self) -> Iterator[list[tuple[Column, str, bool]]]:
        """Cells by row: the column, its text, and whether it is marked."""
        least = [self._least(position) for position in range(len(self.columns))]
        for row in self.rows:
            shown = [column.shown(value) for column, value in zip(self.columns, row, strict=True)]
            best = [
                text == lowest and self._says_yes(row, column)
                for column, text, lowest in zip(self.columns, shown, least, strict=True)
            ]
            yield list(zip(self.columns, shown, best, strict=True))

    def _least(self, position: int) -> str | None:
        """The least value of a column, as it is shown, among the rows that may be marked."""
        column = self.columns[position]
        values = [row[position] for row in self.rows if self._says_yes(row, column)]
        numbers = [value for value in values if isinstance(value, float)]
        return column.shown(min(numbers)) if numbers else None

    def _says_yes(self, row: Sequence[Value], column: Column) -> bool:
        names = [other.key for other in self.columns]
        return bool(column.least_if) and row[names.index(column.least_if)] == "yes"
