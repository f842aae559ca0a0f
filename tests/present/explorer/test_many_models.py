"""Twelve models with names of sixty characters, in light and dark, at any width."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros
from voros.present.explorer import write_page

pytest.importorskip("selenium")
from present.explorer.driving import complaints, element, prefer, resize, settle, text, until

pytestmark = pytest.mark.browser

WIDTHS = (360, 1280, 2560)
SCHEMES = ("light", "dark")

NAMES = [f"gradient_boosting_on_ward_{i:02d}_".ljust(60, "x") for i in range(12)]

STICKS_OUT = """
const width = document.documentElement.clientWidth;
const clipped = (e) => e.closest("svg, .scroll, select, .hidden, .ticker, textarea, .skip");
return [...document.querySelectorAll("body *")]
  .filter((e) => !clipped(e) && e.getBoundingClientRect().right > width + 0.5)
  .map((e) => e.outerHTML.slice(0, 80));
"""

OVERFLOWS_ITS_CARD = """
return [...document.querySelectorAll(".card")]
  .filter((card) => card.scrollWidth > card.clientWidth + 1)
  .map((card) => card.outerHTML.slice(0, 80));
"""


@pytest.fixture(scope="module")
def twelve_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    y = rng.random(2_000) < 0.12
    scores = {
        name: rng.normal(size=len(y)) + (0.8 + 0.1 * i) * y * (1 + i % 3 * rng.random(len(y)))
        for i, name in enumerate(NAMES)
    }
    scenario = voros.Scenario(0.3, 0.1, cost_ratio=voros.costs.miss_costs(5, 20))
    path = tmp_path_factory.mktemp("many") / "twelve.html"
    words = {"title": "x" * 80, "outcome": "o" * 60, "cases": "c" * 60}
    return write_page(y, scores, scenario, path, n_resamples=100, **words)


@pytest.fixture(params=SCHEMES)
def twelve(request: pytest.FixtureRequest, browser: Any, twelve_page: Path) -> Iterator[Any]:
    browser.get("about:blank")
    browser.get(twelve_page.as_uri())
    prefer(browser, request.param)
    until(browser, "document.body.dataset.sure")
    for name in ("roc", "area", "decision", "map"):
        script = "document.getElementById(arguments[0]).open = true"
        browser.execute_script(script, f"{name}-table")
    yield browser
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.slow
def test_no_serious_finding_and_nothing_sticks_out(twelve: Any, width: int) -> None:
    resize(twelve, width)
    settle(twelve)
    assert twelve.execute_script("return document.documentElement.scrollWidth") <= width
    assert twelve.execute_script(STICKS_OUT) == []
    assert twelve.execute_script(OVERFLOWS_ITS_CARD) == []
    assert serious_findings(twelve) == {}
    assert complaints(twelve) == []


def serious_findings(browser: Any) -> dict[str, list[str]]:
    """What axe calls serious or critical, with the elements concerned."""
    package = find_spec("axe_core_python")
    if package is None:
        pytest.skip("axe-core-python is not installed")
    script = Path(str(package.origin)).with_name("axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(script)
    report = browser.execute_async_script(
        "const done = arguments[0]; axe.run().then(done, (problem) => done(String(problem)));"
    )
    assert report["passes"]
    return {
        finding["id"]: [node["html"] for node in finding["nodes"]]
        for finding in report["violations"]
        if finding["impact"] in ("serious", "critical")
    }


@pytest.mark.slow
def test_every_model_has_a_look_of_its_own(twelve: Any) -> None:
    swatches = twelve.execute_script(
        "return [...document.querySelectorAll('#ranking .swatch')].map((s) => [s.textContent,"
        " getComputedStyle(s.querySelector('.stroke')).stroke])"
    )
    assert len({letter for letter, _ in swatches}) == len({colour for _, colour in swatches}) == 12
    # Both at once: the map is drawn again while its finer cells are computed.
    won, letters = twelve.execute_script(
        "return ['.cell:not(.nobody)', '.badge']"
        ".map((kind) => document.querySelectorAll(`#map ${kind}`).length)"
    )
    assert won == letters >= 1


@pytest.mark.slow
def test_paper_is_light_whatever_the_screen(twelve: Any) -> None:
    twelve.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    ground = twelve.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert element(twelve, "setting-text").is_displayed()
    twelve.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert text(twelve, "sample").startswith("12 models")
