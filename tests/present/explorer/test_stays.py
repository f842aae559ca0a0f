"""A page over stays: patient-days are its cases, and its scores are Python's."""

import json
import re
from typing import Any

import numpy as np
import pytest
from alarms.test_points import large_ward
from alarms.ward_by_rows import Ward, follow

import voros
from voros.present.explorer import render_page, write_page

SCENARIO = voros.Scenario(0.2, 0.5, cost_ratio=voros.costs.miss_costs(5, 50), per="patient-day")


COUNTS: list[dict[str, Any]] = [
    {},
    {"repeats": "capacity_only"},
    {"unfinished": "capacity_only"},
]


def ward_points(n_stays: int = 300, **rule: Any) -> dict[str, voros.OperatingPoints]:
    stay, hour, score, events = large_ward(0, n_stays=n_stays)
    noisy = score + np.random.default_rng(0).normal(size=len(score))
    by_rule = voros.AlarmRule(snooze=3, horizon=5, lead=1, **rule)
    columns = {"stay": stay, "time": hour, "events": events, "rule": by_rule}
    points = voros.alarm_points(**columns, score={"good": score, "noisy": noisy})
    assert isinstance(points, dict)
    return points


def payload_of(page: str) -> dict[str, Any]:
    held = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert held is not None
    payload: dict[str, Any] = json.loads(held.group(1))
    return payload


@pytest.mark.filterwarnings("ignore::voros.exceptions.UnmatchedEventsWarning")
@pytest.mark.parametrize("counts", COUNTS)
def test_a_page_holds_the_alarms_that_a_loop_over_rows_counts(counts: dict[str, Any]) -> None:
    rng = np.random.default_rng(7)
    rows, stays = 400, 30
    ward = Ward(
        rng.integers(0, stays, rows).tolist(),
        rng.integers(0, 60, rows).tolist(),
        rng.normal(size=rows).tolist(),
        list(range(stays // 2)),
        rng.integers(10, 70, stays // 2).tolist(),
    )
    rule = voros.AlarmRule(snooze=2, horizon=20, lead=1, **counts)
    points = voros.alarm_points(
        stay=ward.stay, time=ward.hour, score=ward.score, events=ward.events, rule=rule
    )
    (model,) = payload_of(render_page({"risk": points}, SCENARIO))["models"]
    raised = [tp + fp for tp, fp in zip(model["tp"], model["fp"], strict=True)]
    by_page = zip(model["tp"], model["fp"], model.get("capacityAlarms", raised), strict=True)
    by_rows = [follow(ward, rule, threshold)[:3] for threshold in model["thresholds"]]
    assert list(by_page) == by_rows
    assert ("capacityAlarms" in model) == bool(counts)


def test_the_capacity_ends_where_an_alarm_always_sounds() -> None:
    points = ward_points()
    payload = payload_of(render_page(points, SCENARIO))
    stays = points["good"].stays
    assert stays is not None
    # The lowest threshold alarms every 3 hours, the snooze, until the event or the last row.
    always = max(model.alarms[-1] for model in points.values()) / stays.patient_days
    assert 1 < always < payload["cases"]["mostRate"] <= always + 1 <= 24 / 3 + 2
    assert payload["setting"]["capacity"] == {"share": 0.5}
    high = payload_of(render_page(points, SCENARIO.changed(capacity=40)))
    assert (high["cases"]["mostRate"], high["setting"]["capacity"]) == (40, {"share": 40.0})
    whole = payload_of(render_page(points, SCENARIO.changed(capacity=2)))
    assert whole["setting"]["capacity"] == {"share": 2.0}
    free = payload_of(render_page(points, SCENARIO.changed(capacity=1.0, per=None)))
    assert free["setting"]["capacity"] == {"share": free["cases"]["mostRate"]}


def test_guaranteed_thresholds_are_those_of_the_policy() -> None:
    points, limits = ward_points(1500), SCENARIO.changed(min_precision=0.1)
    page = render_page(points, limits, guarantee=voros.Guarantee(0.95))
    payload = payload_of(page)
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
        (SCENARIO.changed(capacity=3, per="day"), "a page over stays accepts 'patient-day'"),
        (SCENARIO.changed(prevalence=0.1), "as observed"),
    ],
)
def test_what_a_page_cannot_show_is_refused(scenario: voros.Scenario, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        render_page(ward_points(), scenario)


@pytest.mark.browser
@pytest.mark.parametrize("rate", [0.3, pytest.param(2.5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("counts", COUNTS)
def test_the_page_shows_what_python_computes(
    browser: Any, tmp_path: Any, rate: float, counts: dict[str, Any]
) -> None:
    pytest.importorskip("selenium")
    from present.explorer.driving import (
        complaints,
        element,
        python_scenario,
        scores,
        text,
        type_into,
        until,
        value,
    )

    points = ward_points(**counts)
    path = write_page(points, scenario=SCENARIO, path=tmp_path / "page.html")
    browser.get(path.as_uri())
    type_into(browser, "floor-field", "0")
    type_into(browser, "capacity-field", f"{100 * rate:g}")
    expected = python_scenario(browser)
    limits = (expected.min_precision, expected.capacity, expected.per)
    assert limits == (0, rate, "patient-day")
    for name, score in scores(browser).items():
        python_score = voros.evaluate(points[name], scenario=expected).score
        assert score == pytest.approx(python_score, abs=1e-9)
    assert f"at most {rate:g} alarms per patient-day" in text(browser, "setting-text")
    assert re.search(r"in 100 patient-days, \d+ alarms", text(browser, "consequence"))
    model, deployed = text(browser, "deploy").split(": ", 1)
    threshold = float(value(browser, "exact-threshold"))
    counted = points[model].counted_alarms[points[model].thresholds == threshold].item()
    in_capacity = counted / points[model].stays.patient_days
    assert f"{in_capacity:.3g} alarms per patient-day count for the capacity." in deployed
    assert in_capacity <= rate
    days = round(points["good"].stays.patient_days)
    assert f"{days} patient-days" in text(browser, "sample")
    until(browser, "document.body.dataset.sure")
    # Without resamples no score has an interval, so the explanation of intervals is hidden.
    assert not element(browser, "sure-hint").is_displayed()
    for of_cases in ("fold-how-common", "fold-decision"):
        assert not element(browser, of_cases).is_displayed()
    assert not complaints(browser)


@pytest.mark.browser
def test_an_address_and_a_field_take_rates_up_to_an_alarm_that_always_sounds(
    browser: Any, tmp_path: Any
) -> None:
    pytest.importorskip("selenium")
    from present.explorer.driving import complaints, press, python_scenario, text, type_into

    path = write_page(ward_points(), scenario=SCENARIO, path=tmp_path / "page.html")
    browser.get("about:blank")
    browser.get(f"{path.as_uri()}#share=2.5&precision=0.05")
    assert python_scenario(browser).capacity == 2.5
    type_into(browser, "capacity-field", "100000")
    most = payload_of(path.read_text(encoding="utf-8"))["cases"]["mostRate"]
    assert f"a percentage above 0, up to {100 * most};" in text(browser, "capacity-problem")
    press(browser, "capacity-slider", "\ue010")  # the key End
    assert python_scenario(browser).capacity == most
    assert not complaints(browser)
