"""A capacity per period on the page, and the band over prevalences: against Python."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from present.explorer.node import answers_of_page, needs_node

import voros
from voros.exceptions import ArgumentError
from voros.models import count_models
from voros.present.explorer import write_page
from voros.present.explorer.payload import page_payload


def stream(n: int = 1500) -> tuple[Any, dict[str, Any], Any]:
    rng = np.random.default_rng(4)
    y = rng.random(n) < 0.2
    day = rng.integers(0, 60, n)
    scores = {"good": 1.5 * y + rng.normal(size=n), "fair": 0.8 * y + rng.normal(size=n)}
    keep = day != 30  # a day without a case
    times = np.datetime64("2024-01-01") + day[keep]
    return y[keep], {name: np.round(s[keep], 2) for name, s in scores.items()}, times


def test_breaks_are_those_counted_period_by_period() -> None:
    y, scores, times = stream(300)
    scenario = voros.Scenario(0.2, 3, voros.costs.miss_costs(5, 20), per="day", exceed=0.1)
    periods = voros.Periods.from_times(times, "day")
    points = count_models(y, scores, periods=periods)
    payload = page_payload(points, scenario)
    held = payload["periods"]
    assert (held["n"], payload["setting"]["per"], payload["setting"]["exceed"]) == (60, "day", 0.1)
    for position, model in enumerate(payload["models"]):
        thresholds = [np.inf, *model["thresholds"]]
        for capacity in (1, 3, held["most"] - 1):
            places = held["breaks"][position][capacity - 1]
            for i, threshold in enumerate(thresholds):
                alarms = np.bincount(
                    periods.codes[scores[model["name"]] >= threshold], minlength=60
                )
                assert sum(place <= i for place in places) == (alarms > capacity).sum()


def test_what_a_page_cannot_count_is_refused(tmp_path: Path) -> None:
    y, scores, times = stream(300)
    scenario = voros.Scenario(0.2, 3, 0.1, per="day")
    with pytest.raises(ArgumentError, match="per='day' needs the period of each case"):
        write_page(y, scores, scenario, tmp_path / "page.html")
    with pytest.raises(ArgumentError, match="per cannot be combined with sample_weight"):
        write_page(
            y, scores, scenario, tmp_path / "a.html", times=times, sample_weight=np.ones(len(y))
        )


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("n", [1500, 100_000])
def test_intervals_of_periods_are_those_of_the_bootstrap(n: int, tmp_path: Path) -> None:
    y, scores, times = stream(n)
    named = {"died": y.astype(int), **scores, "day": times}
    rows = zip(*(column.astype(str).tolist() for column in named.values()), strict=True)
    text = "\n".join([",".join(named), *map(",".join, rows)])
    wanted = {"label": "died", "scores": list(scores), "day": "day"}
    costs = voros.costs.miss_costs
    scenarios = [
        voros.Scenario(floor, most * n // 1500, costs(*miss), per="day", exceed=exceed)
        for floor, most, miss, exceed in (
            *((0.3, 4, (5, 20), None), (0.3, 4, (5, 20), 0.1), (0.3, 7, (5, 20), 0.05)),
            *((0.0, 22, (10, 100), None), (0.0, 22, (10, 100), 0.1)),
        )
    ]
    settings, expected = [], []
    for scenario in scenarios:
        low, high = scenario.costs.support
        limits = {"minPrecision": scenario.min_precision, "capacity": {"count": scenario.capacity}}
        limits |= {"exceed": scenario.exceed, "prevalence": None}
        limits |= {"costs": {"over": "miss", "low": low, "high": high}}
        results = voros.bootstrap(y, scores, scenario, times=times, random_state=0)
        settings.append({"setting": limits, "scores": [r.estimate for r in results.values()]})
        expected.append(list(results.values()))
    asked = {"rows": text, "settings": settings, "wanted": wanted}
    judged = answers_of_page("resample.mjs", asked, tmp_path)["judged"]
    for results, of_page in zip(expected, judged, strict=True):
        for result, (low, high) in zip(results, of_page["intervals"], strict=True):
            # The ends of 200 resamples have an error; those of the curve have none.
            error = 0.15 * (result.high - result.low)
            assert (low, high) == pytest.approx((result.low, result.high), abs=error)
            assert low <= result.estimate <= high
        spread = np.std(np.subtract(*(result.distribution for result in results)))
        assert np.std(np.subtract(*of_page["moved"])) == pytest.approx(spread, rel=0.2)


@pytest.mark.browser
@pytest.mark.slow
def test_scores_on_the_page_are_those_of_python(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("selenium")
    from present.explorer.driving import choose, complaints, python_scenario, scores, type_into
    from present.explorer.driving import text as said

    y, models, times = stream()
    scenario = voros.Scenario(0.3, 4, voros.costs.miss_costs(5, 20), per="day", exceed=0.05)
    page = write_page(y, models, scenario, tmp_path / "page.html", times=times)
    browser.get(page.as_uri())
    tried = 0
    for floor, capacity, exceed in (
        *((30, 4, "0.05"), (30, 4, "mean"), (30, 4, "0"), (10, 7, "0.1")),
        *((50, 2, "0.2"), (0, 30, "0.01"), (30, 1, "0.02")),
    ):
        type_into(browser, "floor-field", str(floor))
        type_into(browser, "capacity-field", str(capacity))
        choose(browser, "exceed", exceed)
        stated = python_scenario(browser)
        assert stated.per == "day"
        assert stated.exceed == (None if exceed == "mean" else float(exceed))
        assert stated.capacity == capacity
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", voros.VorosWarning)
            for name, score in scores(browser).items():
                expected = voros.partial_voros_score(y, models[name], stated, times=times)
                assert score == pytest.approx(expected, abs=1e-9)
                tried += 1
    assert tried == 14
    assert "per day, on average and in all but 2\N{NO-BREAK SPACE}%" in said(
        browser, "setting-text"
    )
    assert "alarms ≤ 1 per day, on average and in all but" in said(browser, "limits-short")
    browser.get("about:blank")
    browser.get(page.as_uri() + "#precision=0.3&count=1&miss=5_20&spread=miss&exceed=0.02")
    assert python_scenario(browser).exceed == 0.02
    assert complaints(browser) == []
