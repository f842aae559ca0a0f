"""How the tests move the page's controls and read what it says."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium")
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import voros


def element(browser: Any, identifier: str) -> Any:
    return browser.find_element(By.ID, identifier)


def type_into(browser: Any, field: str, text: str) -> None:
    def typed(driver: Any) -> bool:
        element(driver, field).send_keys(Keys.CONTROL, "a", Keys.NULL, text)
        return True

    # On a busy machine the page may still be drawing its fields.
    WebDriverWait(browser, 10, ignored_exceptions=[StaleElementReferenceException]).until(typed)


def press(browser: Any, slider: str, keys: str) -> None:
    element(browser, slider).send_keys(keys)


def choose(browser: Any, select: str, value: str) -> None:
    Select(element(browser, select)).select_by_value(value)


def scores(browser: Any) -> dict[str, float]:
    """The scores in the ranking, in full precision."""
    rows = "[...document.querySelectorAll('#ranking data')].map(d => [d.dataset.model, d.value])"
    return {name: float(score) for name, score in browser.execute_script(f"return {rows}")}


def text(browser: Any, identifier: str) -> str:
    return str(
        browser.execute_script(
            "return document.getElementById(arguments[0]).textContent", identifier
        )
    )


def value(browser: Any, identifier: str) -> str:
    return str(
        browser.execute_script("return document.getElementById(arguments[0]).value", identifier)
    )


def python_scenario(browser: Any) -> voros.Scenario:
    """The scenario that the page's own Python text makes."""
    names: dict[str, Any] = {}
    exec(value(browser, "as-python"), names)
    scenario = names["scenario"]
    assert isinstance(scenario, voros.Scenario)
    return scenario


def until(browser: Any, script: str) -> Any:
    """Poll the page until the script returns a true value, for at most 30 seconds."""
    return _polled(lambda: browser.execute_script(f"return {script}"), script)


def _polled(ask: Callable[[], Any], what: str) -> Any:
    for _ in range(600):
        if answer := ask():
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not so within 30 seconds: {what}")


def written(*paths: Path) -> None:
    """Wait until the browser has saved these files, and they stop growing."""
    sizes: list[int] = []

    def complete() -> bool:
        nonlocal sizes
        before, sizes = sizes, [path.stat().st_size for path in paths if path.exists()]
        return len(sizes) == len(paths) and all(sizes) and sizes == before

    _polled(complete, f"saved: {[path.name for path in paths]}")


UNTIL_QUIET = """
const done = arguments[0];
let waiting;
const wait = () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { changes.disconnect(); requestAnimationFrame(() => done()); }, 400);
};
const changes = new MutationObserver(wait);
const kinds = { subtree: true, childList: true, attributes: true, characterData: true };
changes.observe(document, kinds);
requestAnimationFrame(() => requestAnimationFrame(wait));
"""
"""Answers once nothing on the page has changed for longer than its own timers wait.

The page's clock decides, so a busy machine slows both.
"""


def settle(browser: Any) -> None:
    """Wait until the page has drawn what the last step asked for."""
    browser.execute_async_script(UNTIL_QUIET)


def rows_behind(browser: Any, details: str) -> list[list[str]]:
    """Open the table behind a chart, and return its rows."""
    browser.execute_script("document.getElementById(arguments[0]).open = true", details)
    rows = f"[...document.querySelectorAll('#{details} tbody tr')]"
    until(browser, f"{rows}.length")
    cells = "map((row) => [...row.cells].map((cell) => cell.textContent))"
    texts: list[list[str]] = browser.execute_script(f"return {rows}.{cells}")
    return texts


def complaints(browser: Any) -> list[str]:
    """What the browser logged as wrong since the last time it was asked."""
    return [entry["message"] for entry in browser.get_log("browser")]


def resize(browser: Any, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(browser: Any, scheme: str) -> None:
    """Ask for a light or a dark page, as a system's settings do."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
