"""A file dropped on the page in a real browser: Python's numbers, no request, and no row kept."""

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voros
from voros.models import count_models
from voros.present.explorer import render_page
from voros.present.explorer.payload import held_points
from voros.present.explorer.replicates import resampled_counts

pytest.importorskip("selenium")
from present.explorer.driving import (
    complaints,
    element,
    prefer,
    scores,
    text,
    type_into,
    until,
    value,
    written,
)
from selenium.webdriver.common.by import By

pytestmark = pytest.mark.browser

AGREEMENT = 1e-9
OPENING = voros.Scenario(0.2, 0.2, cost_ratio=voros.costs.miss_costs(5, 20))

DROP = """
const byId = (id) => document.getElementById(id);
const until = (ready) => new Promise((resolve) => {
  const look = () => (ready() ? resolve() : setTimeout(look, 2));
  look();
});
const said = () => byId("loader-problem").textContent;
async function drop(name, content) {
  const files = new DataTransfer();
  files.items.add(new File([content], name));
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: files, cancelable: true }));
  await until(() => said() || !byId("columns-form").hidden);
}
async function count() {
  byId("count").click();
  await until(() => said() || !byId("loaded").hidden);
}
const ranking = () =>
  [...document.querySelectorAll("#ranking data")].map((d) => [d.dataset.model, d.value]);
const costs = () => {
  const cells = document.querySelectorAll("#costs [data-column=within]");
  return [...cells].map((cell) => [cell.dataset.model, cell.value]);
};
"""

DROP_ONE = f"""{DROP}
const [name, content, done] = arguments;
drop(name, content).then(count).then(() => done(said()));
"""

DROP_MANY = f"""{DROP}
const [files, done] = arguments;
(async () => {{
  const found = [];
  for (const {{ name, content, hash }} of files) {{
    history.replaceState(null, "", hash);
    await drop(name, content);
    await count();
    const python = byId("as-python").value;
    found.push({{ problem: said(), scores: ranking(), costs: costs(), python }});
  }}
  return found;
}})().then(done);
"""


@pytest.fixture(scope="module")
def empty_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "voros.html"
    path.write_text(render_page(None, OPENING), encoding="utf-8")
    return path


@pytest.fixture
def empty(browser: Any, empty_page: Path) -> Any:
    """The browser, showing a page without data."""
    browser.get("about:blank")
    browser.get(empty_page.as_uri())
    browser.set_script_timeout(120)
    complaints(browser)
    return browser


def write_rows(y: Any, models: dict[str, Any]) -> str:
    """A file of predictions, every score with all its digits."""
    columns = [y.astype(int).tolist(), *(scores.tolist() for scores in models.values())]
    lines = [",".join(["died", *models])]
    lines += [",".join(map(repr, row)) for row in zip(*columns, strict=True)]
    return "\n".join(lines)


