"""The page in a real browser: quick, silent, closed, shareable and open to everyone."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros
from voros.io.scenario_file import read_scenarios
from voros.present.explorer import write_page

pytest.importorskip("selenium")
from present.explorer.driving import (
    choose,
    complaints,
    element,
    press,
    python_scenario,
    resize,
    scores,
    settle,
    text,
    type_into,
    until,
    value,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

WIDTHS = (360, 1280, 2560)
LONGEST_UPDATE = 50.0
"""Milliseconds of processor time."""

MOVE_ALONE = """
const later = window.setTimeout;
window.setTimeout = () => 0;
const slider = document.getElementById(arguments[0]);
slider.value = arguments[1];
slider.dispatchEvent(new Event("input", { bubbles: true }));
document.body.getBoundingClientRect();
window.setTimeout = later;
"""
"""One update with its layout, without what the page leaves for later, when it is idle."""


def busy_milliseconds(browser: Any) -> float:
    """Processor time so far: unlike the clock, it does not count what others make us wait."""
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    spent = {metric["name"]: metric["value"] for metric in metrics}
    parts = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
    return 1000 * sum(spent[part] for part in parts)


def update_milliseconds(browser: Any, slider: str, step: int) -> float:
    """Processor time of an update: the least of five, for others' work slows ours."""
    times = []
    for nudge in range(5):
        before = busy_milliseconds(browser)
        browser.execute_script(MOVE_ALONE, f"{slider}-slider", step + nudge)
        times.append(busy_milliseconds(browser) - before)
    return min(times)


