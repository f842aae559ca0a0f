"""The SUPPORT2 page, opened in a browser."""

from pathlib import Path
from typing import Any

import pytest

import voros
from voros.datasets import load_support2
from voros.present.explorer import write_page


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


UNFOLD = """
const parts = ["threshold", "decision", "costs", "map", "compare", "how-common", "recall"];
const names = parts.map((part) => `fold-${part}`);
try {
  const open = JSON.stringify([...names, "guide"]);
  if (location.search !== "?keep-folds") localStorage.setItem("voros.open", open);
} catch {}
"""
"""Opens every section of a page before its script runs: most tests are about what is in them."""


@pytest.fixture(scope="session")
def browser(browser: Any) -> Any:
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": UNFOLD})
    return browser


@pytest.fixture
def opened(browser: Any, support2_page: Path) -> Any:
    """The browser, showing the SUPPORT2 page afresh."""
    browser.get("about:blank")
    browser.get(support2_page.as_uri())
    return browser
