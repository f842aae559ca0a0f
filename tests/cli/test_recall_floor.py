"""``--min-recall`` is a limit in every command that takes limits, or is refused."""

import json

import numpy as np
import pytest

from voros import ThresholdPolicy
from voros.io import read_predictions

LIMITS = ("--label", "died", "--min-recall", "80%", "--miss-costs", "2:9")


def recall(predictions, model: str, threshold: float) -> float:
    return float(np.mean(predictions.scores_of(model)[predictions.labels] >= threshold))


def test_scores_are_those_of_thresholds_that_find_enough(voros_command, cases):
    document = json.loads(voros_command("score", cases, *LIMITS, "--json").out)
    predictions = read_predictions(cases, label="died")
    for row in document["models"]:
        assert recall(predictions, row["model"], row["threshold_max"]) >= 0.8
    free = json.loads(
        voros_command("score", cases, "--label", "died", "--miss-costs", "2:9", "--json").out
    )
    assert any(
        recall(predictions, row["model"], row["threshold_max"]) < 0.8 for row in free["models"]
    )
    assert "recall: at least 0.8" in voros_command("score", cases, *LIMITS).out


def test_a_policy_is_chosen_saved_and_applied(voros_command, cases, later_cases):
    ran = voros_command("select", cases, *LIMITS, "--output", "policy.json")
    assert ran.code == 0, ran.err
    policy = ThresholdPolicy.from_json("policy.json")
    assert policy.scenario.min_recall == 0.8
    applied = voros_command("apply", "policy.json", later_cases, "--label", "died")
    assert "at least 0.8" in applied.err
    predictions = read_predictions(later_cases, label="died")
    later_recall = recall(predictions, policy.model, policy.threshold())
    assert ("recall: " in applied.err) == (later_recall < 0.8)


def test_a_scenario_file_may_hold_it(voros_command, cases, tmp_path):
    (tmp_path / "limits.toml").write_text("[ward]\nmin_recall = 0.8\nmiss_costs = [2, 9]\n")
    words = ("score", cases, "--label", "died", "--json")
    from_file = voros_command(*words, "--scenarios", "limits.toml").out
    assert from_file == voros_command("score", cases, *LIMITS, "--json").out


def test_a_map_keeps_it_in_every_cell(voros_command, cases):
    grid = ("--min-precision", "0.1:0.5:2", "--capacity", "0.1:1:2")
    ran = voros_command("map", cases, *LIMITS, *grid, "--json")
    assert ran.code == 0, ran.err
    # A tenth of the cases cannot hold 0.8 of the fifth that is positive.
    first = json.loads(ran.out)["cells"][0]
    assert first["capacity"] == pytest.approx(0.1)
    assert first["winner"] is None
    assert "at a recall of 0.8 or more" in voros_command("map", cases, *LIMITS, *grid).out


def test_what_contradicts_it_names_the_options(voros_command, cases):
    ran = voros_command("score", cases, *LIMITS, "--capacity", "5%")
    assert ran.code == 2
    (said,) = ran.errors
    assert said.startswith("voros: error: --min-recall=0.8 and --capacity=0.05 contradict")


def test_a_page_opens_with_it(voros_command, cases, tmp_path):
    page = tmp_path / "page.html"
    assert voros_command("explore", cases, *LIMITS, "--output", str(page)).code == 0
    assert '"minRecall":0.8' in page.read_text()