@pytest.fixture
def resizable(opened: Any) -> Any:
    yield opened
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow
def test_updates_take_less_than_50_ms(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(25_000) < 5_000
    models = {f"model {i}": rng.normal(size=len(y)) + (0.8 + 0.15 * i) * y for i in range(4)}
    scenario = voros.Scenario(0.4, 0.3, cost_ratio=voros.costs.miss_costs(2, 6))
    page = write_page(y, models, scenario, tmp_path / "large.html", n_resamples=0)
    browser.get(page.as_uri())
    points = json.loads(text(browser, "payload"))["models"]
    assert [len(model["tp"]) for model in points] == [2_000] * 4
    browser.execute_cdp_cmd("Performance.disable", {})
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    for slider in ("floor", "capacity", "low", "high", "prevalence"):
        for step in range(100, 300, 25):
            assert update_milliseconds(browser, slider, step) < LONGEST_UPDATE, (slider, step)


@pytest.mark.slow
def test_updates_of_twenty_models_take_less_than_50_ms(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(5_000) < 1_000
    models = {f"model {i}": rng.normal(size=len(y)) + (0.8 + 0.05 * i) * y for i in range(20)}
    scenario = voros.Scenario(0.4, 0.3, cost_ratio=voros.costs.miss_costs(2, 6))
    page = write_page(y, models, scenario, tmp_path / "twenty.html", n_resamples=0)
    browser.get(page.as_uri())
    unfold = "for (const fold of document.querySelectorAll('details.fold')) fold.open = true"
    browser.execute_script(unfold)
    settle(browser)
    browser.execute_cdp_cmd("Performance.disable", {})
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    for slider in ("floor", "capacity", "low", "prevalence"):
        for step in range(100, 300, 50):
            assert update_milliseconds(browser, slider, step) < LONGEST_UPDATE, (slider, step)


def test_asks_the_network_for_nothing_and_logs_nothing(opened: Any) -> None:
    opened.get_log("performance")
    opened.refresh()
    press(opened, "floor-slider", Keys.PAGE_UP)
    settle(opened)
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == 1
    assert opened.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert complaints(opened) == []


def test_the_policy_stops_what_tries_to_get_out(opened: Any) -> None:
    blocked = opened.execute_async_script(
        "const done = arguments[0];"
        "fetch('https://example.org/').then(() => done('sent'), () => done('blocked'));"
    )
    assert blocked == "blocked"
    assert any("Content Security Policy" in line for line in complaints(opened))


def test_fits_the_width_of_the_screen(resizable: Any) -> None:
    boxes = "[...document.querySelectorAll('svg.picture')].map(p => p.getBoundingClientRect())"
    for width in WIDTHS:
        resize(resizable, width)
        settle(resizable)
        assert resizable.execute_script("return document.documentElement.scrollWidth") <= width
        widths = resizable.execute_script(f"return {boxes}")
        assert len(widths) == 5
        assert all(box["width"] > 100 and box["right"] <= width for box in widths)


def test_every_control_is_reached_with_the_tab_key(opened: Any) -> None:
    opened.execute_script("document.getElementById('analysts').open = true")
    stops = opened.execute_script(
        "const kinds = 'input, select, textarea, button, a, summary, [tabindex]';"
        "const isStop = (e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility();"
        "window.stops = [...document.querySelectorAll(kinds)].filter(isStop);"
        "return window.stops.map((e) => e.id);"
    )
    named = {"floor-slider", "floor-field", "capacity-unit", "spread", "map", "as-toml", "print"}
    assert named <= set(stops)
    reached = set()
    for _ in stops:
        ActionChains(opened).send_keys(Keys.TAB).perform()
        reached.add(opened.execute_script("return window.stops.indexOf(document.activeElement)"))
    assert reached == set(range(len(stops)))


@pytest.mark.slow
def test_a_link_carries_the_setting(opened: Any) -> None:
    type_into(opened, "floor-field", "33.3")
    choose(opened, "capacity-unit", "count")
    type_into(opened, "capacity-field", "444")
    type_into(opened, "prevalence-field", "12")
    choose(opened, "focus", "1")
    settle(opened)
    link, scenario, scores_before = opened.current_url, python_scenario(opened), scores(opened)
    assert value(opened, "as-link") == link[link.index("#") :]
    opened.get("about:blank")
    opened.get(link)
    assert (
        python_scenario(opened) == scenario == voros.Scenario(0.333, 444, scenario.cost_ratio, 0.12)
    )
    assert scores(opened) == scores_before
    assert text(opened, "threshold-model") == "APACHE III"
    element(opened, "reset").click()
    assert python_scenario(opened).prevalence is None


def test_toml_and_python_say_the_same(opened: Any, tmp_path: Path) -> None:
    for spread in ("ratio", "miss"):
        choose(opened, "spread", spread)
        path = tmp_path / f"{spread}.toml"
        path.write_text(value(opened, "as-toml"))
        assert read_scenarios(path) == {"explored": python_scenario(opened)}


@pytest.mark.slow
def test_what_is_not_accepted_is_said_and_changes_nothing(opened: Any) -> None:
    before = python_scenario(opened)
    type_into(opened, "floor-field", "-5")
    assert text(opened, "floor-problem") == "Accepted: 0 to 100."
    assert element(opened, "floor-field").get_attribute("aria-invalid") is not None
    assert python_scenario(opened) == before
    press(opened, "floor-field", Keys.TAB)
    assert value(opened, "floor-field") == "25"
    reason = "Back to 25: -5 is not accepted. Accepted: 0 to 100."
    assert text(opened, "floor-problem") == reason
    assert element(opened, "floor-field").get_attribute("aria-invalid") is None
    type_into(opened, "floor-field", "40")
    assert text(opened, "floor-problem") == ""
    assert python_scenario(opened).min_precision == 0.4


@pytest.mark.slow
def test_the_beginning_of_a_refused_number_does_not_stay(opened: Any) -> None:
    before = python_scenario(opened)
    for field, typed in (
        ("floor-field", "150"),
        ("capacity-field", "250"),
        ("prevalence-field", "999"),
        ("low-field", "5e200"),
        ("high-field", "1e308"),
        ("low-field", "-"),
        ("floor-field", Keys.BACKSPACE),
    ):
        shown = value(opened, field)
        type_into(opened, field, typed)
        assert python_scenario(opened) == before
        press(opened, field, Keys.TAB)
        assert python_scenario(opened) == before
        assert value(opened, field) == shown
        assert f"Back to {shown}" in text(opened, field.replace("field", "problem"))
    assert complaints(opened) == []


@pytest.mark.slow
def test_a_count_shows_every_digit(opened: Any) -> None:
    choose(opened, "capacity-unit", "count")
    type_into(opened, "capacity-field", "9007199254740991")
    press(opened, "capacity-field", Keys.TAB)
    assert value(opened, "capacity-field") == "9007199254740991"
    assert "capacity=9007199254740991," in value(opened, "as-python")
    type_into(opened, "capacity-field", "9007199254740993")
    press(opened, "capacity-field", Keys.TAB)
    assert value(opened, "capacity-field") == "9007199254740991"


MOVE_THEN_ASK = """
const [hash, done] = arguments;
const later = window.setTimeout;
const due = [];
window.setTimeout = (act, wait, ...rest) =>
  wait === 250 ? due.push(() => act(...rest)) : later(act, wait, ...rest);
const slider = document.getElementById("floor-slider");
slider.value = 300;
slider.dispatchEvent(new Event("input", { bubbles: true }));
window.setTimeout = later;
window.location.hash = hash;
due.forEach((act) => act());
later(done, 400);
"""
"""The address is changed, and before the page hears of it, it writes the one of the last move."""


@pytest.mark.slow
def test_an_address_changed_while_the_last_one_is_being_written_wins(opened: Any) -> None:
    opened.execute_async_script(MOVE_THEN_ASK, "precision=0.11&share=0.5&miss=9_12&spread=miss")
    assert python_scenario(opened) == voros.Scenario(0.11, 0.5, voros.costs.miss_costs(9, 12))
    assert "precision=0.11" in opened.current_url
    assert text(opened, "notice") == ""


@pytest.mark.slow
def test_what_an_address_asks_for_in_vain_is_said(opened: Any) -> None:
    before = python_scenario(opened)
    opened.execute_async_script(
        "window.location.hash = 'precision=15&colour=red'; setTimeout(arguments[0], 100)"
    )
    assert python_scenario(opened) == before
    assert text(opened, "notice").startswith(
        "The address was not taken in full; left out: precision=15 (accepted: 0 to 1), "
        "colour=red (no such key)."
    )
    type_into(opened, "floor-field", "30")
    assert "The address" not in text(opened, "notice")


@pytest.mark.slow
def test_the_map_is_moved_over_with_the_keys(opened: Any) -> None:
    before = python_scenario(opened)
    settle(opened)
    field = element(opened, "map")
    field.send_keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_LEFT)
    said = text(opened, "map-cell")
    match = re.fullmatch(r"Capacity ([\d.]+)\s%, precision floor ([\d.]+)\s%: .+\.", said)
    assert match is not None, said
    assert len(opened.find_elements(By.CSS_SELECTOR, "#map .cursor")) == 1
    assert python_scenario(opened) == before
    field.send_keys(Keys.ENTER)
    after = python_scenario(opened)
    assert after.min_precision == pytest.approx(float(match[2]) / 100)
    assert after.capacity == pytest.approx(float(match[1]) / 100)
    assert after.min_precision > before.min_precision
    assert after.capacity < before.capacity
    assert opened.execute_script("return document.activeElement.id") == "map"


def test_tables_say_what_the_pictures_show(opened: Any, support2: Any) -> None:
    y_true, prognoses = support2
    for name in ("low", "high"):
        type_into(opened, f"{name}-field", "12")
    for name in ("roc", "area", "map"):
        element(opened, f"{name}-table").find_element(By.TAG_NAME, "summary").click()
        until(opened, f"document.querySelector('#{name}-table tbody tr')")
    settle(opened)
    scenario = python_scenario(opened)
    for model, scores_of in prognoses.items():
        result = voros.evaluate(y_true, scores_of, scenario)
        (choice,) = result.choices
        _, _, false_alarms, caught, precision = table(opened, "roc-table")[model]
        assert percentage(false_alarms) == pytest.approx(choice.fp / (~y_true).sum(), rel=0.01)
        assert percentage(caught) == pytest.approx(choice.tp / y_true.sum(), rel=0.01)
        assert percentage(precision) == pytest.approx(choice.precision, rel=0.01)
        _, area = table(opened, "area-table")[model]
        assert percentage(area) == pytest.approx(result.score, rel=0.01)
    winners = table(opened, "map-table")
    assert len(winners) == 7
    best = max(prognoses, key=lambda model: scores(opened)[model])
    assert list(winners.values())[3][4].startswith(best)


def percentage(shown: str) -> float:
    return float(shown.rstrip("%")) / 100


def table(browser: Any, identifier: str) -> dict[str, list[str]]:
    """The rows of a table, by their names."""
    rows = browser.execute_script(
        "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))",
        identifier,
    )
    return {row[0]: row for row in rows}


def test_one_model_is_not_said_in_the_plural(browser: Any, tmp_path: Path) -> None:
    scenario = voros.Scenario(0.2, 0.5, cost_ratio=1.0)
    page = write_page([1, 0], {"physicians": [0.9, 0.1]}, scenario, tmp_path / "one.html")
    browser.get(page.as_uri())
    everything = browser.execute_script("return document.body.textContent")
    assert text(browser, "sample") == "1 model, 2 cases, 50\N{NO-BREAK SPACE}% with the outcome."
    assert text(browser, "verdict") == "physicians: a score of 1."
    assert re.findall(r"\b1 (?:models|thresholds|alarms|false alarms)\b", everything) == []
    assert re.findall(r"physicians (?:ranks|raises|scores|is)\b", everything) == []


def test_numbers_at_the_edge_of_what_fits_do_not_break_it(browser: Any, tmp_path: Path) -> None:
    scores_of = {"huge": [1.7e308, 1e308, -1e308, -1.7e308], "tiny": [5e-324, 0, 0, -5e-324]}
    scenario = voros.Scenario(0.2, 0.5, cost_ratio=voros.costs.miss_costs(1e-100, 1e100))
    labels = [1, 0, 1, 0]
    page = write_page(labels, scores_of, scenario, tmp_path / "edge.html")
    browser.get(page.as_uri())
    expected = {m: voros.evaluate(labels, s, scenario).score for m, s in scores_of.items()}
    assert scores(browser) == pytest.approx(expected, abs=1e-9)
    for model in ("0", "1"):
        choose(browser, "focus", model)
        drawn = browser.execute_script("return document.querySelector('.layout').innerHTML")
        assert "NaN" not in drawn
        assert "Infinity" not in drawn
    assert complaints(browser) == []


def test_the_range_of_costs_never_turns_round(opened: Any) -> None:
    type_into(opened, "low-field", "90")
    assert value(opened, "high-field") == "90"
    type_into(opened, "high-field", "12")
    assert value(opened, "low-field") == "12"


def test_a_screen_reader_hears_the_result(opened: Any) -> None:
    type_into(opened, "floor-field", "30")
    assert element(opened, "announcement").get_attribute("aria-live") == "polite"
    said = "document.getElementById('announcement').textContent"
    until(opened, f"{said}.includes(document.getElementById('verdict').textContent)")
    assert "of 100 patients" in text(opened, "announcement")


def test_limits_out_of_reach_are_explained(browser: Any, tmp_path: Path) -> None:
    scenario = voros.Scenario(0.9, 0.5, cost_ratio=voros.costs.miss_costs(2, 6))
    labels = [0, 1, 1, 0, 0, 0, 1, 0]
    page = write_page(labels, {"a": range(8, 0, -1)}, scenario, tmp_path / "page.html")
    browser.get(page.as_uri())
    assert text(browser, "verdict") == "No model can raise an alarm within these limits."
    reach = "within this capacity the best is 66.7\N{NO-BREAK SPACE}%, by a with 3 alarms"
    assert reach in text(browser, "notice")
    type_into(browser, "capacity-field", "10")
    assert "fewer than one. The smallest that admits an alarm is 12.5\N{NO-BREAK SPACE}%" in text(
        browser, "notice"
    )
    assert scores(browser) == {"a": 0.0}
    assert complaints(browser) == []


def test_people_and_thresholds_are_those_of_python(opened: Any, support2: Any) -> None:
    y_true, prognoses = support2
    type_into(opened, "low-field", "10")
    type_into(opened, "high-field", "10")
    result = voros.evaluate(y_true, prognoses["SPS"], python_scenario(opened))
    choose(opened, "focus", "0")
    (choice,) = result.choices
    written = re.search(r"at least ([\d.]+)…;", text(opened, "deploy"))
    assert written is not None
    assert len(written[1].replace(".", "").lstrip("0")) <= 3
    assert str(choice.threshold).startswith(written[1])
    # All digits, for another system to hold: a click copies them.
    assert float(value(opened, "exact-threshold")) == choice.threshold
    opened.find_element(By.CSS_SELECTOR, "[data-copy=exact-threshold]").click()
    until(opened, "document.getElementById('copied-threshold').textContent !== ''")
    people = opened.find_elements(By.CSS_SELECTOR, ".crowd .person")
    kinds = [person.get_attribute("class").split()[1] for person in people]
    assert len(kinds) == 100
    per_person = len(y_true) / 100
    assert kinds.count("caught") == pytest.approx(choice.tp / per_person, abs=1)
    assert kinds.count("falseAlarm") == pytest.approx(choice.fp / per_person, abs=1)
    assert kinds.count("missed") == pytest.approx((y_true.sum() - choice.tp) / per_person, abs=1)


@pytest.mark.slow
def test_a_click_on_the_map_goes_there(opened: Any) -> None:
    before = python_scenario(opened)
    opened.execute_script("document.getElementById('map').scrollIntoView()")
    element(opened, "map").find_element(By.CSS_SELECTOR, ".picture").click()
    after = python_scenario(opened)
    assert (after.min_precision, after.capacity) != (before.min_precision, before.capacity)
    assert after.cost_ratio == before.cost_ratio


def test_a_name_cannot_break_out(browser: Any, tmp_path: Path) -> None:
    name = "</script><img src=x onerror=\"document.title='broken'\">"
    page = write_page(
        [1, 0, 1, 0],
        {name: [0.9, 0.8, 0.7, 0.1], "b": [0.1, 0.8, 0.7, 0.9]},
        voros.Scenario(cost_ratio=(0.1, 0.2)),
        tmp_path / "odd.html",
        title=name,
        outcome=name,
        cases=name,
    )
    browser.get(page.as_uri())
    assert set(scores(browser)) == {name, "b"}
    assert browser.title == name
    assert browser.find_elements(By.CSS_SELECTOR, "img") == []
    assert complaints(browser) == []


def test_the_skip_link_keeps_the_setting(opened: Any) -> None:
    type_into(opened, "floor-field", "33")
    opened.execute_script("document.querySelector('.skip').focus()")
    ActionChains(opened).send_keys(Keys.ENTER).perform()
    assert opened.execute_script("return document.activeElement.id") == "result"
    assert python_scenario(opened).min_precision == 0.33


def test_a_published_curve_has_no_thresholds_to_show(browser: Any, tmp_path: Path) -> None:
    curve = voros.OperatingPoints.from_points([0.01, 0.05, 0.2], [0.3, 0.6, 0.85], 1000, 9000)
    scenario = voros.Scenario(0.3, 1100, cost_ratio=1 / 30)
    page = write_page({"published": curve}, scenario=scenario, path=tmp_path / "curve.html")
    browser.get(page.as_uri())
    expected = voros.evaluate(curve, scenario=scenario)
    assert scores(browser)["published"] == pytest.approx(expected.score, abs=1e-12)
    assert text(browser, "deploy") == (
        "published: 57.1\N{NO-BREAK SPACE}% of alarms are correct (PPV), "
        "and 60\N{NO-BREAK SPACE}% of those with the outcome are caught "
        "(sensitivity). "
        "Held back by the capacity."
    )
    assert complaints(browser) == []


@pytest.mark.slow
def test_prints_with_its_limits(opened: Any) -> None:
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert element(opened, "setting-text").is_displayed()
        assert "At least 25\N{NO-BREAK SPACE}% of alarms correct" in text(opened, "setting-text")
        assert not element(opened, "floor-slider").is_displayed()
    finally:
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
