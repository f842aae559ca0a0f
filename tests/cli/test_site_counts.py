"""Several sites count, one merges, and score, map and select read the counts with intervals."""

import json
import re

import numpy as np
import pytest
from cli.cases import LIMITS, write_cases

import voros
from voros.core.decision import solve
from voros.io import read_predictions

SCENARIO = voros.Scenario(0.3, 0.2, voros.costs.miss_costs(5, 20))
MODELS = ("good", "fair", "useless")


@pytest.fixture
def sites(tmp_path):
    return [write_cases(tmp_path / f"site{i}.csv", 1500, seed=i) for i in range(3)]


@pytest.fixture
def merged(voros_command, sites):
    for file in sites:
        assert voros_command("count", file, "-o", file.with_suffix(".json")).code == 0
    ran = voros_command("merge", *(file.with_suffix(".json") for file in sites), "-o", "all.json")
    assert ran.code == 0, ran.err
    return "all.json"


def score(truth, model, scenario):
    points = voros.OperatingPoints.from_scores(truth[0], truth[1][model])
    return solve(points, scenario).partial_voros


@pytest.fixture
def truth(sites):
    cases = [read_predictions(file) for file in sites]
    labels = np.concatenate([site.labels for site in cases])
    return labels, {m: np.concatenate([site.scores_of(m) for site in cases]) for m in MODELS}


def test_score_shows_an_interval_that_holds_the_score(voros_command, merged, truth):
    ran = voros_command("score", merged, "--json", *LIMITS)
    document = json.loads(ran.out)
    assert document["cases"] == 4500
    for row in document["models"]:
        exact = score(truth, row["model"], SCENARIO)
        assert row["partial_voros_low"] <= exact <= row["partial_voros_high"]
        assert row["partial_voros"] == row["partial_voros_low"]
        assert row["partial_voros_high"] - row["partial_voros_low"] < 0.05
    table = voros_command("score", merged, *LIMITS)
    assert "at most" in table.out
    assert "site1 (1,500 cases)" in table.out


def test_map_needs_cases(voros_command, merged):
    assert "holds counts" in voros_command("map", merged, "--miss-costs", "5:20").errors[0]


def test_select_deploys_a_threshold_between_ranges(voros_command, merged, truth):
    ran = voros_command("select", merged, *LIMITS, "-o", "policy.json", "--json")
    document = json.loads(ran.out)
    assert document["winner"] == "good"
    low, high = (document["ranking"][0][f"partial_voros_{end}"] for end in ("low", "high"))
    assert low <= score(truth, "good", SCENARIO) <= high
    policy = voros.ThresholdPolicy.from_json("policy.json")
    flagged = truth[1]["good"] >= policy.threshold()
    assert flagged.mean() <= 0.2
    assert truth[0][flagged].mean() >= 0.3


def test_rivals_are_named_where_the_counts_are_too_coarse(voros_command, sites):
    for file in sites[:2]:
        options = ("--site", file.stem, "--min-rows", "500", "-o", file.with_suffix(".json"))
        assert voros_command("count", file, *options).code == 0
    voros_command("merge", "site0.json", "site1.json", "-o", "all.json")
    ran = voros_command("score", "all.json", *LIMITS)
    assert ran.code == 0
    assert "the counts leave open whether" in ran.out
    assert "inside a range a threshold may reach more" in ran.out
    refused = voros_command("select", "all.json", *LIMITS)
    assert refused.code == 2
    assert "a threshold inside a range may" in refused.err


def test_counts_travel_through_pipes_and_gzip(voros_command, sites, tmp_path):
    import gzip

    ran = voros_command("count", sites[0], "--score", "good")
    assert json.loads(ran.out)["sites"][0]["name"] == "site0"
    piped = voros_command("score", "-", "--json", *LIMITS, stdin=ran.out.encode())
    (tmp_path / "site0.json.gz").write_bytes(gzip.compress(ran.out.encode()))
    packed = voros_command("score", "site0.json.gz", "--json", *LIMITS)
    assert json.loads(piped.out)["models"] == json.loads(packed.out)["models"]


REFUSED = [
    (("score", "all.json", "--label", "died"), "--label is for files of cases"),
    (("score", "all.json", "--score", "none"), "--score ='none' is not counted"),
    (
        ("score", "all.json", "--engine", "duckdb"),
        "all.json is document; engines count",
    ),
    (
        ("select", "all.json", "--confidence", "0.9"),
        "--confidence needs every threshold, and all.json holds counts",
    ),
    (("count", "all.json"), "holds counts already"),
    (("count", "site0.csv", "--min-rows", "0"), "--min-rows =0; accepted"),
    (("merge", "site0.json", "site0.json"), "site 'site0' is in both"),
    (("merge", "site0.csv"), "is not JSON"),
]


