"""The report in Chromium: on a telephone, on a desk and on paper, with nothing from elsewhere."""

from __future__ import annotations

import base64
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("selenium")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from voros import Scenario
from voros.present.report import make_report, save_report

pytestmark = [pytest.mark.slow, pytest.mark.browser]

A4 = 794
"""Width of A4 in CSS pixels, of which 15 mm on either side are margins."""
MARGINS = 2 * 57


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    sets = []
    for n in (500, 400):
        y = rng.random(n) < 0.2
        risk = 1 / (1 + np.exp(2 - 1.5 * y - rng.normal(size=n)))
        sets.append((y, {"a long name of a model": risk, "other": rng.random(n)}))
    (y, scores), (y_test, scores_test) = sets
    by = {"site": rng.choice(["North hospital", "South hospital"], 400)}
    test = {"y_test": y_test, "scores_test": scores_test, "by": by, "false_alarm_cost": 35}
    report = make_report(y, scores, Scenario(0.2, 0.3, (0.05, 0.2)), **test, n_resamples=100)
    return save_report(report, tmp_path_factory.mktemp("report") / "report.html")[0]


def show(browser, page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_and_axe_finds_nothing(browser, page, width):
    browser.get_log("browser")
    show(browser, page, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(
        "return [...document.images].every(image => image.naturalWidth > 0 && "
        "image.closest('.scroll').clientWidth <= innerWidth)"
    )
    # A style that the content security policy blocks would be logged and not applied.
    verdict = "return getComputedStyle(document.querySelector('.verdict')).borderLeftWidth"
    assert float(browser.execute_script(verdict).removesuffix("px")) > 4
    assert browser.get_log("browser") == []
    axe = find_spec("axe_core_python")
    if axe is None:
        pytest.skip("axe-core-python is not installed")
    browser.execute_script(Path(str(axe.origin)).with_name("axe.min.js").read_text("utf-8"))
    axe_report = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(done, (problem) => done(String(problem)));"
    )
    assert [
        (violation["id"], violation["nodes"][0]["target"]) for violation in axe_report["violations"]
    ] == []


def test_the_policy_refuses_what_comes_from_elsewhere(browser, page):
    show(browser, page, 1280)
    browser.execute_script(
        "for (const tag of ['img', 'script']) { const e = document.createElement(tag); "
        "e.src = 'https://example.invalid/x'; document.body.append(e); }"
    )
    refused = [line["message"] for line in browser.get_log("browser")]
    assert len(refused) == 2
    assert all("Content Security Policy" in line for line in refused)


def test_on_paper_tables_fit_and_repeat_their_heading(browser, page):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        show(browser, page, A4 - MARGINS)
        widest = (
            "return Math.max(...[...document.querySelectorAll('table')].map(t => t.offsetWidth))"
        )
        assert browser.execute_script(widest) <= A4 - MARGINS
        head = "return getComputedStyle(document.querySelector('table thead')).display"
        assert browser.execute_script(head) == "table-header-group"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    assert pdf.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 5 < pages < 25
