"""Reports on files of predictions, as the command line makes them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import pytest

from voros.core.subgroups import read_subgroups
from voros.io import read_predictions
from voros.present.report import layout
from voros.present.report.data import ReportCases
from voros.present.report.making import compose_report
from voros.selection.ranking import rank_deployable


@pytest.fixture(scope="session")
def report_file():
    def report(path, scenario, *, test=None, by=(), group=None, columns, **options):
        cases = ReportCases(read_predictions(path, group=group, aside=by, **columns))
        later = None
        if test is not None:
            whose = group if group and group in test.read_text().splitlines()[0] else None
            later = ReportCases(read_predictions(test, by=by, group=whose, **columns))
            if by:
                subgroups = read_subgroups(later.predictions.by, later.predictions.n_cases)
                later = replace(later, by=subgroups)
        points = {model: cases.points(model) for model in cases.models}
        selection = rank_deployable(points, scenario)
        return compose_report(cases, points, selection, later, **options)

    return report


@pytest.fixture
def text_of(monkeypatch):
    """Return the text of a report, or of one of its sections, without drawing its pictures."""
    monkeypatch.setattr(layout, "draw_pictures", lambda _: {})

    def text(report, section=None):
        page = layout.render_report(report, datetime(2026, 1, 1, tzinfo=UTC)).split("</style>")[1]
        if section is not None:
            page = page.split(f'id="{section}"')[1].split("</section>")[0]
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())

    return text
