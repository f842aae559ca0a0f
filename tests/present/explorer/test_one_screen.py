"""What is on the first screen, what is folded, and one cursor over all charts."""

import json
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("selenium")
from present.explorer.driving import (
    choose,
    complaints,
    element,
    prefer,
    rows_behind,
    settle,
    text,
    until,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from slower import slow

pytestmark = pytest.mark.browser

FOLDED = ("fold-threshold", "fold-decision", "fold-costs", "fold-map")
CHARTS = ("roc", "area", "decision", "threshold")


def screen(browser: Any, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture
def fresh(browser: Any, support2_page: Path) -> Any:
    """The page as a first visitor sees it: everything that folds is folded."""
    forget = "localStorage.removeItem('voros.open')"
    scripted = {"source": f"try {{ {forget} }} catch {{}}"}
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", scripted)
    browser.get(support2_page.as_uri())
    yield browser
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


BROKEN_WORDS = r"""
const lines = (range) => new Set([...range.getClientRects()].map((box) => box.top)).size;
return [...document.querySelectorAll("#ranking .name")].flatMap((name) =>
  [...name.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).flatMap((node) =>
    [...node.data.matchAll(/\S+/g)].filter(({ 0: word, index }) => {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      return lines(range) > 1;
    }).map(([word]) => word)));
"""


@pytest.mark.parametrize("width", [360, 900, 1100, 1280, 1690])
def test_no_name_in_the_ranking_breaks_within_a_word(fresh: Any, width: int) -> None:
    screen(fresh, width, 900)
    assert "physicians" in fresh.execute_script(
        "return [...document.querySelectorAll('#ranking .name')].map((name) => name.textContent)"
    )
    assert fresh.execute_script(BROKEN_WORDS) == []
    assert fresh.execute_script(
        "return [...document.querySelectorAll('.card')].every("
        "(card) => card.scrollWidth <= card.clientWidth + 1)"
    )


def bottom(browser: Any, selector: str) -> float:
    where = "document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    return float(browser.execute_script(f"return {where}", selector))


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "de"])
@pytest.mark.parametrize(
    ("width", "height"),
    [slow(1280, 800), slow(390, 844), (360, 800)],
)
def test_limits_headline_people_and_ranking_are_on_the_first_screen(fresh, width, height, language):
    screen(fresh, width, height)
    fresh.refresh()
    choose(fresh, "language", language)
    settle(fresh)
    until(fresh, "document.body.dataset.sure")
    for selector in ("#limits-fold > summary", "#verdict", "#people", "#ranking"):
        assert 0 < bottom(fresh, selector) <= height, selector
    if width > 500:
        assert bottom(fresh, "#limits-fold") <= height
    floors = ("correct ≥ 25\N{NO-BREAK SPACE}%", "richtig ≥ 25\N{NO-BREAK SPACE}%")
    assert text(fresh, "limits-short").startswith(floors)


@pytest.mark.slow
def test_the_rest_is_folded_and_stays_as_it_was_left(browser, support2_page, fresh):
    is_open = "return document.getElementById(arguments[0]).open"
    assert not any(fresh.execute_script(is_open, name) for name in FOLDED)
    assert not fresh.find_elements(By.CSS_SELECTOR, "#map .cell")
    element(fresh, "fold-decision").find_element(By.TAG_NAME, "summary").click()
    until(fresh, "document.querySelector('#decision svg .line') !== null")
    kept = json.loads(fresh.execute_script("return localStorage.getItem('voros.open')"))
    assert kept == ["fold-decision"]


