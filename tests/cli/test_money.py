"""``--false-alarm-cost`` states costs in money, and is refused where nothing would be priced."""

import json

import pytest
from cli.cases import LIMITS

from voros.io import read_predictions

PRICED = ("--false-alarm-cost", "35")


def test_a_tested_choice_is_priced_either_way(voros_command, cases, later_cases):
    words = ("select", cases, "--label", "died", *LIMITS, "--test", later_cases, *PRICED)
    document = json.loads(voros_command(*words, "--json").out)
    predictions = read_predictions(later_cases, label="died")
    money = document["test_default"]["money"]
    alarm = (
        predictions.scores_of(document["winner"])
        >= document["test_default"]["choices"][0]["threshold"]
    )
    fp, missed = (alarm & ~predictions.labels).sum(), (~alarm & predictions.labels).sum()
    # A miss is worth 5 to 20 false alarms, 12.5 on average.
    assert money["per_1000"] == pytest.approx(
        1000 * 35 * (fp + 12.5 * missed) / predictions.n_cases
    )
    assert money["interval"][0] < money["per_1000"] < money["interval"][1]
    assert document["test"]["money"]["miss"] == pytest.approx(35 * 12.5)
    assert "(a false alarm costs 35, a miss 438)" in voros_command(*words).out


@pytest.mark.parametrize("amount", ["0", "-3", "dear", "nan"])
def test_what_is_no_amount_is_refused(voros_command, cases, amount):
    ran = voros_command("select", cases, "--test", cases, *LIMITS, f"--false-alarm-cost={amount}")
    assert ran.code == 2
    assert "--false-alarm-cost" in ran.errors[0]


@pytest.mark.parametrize("command", [("select",), ("report", "-o", "report.html")])
def test_a_price_without_test_cases_is_refused(voros_command, cases, command):
    ran = voros_command(*command, cases, *LIMITS, *PRICED)
    assert ran.code == 2
    assert "--false-alarm-cost" in ran.errors[0]
    assert "--test" in ran.errors[0]
