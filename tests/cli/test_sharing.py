"""The command for a shared capacity, against the function."""

import csv
import json

import numpy as np
import pytest
from cli.cases import write_cases

import voros

STREAMS = """
[sepsis]
label = "sepsis"
score = "s1"
min_precision = 0.3
miss_costs = 10

[kidney]
label = "kidney"
score = "s2"
cost_ratio = "1/5"
miss_weight = 2
"""

GROUPS = ("--label", "died", "--score", "good", "--by", "good", "--cost-ratio", "1/10")


def write_streams(folder, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random((200, 2)) < 0.25
    s = rng.normal(size=(200, 2)) + 1.5 * y
    ward = rng.choice(["north", "south"], 200)
    lines = ["sepsis,kidney,s1,s2,ward,at"]
    lines += [
        f"{int(a)},{int(b)},{c!r},{d!r},{w},2024-01-{1 + i % 20:02d}"
        for i, ((a, b), (c, d), w) in enumerate(
            zip(y.tolist(), s.tolist(), ward.tolist(), strict=True)
        )
    ]
    path = folder / f"cases{seed}.csv"
    path.write_text("\n".join(lines) + "\n")
    (folder / "streams.toml").write_text(STREAMS)
    return path, y, s, ward


def expected(y, s):
    scenarios = {
        "sepsis": voros.Scenario(0.3, cost_ratio=voros.costs.miss_costs(10, 10)),
        "kidney": voros.Scenario(cost_ratio=0.2),
    }
    names = ("sepsis", "kidney")
    labels, scores = (dict(zip(names, m.T, strict=True)) for m in (y, s))
    weight = {"sepsis": 1, "kidney": 2}
    return voros.allocate(labels, scores, scenarios, capacity=0.2, miss_weight=weight)


def test_streams_of_a_file(voros_command, tmp_path):
    path, y, s, _ = write_streams(tmp_path)
    shared = ("--streams", "streams.toml", "--capacity", "20%")
    ran = voros_command("allocate", path, *shared, "-o", "joint.json")
    assert ran.code == 0, ran.err
    assert "sepsis" in ran.out
    assert "one more alarm saves" in ran.out
    policy = voros.JointPolicy.from_json(tmp_path / "joint.json")
    assert policy.thresholds() == expected(y, s).thresholds()
    rows = list(csv.DictReader(voros_command("allocate", path, *shared, "--csv").out.splitlines()))
    assert [row["stream"] for row in rows] == ["sepsis", "kidney"]
    document = json.loads(voros_command("allocate", path, *shared, "--json").out)
    assert document["cost"] == policy.default.cost
    assert document["certificate"]["n_states"] > 0


def test_groups_and_their_test(voros_command, tmp_path):
    path, y, s, ward = write_streams(tmp_path)
    later, *new = write_streams(tmp_path, seed=1)
    columns = ("--label", "sepsis", "--score", "s1", "--by", "ward")
    new_y, new_s, new_ward = new
    for capacity in (5, 30, 190):
        limits = ("--capacity", capacity, "--cost-ratio", "1/10")
        saved = ("--json", "-o", "joint.json", "--force")
        ran = voros_command("allocate", path, *columns, *limits, *saved)
        assert ran.code == 0, ran.err
        policy = voros.allocate(
            y[:, 0], s[:, 0], voros.Scenario(cost_ratio=0.1), capacity=capacity, by=ward
        )
        rows = json.loads(ran.out)["streams"]
        assert [row["threshold"] for row in rows] == list(policy.default.thresholds)
        kept = policy.evaluate(new_y[:, 0], new_s[:, 0], by=new_ward).feasible
        tested = voros_command("apply", "joint.json", later, *columns, "--check", "--json")
        assert tested.code == (0 if kept else 1)
        assert json.loads(tested.out)["evaluation"]["n_cases"] == 200


def test_a_capacity_for_each_day(voros_command, tmp_path):
    path, y, s, ward = write_streams(tmp_path)
    later = write_streams(tmp_path, seed=1)[0]
    columns = ("--label", "sepsis", "--score", "s1", "--by", "ward", "--time", "at")
    limits = ("--capacity", "2/day", "--exceed", "10%", "--cost-ratio", "1/10")
    ran = voros_command("allocate", path, *columns, *limits, "--json", "-o", "joint.json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    days = 1 + np.arange(200) % 20
    how = {"capacity": 2, "per": "day", "exceed": 0.1, "periods": days, "by": ward}
    policy = voros.allocate(y[:, 0], s[:, 0], voros.Scenario(cost_ratio=0.1), **how)
    assert [row["threshold"] for row in document["streams"]] == list(policy.default.thresholds)
    assert document["periods_above"] == policy.default.n_above == 2
    tested = json.loads(voros_command("apply", "joint.json", later, *columns, "--json").out)
    assert len(tested["evaluation"]["by_period"]["alarms"]) == 20
    shown = voros_command("apply", "joint.json", later, *columns, "-o", "decided.csv").err
    assert "periods above 2 alarms, 2 allowed" in shown
    ran = voros_command("allocate", path, *columns, *limits)
    assert (
        "2 of 20 periods above 2 alarms, per day, on average and in all but 10 % of the periods"
        in ran.out
    )


def test_a_guarantee_with_patients(voros_command, tmp_path):
    path = write_streams(tmp_path)[0]
    columns = ("--label", "sepsis", "--score", "s1", "--by", "ward", "--group", "at")
    sure = ("--capacity", "30%", "--cost-ratio", "1/10", "--confidence", "0.9")
    ran = voros_command("allocate", path, *columns, *sure)
    assert ran.code == 0, ran.err
    assert "all limits hold with confidence 0.9, tested on 13 patients" in ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--label", "died", "--score", "good"), "--by is required where subgroups share"),
        (("--streams", "s.toml", "--by", "x"), "--by and --streams are mutually exclusive"),
        (("--streams", "s.toml"), "stream 'a': label must name a column"),
        ((*GROUPS, "--block", "7"), "--block requires --confidence"),
        ((*GROUPS, "--exceed", "0.1"), "--exceed=0.1 requires a capacity per period"),
        ((*GROUPS, "--time", "good"), "--time requires a capacity per period"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(voros_command, tmp_path, words, said):
    write_cases(tmp_path / "cases.csv")
    (tmp_path / "s.toml").write_text('[a]\nscore = "good"\ncost_ratio = 0.1\n')
    ran = voros_command("allocate", "cases.csv", *words, "--capacity", "0.2")
    assert ran.code == 2
    assert said in ran.err


def test_rows_that_one_outcome_lacks_are_not_left_out_of_it_alone(voros_command, tmp_path):
    path = write_streams(tmp_path)[0]
    shared = ("--streams", "streams.toml")
    ran = voros_command("allocate", path, *shared, "--capacity", "20%", "-o", "joint.json")
    assert ran.code == 0, ran.err
    policies = ("--policy", "joint.json", "--policy", "joint.json")
    ran = voros_command("compare", path, *policies, *shared, "--drop-missing")
    assert (ran.code, "--drop-missing is for one score of a case" in ran.err) == (2, True)
