"""Several confidences, given to ``voros select``."""

import json

import numpy as np
import pytest

import voros

LIMITS = ("--label", "died", "--min-precision", "0.5", "--capacity", "20%", "--miss-costs", "10:20")


@pytest.fixture
def few_cases(tmp_path):
    rng = np.random.default_rng(0)
    died = rng.random(900) < 0.2
    scores = 1.2 * died + rng.normal(size=900)
    rows = (f"{int(label)},{score!r}" for label, score in zip(died, scores.tolist(), strict=True))
    path = tmp_path / "cases.csv"
    path.write_text("\n".join(["died,model", *rows]))
    return path


def test_what_each_confidence_costs_is_shown_and_saved(voros_command, few_cases, tmp_path):
    ladder = ("--confidence", "95%, 0.9,0.8")
    ran = voros_command("select", few_cases, *LIMITS, *ladder, "-o", "policy.json")
    assert ran.code == 0, ran.err
    policy = voros.ThresholdPolicy.from_json(tmp_path / "policy.json")
    assert policy.guarantee == voros.Guarantee((0.95, 0.9, 0.8)).at(0.9)
    assert "what each confidence costs:" in ran.out
    for line in repr(policy.confidence_curve()).splitlines():
        assert line in ran.out
    document = json.loads(voros_command("select", few_cases, *LIMITS, *ladder, "--json").out)
    steps = document["policy"]["curve"]
    assert [step["confidence"] for step in steps] == [0.95, 0.9, 0.8, None]


def test_one_confidence_has_no_curve(voros_command, few_cases):
    ran = voros_command("select", few_cases, *LIMITS, "--confidence", "0.8")
    assert ran.code == 0, ran.err
    assert "each confidence" not in ran.out


def test_rising_confidences_are_refused(voros_command, few_cases):
    ran = voros_command("select", few_cases, *LIMITS, "--confidence", "0.8,0.9")
    assert ran.code == 2
    assert "--confidence=(0.8, 0.9); accepted are several confidences from high" in ran.errors[0]
