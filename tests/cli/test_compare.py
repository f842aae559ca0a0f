"""`voros compare` and the intervals of `voros report` are those of the library."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from cli.cases import LIMITS, write_cases

import voros
from voros.io import read_predictions

SCENARIO = voros.Scenario(0.3, 0.2, voros.costs.miss_costs(5, 20))
QUICK = ("--resamples", "200", "--seed", "7")


@pytest.fixture
def document(voros_command, cases):
    return json.loads(voros_command("compare", cases, "--json", *QUICK, *LIMITS).out)


def test_models_pairs_and_seed_are_the_librarys(document, cases):
    predictions = read_predictions(cases)
    expected = voros.compare(
        predictions.labels, dict(predictions.scores), SCENARIO, n_resamples=200, random_state=7
    )
    assert [row["model"] for row in document["models"]] == list(expected.ranking)
    for row in document["models"]:
        own = expected.models[row["model"]]
        assert (row["estimate"], row["low"], row["high"]) == (own.estimate, own.low, own.high)
    assert [pair["difference"] for pair in document["pairs"]] == [
        pair.difference for pair in expected.pairs
    ]
    assert document["verdict"] == expected.verdict


def test_estimates_are_the_metric_and_differences_their_differences(document, cases):
    predictions = read_predictions(cases)
    scores = {
        model: voros.partial_voros_score(
            predictions.labels,
            predictions.scores_of(model),
            min_precision=0.3,
            capacity=0.2,
            cost_ratio=voros.costs.miss_costs(5, 20),
        )
        for model in predictions.models
    }
    for row in document["models"]:
        assert row["estimate"] == pytest.approx(scores[row["model"]], abs=1e-9)
        assert row["low"] <= row["estimate"] <= row["high"]
    for pair in document["pairs"]:
        expected = scores[pair["first"]] - scores[pair["second"]]
        assert pair["difference"] == pytest.approx(expected, abs=1e-9)
    assert sum(row["share_won"] for row in document["models"]) == pytest.approx(1.0)


def test_table_and_csv(voros_command, cases):
    table = voros_command("compare", cases, *QUICK, *LIMITS)
    assert "good has the highest partial VOROS" in table.out
    rows = list(
        csv.DictReader(
            io.StringIO(
                voros_command("compare", cases, "--csv", "--metric", "auroc", *QUICK, *LIMITS).out
            )
        )
    )
    assert [row["model"] for row in rows] == ["good", "fair", "useless"]


@pytest.mark.slow
def test_groups_are_drawn_whole(voros_command, tmp_path):
    """Every patient four times over: by patient the interval is as wide as without copies."""
    write_cases(tmp_path / "once.csv")
    header, *rows = (tmp_path / "once.csv").read_text().splitlines()
    copies = [f"{i},{row}" for i, row in enumerate(rows) for _ in range(4)]
    (tmp_path / "copies.csv").write_text("\n".join([f"patient,{header}", *copies]))
    columns = ("--label", "died", "--score", "good", "--score", "fair")

    def width(*arguments):
        ran = voros_command(
            "compare", *arguments, *columns, "--json", "--resamples", "1000", *LIMITS
        )
        row = json.loads(ran.out)["models"][0]
        return row["high"] - row["low"]

    once, copied = width("once.csv"), width("copies.csv")
    by_patient = width("copies.csv", "--group", "patient")
    # Copies taken for cases of their own make the interval half as wide as it should be.
    assert copied / once == pytest.approx(0.5, abs=0.15)
    assert by_patient / once == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
def test_a_report_with_everything(voros_command, cases, later_cases, tmp_path):
    arguments = ("report", cases, "--test", later_cases, "-o", "report.html", *QUICK, *LIMITS)
    assert voros_command(*arguments).code == 0
    document = json.loads((tmp_path / "report.json").read_text())
    compared = json.loads(voros_command("compare", cases, "--json", *QUICK, *LIMITS).out)
    by_model = {row["model"]: row for row in compared["models"]}
    for row in document["ranking"]:
        assert row["low"] == by_model[row["model"]]["low"]
        assert row["wins"] == by_model[row["model"]]["share_won"]
    selected = json.loads(
        voros_command("select", cases, "--test", later_cases, "--json", *LIMITS).out
    )
    assert document["policy"] == selected["policy"]
    assert document["test"]["evaluation"] == selected["test"]
    # Files go by their names alone, for folders may name people.
    typed = [argument.name if isinstance(argument, Path) else argument for argument in arguments]
    assert document["command"] == "voros " + " ".join(typed)
    assert np.isclose(document["validation"]["cases"], 400)


@pytest.mark.slow
def test_a_report_on_one_model_with_a_guarantee(voros_command, cases, tmp_path):
    options = ("--score", "good", "--confidence", "0.8", "--title", "One & only")
    ran = voros_command("report", cases, "-o", "report.html", *options, *QUICK, *LIMITS)
    assert ran.code == 0
    document = json.loads((tmp_path / "report.json").read_text())
    assert document["verdict"] is None
    assert document["test"] is None
    row = document["ranking"][0]
    # What the guarantee leaves is at most what all feasible thresholds would score.
    assert row["partial_voros"] <= row["estimate"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "One &amp; only" in page
    assert "limits kept in the population with 80 % confidence" in page


def test_saved_policies_bring_their_limits(voros_command, cases, later_cases):
    for name, capacity in (("large", "0.2"), ("small", "0.05")):
        voros_command(
            *("select", cases, "--min-precision", "0.3", "--miss-costs", "5:20"),
            *("--capacity", capacity, "-o", f"{name}.json"),
        )
    saved = ("--policy", "large.json", "--policy", "small.json")
    document = json.loads(voros_command("compare", later_cases, *saved, "--json", *QUICK).out)
    policies = {n: voros.ThresholdPolicy.from_json(Path(f"{n}.json")) for n in ("large", "small")}
    predictions = read_predictions(later_cases)
    expected = voros.compare_policies(
        predictions.labels,
        {name: predictions.scores_of(one.model) for name, one in policies.items()},
        policies,
        n_resamples=200,
        random_state=7,
    )
    assert document["verdict"] == expected.verdict
    assert document["limits_broken"] == {
        n: list(map(str, v)) for n, v in expected.violations.items()
    }
    for words, said in (
        ((*saved, "--capacity", "0.1"), "--capacity and --policy are mutually exclusive"),
        ((*saved, "--metric", "auroc"), "policies are compared by their expected cost"),
        (("--by", "good", *LIMITS), "--by requires --policy"),
        ((*saved, "--score", "good", "--score", "fair"), "needs one column of scores"),
    ):
        ran = voros_command("compare", later_cases, *words)
        assert (ran.code, said in ran.err) == (2, True), ran.err
