"""Tables of results as plain text, CSV and HTML."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet reads a cell that starts with one of these as a formula."""

LONGEST_SHOWN = 40
"""Most characters of a text from a file that a message shows."""

TEX = str.maketrans(
    {
        **{mark: rf"\{mark}" for mark in "$%&#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)
"""LaTeX for its special characters."""


@dataclass(frozen=True)
class Table:
    """A table of text for people.

    Examples
    --------
    >>> rows = [("model", "score"), ("a", "0.5"), ("long name", "12.25")]
    >>> print(Table.from_rows(rows).text())
    model      score
    a            0.5
    long name  12.25
    """

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]], title: str = "") -> Table:
        """Make a table whose first row is the heading."""
        head, *body = map(tuple, rows)
        return cls(head, tuple(body), title)

    def text(self) -> str:
        """Return aligned text: the first column to the left, the others to the right."""
        return "\n".join([*filter(None, [self.title]), aligned([self.heading, *self.rows])])

    def html(self, *, row_headings: bool = False) -> str:
        """Return HTML; the title is its caption.

        Parameters
        ----------
        row_headings : bool, default False
            Whether the first cell of a row is its heading, for screen readers.

        Examples
        --------
        >>> Table.from_rows([("model",), ("a < b",)]).html()
        '<table><thead>...<tbody><tr><td>a &lt; b</td></tr></tbody></table>'
        """
        head = html_row(element("th", cell) for cell in self.heading)
        return html_table(self.title, head, self.rows, row_headings=row_headings)


class ReprMixin(ABC):
    """Print an object as sentences and tables: as text, and as HTML in notebooks."""

    @abstractmethod
    def _parts(self) -> Iterable[str | Table]:
        """Return sentences and tables in order; an empty sentence is an empty line of text."""

    def __repr__(self) -> str:
        """Show sentences and tables as text."""
        return "\n".join(part if isinstance(part, str) else part.text() for part in self._parts())

    def _repr_html_(self) -> str:
        return "".join(
            element("p", part) if isinstance(part, str) else part.html(row_headings=True)
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
    """Return text that is safe in spreadsheets and terminals; numbers stay as they are."""
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(FORMULA_STARTS) else printable(value)


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX.

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
        html_row((element(f'th scope="row"{left}', name), element(f"td{left}", text)))
        for name, text in pairs
    )
    return f'<table class="metadata">{"".join(rows)}</table>'


def element(tag: str, text: str) -> str:
    """Return an element of HTML that holds a text."""
    return f"<{tag}>{escape(text)}</{tag.split()[0]}>"


def html_row(cells: Iterable[str]) -> str:
    """Return a row of an HTML table."""
    return f"<tr>{''.join(cells)}</tr>"


def html_table(
    title: str, head: str, body: Iterable[Sequence[str]], *, row_headings: bool = False
) -> str:
    """Return an HTML table of a heading, as HTML, and rows of text."""
    first = 'th scope="row"' if row_headings else "td"
    caption = element("caption", title) if title else ""
    rows = (
        html_row(element(first if i == 0 else "td", cell) for i, cell in enumerate(row))
        for row in body
    )
    return f"<table>{caption}<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text with aligned columns."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        others = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join([row[0].ljust(widths[0]), *others]).rstrip())
    return "\n".join(lines)


def printable(text: str) -> str:
    r"""Escape the control characters of a text, which a terminal would obey.

    Examples
    --------
    >>> print(printable("red \x1b[31m, and bell \a"))
    red \x1b[31m, and bell \x07
    """
    return "".join(
        mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii")
        for mark in text
    )


def shortened(text: str, most: int = LONGEST_SHOWN) -> str:
    """Shorten a text from a file: messages must not contain rows of patients.

    Examples
    --------
    >>> shortened("x" * 50, 5), shortened("short")
    ('xxxxx...', 'short')
    """
    return text if len(text) <= most else text[:most] + "..."
