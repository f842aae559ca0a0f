"""A report on alarms over stays says what the library counts, and nothing of cases."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from alarms.test_points import large_ward

import voros
from voros.present.report import make_report, save_report
from voros.present.report.wording import limits_verdict

pytest.importorskip("matplotlib", reason="a report draws pictures")
pytest.importorskip("jinja2", reason="a report is a template")

RULE = voros.AlarmRule(snooze=3, horizon=5, lead=1)
RATE = "alarms_per_patient_day"
SCENARIO = voros.Scenario(0.2, 1.5, cost_ratio=voros.costs.miss_costs(5, 50), per="patient-day")


def ward_points(seed, n_stays=300):
    stay, hour, score, events = large_ward(seed, n_stays=n_stays)
    noise = score + np.random.default_rng(seed).normal(size=len(score))
    scores = {"good": score, "noisy": noise}
    points = voros.alarm_points(stay=stay, time=hour, score=scores, events=events, rule=RULE)
    return points, stay % 2


@pytest.fixture(scope="module")
def report():
    (points, _), (later, sex) = ward_points(0), ward_points(1)
    how = {"guarantee": voros.Guarantee(0.95), "n_resamples": 100}
    return make_report(
        points, scenario=SCENARIO, y_test=later, by={"sex": sex}, title="Ward", **how
    )


def test_the_document_has_what_a_ward_asks(report, tmp_path):
    document, values = save_report(report, tmp_path / "ward.html")
    text = re.sub(r"<[^>]+>", " ", document.read_text())
    tested = report.tested
    for said in (
        f"{tested.tp} of {tested.n_events} events are caught",
        f"{tested.alarms_per_patient_day:.3g} alarms per patient-day",
        f"{tested.number_needed_to_evaluate:.3g} alarms for each event caught",
        "lead time, quartiles in hours",
        "first alarm useful",
        "limits kept in the population with 95 % confidence",
        "snooze 3h, horizon 5h, lead 1h",
        "sex: 1",
        "false alarms per patient-day",
    ):
        assert said in " ".join(text.split())
    for of_cases in ("Brier", "Net benefit", "specificity", "TN", "1,000 cases"):
        assert of_cases not in text
    content = json.loads(values.read_text())
    assert content["test"]["at_default"]["tp"] == tested.tp
    assert content["validation"]["stays"]["events"] == report.points["good"].n_positive
    assert content["validation"]["at_default"]["alarms"] == report.validated.alarms


def test_the_evaluation_is_that_of_the_policy(report):
    later, _ = ward_points(1)
    alone = report.policy.evaluate_stays(later[report.winner])
    assert report.tested.intervals == alone.intervals
    parts = report.tested.by_subgroup.results
    assert sum(part.tp for part in parts) == alone.tp


@pytest.mark.parametrize(
    ("floor", "rate", "verdict"),
    [
        (-0.01, 0.01, "limits kept"),
        (0.01, 0.01, "precision may be"),
        (-0.01, -0.01, "alarms per patient-day may be"),
    ],
)
def test_limits_that_an_interval_reaches_across_are_named(report, floor, rate, verdict):
    low, most = (report.tested.intervals[name] for name in ("precision", RATE))
    limits = SCENARIO.changed(min_precision=low[0] + floor, capacity=most[1] + rate)
    tested = replace(report.tested, scenario=limits)
    assert verdict in limits_verdict(tested)
    violation = SimpleNamespace()
    assert limits_verdict(replace(tested, violations=(violation,))) == "limits broken"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_test": [0, 1]}, "y_test"),
        ({"by": [0, 1]}, "by"),
        ({"groups": [0, 1]}, "groups"),
    ],
)
def test_arguments_of_cases_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_report(ward_points(0, 40)[0], scenario=SCENARIO, **arguments)


def test_points_of_cases_are_refused():
    points = voros.OperatingPoints.from_scores([0, 1, 0, 1], [0.1, 0.9, 0.8, 0.7])
    with pytest.raises(ValueError, match=r"accepted are labels and scores, or the points of"):
        make_report(points, scenario=voros.Scenario(0.2, cost_ratio=0.1))


def test_events_of_stays_without_a_row_are_said(text_of):
    stay, hour, score, (of, at) = large_ward(0)
    events = np.append(of, [901, 902]), np.append(at, [4, 4])
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=RULE)
    report = make_report({"good": points}, scenario=SCENARIO, n_resamples=100)
    assert report.data["validation"].stays["events_elsewhere"] == 2
    assert "; 2 events of stays without a row are left out patient-days" in text_of(report, "data")
