"""`voros select --blend` and `voros apply --blend`: a combination like any other model."""

import csv
import io
import json

import numpy as np
import pytest
from scipy.special import expit

import voros
from voros.blending import Blend

LIMITS = ("--min-precision", "0.3", "--capacity", "0.2", "--cost-ratio", "0.1")


@pytest.fixture(autouse=True)
def files(tmp_path):
    """Two models that each see another half of the risk."""
    for seed, name in enumerate(("valid.csv", "dev.csv", "new.csv")):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 1500))
        died = rng.random(1500) < expit(-2 + a + b)
        rows = zip(died.astype(int), expit(-2 + 2 * a), 10 * b, strict=True)
        text = "\n".join(["died,a,b", *(",".join(map(repr, map(float, row))) for row in rows)])
        (tmp_path / name).write_text(text + "\n")


def columns(path):
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def test_a_blend_is_chosen_tested_and_applied(voros_command, tmp_path):
    chosen = ("select", "valid.csv", "--label", "died", *LIMITS)
    saved = ("--blend", "weights.json", "-o", "policy.json", "--test", "new.csv")
    ran = voros_command(*chosen, *saved, "--json")
    assert ran.code == 0, ran.err
    valid, new = columns(tmp_path / "valid.csv"), columns(tmp_path / "new.csv")
    blend = voros.blend(valid["died"], {m: valid[m] for m in "ab"})
    assert Blend.from_json(tmp_path / "weights.json") == blend
    policy = voros.ThresholdPolicy.from_json(tmp_path / "policy.json")
    assert policy.model == "blend"
    applied = voros_command("apply", "policy.json", "new.csv", "--blend", "weights.json")
    assert applied.code == 0, applied.err
    alarms = [row["alarm"] == "1" for row in csv.DictReader(io.StringIO(applied.out))]
    assert alarms == policy.predict(blend.score(new)).tolist()
    tested = json.loads(ran.out)["test_default"]
    assert tested["mean_alarms"] == sum(alarms)


def test_a_guarantee_needs_cases_that_the_weights_have_not_seen(voros_command, tmp_path):
    chosen = ("select", "valid.csv", "--label", "died", *LIMITS, "--confidence", "0.9")
    ran = voros_command(*chosen, "--blend", "w.json")
    assert ran.code == 2
    assert "--blend with --confidence requires --development FILE" in ran.err
    ran = voros_command(*chosen, "--blend", "w.json", "--development", "dev.csv")
    assert ran.code == 0, ran.err
    dev = columns(tmp_path / "dev.csv")
    assert Blend.from_json(tmp_path / "w.json") == voros.blend(
        dev["died"], {m: dev[m] for m in "ab"}
    )


def test_weights_are_asked_for_and_are_those_of_a_blend(voros_command, tmp_path):
    chosen = ("select", "valid.csv", "--label", "died", *LIMITS)
    voros_command(*chosen, "--blend", "weights.json", "-o", "policy.json")
    ran = voros_command("apply", "policy.json", "new.csv")
    assert "name the weights, saved by voros select --blend, with --blend" in ran.err
    voros_command(*chosen, "--score", "a", "-o", "plain.json")
    ran = voros_command("apply", "plain.json", "new.csv", "--blend", "weights.json")
    assert "--blend is for a policy whose model is the blend" in ran.err
    text = (tmp_path / "weights.json").read_text()
    (tmp_path / "weights.json").write_text(text.replace('"a": true', '"a": false'))
    ran = voros_command("apply", "policy.json", "new.csv", "--blend", "weights.json")
    assert "was changed after it was saved" in ran.err
