"""Small tables of text, for people: plain, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


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


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Align rows of cells, the first column to the left and the others to the right.

    Examples
    --------
    >>> print(text_table([("model", "score"), ("a", "0.5"), ("long name", "12.25")]))
    model      score
    a            0.5
    long name  12.25
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        others = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join([row[0].ljust(widths[0]), *others]).rstrip())
    return "\n".join(lines)


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as an HTML table whose head is the first row.

    Examples
    --------
    >>> html_table([("model",), ("a < b",)])
    '<table><thead><tr><th>model</th></tr></thead><tbody><tr><td>a &lt; b</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:]
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_facts(facts: Sequence[tuple[str, str]]) -> str:
    """Return names and what is known under each as an HTML table of two columns.

    Examples
    --------
    >>> html_facts([("score", "0.5")]).count("<tr>")
    1
    """
    left = " style='text-align:left'"
    rows = (
        f"<tr><th{left}>{escape(name)}</th><td{left}>{escape(text)}</td></tr>"
        for name, text in facts
    )
    return f"<table>{''.join(rows)}</table>"
