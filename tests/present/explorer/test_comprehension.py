"""The page explains itself: terms, steps back, two settings, files of charts, two languages."""

import csv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import voros
from voros.io.answers import read_answers
from voros.present.explorer import write_page

pytest.importorskip("selenium")
from present.explorer.driving import (
    choose,
    complaints,
    element,
    python_scenario,
    scores,
    settle,
    text,
    type_into,
    until,
    written,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FILES = {"svg": "roc.svg", "png": "roc.png", "csv": "roc.csv"}


def test_two_settings_are_compared_by_what_happens_to_the_cases(opened: Any, support2: Any) -> None:
    element(opened, "keep-setting").click()
    type_into(opened, "floor-field", "40")
    rows = opened.execute_script(
        "return [...document.querySelectorAll('#compared tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll(',', '')))"
    )
    table = {row[0]: row[1:] for row in rows}
    for said, floor in zip(table["Limits and costs"], (25, 40), strict=False):
        assert said.startswith(f"At least {floor}\N{NO-BREAK SPACE}% of alarms correct")
    (worth,) = (float(name.split()[-3]) for name in table if name.startswith("Cost in false"))
    y_true, prognoses = support2
    # The page shows the middle of its range of costs, on a logarithmic scale.
    at = 1 / np.sqrt(40 * 9)
    for column, floor in enumerate((0.25, 0.4)):
        ranked = {
            name: voros.evaluate(y_true, score, voros.Scenario(floor, 0.2, (1 / 40, 1 / 9)))
            for name, score in prognoses.items()
        }
        best = max(ranked, key=lambda name: ranked[name].score)
        assert table["Model in view"][column] == best
        points = voros.OperatingPoints.from_scores(y_true, prognoses[best])
        chosen = voros.evaluate(y_true, prognoses[best], voros.Scenario(floor, 0.2, at))
        row = int(np.flatnonzero(points.thresholds == chosen.choices[0].threshold)[0])
        tp, fp, missed = points.tp[row], points.fp[row], points.n_positive - points.tp[row]
        counts = np.array([tp + fp, fp, tp, missed, fp + missed * worth]) * 1000 / points.n_cases
        shown = [float(cells[column]) for cells in list(table.values())[4:]]
        assert shown == pytest.approx(counts, rel=2e-3)
    differences = [float(cells[2].replace("−", "-")) for cells in list(table.values())[4:]]
    assert all(change < 0 for change in differences[:3])
    assert differences[3] > 0
    element(opened, "drop-setting").click()
    assert not element(opened, "compared").is_displayed()


def test_without_limits_no_guarantee_is_announced(opened: Any) -> None:
    assert until(opened, "document.getElementById('guarantee').textContent")
    type_into(opened, "floor-field", "0")
    type_into(opened, "capacity-field", "100")
    settle(opened)
    assert text(opened, "guarantee") == ""


def test_terms_are_explained_on_focus(opened: Any) -> None:
    term = opened.find_element(By.CSS_SELECTOR, "legend .term")
    tip = opened.find_element(By.ID, term.get_attribute("aria-describedby"))
    assert not tip.is_displayed()
    opened.execute_script("arguments[0].focus()", term)
    assert tip.is_displayed()
    assert "share of alarms that must be correct" in tip.text
    term.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()


def test_no_jargon_unless_asked_for(opened: Any) -> None:
    shown = opened.find_element(By.TAG_NAME, "body").text
    for jargon in ("C_FP", "C_FN", "TOML", "operating point", "scenario", "Python"):
        assert jargon not in shown


def test_a_chart_is_saved_as_picture_and_numbers(
    opened: Any, support2: Any, tmp_path: Path
) -> None:
    y_true, prognoses = support2
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    opened.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    for button in opened.find_elements(By.CSS_SELECTOR, "[data-keep=roc] button"):
        opened.execute_script("arguments[0].click()", button)
    written(*(tmp_path / name for name in FILES.values()))
    assert (tmp_path / "roc.png").read_bytes().startswith(b"\x89PNG")
    drawing = ET.parse(tmp_path / "roc.svg").getroot()
    assert "var(" not in (tmp_path / "roc.svg").read_text(encoding="utf-8")
    assert len(drawing.findall(".//{http://www.w3.org/2000/svg}path")) >= 2 * len(prognoses)
    with (tmp_path / "roc.csv").open() as file:
        rows = list(csv.DictReader(file))
    points = voros.OperatingPoints.from_scores(y_true, prognoses["SPS"])
    useful = np.flatnonzero(np.diff(points.tp, prepend=-1))
    own = [row for row in rows if row["model"] == "SPS"]
    assert [float(row["tpr"]) for row in own] == (points.tp / y_true.sum())[useful].tolist()
    assert [float(row["fpr"]) for row in own] == (points.fp / (~y_true).sum())[useful].tolist()
    assert complaints(opened) == []


def test_german_keeps_the_setting(opened: Any) -> None:
    type_into(opened, "floor-field", "33")
    scores_before = scores(opened)
    choose(opened, "language", "de")
    assert scores(opened) == scores_before
    assert python_scenario(opened).min_precision == 0.33
    assert opened.execute_script("return document.documentElement.lang") == "de"
    assert text(opened, "ranking-title") == "Rangfolge"
    assert text(opened, "verdict").startswith("physicians hat den höchsten Wert")
    empty = opened.execute_script(
        "return [...document.querySelectorAll('[data-w]')].filter((e) => !e.textContent).length"
    )
    assert empty == 0
    assert complaints(opened) == []


@pytest.fixture(scope="module")
def forty_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    y = rng.random(2_000) < 0.12
    models = {f"model {i}": rng.normal(size=len(y)) + (0.5 + 0.03 * i) * y for i in range(40)}
    scenario = voros.Scenario(0.3, 0.2, cost_ratio=voros.costs.miss_costs(5, 20))
    return write_page(y, models, scenario, tmp_path_factory.mktemp("forty") / "page.html")


def _letters(browser: Any) -> dict[str, str]:
    rows = "[...document.querySelectorAll('#ranking tr')]"
    cells = (
        "[row.querySelector('data').dataset.model, row.querySelector('.badge text').textContent]"
    )
    return dict(browser.execute_script(f"return {rows}.map((row) => {cells})"))


def test_letters_belong_to_forty_models_of_which_eight_are_drawn(
    browser: Any, forty_page: Path
) -> None:
    browser.get(forty_page.as_uri())
    letters = _letters(browser)
    assert [letters[f"model {i}"] for i in (0, 1, 25, 26)] == ["A", "B", "Z", "AA"]
    ranked = list(scores(browser))
    type_into(browser, "floor-field", "10")
    assert list(scores(browser)) != ranked
    assert _letters(browser) == letters
    curves = "return document.querySelectorAll('#roc .curve').length"
    assert browser.execute_script(curves) == 8
    browser.execute_script("document.getElementById('draw-all').click()")
    assert browser.execute_script(curves) == 40
    assert element(browser, "ranking-scroll").get_attribute("tabindex") == "0"
    assert complaints(browser) == []


def test_all_rows_of_forty_models_are_printed(browser: Any, forty_page: Path) -> None:
    browser.get(forty_page.as_uri())
    place = "document.getElementById('ranking-scroll')"
    heights = f"return [{place}.scrollHeight, {place}.clientHeight]"
    scrolled, shown = browser.execute_script(heights)
    assert scrolled > shown
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    scrolled, shown = browser.execute_script(heights)
    header = "return getComputedStyle(document.querySelector('.ranking thead')).display"
    grid = "return getComputedStyle(document.querySelector('main')).display"
    displays = browser.execute_script(header), browser.execute_script(grid)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert scrolled == shown
    assert displays == ("table-header-group", "block")


def test_a_local_file_copies_its_setting_as_a_code(opened: Any) -> None:
    type_into(opened, "floor-field", "33")
    # The address follows once the field rests.
    until(opened, "document.getElementById('as-link').value.startsWith('#precision=0.33&')")
    opened.find_element(By.CSS_SELECTOR, "[data-copy='as-link']").click()
    assert "send the file too" in until(opened, "document.getElementById('copied').textContent")


def _answer(browser: Any, who: str, yes: list[bool]) -> None:
    element(browser, "guide-start").click()
    for number in ("2.5", "20"):
        type_into(browser, "guide-number", number)
        browser.find_element(By.CSS_SELECTOR, "#guide-questions button").click()
    for accepted in yes:
        browser.find_elements(By.CSS_SELECTOR, "#guide-questions button")[1 - accepted].click()
    element(browser, "guide-who").send_keys(who)
    browser.find_element(By.CSS_SELECTOR, "#guide-questions button").click()


def test_the_questions_begin_beside_the_sliders(opened: Any) -> None:
    opened.execute_script("document.getElementById('guide').open = false")
    element(opened, "guide-open").click()
    assert opened.execute_script("return document.activeElement.id") == "guide-number"
    assert "Question 1 of 5" in text(opened, "guide-questions")


def test_five_questions_end_in_limits_and_are_kept_with_names(opened: Any, tmp_path: Path) -> None:
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    opened.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    _answer(opened, "first", [True, False, True])
    assert python_scenario(opened) == voros.Scenario(0.25, 0.2, voros.costs.miss_costs(32, 100))
    _answer(opened, "second", [False, True, False])
    opened.find_elements(By.CSS_SELECTOR, "#guide-people button")[1].click()
    written(tmp_path / "answers.toml")
    answers = read_answers(tmp_path / "answers.toml")
    assert [person.who for person in answers.people] == ["first", "second"]
    assert answers.people[0].scenario == voros.Scenario(0.25, 0.2, voros.costs.miss_costs(32, 100))
    second = answers.people[1].miss_costs
    assert python_scenario(opened).cost_ratio == voros.costs.miss_costs(*second)
    opened.find_elements(By.CSS_SELECTOR, "#guide-people button")[0].click()
    low, high = python_scenario(opened).costs.support
    assert (low, high) == (second[0], 100)
    opened.get("about:blank")
    assert complaints(opened) == []
