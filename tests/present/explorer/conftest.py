"""A real browser, and the SUPPORT2 page opened in it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import voros
from voros.datasets import load_support2
from voros.present.explorer import write_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1280,900",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    profile = tmp_path_factory.mktemp("profile")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield started
    started.quit()


@pytest.fixture(scope="session")
def support2() -> tuple[Any, dict[str, Any]]:
    patients = load_support2().with_all_prognoses()
    return patients.outcome("hospital_death_within_7_days"), dict(patients.prognoses)


@pytest.fixture(scope="session")
def support2_page(tmp_path_factory: pytest.TempPathFactory, support2: Any) -> Path:
    y_true, prognoses = support2
    return write_page(
        y_true,
        prognoses,
        voros.Scenario(0.25, 0.2, cost_ratio=(1 / 40, 1 / 9)),
        tmp_path_factory.mktemp("page") / "support2.html",
        title="Who should raise the alarm?",
        outcome="hospital death within 7 days",
        cases="patients",
        n_resamples=0,  # intervals come when they come; tests of them have pages of their own
    )


@pytest.fixture
def opened(browser: Any, support2_page: Path) -> Any:
    """The browser, showing the SUPPORT2 page afresh."""
    browser.get("about:blank")
    browser.get(support2_page.as_uri())
    return browser
