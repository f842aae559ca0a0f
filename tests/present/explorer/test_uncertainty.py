"""Resamples on the page: drawn and scored as in Python, and intervals within their error."""

import base64
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from present.explorer.node import answers_of_page, needs_node
from scipy import stats

import voros
from voros.core.coverage import GIVEN_POINTS
from voros.exceptions import ArgumentError
from voros.models import count_models
from voros.present.explorer import write_page
from voros.present.explorer.clusters import cluster_spread
from voros.present.explorer.payload import held_points
from voros.present.explorer.replicates import draws, resampled_counts

SETTINGS = [
    (voros.Scenario(0.3, 0.3, voros.costs.miss_costs(4, 9)), ("miss", 4, 9)),
    (voros.Scenario(0.4, 150, voros.costs.uniform(0.1, 0.4)), ("ratio", 0.1, 0.4)),
    (voros.Scenario(0.5, 1.0, voros.costs.miss_costs(2, 5), 0.4), ("miss", 2, 5)),
    (voros.Scenario(0.0, 1.0, voros.costs.miss_costs(10, 100)), ("miss", 10, 100)),
    (voros.Scenario(0.05, 0.05, voros.costs.miss_costs(20, 60)), ("miss", 20, 60)),
    (voros.Scenario(0.05, 0.9, voros.costs.miss_costs(4, 9), min_recall=0.7), ("miss", 4, 9)),
]


@pytest.fixture(scope="module")
def models() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(5)
    y = rng.random(900) < 0.3
    shared = rng.normal(size=900)
    fine = shared + 0.5 * rng.normal(size=900) + 1.2 * y
    fine[:2] = np.inf, -np.inf
    return y, {"fine": fine, "coarse": np.round(shared + rng.normal(size=900) + 1.1 * y, 1)}


def test_every_case_is_drawn_as_often_as_any_other():
    n, resamples = 50, 2000
    counts = sum(np.bincount(draws(i, n), minlength=n) for i in range(resamples))
    # Chi-square of n - 1 degrees: mean 49, standard deviation 9.9.
    spread = float(((counts - resamples) ** 2 / resamples).sum())
    assert 20 < spread < 90
    firsts = np.array([draws(i, n)[0] for i in range(resamples)])
    seconds = np.array([draws(i, n)[1] for i in range(resamples)])
    assert abs(np.corrcoef(firsts, seconds)[0, 1]) < 4 / np.sqrt(resamples)


def _setting(scenario: voros.Scenario, costs: tuple[str, float, float]) -> dict[str, Any]:
    over, low, high = costs
    return {
        "minPrecision": scenario.min_precision,
        "minRecall": scenario.min_recall or 0,
        "capacity": {"count" if scenario.capacity_is_count else "share": scenario.capacity},
        "prevalence": scenario.prevalence,
        "costs": {"over": over, "low": low, "high": high},
    }


