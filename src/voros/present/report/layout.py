"""A report on disk: one HTML document and its JSON, both or neither."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from voros.alarms.totals import words_elsewhere
from voros.core.decision import STRATEGY_TITLES
from voros.installing import package_versions
from voros.io import check_writable, write_together
from voros.io.writing import json_text
from voros.present.document import render_document
from voros.present.report.benefit import net_benefits
from voros.present.report.content import Report
from voros.present.report.figures import draw_pictures
from voros.present.report.values import REPORTED_PACKAGES, accuracy_values, report_document
from voros.present.report.wording import policy_in_words


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


def save_report(report: Report, path: str | Path, *, force: bool = False) -> tuple[Path, Path]:
    """Write a report as HTML, and the same content as JSON beside it.

    Returns
    -------
    tuple of Path
        The document and its JSON.

    Examples
    --------
    >>> import tempfile, voros
    >>> from voros.present.report import make_report
    >>> y, risk = [0, 1, 0, 1] * 30, [0.1, 0.9, 0.8, 0.7] * 30
    >>> ward = voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2))
    >>> report = make_report(y, {"risk": risk}, ward, title="Ward A", n_resamples=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save_report(report, folder + "/choice.html")]
    ['choice.html', 'choice.json']
    """
    document, values = report_paths(path)
    check_writable((document, values), force=force)
    written = datetime.now(UTC)
    write_together(
        {
            document: render_report(report, written),
            values: json_text(report_document(report, written)),
        },
        force=force,
    )
    return document, values


def render_report(report: Report, written: datetime) -> str:
    """Fill the template of a report, as one HTML document that needs no other file."""
    accuracy = {}
    if not report.over_stays:
        accuracy = {which: accuracy_values(one) for which, one in report.evaluations.items()}
    return render_document(
        "voros.present.report",
        "report.html",
        title=report.title,
        written=written,
        report=report,
        deployed=policy_in_words(report.policy),
        strategy=STRATEGY_TITLES[report.selection.strategy],
        accuracy=accuracy,
        net_benefits=[] if report.over_stays else list(net_benefits(report)),
        pictures=draw_pictures(report),
        versions=", ".join(map(" ".join, package_versions(*REPORTED_PACKAGES).items())),
        words_elsewhere=words_elsewhere,
    )
