"""Costs and thresholds of cases with values, beside empulse on the same data."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import voros

pytestmark = pytest.mark.extras

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "worth-per-case.md"
BLOCK = re.compile(
    r"^```py(?:thon)?\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL
)


@pytest.fixture(scope="module")
def empulse():
    """The library, whose own imports warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("empulse.models")
        import empulse.metrics

        return empulse


def fraud(seed, n=4000):
    rng = np.random.default_rng(seed)
    risk = rng.beta(0.6, 5.0, n)
    return rng.random(n) < risk, risk, rng.lognormal(4.0, 1.0, n).round(2)


def test_what_alarms_cost_is_their_cost_loss(empulse):
    y, risk, amounts = fraud(0)
    price = np.random.default_rng(1).uniform(5, 50, len(y))
    scenario = voros.Scenario(min_precision=0.25, capacity=0.1, cost_ratio=1.0)
    how = {"miss_value": amounts, "false_alarm_cost": price}
    for on in ("score", "value"):
        policy = voros.ThresholdPolicy.from_validation(y, risk, scenario, **how, threshold_on=on)
        alarm = policy.predict(risk, miss_value=amounts if on == "value" else None)
        theirs = empulse.metrics.cost_loss(
            y.astype(int), alarm.astype(int), fn_cost=amounts, fp_cost=price, normalize=True
        )
        ours = policy.evaluate(y, risk, **how).in_money().per_1000
        assert ours == pytest.approx(1000 * theirs)


def test_no_limits_and_right_probabilities_save_about_as_much(empulse):
    """Their threshold of each case is best then; ours of score times value is close to it."""
    valid, test = fraud(2, 60_000), fraud(3, 60_000)
    free, price = voros.Scenario(cost_ratio=1.0), 25.0
    policy = voros.ThresholdPolicy.from_validation(
        *valid[:2], free, miss_value=valid[2], false_alarm_cost=price, threshold_on="value"
    )
    alarms = {
        "theirs": test[1] >= price / (price + test[2]),
        "ours": policy.predict(test[1], miss_value=test[2]),
    }
    costs = {
        name: empulse.metrics.cost_loss(
            test[0].astype(int), alarm.astype(int), fn_cost=test[2], fp_cost=price
        )
        for name, alarm in alarms.items()
    }
    assert costs["ours"] == pytest.approx(costs["theirs"], rel=0.03)


def test_the_page_prints_what_it_says(empulse, capsys):
    text, names = PAGE.read_text(encoding="utf-8"), {"__name__": "__main__"}
    for match in BLOCK.finditer(text):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(match[1], names)
        printed = " ".join(capsys.readouterr().out.split())
        for said in " ".join((match[2] or "").split()).split("..."):
            assert said.strip() in printed
    assert "CSThresholdClassifier" in names
