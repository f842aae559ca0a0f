"""A report on disk: the document and its JSON, both or neither."""

from __future__ import annotations

from pathlib import Path

from voros.io import check_writable, write_together
from voros.io.serialisation import json_text
from voros.present.report.content import Report, now, report_document
from voros.present.report.page import render_report


def report_paths(path: str | Path) -> tuple[Path, Path]:
    """Return where the document and its JSON go.

    Examples
    --------
    >>> [file.name for file in report_paths("choice.html")]
    ['choice.html', 'choice.json']
    """
    document = Path(path)
    if document == Path("-"):
        raise ValueError("a report is two files, HTML and JSON, and - is one; name a .html file")
    if document.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{document}: the name of a report must end in .html")
    return document, document.with_suffix(".json")


def write_report(report: Report, path: str | Path, *, force: bool = False) -> tuple[Path, Path]:
    """Write a report as HTML, and the same content as JSON beside it."""
    document, values = report_paths(path)
    check_writable((document, values), force=force)
    written = now()
    write_together(
        {
            document: render_report(report, written),
            values: json_text(report_document(report, written)),
        },
        force=force,
    )
    return document, values
