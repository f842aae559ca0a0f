"""Subgroups from the command line: --by in apply, select and report."""

import csv
import io
import json

import numpy as np
import pytest
from cli.cases import LIMITS, write_cases

from voros.io import read_predictions


def with_groups(path, seed):
    """Add a column of text and one of numbers to a file of cases."""
    header, *rows = write_cases(path, seed=seed).read_text().splitlines()
    rng = np.random.default_rng(seed)
    sex, site = rng.choice(["f", "m"], len(rows)), rng.integers(1, 4, len(rows))
    added = [f"{row},{s},{n}" for row, s, n in zip(rows, sex, site, strict=True)]
    path.write_text("\n".join([f"{header},sex,site", *added]) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    return with_groups(tmp_path / "valid.csv", 0), with_groups(tmp_path / "test.csv", 1)


@pytest.fixture
def policy(voros_command, files):
    chosen = ("--score", "good", "--label", "died")
    assert voros_command("select", files[0], *chosen, *LIMITS, "-o", "policy.json").code == 0
    return "policy.json"


def test_apply_counts_each_group(voros_command, files, policy):
    by = ("--by", "sex", "--by", "site")
    ran = voros_command("apply", policy, files[1], "--label", "died", *by, "--json")
    document = json.loads(ran.out)
    cases = read_predictions(files[1], label="died", scores=["good"], by=["sex", "site"])
    alarms = cases.scores_of("good") >= document["threshold"]
    subgroups = document["evaluation"]["by_subgroup"]["subgroups"]
    assert [(row["column"], row["subgroup"]) for row in subgroups] == [
        *(("sex", "f"), ("sex", "m")),
        *(("site", "1"), ("site", "2"), ("site", "3")),
    ]
    for row in subgroups:
        member = cases.by[row["column"]].astype(str) == row["subgroup"]
        tp, raised = (alarms & member & cases.labels).sum(), (alarms & member).sum()
        assert (row["cases"], row["alarms"]) == (member.sum(), raised)
        assert row["precision"] == pytest.approx(tp / raised)
    assert document["evaluation"]["by_subgroup"]["confidence_each"] == pytest.approx(0.99)
    lines = voros_command("apply", policy, files[1], "--label", "died", *by, "--csv").out
    assert [row["subgroup"] for row in csv.DictReader(io.StringIO(lines))] == [
        "f",
        "m",
        "1",
        "2",
        "3",
    ]


def test_select_reports_the_groups_of_the_test_cases(voros_command, files):
    by = ("--by", "sex", "--by", "site")
    ran = voros_command("select", files[0], "--label", "died", "--test", files[1], *by, *LIMITS)
    assert ran.code == 0
    assert "sex: f" in ran.out
    assert "site: 3" in ran.out
    assert "Bonferroni" in ran.out
    # A numbered column that names subgroups is no model.
    assert "'site'" not in ran.err
    ran = voros_command(
        "select", files[0], "--label", "died", "--test", files[1], *by, *LIMITS, "--json"
    )
    document = json.loads(ran.out)
    assert len(document["test"]["by_subgroup"]["subgroups"]) == 5
    assert len(document["test_default"]["by_subgroup"]["subgroups"]) == 5


def test_check_fails_where_a_group_breaks_its_floor(voros_command, files, policy):
    # In one site no alarm is right; all cases together keep the floor.
    rows = ["1,9,big"] * 30 + ["0,-9,big"] * 370 + ["0,9,bad"] * 14
    files[1].write_text("\n".join(["died,good,site", *rows]) + "\n")
    apply = ("apply", policy, files[1], "--label", "died", "--check", "-o", "out.csv", "--force")
    assert voros_command(*apply).code == 0
    assert voros_command(*apply, "--by", "site").code == 1


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("apply", ("--by", "sex"), "--by requires --label"),
        ("apply", ("--label", "died", "--by", "sx"), "no column 'sx' (--by); did you mean 'sex'"),
        ("select", ("--by", "sex"), "--by requires --test"),
        ("report", ("--by", "sex", "-o", "r.html"), "--by requires --test"),
    ],
)
def test_what_cannot_be_reported_is_refused(
    voros_command, files, policy, command, options, message
):
    inputs = (policy, files[1]) if command == "apply" else (files[0], "--label", "died", *LIMITS)
    ran = voros_command(command, *inputs, *options)
    assert ran.code == 2
    assert message in ran.errors[-1]


@pytest.mark.slow
def test_the_report_has_a_block_of_groups(voros_command, files, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    ran = voros_command(
        *("report", files[0], "--label", "died", "--score", "good", "--test", files[1], *LIMITS),
        *("--by", "sex", "--resamples", "100", "-o", "r.html"),
    )
    assert ran.code == 0
    page = (tmp_path / "r.html").read_text()
    assert "Subgroups of the test cases" in page
    assert "sex: f" in page
    assert "Precision, recall and cost in each subgroup" in page
    document = json.loads((tmp_path / "r.json").read_text())
    rows = document["test"]["evaluation"]["by_subgroup"]["subgroups"]
    assert [row["subgroup"] for row in rows] == ["f", "m"]


def test_the_page_has_counts_of_groups_and_no_rows(voros_command, files, tmp_path):
    words = ("explore", "test.csv", "--label", "died", "--min-precision", "0.3", "-o", "page.html")
    ran = voros_command(*words, "--by", "sex")
    assert ran.code == 0, ran.err
    page = (tmp_path / "page.html").read_text()
    payload = json.loads(page.split('id="payload">')[1].split("</script>")[0])
    assert payload["groups"]["names"][0].startswith("sex: ")
    assert len(payload["groups"]["models"]) == len(payload["models"])
    assert voros_command("explore", "--by", "sex", "-o", "empty.html").code == 2