@pytest.fixture(scope="module")
def of_page(models: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _judged_by_page(*models, tmp_path_factory.mktemp("resample"))


def _judged_by_page(
    y: Any, scores: dict[str, Any], folder: Path, patients: Any = None
) -> dict[str, Any]:
    named = {"died": y.astype(int), **scores} | ({} if patients is None else {"patient": patients})
    columns = zip(*(column.tolist() for column in named.values()), strict=True)
    rows = "\n".join([",".join(named), *(",".join(map(repr, row)) for row in columns)])
    settings = []
    for scenario, costs in SETTINGS:
        whole = [voros.partial_voros_score(y, s, scenario) for s in scores.values()]
        settings.append({"setting": _setting(scenario, costs), "scores": whole})
    asked: dict[str, Any] = {"rows": rows, "settings": settings}
    if patients is not None:
        asked["wanted"] = {"label": "died", "scores": list(scores), "patient": "patient"}
    return {**answers_of_page("resample.mjs", asked, folder), "settings": settings}


@needs_node
def test_resamples_are_those_of_python(models: Any, of_page: dict[str, Any]) -> None:
    y, scores = models
    held = held_points(count_models(y, scores), None)
    assert of_page["replicates"] == resampled_counts(y, scores, held)


def _points(model: dict[str, Any], resample: int) -> voros.OperatingPoints:
    size = 2 * (len(model["kept"]) + 1)
    kind = {1: "u1", 2: "<u2", 4: "<u4"}[model["bytes"]]
    counts = np.frombuffer(base64.b64decode(model["counts"]), kind).reshape(-1, 2)
    fp, tp = counts[resample * size // 2 : (resample + 1) * size // 2].astype(np.int64).T
    return voros.OperatingPoints.from_counts(
        np.cumsum(tp)[:-1], np.cumsum(fp)[:-1], int(tp.sum()), int(fp.sum())
    )


@needs_node
def test_resamples_score_as_in_python(models: Any, of_page: dict[str, Any]) -> None:
    held = held_points(count_models(*models), None)
    for (scenario, _), judged in zip(SETTINGS, of_page["judged"], strict=True):
        for model, points, moved in zip(
            of_page["replicates"]["models"], held.values(), judged["moved"], strict=True
        ):
            if len(model["kept"]) < len(points) - 1:
                continue  # limits are reached between counted thresholds, too
            whole = points.take(np.array([0, *(1 + i for i in model["kept"])]), GIVEN_POINTS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", voros.VorosWarning)
                expected = voros.evaluate(whole, scenario=scenario).score
                drawn = [
                    voros.evaluate(_points(model, b), scenario=scenario).score for b in range(9)
                ]
            assert moved[:9] == pytest.approx([score - expected for score in drawn], abs=1e-9)


@pytest.mark.slow
@needs_node
def test_intervals_are_those_of_the_bootstrap(models: Any, of_page: dict[str, Any]) -> None:
    _check_intervals(models, of_page)


def _many_rows() -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(6)
    y = rng.random(100_000) < 0.02
    return y, {name: rng.normal(size=len(y)) + d * y for name, d in (("a", 1.5), ("b", 2.0))}


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("many", [False, True])
def test_intervals_of_patients_are_those_of_the_bootstrap(
    many: bool, models: Any, tmp_path: Path
) -> None:
    y, scores = _many_rows() if many else models
    rng = np.random.default_rng(9)
    n = 20_000 if many else 200
    patients = rng.integers(0, n, len(y)) ** 2 // n  # unequal numbers of cases
    together = {name: score + 0.8 * (patients % 7 == 0) for name, score in scores.items()}
    of_page = _judged_by_page(y, together, tmp_path, patients)
    for (scenario, _), judged in zip(SETTINGS, of_page["judged"], strict=True):
        expected = voros.bootstrap(
            y, together, scenario, groups=patients, n_resamples=100, random_state=0
        )
        for result, interval in zip(expected.values(), judged["intervals"], strict=True):
            assert interval == pytest.approx([result.low, result.high], abs=1e-6)


def test_sums_over_patients_are_the_same_counted_one_by_one(models: Any) -> None:
    y, scores = models
    patients = np.arange(len(y)) % 170
    points = held_points(count_models(y, scores), None)["coarse"]
    text = cluster_spread(y, scores["coarse"], patients, points)
    sums = np.frombuffer(base64.b64decode(text), "<f4").reshape(3, -1)
    sizes = [np.bincount(patients, which) for which in (y, ~y)]
    for row in (1, 9, len(points) - 1):
        alarm = scores["coarse"] >= points.thresholds[row]
        u, v = (
            (np.bincount(patients, which & alarm, len(size)) - rate[row] * size) / size.sum()
            for which, size, rate in zip((y, ~y), sizes, (points.tpr, points.fpr), strict=True)
        )
        assert sums[:, row - 1] == pytest.approx([u @ u, u @ v, v @ v], rel=1e-4, abs=1e-9)


@needs_node
@pytest.mark.slow
def test_intervals_of_many_rows_are_those_of_the_bootstrap(tmp_path: Path) -> None:
    models = _many_rows()
    _check_intervals(models, _judged_by_page(*models, tmp_path))


def _check_intervals(models: Any, of_page: dict[str, Any]) -> None:
    for (scenario, _), judged in zip(SETTINGS, of_page["judged"], strict=True):
        expected = voros.bootstrap(*models, scenario, n_resamples=100, random_state=0)
        for result, interval in zip(expected.values(), judged["intervals"], strict=True):
            assert interval == pytest.approx([result.low, result.high], abs=1e-8)


def _differences(judged: dict[str, Any]) -> Any:
    one, other = judged["moved"]
    return np.subtract(one, other)


@needs_node
def test_models_are_told_apart_by_the_spread_of_the_resamples(of_page: dict[str, Any]) -> None:
    for asked, judged in zip(of_page["settings"], of_page["judged"], strict=True):
        apart, lead = _differences(judged), abs(np.subtract(*asked["scores"]))
        # The 191st smallest of 200 absolute differences is the half-width of a 95 % interval.
        least = np.sort(np.abs(apart))[190]
        best = int(np.argmax(asked["scores"]))
        low, high = judged["behind"][1 - best]
        assert low + high == pytest.approx(2 * lead)
        # At most Student's t quantile with 4 degrees of freedom instead of the normal quantile.
        z = least / np.sqrt(np.mean(apart**2))
        most = stats.t.isf(stats.norm.sf(z), 4) / z * least
        assert least <= (high - low) / 2 <= most * (1 + 1e-6)
        assert judged["behind"][best] == [0, 0]
        assert judged["tied"] == ([0, 1] if low <= 0 else [best])
        if asked["setting"]["prevalence"] is None:
            assert judged["close"] == (low <= 0)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("many", [False, True])
def test_differences_spread_as_in_the_bootstrap(many: bool, models: Any, tmp_path: Path) -> None:
    models = _many_rows() if many else models
    for (scenario, _), judged in zip(
        SETTINGS, _judged_by_page(*models, tmp_path)["judged"], strict=True
    ):
        expected = voros.bootstrap(*models, scenario, n_resamples=2000, random_state=1)
        spread = np.std(np.subtract(*(result.distribution for result in expected.values())))
        # The spread of 200 resamples has a standard error of 5 %.
        assert np.std(_differences(judged)) == pytest.approx(spread, rel=0.16)


@needs_node
@pytest.mark.slow
def test_the_headline_about_equal_models_is_false_in_5_percent_of_files(tmp_path: Path) -> None:
    files = 400
    asked = {"files": files, "rows": 400, "models": 3}
    counts = answers_of_page("equal_models.mjs", asked, tmp_path)
    # At most 5 %, and three standard errors of the simulation.
    for wrong in counts["wrong"]:
        assert wrong / files <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / files)


def test_a_number_of_resamples_that_places_no_end_is_refused(tmp_path: Path) -> None:
    scenario = voros.Scenario(cost_ratio=0.1)
    for wrong in (-1, 5, 99, 10_001, True, 1.5):
        with pytest.raises(ArgumentError, match="n_resamples"):
            write_page([1, 0], [0.5, 0.1], scenario, tmp_path / "a.html", n_resamples=wrong)


def _opened(browser: Any, path: Path) -> str:
    from present.explorer.driving import until

    browser.get(path.as_uri())
    until(browser, "document.body.dataset.sure")
    return str(browser.execute_script("return document.getElementById('verdict').textContent"))


@pytest.mark.browser
@pytest.mark.slow
def test_the_map_is_hatched_where_the_headline_tells_models_not_apart(
    browser: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    y = rng.random(400) < 0.3
    noise = rng.normal(size=400)
    near = {name: noise + 0.7 * rng.normal(size=400) + y for name in "ab"}
    far = {"a": 0.3 * noise + y, "b": noise}
    # The middle of the map is the setting itself, where nothing cuts the map off.
    scenario = voros.Scenario(0.3, 0.2, voros.costs.miss_costs(3, 6))
    for name, scores in {"near": near, "far": far}.items():
        compared = voros.compare(y, scores, scenario, random_state=0)
        (pair,) = compared.pairs
        open_case = pair.low <= 0 <= pair.high
        assert open_case == (name == "near")
        page = write_page(y, scores, scenario, tmp_path / f"{name}.html")
        assert ("cannot be told apart" in _opened(browser, page)) == open_case
        assert "all models together" in _judged(browser)
        assert ("or another" in _middle(browser)) == open_case
    assert browser.execute_script("return document.querySelectorAll('.interval').length") == 3


SAID = """
new MutationObserver(() => {
  const said = document.getElementById("verdict")?.textContent;
  if (said && window.said?.at(-1) !== said) (window.said ??= []).push(said);
}).observe(document, { childList: true, subtree: true, characterData: true });
"""


@pytest.mark.browser
def test_the_headline_is_about_all_models_and_says_first_that_it_is_checking(
    browser: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    y = rng.random(800) < 0.3
    shared = rng.normal(size=800)
    lifts = {"bad": 0.2, "one": 2.0, "two": 2.0, "three": 2.0}
    scores = {name: shared + 0.5 * rng.normal(size=800) + lift * y for name, lift in lifts.items()}
    scenario = voros.Scenario(0.3, 0.3, voros.costs.miss_costs(3, 9))
    page = write_page(y, scores, scenario, tmp_path / "all.html")
    how = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SAID})
    last = _opened(browser, page)
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", how)
    first = browser.execute_script("return window.said[0]")
    assert "checking whether that could be chance" in first
    assert "cannot be told apart; the other model is worse" in last
    assert all(name in last for name in ("one", "two", "three"))
    assert "bad" not in last


@pytest.mark.slow
@pytest.mark.browser
def test_without_resamples_nothing_is_said_about_chance(browser: Any, tmp_path: Path) -> None:
    from present.explorer.driving import text, until

    y = np.arange(100) % 4 == 0
    same = dict.fromkeys("ab", y + np.arange(100) / 80)
    scenario = voros.Scenario(0.3, 0.2, voros.costs.miss_costs(3, 6))
    page = write_page(y, same, scenario, tmp_path / "none.html", n_resamples=0)
    browser.get(page.as_uri())
    assert "has no resamples" in until(browser, "document.getElementById('map-key').textContent")
    assert "without resamples this page cannot say" in text(browser, "verdict")
    assert _middle(browser) == "a"


def _judged(browser: Any) -> str:
    from present.explorer.driving import until

    until(browser, "document.body.dataset.judged")
    return str(browser.execute_script("return document.getElementById('map-key').textContent"))


def _middle(browser: Any) -> str:
    """The cell in the middle of the map's table, in words."""
    from present.explorer.driving import rows_behind

    return rows_behind(browser, "map-table")[3][4]


def _guarantee(browser: Any) -> str:
    from present.explorer.driving import until

    return str(until(browser, "document.getElementById('guarantee').textContent"))


@pytest.mark.browser
def test_the_page_says_whether_a_threshold_is_guaranteed(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    y = rng.random(3000) < 0.3
    scores = {"a": rng.normal(size=3000) + 2 * y, "b": rng.normal(size=3000) + y}
    promise = voros.Guarantee(0.95).split(2)
    said = {}
    for floor in (0.5, 0.79):
        scenario = voros.Scenario(floor, 0.5, voros.costs.known(6, over="miss"))
        page = write_page(y, scores, scenario, tmp_path / f"{floor}.html", n_resamples=0)
        browser.get(page.as_uri())
        said[floor] = _guarantee(browser)
        points = voros.OperatingPoints.from_scores(y, scores["a"])
        (choice,) = voros.evaluate(y, scores["a"], scenario).choices
        allowed = promise.allowed(points, scenario)
        at = int(np.flatnonzero(points.thresholds == choice.threshold)[0])
        last = int(np.flatnonzero(allowed & (np.diff(points.tp, prepend=-1) > 0))[-1])
        if allowed[at]:
            assert said[floor].startswith("With a confidence of 95\N{NO-BREAK SPACE}%")
        else:
            assert f"({points.alarms[last]:,} alarms)" in said[floor]
    assert len(set(said.values())) == 2
