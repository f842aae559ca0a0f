"""The command that compares thresholds for subgroups, against the function."""

import csv
import json

import numpy as np
import pytest

import voros

LIMITS = ("--score", "risk", "--min-precision", "0.3", "--capacity", "20%", "--miss-costs", "10")


def write_file(path, seed):
    rng = np.random.default_rng(seed)
    y, sex, site = rng.random(300) < 0.3, rng.choice(["f", "m"], 300), rng.choice(["A", "B"], 300)
    s = rng.normal(size=300) + 1.5 * y * (1 + (sex == "f"))
    rows = zip(y.astype(int).tolist(), s.tolist(), sex.tolist(), site.tolist(), strict=True)
    lines = ["died,risk,sex,site,copies", *(f"{a},{b!r},{c},{d},2" for a, b, c, d in rows)]
    path.write_text("\n".join(lines) + "\n")
    return y, s, sex, site


@pytest.fixture
def cases(tmp_path):
    return write_file(tmp_path / "cases.csv", 0)


def compared(y, s, by, **how):
    scenario = voros.Scenario(0.3, 0.2, cost_ratio=voros.costs.miss_costs(10, 10))
    return voros.compare_subgroup_thresholds(y, s, scenario, by=by, **how)


def test_every_rule_is_what_the_function_finds(voros_command, cases, tmp_path):
    y, s, sex, _ = cases
    new_y, new_s, new_sex, _ = write_file(tmp_path / "later.csv", 1)
    words = ("cases.csv", "--by", "sex", *LIMITS, "--test", "later.csv")
    document = json.loads(voros_command("subgroups", *words, "--json").out)
    found = compared(y, s, sex)
    for rule, policy in found.policies.items():
        assert document["costs"][rule] == policy.default.cost
        assert document["beyond_one"][rule] == found.extra_cost(rule)
        tested = policy.evaluate(new_y, new_s, by=new_sex)
        assert document["test"][rule]["cost"] == tested.cost
    ran = voros_command("subgroups", *words)
    assert ran.code == 0
    assert "a threshold per subgroup, floor in each" in ran.out
    assert "test cases" in ran.out
    rows = list(csv.DictReader(voros_command("subgroups", *words, "--csv").out.splitlines()))
    assert [row["subgroup"] for row in rows] == ["f", "m"] * 4


def test_intersections_a_guarantee_and_a_file(voros_command, cases, tmp_path):
    y, s, sex, site = cases
    both = np.char.add(np.char.add(sex, ", "), site)
    words = ("cases.csv", "--by", "sex", "--by", "site", *LIMITS, "--confidence", "0.8")
    ran = voros_command("subgroups", *words, "--rule", "guaranteed", "-o", "policy.json", "--json")
    assert ran.code == 0, ran.err
    policy = voros.JointPolicy.from_json(tmp_path / "policy.json")
    with pytest.warns(voros.NeverAlarmWarning):
        expected = compared(y, s, both, guarantee=voros.Guarantee(0.8)).policy("guaranteed")
    assert policy == expected
    assert "no threshold keeps the limits of" in ran.err
    assert json.loads(ran.out)["promise"]["confidence"] == 0.8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--by", "sex", "--min-subgroup", "200"), "subgroups of fewer than 200 cases: f ("),
        (("--by", "sex", "--rule", "best"), "rule='best'"),
        (("--by", "sex", "--recall-gap", "2"), "recall"),
        (("--by", "age"), "age"),
        (("--by", "sex", "--weight", "copies"), "--weight is not accepted"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(voros_command, cases, words, said):
    ran = voros_command("subgroups", "cases.csv", *words, *LIMITS)
    assert ran.code == 2
    assert said in ran.err.replace("--rule best", "rule='best'")
    assert len(ran.errors) == 1
