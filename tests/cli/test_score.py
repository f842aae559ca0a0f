"""`voros score` prints the numbers of the library, in three forms."""

import csv
import io
import json
import math
import os
from pathlib import Path

import pytest
from cli.cases import LIMITS

from voros import Scenario, costs, partial_voros_score
from voros.io import read_predictions

PREDICTIONS = os.environ.get("VOROS_PAPER_PREDICTIONS")


def test_scores_are_those_of_the_metric(voros_command, cases):
    ran = voros_command("score", cases, "--label", "died", "--json", *LIMITS)
    assert ran.code == 0
    document = json.loads(ran.out)
    predictions = read_predictions(cases, label="died")
    for row in document["models"]:
        expected = partial_voros_score(
            predictions.labels,
            predictions.scores_of(row["model"]),
            min_precision=0.3,
            capacity=0.2,
            cost_ratio=costs.miss_costs(5, 20),
        )
        assert row["partial_voros"] == expected
    scores = [row["partial_voros"] for row in document["models"]]
    assert scores == sorted(scores, reverse=True)
    assert document["models"][0]["model"] == "good"


def test_every_choice_keeps_the_limits_when_counted_again(voros_command, cases):
    document = json.loads(voros_command("score", cases, "--json", *LIMITS).out)
    predictions = read_predictions(cases)
    for row in document["models"]:
        for choice in row["choices"]:
            alarms = predictions.scores_of(row["model"]) >= choice["threshold"]
            tp = (alarms & predictions.labels).sum()
            assert (tp, alarms.sum()) == (choice["tp"], choice["alarms"])
            assert alarms.sum() <= 0.2 * predictions.n_cases
            assert tp >= 0.3 * alarms.sum()


def test_a_coin_has_the_closed_form(voros_command, tmp_path):
    (tmp_path / "coin.csv").write_text("label,score\n1,0.5\n0,0.5\n")
    (tmp_path / "limits.toml").write_text("[any]\nt = [0, 1]\n")
    ran = voros_command("score", "coin.csv", "--scenarios", "limits.toml", "--csv")
    assert float(next(csv.DictReader(io.StringIO(ran.out)))["partial_voros"]) == pytest.approx(
        1.5 - math.log(2), abs=1e-12
    )


def test_where_every_alarm_must_be_right(voros_command, tmp_path):
    # Two of four positives above every negative, capacity for three: (2/3)^2.
    scores = [9, 8, 5, 4, 7, 6, 3, 2]
    labels = [1, 1, 1, 1, 0, 0, 0, 0]
    rows = [f"{y},{s}" for y, s in zip(labels, scores, strict=True)]
    (tmp_path / "strict.csv").write_text("\n".join(["label,score", *rows]))
    limits = ("--min-precision", "1", "--capacity", "3", "--cost-ratio", "1/9:1/6")
    ran = voros_command("score", "strict.csv", "--csv", *limits)
    row = next(csv.DictReader(io.StringIO(ran.out)))
    assert float(row["partial_voros"]) == pytest.approx(4 / 9, abs=1e-15)


@pytest.mark.skipif(PREDICTIONS is None, reason="VOROS_PAPER_PREDICTIONS names no folder")
@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (("--min-precision", ".15", "--capacity", "0.5", "--cost-ratio", "1/9:1/6"), 0.5220415830),
        (("--min-precision", ".5", "--capacity", "10%", "--cost-ratio", "1/40:1/20"), 0.0957881547),
    ],
)
def test_the_papers_validation_file(voros_command, limits, expected):
    file = Path(str(PREDICTIONS)) / "scenario1_pvoros_valid.csv"
    ran = voros_command("score", file, "--score", "proba_y_eq_1", "--json", *limits)
    assert json.loads(ran.out)["models"][0]["partial_voros"] == pytest.approx(expected, abs=1e-10)


