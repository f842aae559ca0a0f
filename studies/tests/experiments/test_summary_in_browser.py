"""The summary page in Chromium, on a telephone and on a desk: nothing sticks out of the page."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter

import numpy as np
import pytest

pytest.importorskip("selenium")
pytest.importorskip("matplotlib")

from experiments.test_study import some_scored
from started import browser  # noqa: F401

from voros_studies.experiments.cases import LabelledCases, Split, StudyContext
from voros_studies.experiments.grid import quick_grid
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.reviewer import StudyParts, reviewer_tables, study_flow
from voros_studies.experiments.run_summary import draw_study, render_summary
from voros_studies.experiments.study import Scored, cost_intervals, run_study
from voros_studies.flow import FlowStep

pytestmark = pytest.mark.slow

N = 600


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    candidates = quick_grid()[::2]
    valid, test = (risks(some_scored(N, 6, seed), candidates) for seed in (1, 2))
    deployed = tuple(run_study(valid, test))
    intervals = {
        number: cost_intervals(list(ones), test, n_resamples=100)
        for number, ones in groupby(deployed, key=attrgetter("scenario"))
    }
    done = {"seconds": 1.5, "converged": True, "status": "done"}
    records = {c.name: {"family": c.family, "parameters": c.parameters, **done} for c in candidates}
    result = StudyResult("A study of nobody, death in hospital", deployed, intervals, records)
    y = np.concatenate([valid.y_true, valid.y_true, test.y_true])
    age = np.random.default_rng(0).uniform(20, 95, 3 * N)
    cases = LabelledCases(age[:, None], y, np.arange(3 * N), ("age",))
    context = StudyContext(
        ("a sentence about the data that is long enough to need a second line on any screen",),
        (FlowStep("stays", 2000), FlowStep("studied", 3 * N, 200, "ended before 48 h")),
        {"age": age, "sex": np.where(age > 60, "F", "M")},
    )
    split = Split(*np.split(np.arange(3 * N), 3))
    parts = StudyParts(cases, split, context, valid, test)
    metadata = [("data", note) for note in context.notes] + [("digest", "0123456789abcdef" * 4)]
    pictures = draw_study(result, valid, test)
    text = render_summary(
        result, metadata, pictures, reviewer_tables(result, parts), study_flow(parts)
    )
    path = tmp_path_factory.mktemp("page") / "summary.html"
    path.write_text(text)
    return path


def risks(scored, candidates):
    scores = {c.name: s for c, s in zip(candidates, scored.scores.values(), strict=True)}
    return Scored(
        np.arange(N), scored.y_true, {n: 1 / (1 + np.exp(2 - s)) for n, s in scores.items()}
    )


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out(browser, page, width):  # noqa: F811
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    seen = browser.execute_script(
        """return [document.documentElement.scrollWidth,
        document.querySelectorAll('.flow li').length,
        [...document.images].every(i => i.naturalWidth > 0 && i.closest('.scroll') !== null),
        document.querySelector('table.metadata').scrollWidth,
        [...document.querySelectorAll('.scroll')].every(s => s.clientWidth <= innerWidth),
        document.querySelectorAll('h2').length]"""
    )
    assert seen[:3] == [width, 5, True]
    assert seen[3] <= width
    assert seen[4:] == [True, 5]
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
