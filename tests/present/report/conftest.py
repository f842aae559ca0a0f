"""Reports on files of predictions, as the command line makes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from voros.core.subgroups import read_subgroups
from voros.io import read_predictions
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
