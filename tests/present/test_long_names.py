"""Names of any length stay within the window: the page, the report, the monitor's page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("selenium")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

import voros

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LONG = "gradient_boosting_without_a_single_place_to_break" * 8
WIDTHS = (360, 1280)


def cases() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.2
    return y, {
        f"{LONG}_a": y + rng.normal(size=300),
        f"{LONG}_b": 2 * y + rng.normal(size=300),
        "short": rng.random(300),
    }


def explorer(folder: Path) -> Path:
    y, scores = cases()
    return voros.write_page(
        *(y, scores, voros.Scenario(0.2, 0.4, cost_ratio=(0.05, 0.2)), folder / "page.html"),
        title=LONG,
        outcome=LONG,
        cases=LONG,
        n_resamples=0,
    )


def report(folder: Path) -> Path:
    from voros.present.report import make_report, save_report

    y, scores = cases()
    by = {LONG: np.where(np.arange(300) % 2, f"{LONG}_x", f"{LONG}_y")}
    scenario = voros.Scenario(0.2, 0.4, (0.05, 0.2))
    test = {"y_test": y, "scores_test": scores, "by": by}
    document = make_report(y, scores, scenario, **test, n_resamples=100)
    return save_report(document, folder / "report.html")[0]


def status(folder: Path) -> Path:
    y, scores = cases()
    outcomes = {f"{LONG}_{name}": y for name in ("a", "b")}
    columns = dict(zip(outcomes, scores.values(), strict=False))
    policy = voros.allocate(outcomes, columns, voros.Scenario(0.2, cost_ratio=0.1), capacity=0.5)
    monitor = voros.Monitor(policy, window=1)
    days = [f"2026-03-{1 + i // 10:02d}" for i in range(300)]
    monitor.update(columns, cases=range(300), times=days)
    monitor.label(outcomes, cases=range(300), times=days)
    monitor.advance("2026-04-20")
    return monitor.report(folder / "status.html", title=LONG)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("long")
    return {make.__name__: make(folder) for make in (explorer, report, status)}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", ["explorer", "report", "status"])
def test_nothing_sticks_out(browser: Any, pages: dict[str, Path], page: str, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get("about:blank")
        browser.get(pages[page].as_uri())
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        # What scrolls by itself is a table; headings, legends and buttons stay within.
        out = browser.execute_script(
            "return [...document.querySelectorAll('h1, h2, h3, p, legend, label, button')]"
            ".filter(e => e.offsetParent && !e.closest('.scroll, .wide, table'))"
            ".filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
            ".map(e => e.outerHTML.slice(0, 80))"
        )
        assert out == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
