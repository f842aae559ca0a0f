"""Decision curves and costs on the page, in a real browser: the numbers are Python's."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros

pytest.importorskip("selenium")
from present.explorer.driving import (
    choose,
    complaints,
    element,
    press,
    python_scenario,
    rows_behind,
    text,
    type_into,
    until,
    written,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

AGREEMENT = 1e-9


def saved_rows(browser: Any, name: str, folder: Path) -> list[dict[str, str]]:
    """Save the numbers of a chart as CSV, and read them."""
    path = folder / f"{name}.csv"
    path.unlink(missing_ok=True)
    where = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    button = browser.find_elements(By.CSS_SELECTOR, f"[data-keep={name}] button")[-1]
    browser.execute_script("arguments[0].click()", button)
    written(path)
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check_curves(rows: list[dict[str, str]], support2: Any, scenario: voros.Scenario) -> None:
    y_true, prognoses = support2
    rate = y_true.mean() if scenario.prevalence is None else scenario.prevalence
    for name, risk in prognoses.items():
        own = [row for row in rows if row["model"] == name]
        columns = {
            key: np.array([float(row[key] or "nan") for row in own])
            for key in own[0]
            if key != "model"
        }
        p = columns["threshold_probability"]
        assert len(p) >= 101
        within = voros.net_benefit(y_true, risk, scenario, threshold_probability=p)
        free = voros.net_benefit(y_true, risk, scenario.without_limits(), threshold_probability=p)
        expected = {"within_limits": within, "best": free, "cost_of_limits": free - within}
        expected["treat_all"] = rate - (1 - rate) * p / (1 - p)
        for column, values in expected.items():
            np.testing.assert_allclose(columns[column], values, rtol=0, atol=AGREEMENT)
        check_scored(columns, y_true, risk, scenario.prevalence)


def check_scored(columns: dict[str, Any], y_true: Any, risk: Any, rate: float | None) -> None:
    """Where scores are probabilities, alarms at each hundredth as Vickers and Elkin count them."""
    counted = ~np.isnan(columns["as_scored"])
    hundredths = np.isin(columns["threshold_probability"], np.arange(1, 100) / 100)
    is_risk = (risk >= 0).all() and (risk <= 1).all()
    assert (counted == (hundredths & is_risk)).all()
    for p, benefit in zip(
        columns["threshold_probability"][counted], columns["as_scored"][counted], strict=True
    ):
        tpr, fpr = (risk >= p)[y_true].mean(), (risk >= p)[~y_true].mean()
        share = y_true.mean() if rate is None else rate
        assert benefit == pytest.approx(
            share * tpr - (1 - share) * fpr * p / (1 - p), abs=AGREEMENT
        )


def risks_among(support2: Any) -> set[str]:
    prognoses = support2[1]
    return {name for name, risk in prognoses.items() if 0 <= risk.min() <= risk.max() <= 1}


@pytest.mark.slow
def test_decision_curves_are_those_of_python(opened: Any, support2: Any, tmp_path: Path) -> None:
    settings = [
        ("25", "20", "9", "40", None),
        ("0", "100", "1.5", "3", None),
        ("60", "2", "5", "5", "20"),
    ]
    for floor, capacity, low, high, prevalence in settings:
        for field, typed in zip(
            ("floor", "capacity", "low", "high"), (floor, capacity, low, high), strict=True
        ):
            type_into(opened, f"{field}-field", typed)
        if prevalence is not None:
            type_into(opened, "prevalence-field", prevalence)
        rows = saved_rows(opened, "decision", tmp_path)
        check_curves(rows, support2, python_scenario(opened))
        drawn = [row for row in rows if row["as_scored"]]
        assert {row["model"] for row in drawn} == risks_among(support2)
    assert complaints(opened) == []


def test_costs_of_1000_cases_are_those_of_python_in_money(
    opened: Any, support2: Any, tmp_path: Path
) -> None:
    y_true, prognoses = support2
    assert text(opened, "costs-caption") == "1,000 patients, in false alarms"
    type_into(opened, "price", "35")
    assert text(opened, "costs-caption") == "1,000 patients, in money, a false alarm at 35"
    for spread in ("miss", "ratio"):
        choose(opened, "spread", spread)
        rows = {row["model"]: row for row in saved_rows(opened, "costs", tmp_path)}
        scenario = python_scenario(opened)
        for name, risk in prognoses.items():
            for column, limits in (("within", scenario), ("without", scenario.without_limits())):
                money = float(rows[name][f"{column}_limits_money"])
                expected = voros.evaluate(y_true, risk, limits).in_money(35).per_1000
                assert money == pytest.approx(expected, rel=AGREEMENT)
    worth = np.log(40 / 9) / (1 / 9 - 1 / 40)  # the mean of 1/c, c uniform
    nobody = float(rows["no alarm at all"]["within_limits_money"])
    assert nobody == pytest.approx(1000 * y_true.mean() * worth * 35, rel=AGREEMENT)
    everybody = float(rows["an alarm for everybody"]["without_limits_money"])
    assert everybody == pytest.approx(1000 * (1 - y_true.mean()) * 35, rel=AGREEMENT)


@pytest.mark.slow
def test_a_price_is_kept_in_the_link_and_taken_back(opened: Any) -> None:
    type_into(opened, "price", "-3")
    assert text(opened, "price-problem") == "Accepted: a number above 0, up to 1e100."
    assert text(opened, "costs-caption") == "1,000 patients, in false alarms"
    type_into(opened, "price", "35")
    assert text(opened, "price-problem") == ""
    assert "in money" in text(opened, "decision-text")
    until(opened, "window.location.hash.includes('&price=35')")
    link = opened.current_url
    opened.get("about:blank")
    opened.get(link)
    assert element(opened, "price").get_attribute("value") == "35"
    press(opened, "price", Keys.CONTROL + "a" + Keys.NULL + Keys.BACKSPACE)
    assert text(opened, "costs-caption") == "1,000 patients, in false alarms"


def test_the_table_behind_the_curves_and_the_sentence(opened: Any, support2: Any) -> None:
    y_true, prognoses = support2
    type_into(opened, "low-field", "9")
    type_into(opened, "high-field", "9")
    choose(opened, "focus", "0")
    table = {row[0]: row[1:] for row in rows_behind(opened, "decision-table")}
    scenario = python_scenario(opened)
    gain = float(voros.net_benefit(y_true, prognoses["SPS"], scenario, threshold_probability=0.1))
    assert float(table["SPS"][0]) == pytest.approx(gain, rel=5e-3)
    everybody = float(table["an alarm for everybody"][0])
    rate = y_true.mean()
    assert everybody == pytest.approx(rate - (1 - rate) / 9, rel=5e-3)
    said = text(opened, "decision-text")
    assert "a threshold probability of 10\N{NO-BREAK SPACE}%, SPS gains" in said
    assert f"as {1000 * gain:.3g} true positives" in said