def test_what_does_not_fit_is_refused_in_one_line(voros_command, merged):
    for arguments, message in REFUSED:
        limits = () if arguments[0] in ("count", "merge") else LIMITS
        ran = voros_command(*arguments, *limits)
        assert ran.code == 2
        assert len(ran.errors) == 1
        assert message in re.sub(r"(--[a-z-]+)=", r"\1 =", ran.errors[0])


def test_labels_coded_the_other_way_round_are_warned_of(voros_command, tmp_path):
    """The names fit: only the share of positives shows it."""
    for name, one in (("north", "1"), ("south", "1"), ("odd", "0")):
        zero = "10"[int(one)]
        rows = [f"{one if row % 10 == 0 else zero},{row / 100}" for row in range(100)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["died,risk", *rows]))
        voros_command("count", f"{name}.csv", "--label", "died", "-o", f"{name}.json")
    ran = voros_command("merge", "north.json", "south.json", "odd.json", "-o", "all.json")
    assert ran.code == 0
    assert "90 % of the cases of site 'odd' are positive, and 10 % of the others" in ran.err
    ran = voros_command("merge", "north.json", "south.json", "-o", "two.json")
    assert "positive" not in ran.err


def test_swapped_labels_are_refused(voros_command, sites):
    voros_command("count", sites[0], "-o", "a.json")
    voros_command("count", sites[1], "--pos-label", "0", "-o", "b.json")
    ran = voros_command("merge", "a.json", "b.json", "-o", "both.json")
    assert ran.code == 2
    assert "site0 and site1 do not fit together: positive label '1' and '0'" in ran.err


def test_a_site_may_have_one_class_only(voros_command, sites, tmp_path):
    quiet = "died,good,fair,useless\n" + "".join(
        f"0,{i / 99},{i / 99},{i / 99}\n" for i in range(300)
    )
    (tmp_path / "quiet.csv").write_text(quiet)
    assert voros_command("count", "quiet.csv", "--label", "died", "-o", "q.json").code == 0
    voros_command("count", sites[0], "-o", "a.json")
    assert voros_command("merge", "a.json", "q.json", "-o", "both.json").code == 0
    assert voros_command("score", "both.json", *LIMITS).code == 0


def test_a_site_that_costs_all_others_their_ranges_is_refused(voros_command, sites, tmp_path):
    """Every score from 0 to 1 would be possible."""
    few = "died,good,fair,useless\n" + "".join(
        f"{i % 2},{5 * i % 13},{i * i % 7},{-7 * i % 13}\n" for i in range(12)
    )
    (tmp_path / "few.csv").write_text(few)
    for file in (*sites, tmp_path / "few.csv"):
        voros_command("count", file, "--label", "died", "-o", file.with_suffix(".json"))
    files = ("site0.json", "few.json", "site1.json")
    ran = voros_command("merge", *files, "-o", "all.json")
    assert ran.code == 2
    assert "merged, 'good' has one range of scores, and its interval is 0 to 1" in ran.err
    assert "site 'few' has 1" in ran.err
    assert not (tmp_path / "all.json").exists()
    ran = voros_command("merge", *files, "-o", "all.json", "--force")
    assert ran.code == 0
    assert "warning: merged, 'good' has only 1 range of scores" in ran.err
    bounds = voros.SiteCounts.from_json(tmp_path / "all.json").bounds(SCENARIO)
    assert bounds["good"] == (0, 1)


def test_models_that_order_cases_alike_are_refused(tmp_path, voros_command):
    rng = np.random.default_rng(3)
    died = rng.random(3000) < 0.15
    risk = 1 / (1 + np.exp(-(rng.normal(size=3000) + 1.5 * died - 2)))
    columns = {"died": died.astype(int), "risk": risk, "gone": -np.log(risk)}
    lines = [",".join(map(repr, row)) for row in np.column_stack(list(columns.values())).tolist()]
    (tmp_path / "north.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
    ran = voros_command("count", "north.csv", "--label", "died")
    assert ran.code == 2
    assert "'risk' and 'gone' order the cases in reverse" in ran.err
    ran = voros_command("count", "north.csv", "--label", "died", "--score", "risk")
    assert ran.code == 0


def test_the_shell_counts_since(tmp_path, voros_command):
    rng = np.random.default_rng(3)
    died = rng.random(3000) < 0.15
    risk = 1 / (1 + np.exp(-(rng.normal(size=3000) + 1.5 * died - 2)))
    lines = ["died,risk", *(f"{int(y)},{x!r}" for y, x in zip(died, risk.tolist(), strict=True))]
    for name, n_rows in (("may", 2800), ("june", 3000)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines[: n_rows + 1]) + "\n")
    how = ("--label", "died", "--site", "north")
    assert voros_command("count", "may.csv", *how, "-o", "may.json").code == 0
    ran = voros_command("count", "june.csv", *how, "--since", "may.json", "-o", "june.json")
    assert ran.code == 0, ran.err
    june = voros.SiteCounts.from_json(tmp_path / "june.json")
    assert 1 < len(june.models["risk"].rows) <= 20
