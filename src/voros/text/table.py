"""Tables of results, for people and programs: plain text, CSV, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any, TypeAlias

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""With these a spreadsheet takes a cell for a formula."""

TEX = str.maketrans(
    {
        **{mark: rf"\{mark}" for mark in "$%&#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
"""How LaTeX writes the characters that it would obey."""


@dataclass(frozen=True)
class Absent:
    """What stands in a cell that could not be computed."""

    reason: str


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
        Heading above neighbouring columns of the same group. What follows its first colon or
        comma is explained beside the table.
    decimals : int
        To show; a number that is whole is shown whole if `decimals` is 1.
    least_if : str
        Name of another column. The least value of the rows that say "yes" there is marked; empty
        where none is.
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
        """Return what people read of a value."""
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
    >>> rows = [("model", "score"), ("a", "0.5"), ("long name", "12.25")]
    >>> print(Table.from_rows(rows).text())
    model      score
    a            0.5
    long name  12.25
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str = ""
    name: str = ""

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[str]], title: str = "") -> Table:
        """Make a table of text whose first row is the heading."""
        head, *body = rows
        return cls(tuple(map(Column, head)), tuple(map(tuple, body)), title)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why cells are absent."""
        reasons = [v.reason for row in self.rows for v in row if isinstance(v, Absent)]
        return tuple(f"absent: {reason}" for reason in dict.fromkeys(reasons))

    def _legend(self, mark: str) -> list[str]:
        """What a mark means, where the table has one."""
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
        return "\n".join([*above, _aligned([head, *body]), *self._legend("*"), *self.notes])

    def csv(self) -> str:
        """Return CSV, numbers at full precision."""
        return csv_text([c.key for c in self.columns], self.rows)

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
        """Return HTML; the title is its caption.

        Parameters
        ----------
        row_headings : bool, default False
            Whether the first cell of a row is its heading, for readers that speak.

        Examples
        --------
        >>> Table.from_rows([("model",), ("a < b",)]).html()
        '<table><thead>...<tbody><tr><td>a &lt; b</td></tr></tbody></table>'
        """
        first = 'th scope="row"' if row_headings else "td"
        kinds = [first, *["td"] * (len(self.columns) - 1)]
        caption = _element("caption", self.title) if self.title else ""
        head = _html_row(_element("th", column.title) for column in self.columns)
        if any(column.group for column in self.columns):
            head = (
                _html_row(_element(f'th colspan="{n}"', group) for group, n in self._spans) + head
            )
        body = (
            _html_row(_element(kind, cell) for kind, (_, cell, _) in zip(kinds, row, strict=True))
            for row in self._cells
        )
        return f"<table>{caption}<thead>{head}</thead><tbody>{''.join(body)}</tbody></table>"

    @property
    def _spans(self) -> list[tuple[str, int]]:
        """Groups of columns side by side: what stands before a colon or comma, and how many."""
        grouped = groupby(self.columns, key=lambda column: column.group)
        return [(re.split("[:,]", group)[0], len(list(columns))) for group, columns in grouped]

    @property
    def _cells(self) -> Iterator[list[tuple[Column, str, bool]]]:
        """Row by row: the column, what people read, and whether it is marked."""
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


class ReprMixin(ABC):
    """Print an object as sentences and tables: as text, and as HTML in notebooks."""

    @abstractmethod
    def _parts(self) -> Iterable[str | Table]:
        """Sentences and tables in their order; an empty sentence is an empty line of the text."""

    def __repr__(self) -> str:
        """Show sentences and tables as text."""
        return "\n".join(part if isinstance(part, str) else part.text() for part in self._parts())

    def _repr_html_(self) -> str:
        return "".join(
            _element("p", part) if isinstance(part, str) else part.html(row_headings=True)
            for part in self._parts()
            if part
        )


def csv_text(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write rows of plain values as CSV with a header.

    Examples
    --------
    >>> print(csv_text(["model", "score"], [("=1+2", -0.5)]), end="")
    model,score
    '=1+2,-0.5
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_csv_cell(value) for value in row] for row in (names, *rows))
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """Return text that no spreadsheet computes and no terminal obeys; numbers as they are."""
    if isinstance(value, Absent):
        return f"absent: {value.reason}"
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(FORMULA_STARTS) else printable(value)


def latex_text(text: str) -> str:
    r"""Return text that LaTeX prints as it stands.

    Examples
    --------
    >>> print(latex_text("50 % of a_b"))
    50 \% of a\_b
    """
    return text.translate(TEX)


def html_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return names and values as an HTML table of two columns.

    Examples
    --------
    >>> html_pairs([("score", "0.5")]).count("<tr>")
    1
    """
    # Notebooks align cells to the right.
    left = ' style="text-align:left"'
    rows = (
        _html_row((_element(f'th scope="row"{left}', name), _element(f"td{left}", text)))
        for name, text in pairs
    )
    return f'<table class="metadata">{"".join(rows)}</table>'


def _element(tag: str, text: str) -> str:
    return f"<{tag}>{escape(text)}</{tag.split()[0]}>"


def _html_row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        others = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join([row[0].ljust(widths[0]), *others]).rstrip())
    return "\n".join(lines)


def printable(text: str) -> str:
    r"""Return text with an escape in place of each character that a terminal would obey.

    Examples
    --------
    >>> print(printable("red \x1b[31m, and bell \a"))
    red \x1b[31m, and bell \x07
    """
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii")
        for mark in text
    )
