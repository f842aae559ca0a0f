"""``--miss-value`` and ``--false-alarm-cost``: costs of single cases from columns of the file."""

import json

import numpy as np
import pytest

import voros

LIMITS = ("--min-precision", "0.25", "--capacity", "0.2", "--cost-ratio", "1")
WORTH = ("--miss-value", "amount", "--false-alarm-cost")


def payments(seed, n=800):
    rng = np.random.default_rng(seed)
    risk = rng.beta(0.6, 5.0, n)
    fraud = rng.random(n) < risk
    return {
        "fraud": fraud.astype(int),
        "risk": risk,
        "noise": rng.random(n),
        "amount": rng.lognormal(4.0, 1.0, n).round(2),
        "check": rng.uniform(5, 20, n).round(2),
    }


def write(path, columns):
    names = list(columns)
    lines = zip(*(columns[name].tolist() for name in names), strict=True)
    text = [",".join(names), *(",".join(map(repr, line)) for line in lines)]
    path.write_text("\n".join(text) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    return tuple(write(tmp_path / f"{name}.csv", payments(i)) for i, name in enumerate("ab"))


@pytest.mark.parametrize("cost", ["check", "12.5"])
def test_select_and_apply_do_what_python_does(voros_command, files, tmp_path, cost):
    valid, test = payments(0), payments(1)
    policy_file = tmp_path / "policy.json"
    by_cost = ("--strategy", "expected_cost", "--label", "fraud", *WORTH, cost)
    ran = voros_command(
        *("select", files[0], *LIMITS, *by_cost, "--test", files[1], "-o", policy_file, "--json")
    )
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)

    def worth(part):
        price = part["check"] if cost == "check" else 12.5
        return {"miss_value": part["amount"], "false_alarm_cost": price}

    scenario = voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=1.0)
    scores = {name: valid[name] for name in ("risk", "noise")}
    selection = voros.select_model(
        valid["fraud"], scores, scenario, strategy="expected_cost", **worth(valid)
    )
    assert document["winner"] == selection.winner == "risk"
    policy = voros.ThresholdPolicy.from_json(policy_file)
    assert policy.thresholds.tolist() == selection.policy().thresholds.tolist()
    tested = policy.evaluate(test["fraud"], test["risk"], **worth(test))
    money = document["test_default"]["money"]
    assert money["per_1000"] == pytest.approx(tested.in_money().per_1000)
    assert document["ranking"][0]["expected_cost"] == selection.ranking[0].expected_cost

    applied = voros_command(
        "apply", policy_file, files[1], "--label", "fraud", *WORTH, cost, "--json"
    )
    assert applied.code == 0, applied.err
    answer = json.loads(applied.out)
    assert answer["alarms"] == tested.mean_alarms
    assert answer["evaluation"]["money"] == pytest.approx(money)
    without_labels = voros_command("apply", policy_file, files[1], "--json")
    assert json.loads(without_labels.out)["alarms"] == tested.mean_alarms


def test_a_threshold_on_value_is_applied_to_score_times_value(voros_command, files, tmp_path):
    valid, test = payments(0), payments(1)
    scenario = voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=1.0)
    policy = voros.ThresholdPolicy.from_validation(
        valid["fraud"],
        valid["risk"],
        scenario,
        miss_value=valid["amount"],
        false_alarm_cost=10.0,
        threshold_on="value",
        model="risk",
    )
    policy.to_json(tmp_path / "policy.json")
    words = ("apply", tmp_path / "policy.json", files[1])
    ran = voros_command(*words, "--miss-value", "amount", "--json")
    expected = policy.predict(test["risk"], miss_value=test["amount"]).sum()
    assert json.loads(ran.out)["alarms"] == expected
    refused = voros_command(*words)
    assert refused.code == 2
    assert "--miss-value" in refused.errors[0]


