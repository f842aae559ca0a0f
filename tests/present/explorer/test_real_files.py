"""Files as people have them: no header, many columns, yes and no, several rows of a patient."""

import json
from typing import Any

import numpy as np
import pytest

import voros

pytest.importorskip("selenium")
from present.explorer.driving import complaints, element, prefer, scores, text, until, value
from present.explorer.test_one_screen import axe, screen
from present.explorer.test_own_file import DROP, empty, empty_page  # noqa: F401
from selenium.webdriver.support.ui import Select

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LOOK = f"""{DROP}
const [name, content, done] = arguments;
const asked = () => !byId("header-ask").hidden;
const files = new DataTransfer();
files.items.add(new File([content], name));
document.dispatchEvent(new DragEvent("drop", {{ dataTransfer: files, cancelable: true }}));
until(() => said() || asked() || !byId("columns-form").hidden).then(() => done(said()));
"""

TICKED = "[...document.querySelectorAll('#model-columns input:checked')].map((box) => box.value)"


def drop(browser: Any, content: str, name: str = "cases.csv") -> str:
    return str(browser.execute_async_script(LOOK, name, content))


def count(browser: Any) -> None:
    element(browser, "count").click()
    until(browser, "!document.getElementById('loaded').hidden")


def rows(n: int = 200, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4 == 0
    return y, (y + rng.normal(size=n)).round(4)


def test_a_first_row_of_numbers_is_asked_about_and_not_lost(empty):  # noqa: F811
    y, risk = rows()
    drop(empty, "\n".join(f"{int(a)},{b}" for a, b in zip(y, risk, strict=True)))
    assert "The first row holds only numbers" in element(empty, "header-ask").text
    assert not element(empty, "columns-form").is_displayed()
    element(empty, "header-data").click()
    until(empty, "!document.getElementById('columns-form').hidden")
    assert empty.execute_script(f"return {TICKED}") == ["column 2"]
    count(empty)
    assert "200" in text(empty, "sample")
    assert list(scores(empty)) == ["column 2"]


def test_names_that_are_numbers_stay_names_if_one_says_so(empty):  # noqa: F811
    y, risk = rows()
    drop(empty, "\n".join(["1,2", *(f"{int(a)},{b}" for a, b in zip(y, risk, strict=True))]))
    element(empty, "header-names").click()
    assert empty.execute_script(f"return {TICKED}") == ["2"]


def test_of_a_hundred_columns_only_likely_scores_are_ticked(empty):  # noqa: F811
    y, risk = rows()
    noise = np.random.default_rng(1).normal(size=(len(y), 99)) * 50
    head = ["died", *(f"lab{i}" for i in range(99)), "sepsis risk"]
    lines = [
        ",".join([str(int(a)), *(f"{x:.1f}" for x in values), f"{b}"])
        for a, values, b in zip(y, noise, risk, strict=True)
    ]
    drop(empty, "\n".join([",".join(head), *lines]))
    assert empty.execute_script(f"return {TICKED}") == ["sepsis risk"]
    element(empty, "find-model").send_keys("lab7")
    seen = "[...document.querySelectorAll('#model-columns label:not([hidden])')].length"
    assert empty.execute_script(f"return {seen}") == 11
    element(empty, "all-models").click()
    assert len(empty.execute_script(f"return {TICKED}")) == 12
    element(empty, "find-model").clear()
    element(empty, "find-model").send_keys(" ")
    element(empty, "no-models").click()
    assert empty.execute_script(f"return {TICKED}") == []


def test_yes_and_no_need_no_further_step(empty):  # noqa: F811
    y, risk = rows()
    words = np.where(y, "Yes", "No")
    drop(
        empty,
        "\n".join(["ward,sepsis,risk", *(f"A,{a},{b}" for a, b in zip(words, risk, strict=True))]),
    )
    assert Select(element(empty, "label-column")).first_selected_option.text == "sepsis"
    count(empty)
    assert "25\N{NO-BREAK SPACE}%" in text(empty, "sample")


def test_no_message_names_the_types_of_a_library(empty):  # noqa: F811
    y, risk = rows()
    lines = [
        f"{int(a)},2026-01-{i % 28 + 1:02d},12:30,{b}"
        for i, (a, b) in enumerate(zip(y, risk, strict=True))
    ]
    drop(empty, "\n".join(["died,seen,at,risk", *lines]))
    notes = text(empty, "loader-notes")
    assert "'seen' (dates)" in notes
    assert "'at' (times of day)" in notes
    assert not [name for name in ("int64", "date32", "time32", "double", "string") if name in notes]


def test_patients_are_resampled_where_a_column_names_them(empty):  # noqa: F811
    """Every case five times over: by patient the interval is that of the cases, else narrower."""
    y, risk = rows(300)
    lines = [f"{int(y[i])},{risk[i]},{i}" for i in range(len(y)) for _ in range(5)]
    content = "\n".join(["died,risk,patient", *lines])
    widths = {}
    for column in ("", "patient"):
        drop(empty, content)
        Select(element(empty, "patient-column")).select_by_value(column)
        empty.execute_script(
            "for (const box of document.querySelectorAll('#model-columns input'))"
            " box.checked = box.value === 'risk'"
        )
        count(empty)
        until(
            empty,
            "document.body.dataset.sure && JSON.parse(document.body.dataset.sure).intervals[0]",
        )
        low, high = json.loads(empty.execute_script("return document.body.dataset.sure"))[
            "intervals"
        ][0]
        widths[column] = high - low
        assert ("whole patients (300" in text(empty, "loaded-text")) == bool(column)
        element(empty, "again").click()
    assert widths["patient"] > 1.5 * widths[""]


def test_a_column_of_dates_offers_alarms_per_day(empty):  # noqa: F811
    y, risk = rows(600)
    days = np.datetime64("2026-03-01") + np.random.default_rng(2).integers(0, 40, len(y))
    lines = [f"{int(a)},{b},{d}" for a, b, d in zip(y, risk, days, strict=True)]
    drop(empty, "\n".join(["died,risk,seen", *lines]))
    Select(element(empty, "day-column")).select_by_value("seen")
    count(empty)
    assert "per day" in text(empty, "capacity-per")
    for rule, exceed in (("mean", None), ("0.1", 0.1)):
        Select(element(empty, "exceed")).select_by_value(rule)
        capacity = int(value(empty, "capacity-field"))
        scenario = voros.Scenario(
            0.2, capacity, voros.costs.miss_costs(5, 20), per="day", exceed=exceed
        )
        expected = voros.evaluate(y, risk, scenario, times=days).score
        assert scores(empty)["risk"] == pytest.approx(expected, abs=1e-9)
    assert complaints(empty) == []


def test_a_patient_column_is_chosen_by_its_name(empty):  # noqa: F811
    y, risk = rows()
    lines = [f"{i // 2},{60 + i % 9},{int(y[i])},{risk[i]}" for i in range(len(y))]
    drop(empty, "\n".join(["patient_id,patient_age,died,risk", *lines]))
    assert value(empty, "patient-column") == "patient_id"
    count(empty)
    assert "whole patients (100" in text(empty, "loaded-text")


def test_two_wards_are_compared_by_loading_one_file_after_the_other(empty):  # noqa: F811
    for n in (200, 400):
        y, risk = rows(n)
        lines = (f"{int(a)},{b}" for a, b in zip(y, risk, strict=True))
        drop(empty, "\n".join(["died,risk", *lines]))
        count(empty)
        if n == 200:
            element(empty, "keep-setting").click()
            element(empty, "again").click()
    table = "document.querySelector('#compared table')"
    data = until(empty, f"{table} && [...{table}.rows[1].cells].map((cell) => cell.textContent)")
    assert data == [
        "Data",
        "1 model, 200 cases, 25\N{NO-BREAK SPACE}% with the outcome.",
        text(empty, "sample"),
        "",
    ]
    assert "200" not in text(empty, "sample")
    element(empty, "drop-setting").click()


def test_an_example_is_a_click_away(empty):  # noqa: F811
    element(empty, "example").click()
    until(empty, "!document.getElementById('loaded').hidden")
    assert set(scores(empty)) == {"careful model", "hasty model"}
    assert "1,500" in text(empty, "sample")
    assert scores(empty)["careful model"] > scores(empty)["hasty model"] > 0
    assert complaints(empty) == []


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_axe_finds_nothing_in_the_loader(empty, width, scheme, language):  # noqa: F811
    screen(empty, width, 844)
    prefer(empty, scheme)
    Select(element(empty, "language")).select_by_value(language)
    assert axe(empty) == []
    y, risk = rows()
    drop(empty, "\n".join(["died,risk", *(f"{int(a)},{b}" for a, b in zip(y, risk, strict=True))]))
    assert axe(empty) == []
    prefer(empty, "light")
    empty.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