def test_the_table_for_people_names_models_and_limits(voros_command, cases):
    ran = voros_command("score", cases, *LIMITS)
    assert ran.code == 0
    lines = ran.out.splitlines()
    rows = [line.split()[0] for line in lines if line.split()[:1] in (["good"], ["useless"])]
    assert rows == ["good", "useless"]
    assert "400 cases" in lines[-1]
    assert "a miss costs 5 to 20 times a false alarm" in lines[-1]
    assert "\x1b" not in ran.out + ran.err


def test_guesses_go_to_the_standard_error_stream(voros_command, cases):
    ran = voros_command("score", cases, "--json", *LIMITS)
    assert "'died' as the label" in ran.err
    json.loads(ran.out)


def test_standard_input_and_weights(voros_command):
    rows = b"label,n,score\n1,2,0.9\n0,3,0.5\n1,1,0.4\n0,4,0.1\n"
    limits = ("--capacity", "0.5", "--cost-ratio", "0.1:0.5", "--weight", "n", "--json")
    ran = voros_command("score", "-", *limits, stdin=rows)
    expected = partial_voros_score(
        [1, 1, 0, 0, 0, 1, 0, 0, 0, 0],
        [0.9, 0.9, 0.5, 0.5, 0.5, 0.4, 0.1, 0.1, 0.1, 0.1],
        capacity=0.5,
        cost_ratio=(0.1, 0.5),
    )
    assert json.loads(ran.out)["models"][0]["partial_voros"] == pytest.approx(expected, abs=1e-12)


def test_another_prevalence(voros_command, cases):
    ran = voros_command("score", cases, "--json", "--prevalence", "10%", *LIMITS)
    predictions = read_predictions(cases)
    scenario = Scenario(0.3, 0.2, costs.miss_costs(5, 20), prevalence=0.1)
    for row in json.loads(ran.out)["models"]:
        expected = partial_voros_score(
            predictions.labels,
            predictions.scores_of(row["model"]),
            min_precision=scenario.min_precision,
            capacity=scenario.capacity,
            cost_ratio=scenario.costs,
            prevalence=0.1,
        )
        assert row["partial_voros"] == pytest.approx(expected, rel=1e-12)


def test_check_tells_by_its_exit_code(voros_command, cases):
    reachable = voros_command("score", cases, "--check", *LIMITS)
    limits = ("--min-precision", "0.99", "--capacity", "0.5", "--cost-ratio", "1/9")
    beyond = voros_command("score", cases, "--score", "useless", "--check", *limits)
    assert (reachable.code, beyond.code) == (0, 1)
    assert "none meets the limits" in beyond.out


def test_named_scenarios(voros_command, cases, tmp_path):
    (tmp_path / "limits.toml").write_text(
        "[ward]\nmin_precision = 0.3\ncapacity = 0.2\nmiss_costs = [5, 20]\n"
        '[other]\ncost_ratio = "1/9:1/6"\n'
    )
    direct = voros_command("score", cases, "--csv", *LIMITS)
    named = voros_command(
        "score", cases, "--csv", "--scenarios", "limits.toml", "--scenario", "ward"
    )
    assert named.out == direct.out
    replaced = voros_command(
        *("score", cases, "--csv", "--scenarios", "limits.toml", "--scenario", "other"),
        *LIMITS,
    )
    assert replaced.out == direct.out


def test_costs_that_look_turned_round_are_doubted(voros_command, cases):
    turned = voros_command("score", cases, "--cost-ratio", "9")
    assert turned.code == 0
    assert "write --miss-costs 9" in turned.err
    assert "--miss-costs" not in voros_command("score", cases, "--cost-ratio", "1/9").err


def test_costs_turned_round_are_warned_of_once(voros_command, tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("y,risk\n" + "".join(f"{i % 2},{i}\n" for i in range(20)), encoding="utf-8")
    done = voros_command("score", path, "--label", "y", "--cost-ratio", "5:20")
    assert done.err.count("--miss-costs 5:20") == 1
    assert "5 to 20 times as much as a miss" in done.err
