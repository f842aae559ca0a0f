"""A page over stays: patient-days are its cases, and its scores are Python's."""

import json
import re
from typing import Any

import numpy as np
import pytest
from alarms.test_points import large_ward

import voros
from voros.present.explorer import render_page, write_page
from voros.present.explorer.patient_days import in_patient_days

SCENARIO = voros.Scenario(0.2, 0.5, cost_ratio=voros.costs.miss_costs(5, 50), per="patient-day")


def ward_points(n_stays: int = 300, **rule: Any) -> dict[str, voros.OperatingPoints]:
    stay, hour, score, events = large_ward(0, n_stays=n_stays)
    noisy = score + np.random.default_rng(0).normal(size=len(score))
    by_rule = voros.AlarmRule(snooze=3, horizon=5, lead=1, **rule)
    columns = {"stay": stay, "time": hour, "events": events, "rule": by_rule}
    points = voros.alarm_points(**columns, score={"good": score, "noisy": noisy})
    assert isinstance(points, dict)
    return points


@pytest.mark.parametrize("floor", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.7])
def test_scores_in_patient_days_are_those_of_stays(floor: float, rate: float) -> None:
    scenario = SCENARIO.changed(min_precision=floor, capacity=rate)
    points = ward_points()
    shown, limits = in_patient_days(points, scenario)
    for name, of_stays in points.items():
        expected = voros.evaluate(of_stays, scenario=scenario)
        found = voros.evaluate(shown[name], scenario=limits)
        assert found.score == pytest.approx(expected.score, abs=1e-12)
        assert found.max_alarms == pytest.approx(expected.max_alarms, rel=1e-12)


def test_guaranteed_thresholds_are_those_of_the_policy() -> None:
    points, limits = ward_points(1500), SCENARIO.changed(min_precision=0.1)
    page = render_page(points, limits, guarantee=voros.Guarantee(0.95))
    held = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert held is not None
    payload = json.loads(held.group(1))
    assert payload["repeated"], "a page tests a guarantee of cases by itself"
    for model, promised in zip(payload["models"], payload["promise"]["models"], strict=True):
        # The error is split over two models.
        allowed = voros.Guarantee(0.975).certified(points[model["name"]], limits)
        certified = points[model["name"]].thresholds[allowed]
        runs = [model["thresholds"][a : b + 1] for a, b in promised["runs"]]
        shown = np.isin(model["thresholds"], certified)
        assert shown.any()
        assert np.array_equal(np.concatenate(runs), np.array(model["thresholds"])[shown])


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (SCENARIO.changed(capacity=1.5), "at most 1 alarm per patient-day"),
        (SCENARIO.changed(capacity=3, per="day"), "a page over stays accepts 'patient-day'"),
        (SCENARIO.changed(prevalence=0.1), "as observed"),
    ],
)
def test_what_a_page_cannot_show_is_refused(scenario: voros.Scenario, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render_page(ward_points(), scenario)


def test_alarms_for_the_capacity_only_are_refused() -> None:
    with pytest.raises(ValueError, match="counts alarms for the capacity only"):
        render_page(ward_points(unfinished="capacity_only"), SCENARIO)


@pytest.mark.browser
def test_the_page_shows_what_python_computes(browser: Any, tmp_path: Any) -> None:
    pytest.importorskip("selenium")
    from present.explorer.driving import complaints, element, scores, text, type_into, until

    points = ward_points()
    path = write_page(points, scenario=SCENARIO, path=tmp_path / "page.html")
    browser.get(path.as_uri())
    type_into(browser, "capacity-field", "30")
    expected = SCENARIO.changed(capacity=0.3)
    for name, score in scores(browser).items():
        found = voros.evaluate(points[name], scenario=expected).score
        assert score == pytest.approx(found, abs=1e-9)
    days = round(points["good"].stays.patient_days)
    assert f"{days} patient-days" in text(browser, "sample")
    until(browser, "document.body.dataset.sure")
    # Without resamples no interval stands under a score, and nothing explains any.
    assert not element(browser, "sure-hint").is_displayed()
    for of_cases in ("fold-how-common", "fold-decision"):
        assert not element(browser, of_cases).is_displayed()
    assert not complaints(browser)