def test_select_puts_the_threshold_on_value(voros_command, files, tmp_path):
    valid, test = payments(0), payments(1)
    policy_file = tmp_path / "policy.json"
    by_cost = ("--strategy", "expected_cost", "--label", "fraud", *WORTH, "10")
    by_value = ("--threshold-on", "value", "--score", "risk", "--test", files[1], "--json")
    ran = voros_command("select", files[0], *LIMITS, *by_cost, *by_value, "-o", policy_file)
    assert ran.code == 0, ran.err
    direct = voros.ThresholdPolicy.from_validation(
        valid["fraud"],
        valid["risk"],
        voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=1.0),
        miss_value=valid["amount"],
        false_alarm_cost=10.0,
        threshold_on="value",
    )
    policy = voros.ThresholdPolicy.from_json(policy_file)
    assert policy.threshold_on == "value"
    assert policy.thresholds.tolist() == direct.thresholds.tolist()
    tested = direct.evaluate(
        test["fraud"], test["risk"], miss_value=test["amount"], false_alarm_cost=10.0
    )
    money = json.loads(ran.out)["test_default"]["money"]
    assert money["per_1000"] == pytest.approx(tested.in_money().per_1000)


def test_amounts_as_weights_are_warned_of(voros_command, files):
    ran = voros_command("score", files[0], "--label", "fraud", *LIMITS, "--weight", "amount")
    assert "sample_weight looks like amounts" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--threshold-on", "value"), "--threshold-on requires --miss-value"),
        ((*WORTH, "1", "--threshold-on", "rank"), "threshold-on='rank'"),
        (("--miss-value", "amount", "--by", "check", "--test", "a.csv"), "--by and --miss-value"),
        (("--miss-value", "worth"), "no column 'worth'"),
        ((*WORTH, "-3"), "--false-alarm-cost=-3"),
        ((*WORTH, "price"), "no column 'price'"),
        (("--miss-value", "amount"), "expected_cost"),
    ],
)
def test_what_cannot_be_is_refused(voros_command, files, words, said):
    ran = voros_command("select", files[0], "--label", "fraud", *LIMITS, *words)
    assert ran.code == 2
    assert said in ran.errors[0]


def test_apply_asks_for_values_where_a_policy_was_decided_on_them(voros_command, files, tmp_path):
    policy_file = tmp_path / "policy.json"
    by_cost = ("--strategy", "expected_cost", "--label", "fraud", "--miss-value", "amount")
    voros_command("select", files[0], *LIMITS, *by_cost, "-o", policy_file)
    ran = voros_command("apply", policy_file, files[1], "--label", "fraud")
    assert ran.code == 2
    assert "--miss-value" in ran.errors[0]
    ran = voros_command("apply", policy_file, files[1], "--false-alarm-cost", "3")
    assert ran.code == 2
    assert "--false-alarm-cost requires --miss-value" in ran.errors[0]


def test_models_and_policies_are_compared_by_what_they_cost(voros_command, files, tmp_path):
    test, draws = payments(1), {"n_resamples": 100, "random_state": 0}
    worth = {"miss_value": test["amount"], "false_alarm_cost": test["check"]}
    how = ("--label", "fraud", *WORTH, "check", "--resamples", "100", "--json")
    scenario = voros.Scenario(min_precision=0.25, capacity=0.2, cost_ratio=1.0)
    ran = voros_command("compare", files[1], *LIMITS, *how, "--metric", "expected_cost")
    assert ran.code == 0, ran.err
    scores = {name: test[name] for name in ("risk", "noise")}
    expected = voros.compare(
        test["fraud"], scores, scenario, metric="expected_cost", **worth, **draws
    )
    assert json.loads(ran.out)["verdict"] == expected.verdict
    assert "no alarm" not in ran.err
    undefined = voros_command("compare", files[1], *LIMITS, *how)
    assert (undefined.code, "Accepted are expected_cost" in undefined.err) == (2, True)

    policies = {}
    for on in ("score", "value"):
        policies[on] = tmp_path / f"{on}.json"
        by_cost = ("--strategy", "expected_cost", "--label", "fraud", "--score", "risk")
        voros_command(
            *("select", files[0], *LIMITS, *by_cost, *WORTH, "check", "--threshold-on", on),
            *("-o", policies[on]),
        )
    named = [part for path in policies.values() for part in ("--policy", path)]
    ran = voros_command("compare", files[1], *named, *how)
    assert ran.code == 0, ran.err
    loaded = {on: voros.ThresholdPolicy.from_json(path) for on, path in policies.items()}
    expected = voros.compare_policies(
        test["fraud"], dict.fromkeys(loaded, test["risk"]), loaded, **worth, **draws
    )
    assert json.loads(ran.out)["verdict"] == expected.verdict
    without = voros_command("compare", files[1], *LIMITS, "--false-alarm-cost", "5")
    assert without.code == 2
    assert "--false-alarm-cost requires --miss-value" in without.err