class _SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def keeping_folds(browser, support2_page):
    """The page, whose sections stay as they are when it is loaded again.

    It comes from a server: Chromium may not show a page that is a file what it stored just before.
    """
    handler = partial(_SilentHandler, directory=support2_page.parent)
    with ThreadingHTTPServer(("localhost", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        browser.get(f"http://localhost:{server.server_port}/{support2_page.name}?keep-folds")
        until(browser, "document.body.dataset.sure")
        yield browser
        browser.get("about:blank")
        server.shutdown()


@pytest.mark.slow
def test_what_was_opened_is_open_after_a_reload(keeping_folds):
    opened, is_open = keeping_folds, "document.getElementById('fold-decision').open"
    before = opened.execute_script(f"return {is_open}")
    kept = "JSON.parse(localStorage.getItem('voros.open')).includes('fold-decision')"
    for expected in (not before, before):
        opened.execute_script("document.querySelector('#fold-decision > summary').click()")
        until(opened, f"{kept} === {str(expected).lower()}")
        opened.refresh()
        until(opened, f"{is_open} === {str(expected).lower()}")


@pytest.mark.slow
def test_one_menu_saves_a_chart(opened):
    places = opened.find_elements(By.CSS_SELECTOR, "[data-keep]")
    assert len(places) == 8
    for place in places:
        menu = place.find_elements(By.TAG_NAME, "summary")
        assert len(menu) == 1
        shown = [button.is_displayed() for button in place.find_elements(By.TAG_NAME, "button")]
        assert not any(shown)


def cursors(browser: Any) -> dict[str, int]:
    count = "document.querySelectorAll(`#${arguments[0]} .pointer`).length"
    return {name: browser.execute_script(f"return {count}", name) for name in CHARTS}


def readings(browser: Any) -> list[str]:
    elements = "[...document.querySelectorAll('.plot[role=slider] + .reading')]"
    return list(browser.execute_script(f"return {elements}.map((p) => p.textContent)"))


def test_one_cursor_goes_over_all_charts_by_pointer_and_by_keys(opened):
    complaints(opened)
    assert cursors(opened) == dict.fromkeys(CHARTS, 0)
    area = element(opened, "area")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    settle(opened)
    moves = ActionChains(opened)
    moves.move_to_element_with_offset(area, 30, 10).move_to_element(area).perform()
    assert cursors(opened) == {"roc": 4, "area": 1, "decision": 1, "threshold": 1}
    spoken = readings(opened)
    assert all("Where a miss counts as much as" in reading for reading in spoken)
    assert "SUPPORT model" in spoken[0]
    ActionChains(opened).move_to_element(element(opened, "ranking")).perform()
    assert readings(opened) == [""] * 4
    area.send_keys(Keys.ARROW_RIGHT)
    first = area.get_attribute("aria-valuetext")
    area.send_keys(Keys.ARROW_RIGHT)
    assert area.get_attribute("aria-valuetext") != first
    assert cursors(opened)["roc"] == 4
    assert complaints(opened) == []


def test_values_under_the_cursor_are_those_of_the_table_behind_the_chart(opened):
    area = element(opened, "area")
    area.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)  # back at the cost in view
    said = area.get_attribute("aria-valuetext")
    for model, _, value, *_ in rows_behind(opened, "area-table"):
        assert f"{model} {value}" in said


@pytest.mark.slow
def test_every_chart_zooms(opened):
    charts = (*CHARTS, "map")
    shapes = "[...document.querySelectorAll(`#${arguments[0]} .tick`)].map((t) => t.textContent)"
    before = {name: opened.execute_script(f"return {shapes}", name) for name in charts}
    assert all(before.values())
    boxes = opened.find_elements(By.CSS_SELECTOR, "[data-zoom]")
    assert len(boxes) == len(charts)
    opened.execute_script("arguments[0].click()", boxes[1])
    for name in charts:
        assert opened.execute_script(f"return {shapes}", name) != before[name], name
    assert not any(box.is_selected() for box in boxes)


@pytest.mark.slow
def test_the_whole_result_is_one_slide(opened):
    saved = opened.execute_script(
        "let kept; URL.createObjectURL = (blob) => { kept = blob; return 'about:blank'; };"
        "HTMLAnchorElement.prototype.click = () => {};"
        "document.querySelector('[data-keep=slide] button').click();"
        "return kept.text()"
    )
    assert saved.startswith("<svg")
    assert 'width="1280"' in saved
    for words in ("Who should raise the alarm?", "SUPPORT model", "physicians"):
        assert words in saved
    headline = text(opened, "verdict").split(" ")[0]
    assert headline in saved
    assert saved.count("<svg") == 3
    assert not [part for part in ("script", "class=") if part in saved]


LOOKS = [
    (360, "light", "en", True),
    (360, "dark", "de", False),
    (1280, "light", "de", False),
    (1280, "dark", "en", False),
    (1280, "dark", "de", True),
]
"""Width, colours, language, and whether sections are folded: every two of them in every way."""


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme", "language", "folded"), LOOKS)
def test_axe_finds_nothing(fresh, width, scheme, language, folded):
    screen(fresh, width, 844)
    prefer(fresh, scheme)
    fresh.execute_script(
        "const list = document.getElementById('language'); list.value = arguments[0];"
        "list.dispatchEvent(new Event('change'));"
        "for (const fold of document.querySelectorAll('details')) fold.open = !arguments[1];",
        language,
        folded,
    )
    settle(fresh)
    assert axe(fresh) == []
    prefer(fresh, "light")


def axe(browser: Any) -> list[str]:
    package = find_spec("axe_core_python")
    if package is None:
        pytest.skip("axe-core-python is not installed")
    script = Path(str(package.origin)).with_name("axe.min.js")
    browser.execute_script(script.read_text(encoding="utf-8"))
    violations = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']})"
        ".then(({violations}) => done(violations.map((v) => `${v.id}: ${v.help} "
        "${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`)));"
    )
    return list(violations)
