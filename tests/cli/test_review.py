"""Two thresholds chosen, saved and applied in a shell."""

import csv
import io
import json

import numpy as np
import pytest

from voros import Scenario, costs
from voros.io import read_predictions
from voros.policy import ReviewBand, review_band

LIMITS = ("--label", "died", "--score", "good", "--min-precision", "40%", "--miss-costs", "9")
LOOKS = ("--review-capacity", "10%", "--review-cost", "1/50")


@pytest.fixture
def band(voros_command, cases):
    ran = voros_command("review", cases, *LIMITS, *LOOKS, "-o", "band.json")
    assert ran.code == 0, ran.err
    return ReviewBand.from_json("band.json")


def test_the_band_is_that_of_python(voros_command, cases, later_cases, band):
    limits = Scenario(0.4, cost_ratio=costs.miss_costs(9, 9))
    predictions = read_predictions(cases, label="died")
    how = {"review_capacity": 0.1, "review_cost": 0.02}
    expected = review_band(predictions.labels, predictions.scores_of("good"), limits, **how)
    assert (band.alarm_threshold, band.review_threshold) == (
        expected.alarm_threshold,
        expected.review_threshold,
    )
    assert band.model == "good"
    document = json.loads(voros_command("review", cases, *LIMITS, *LOOKS, "--json").out)
    assert document["counts"][0]["recall"] == pytest.approx(expected.validation.recall)
    assert document["alarm_threshold"] == expected.alarm_threshold
    later = read_predictions(later_cases, label="died")
    tested = expected.evaluate(later.labels, later.scores_of("good"))
    ran = voros_command("apply", "band.json", later_cases, "--label", "died", "--json")
    assert json.loads(ran.out)["evaluation"]["recall"] == pytest.approx(tested.recall)
    assert "review from" in voros_command("review", cases, *LIMITS, *LOOKS).out


def test_new_cases_are_decided_by_it(voros_command, later_cases, band):
    ran = voros_command("apply", "band.json", later_cases, "--label", "died")
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    scores = np.array([float(row["good"]) for row in rows])
    alarm, reviewed = (np.array([int(row[name]) for row in rows]) for name in ("alarm", "review"))
    np.testing.assert_array_equal(alarm, scores >= band.alarm_threshold)
    np.testing.assert_array_equal(reviewed + alarm, scores >= band.review_threshold)
    assert f"{reviewed.sum():,} reviews in 400 cases (alarm from " in ran.err
    document = json.loads(voros_command("apply", "band.json", later_cases, "--json").out)
    assert (document["alarms"], document["reviews"]) == (alarm.sum(), reviewed.sum())
    assert document["evaluation"] is None
    broken = voros_command("apply", "band.json", later_cases, "--label", "died", "--check")
    kept = reviewed.sum() <= 0.1 * len(rows) and scores[alarm == 1].size
    assert broken.code in ((0, 1) if kept else (1,))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cost-ratio", "0.1"), "--cost-ratio is not for band.json, a review band"),
        (("--by", "died", "--label", "died"), "--by is not for band.json"),
        (("--time", "died"), "--time requires a capacity per period"),
    ],
)
def test_what_a_band_does_not_use_is_refused(voros_command, later_cases, band, words, message):
    ran = voros_command("apply", "band.json", later_cases, *words)
    assert ran.code == 2
    assert message in ran.errors[0]


def test_options_are_named_where_they_are_wrong(voros_command, cases):
    ran = voros_command("review", cases, *LIMITS, *LOOKS[:1], "many", *LOOKS[2:])
    assert "--review-capacity" in ran.errors[0]
    ran = voros_command("review", cases, *LIMITS, *LOOKS[:2], "--review-cost", "-1")
    assert "--review-cost" in ran.errors[0]
