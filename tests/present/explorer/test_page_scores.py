"""In a real browser, moved by keys and typing, the page's scores are Python's."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros
from voros.present.explorer import write_page

pytest.importorskip("selenium")
from present.explorer.driving import (
    choose,
    complaints,
    element,
    press,
    python_scenario,
    scores,
    text,
    type_into,
    value,
)
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.browser

AGREEMENT = 1e-9


def python_scores(support2: Any, scenario: voros.Scenario) -> dict[str, float]:
    y_true, prognoses = support2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        try:
            return {
                name: voros.partial_voros_score(y_true, risk, scenario)
                for name, risk in prognoses.items()
            }
        except voros.InfeasibleError:
            # A capacity that contradicts a recall floor: the page shows 0 and says so.
            return dict.fromkeys(prognoses, 0.0)


def _move_floor(browser: Any, rng: np.random.Generator) -> None:
    if rng.random() < 0.5:
        type_into(browser, "floor-field", f"{rng.uniform(0, 60):.4g}")
    else:
        press(browser, "floor-slider", str(rng.choice([Keys.PAGE_UP, Keys.PAGE_DOWN, Keys.RIGHT])))


def _move_recall(browser: Any, rng: np.random.Generator) -> None:
    type_into(browser, "recall-field", str(rng.choice(["0", "40", "72.5", "95"])))


def _move_capacity(browser: Any, rng: np.random.Generator) -> None:
    unit = str(rng.choice(["share", "count"]))
    choose(browser, "capacity-unit", unit)
    if rng.random() < 0.4:
        press(
            browser, "capacity-slider", str(rng.choice([Keys.PAGE_UP, Keys.PAGE_DOWN, Keys.LEFT]))
        )
    elif unit == "count":
        type_into(browser, "capacity-field", str(rng.integers(1, 7000)))
    else:
        type_into(browser, "capacity-field", f"{rng.uniform(0.5, 100):.5g}")


def _move_costs(browser: Any, rng: np.random.Generator) -> None:
    choose(browser, "spread", str(rng.choice(["miss", "ratio"])))
    if rng.random() < 0.5:
        low = rng.uniform(0.5, 60)
        type_into(browser, "low-field", f"{low:.4g}")
        type_into(browser, "high-field", f"{low * rng.uniform(1, 8):.6g}")
    else:
        press(browser, "low-slider", str(rng.choice([Keys.PAGE_UP, Keys.PAGE_DOWN])))
        press(browser, "high-slider", str(rng.choice([Keys.PAGE_UP, Keys.PAGE_DOWN])))


def _move_prevalence(browser: Any, rng: np.random.Generator) -> None:
    way = rng.random()
    if way < 0.35:
        type_into(browser, "prevalence-field", f"{rng.uniform(1, 60):.4g}")
    elif way < 0.7:
        press(browser, "prevalence-slider", str(rng.choice([Keys.PAGE_UP, Keys.PAGE_DOWN])))
    else:
        element(browser, "own-prevalence").click()


MOVES = (_move_floor, _move_recall, _move_capacity, _move_costs, _move_prevalence)


@pytest.mark.parametrize(
    "n_settings", [3, pytest.param(200, marks=pytest.mark.slow)], ids=["3", "200"]
)
def test_scores_at_random_settings(opened: Any, support2: Any, n_settings: int) -> None:
    rng = np.random.default_rng(42)
    seen: set[str] = set()
    kinds, recalls = set(), set()
    while len(seen) < n_settings:
        MOVES[int(rng.integers(len(MOVES)))](opened, rng)
        scenario = python_scenario(opened)
        seen.add(value(opened, "as-python"))
        recalls.add(scenario.min_recall)
        kinds.add((scenario.capacity_is_count, scenario.costs.over, scenario.prevalence is None))
        assert scores(opened) == pytest.approx(python_scores(support2, scenario), abs=AGREEMENT)
    assert complaints(opened) == []
    assert len(kinds) > min(4, n_settings // 4), "units and switches were moved as well"
    assert n_settings < 50 or len(recalls) == 4


def test_typed_numbers_reach_the_scenario(opened: Any, support2: Any) -> None:
    for field, typed in (
        ("floor-field", "15"),
        ("recall-field", "62.5"),
        ("capacity-field", "50"),
        ("low-field", "6"),
        ("high-field", "9"),
    ):
        type_into(opened, field, typed)
    choose(opened, "spread", "ratio")
    expected = voros.Scenario(0.15, 0.5, cost_ratio=(1 / 9, 1 / 6), min_recall=0.625)
    assert python_scenario(opened) == expected
    assert scores(opened) == pytest.approx(python_scores(support2, expected), abs=AGREEMENT)
    ranked = list(scores(opened).values())
    assert ranked == sorted(ranked, reverse=True)


def test_a_recall_floor_is_drawn_said_and_found_out_of_reach(opened: Any) -> None:
    lowest = (
        "return Math.max(...[...document.querySelector('#roc .region').points].map((p) => p.y))"
    )
    origin = opened.execute_script(lowest)
    type_into(opened, "capacity-field", "60")
    type_into(opened, "floor-field", "15")
    type_into(opened, "recall-field", "80")
    assert opened.execute_script(lowest) < origin - 100
    assert "Held back by the precision floor" in text(opened, "deploy")
    assert "caught ≥ 80\N{NO-BREAK SPACE}%" in text(opened, "limits-short")
    assert "at least 80\N{NO-BREAK SPACE}% caught (sensitivity)" in text(opened, "setting-text")
    type_into(opened, "recall-field", "99")
    assert text(opened, "verdict") == "No model can raise an alarm within these limits."
    assert "within the other limits the best is 91.4\N{NO-BREAK SPACE}%" in text(opened, "notice")
    type_into(opened, "capacity-field", "5")
    assert "contradict each other" in text(opened, "notice")
    assert complaints(opened) == []


def test_thinned_page_stays_within_its_bound(browser: Any, support2: Any, tmp_path: Path) -> None:
    y_true, prognoses = support2
    scenario = voros.Scenario(0.25, 0.2, cost_ratio=voros.costs.miss_costs(9, 40))
    page = write_page(y_true, prognoses, scenario, tmp_path / "thin.html", thin=40)
    browser.get(page.as_uri())
    bound = browser.execute_script(
        "return JSON.parse(document.getElementById('payload').textContent).thinning.largestChange"
    )
    exact, thinned = python_scores(support2, scenario), scores(browser)
    assert 0 < bound < 0.5
    for name in exact:
        assert -AGREEMENT <= exact[name] - thinned[name] <= bound