def random_cases(rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
    n = int(rng.integers(8, 400))
    y = np.append([True, False], rng.random(n) < rng.uniform(0.05, 0.6))
    special = np.array([np.inf, -np.inf, 0.0, -0.0, 1e300, -5e-324])
    models = {}
    for i in range(int(rng.integers(1, 4))):
        values = rng.normal(size=len(y)) + rng.uniform(0, 2) * y
        values = np.round(values, int(rng.integers(0, 3))) if rng.random() < 0.5 else values
        odd = rng.random(len(y)) < rng.choice([0, 0.1])
        models[f"model {i}"] = np.where(odd, rng.choice(special, len(y)), values)
    return y, models


def random_hash(rng: np.random.Generator) -> str:
    low = rng.uniform(1.5, 30)
    prevalence = "own" if rng.random() < 0.6 else f"{rng.uniform(0.02, 0.9)}"
    limit = f"count={rng.integers(1, 99)}" if rng.random() < 0.4 else f"share={rng.uniform(0.2, 1)}"
    spread = rng.choice(["miss", "ratio"])
    return (
        f"#precision={rng.choice([0, round(rng.uniform(0, 0.9), 2)])}&{limit}"
        f"&miss={low}_{low * rng.choice([1, 4])}&spread={spread}&prevalence={prevalence}"
    )


def python_results(y: Any, models: dict[str, Any], written: str) -> dict[str, Any]:
    """Results of Python in the scenario that the page writes; None where no alarm is possible."""
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        exec(written, names)
        results = {}
        for name, values in models.items():
            try:
                results[name] = voros.evaluate(y, values, names["scenario"])
            except voros.InfeasibleError:
                results[name] = None
    return results


def python_scores(y: Any, models: dict[str, Any], written: str) -> dict[str, float]:
    results = python_results(y, models, written)
    return {name: 0.0 if result is None else result.score for name, result in results.items()}


@pytest.mark.parametrize(
    "n_files", [4, pytest.param(200, marks=pytest.mark.slow)], ids=["4", "200"]
)
def test_random_files_and_settings_score_as_in_python(empty: Any, n_files: int) -> None:
    rng = np.random.default_rng(200)
    cases = [random_cases(rng) for _ in range(n_files)]
    asked = [
        {"name": f"{i}.csv", "content": write_rows(*case), "hash": random_hash(rng)}
        for i, case in enumerate(cases)
    ]
    for start in range(0, n_files, 20):
        outcomes = empty.execute_async_script(DROP_MANY, asked[start : start + 20])
        for case, of_page in zip(cases[start:], outcomes, strict=False):
            assert of_page["problem"] == ""
            expected = python_scores(*case, of_page["python"])
            shown = {name: float(score) for name, score in of_page["scores"]}
            assert shown == pytest.approx(expected, abs=AGREEMENT)
            costs = {name: float(cost) for name, cost in of_page["costs"]}
            for name, result in python_results(*case, of_page["python"]).items():
                if result is None:
                    assert costs[name] == costs["no alarm at all"]
                else:
                    assert costs[name] == pytest.approx(result.in_money(1).per_1000, rel=AGREEMENT)
    assert complaints(empty) == []


def test_nothing_is_asked_of_the_network(empty: Any) -> None:
    empty.get_log("performance")
    y, models = random_cases(np.random.default_rng(1))
    assert empty.execute_async_script(DROP_ONE, "cases.csv", write_rows(y, models)) == ""
    events = [json.loads(entry["message"])["message"] for entry in empty.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith("blob:")] == []
    assert complaints(empty) == []


def test_the_saved_page_is_the_one_that_python_writes(empty: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.3
    models = {"<a> & é": rng.normal(size=300) + y, "b": np.round(rng.normal(size=300) * 1e-5, 9)}
    models["b"][:3] = [1e22, -1e-7, 123456.0]
    models["b"][models["b"] == 0] = 0.0
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    empty.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    assert empty.execute_async_script(DROP_ONE, "cases.csv", write_rows(y, models)) == ""
    until(empty, "document.body.dataset.sure")
    element(empty, "save-page").click()
    saved = tmp_path / "voros-page.html"
    written(saved)
    points = count_models(y, models)
    replicates = resampled_counts(y, models, held_points(points, None))
    expected = render_page(points, OPENING, replicates=replicates)
    assert saved.read_text(encoding="utf-8") == expected


def test_the_form_says_what_it_guessed_and_takes_another_choice(empty: Any) -> None:
    rows = "sick,died,risk\nyes,1,0.5\nno,0,0.25\nyes,0,0.75\nno,1,0.125\n"
    empty.execute_async_script(f"{DROP} drop('cases.csv', arguments[0]).then(arguments[1])", rows)
    assert "taking column 'died' as the label" in text(empty, "loader-notes")
    assert empty.execute_script("return document.getElementById('label-column').value") == "died"
    empty.execute_script(
        "const label = document.getElementById('label-column');"
        "label.value = 'sick'; label.dispatchEvent(new Event('change'));"
    )
    boxes = empty.find_elements(By.CSS_SELECTOR, "#model-columns input:checked")
    assert [box.get_attribute("value") for box in boxes] == ["died", "risk"]
    boxes[0].click()
    empty.execute_script("document.getElementById('positive-label').value = 'yes'")
    assert empty.execute_async_script(f"{DROP} count().then(() => arguments[0](said()))") == ""
    y, risk = np.array([True, False, True, False]), np.array([0.5, 0.25, 0.75, 0.125])
    expected = python_scores(y, {"risk": risk}, value(empty, "as-python"))
    assert scores(empty) == pytest.approx(expected, abs=AGREEMENT)
    element(empty, "again").click()
    assert element(empty, "file").is_displayed()


def test_a_bad_row_is_named_and_mended_by_another_file(empty: Any) -> None:
    said = empty.execute_async_script(DROP_ONE, "cases.csv", "died,risk\n1,0.5\n0,oops\n1,0.75\n")
    assert said == (
        "cases.csv: row 2 (line 3), column 'risk': 'oops' is not a number; fix or remove that row"
    )
    assert not element(empty, "layout").is_displayed()
    assert empty.execute_async_script(DROP_ONE, "mended.csv", "died,risk\n1,0.5\n0,0.25\n") == ""
    assert element(empty, "layout").is_displayed()
    assert complaints(empty) == []


def test_pasted_rows_leave_the_page_once_they_are_counted(empty: Any) -> None:
    secret = "who shall be forgotten "
    rows = "".join(f"{i % 2},0.{i},{secret}{i}\n" for i in range(50))
    empty.execute_script("document.querySelector('#loading details').open = true")
    paste = "document.getElementById('pasted').value = arguments[0]"
    empty.execute_script(paste, f"died,risk,name\n{rows}")
    element(empty, "paste-button").click()
    ready = "until(() => said() || !byId('columns-form').hidden)"
    done = empty.execute_async_script(
        f"{DROP} {ready}.then(count).then(() => arguments[0](said()))"
    )
    assert done == ""
    assert scores(empty).keys() == {"risk"}
    assert empty.execute_script("return document.documentElement.outerHTML").count(secret) == 0
    assert empty.execute_script("return document.getElementById('pasted').value") == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow
def test_axe_finds_nothing_in_the_form_and_on_the_page(empty: Any, scheme: str) -> None:
    prefer(empty, scheme)
    try:
        findings = axe_findings(empty)
        rows = "died,risk\n" + "".join(f"{i % 2},0.{i}\n" for i in range(10, 40))
        empty.execute_async_script(f"{DROP} drop('a.csv', arguments[0]).then(arguments[1])", rows)
        findings += axe_findings(empty)
        empty.execute_async_script(f"{DROP} count().then(arguments[0])")
        for button in ("guide-start", "keep-setting"):
            element(empty, button).click()
        findings += axe_findings(empty)
    finally:
        empty.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert findings == []


def axe_findings(browser: Any) -> list[str]:
    """Whatever axe finds, serious or not."""
    spec = find_spec("axe_core_python")
    if spec is None:
        pytest.skip("axe-core-python is not installed")
    script = Path(str(spec.origin)).with_name("axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(script)
    run = "const done = arguments[0]; axe.run().then(done, (problem) => done(String(problem)));"
    report = browser.execute_async_script(run)
    return [f"{v['id']}: {v['nodes'][0]['html'][:80]}" for v in report["violations"]]


def test_decimal_commas_are_read_from_files_and_from_fields(empty: Any) -> None:
    rng = np.random.default_rng(5)
    y = rng.random(200) < 0.3
    models = {"risk": (rng.random(200) + y).round(4)}
    written = write_rows(y, models).replace(",", ";").replace(".", ",")
    assert empty.execute_async_script(DROP_ONE, "german.csv", written) == ""
    assert "read with decimal commas" in text(empty, "loaded-text")
    type_into(empty, "floor-field", "22,5")
    expected = voros.partial_voros_score(
        y, models["risk"], voros.Scenario(0.225, 0.2, OPENING.costs)
    )
    assert scores(empty)["risk"] == pytest.approx(expected, abs=AGREEMENT)
