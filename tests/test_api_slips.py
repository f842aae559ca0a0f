"""Arguments of the wrong kind are refused by name, without a word from numpy."""

import numpy as np
import pytest

import voros
from voros.core.periods import Periods
from voros.io.scenario_text import read_number

RNG = np.random.default_rng(0)
DIED = RNG.random(60) < 0.4
RISK = RNG.random(60)
SCENARIO = voros.Scenario(0.3, 0.6, (0.1, 0.4))
POLICY = voros.ThresholdPolicy.from_validation(DIED, RISK, SCENARIO)
DAYS = np.array(["2026-01-01T08:00", "2026-01-02T08:00"], dtype="M8[m]")


@pytest.mark.parametrize("periods", [np.arange(60), ["a"] * 60, "day"])
def test_periods_are_made_first(periods):
    with pytest.raises(TypeError, match=r"periods is a .*; accepted is Periods.from_times"):
        voros.OperatingPoints.from_scores(DIED, RISK, periods=periods)


@pytest.mark.parametrize("per", [None, 5])
def test_a_period_has_a_name(per):
    with pytest.raises(TypeError, match=r"per is a .*; accepted is the name of a period"):
        Periods.from_times(DAYS, per)


@pytest.mark.parametrize("cost_ratio", [np.inf, -1.0, np.nan])
def test_a_monitor_has_a_finite_cost_ratio(cost_ratio):
    with pytest.raises(
        ValueError, match=r"cost_ratio=.*; accepted is a finite number of at least 0"
    ):
        voros.Monitor(POLICY, cost_ratio=cost_ratio)


@pytest.mark.parametrize(
    "probability",
    [np.array([0.1 + 5j]), 0.1 + 2j, 10**400, [10**400], "x"],
    ids=["complex", "one complex", "huge", "huge list", "text"],
)
def test_net_benefit_takes_real_probabilities(probability):
    with pytest.raises(ValueError, match="threshold_probability"):
        voros.net_benefit(DIED, RISK, threshold_probability=probability)


def test_scores_beyond_all_floats_are_refused():
    with pytest.raises(ValueError, match="y_score must be numbers"):
        voros.partial_voros_score(DIED, [10**400] * 60, SCENARIO)


@pytest.mark.parametrize("weight", [1e308, 1e-310])
def test_weights_that_cannot_be_added_up_are_refused(weight):
    with pytest.raises(ValueError, match=r"sum\(sample_weight\)="):
        voros.SiteCounts.from_scores(DIED, RISK, site="n", sample_weight=RISK * weight)


def test_a_structured_array_is_not_one_column():
    field = np.array([(value,) for value in RISK], dtype=[("risk", "f8")])
    with pytest.raises(ValueError, match="y_score is a structured array with the fields 'risk'"):
        voros.partial_voros_score(DIED, field, SCENARIO)


@pytest.mark.parametrize("text", ["1_0", "1_0%", "1_0/20", "0.1_5"])
def test_numbers_are_not_written_with_underscores(text):
    with pytest.raises(ValueError, match=f"capacity='{text}' is not a number"):
        read_number(text, "capacity")


def test_both_labels_at_one_time_are_refused():
    monitor = voros.Monitor(POLICY)
    monitor.update([0.2, 0.6], cases=["a", "b"], times=DAYS)
    again = DAYS[[1, 1]]
    with pytest.raises(
        ValueError, match="cases holds 'a' twice at one time, with different labels"
    ):
        monitor.label([1, 0], cases=["a", "a"], times=again)
    assert monitor.label([1, 1], cases=["a", "a"], times=again) == 1
    assert monitor.label([1, 0], cases=["b", "b"], times=DAYS) == 2


def test_a_case_has_one_patient():
    monitor = voros.Monitor(POLICY)
    monitor.update([0.2, 0.6], cases=["a", "b"], times=DAYS, groups=["p", "q"])
    with pytest.raises(ValueError, match=r"'a' with .* of patient 'z', which is stored with"):
        monitor.update([0.2], cases=["a"], times=DAYS[:1], groups=["z"])
    assert monitor.update([0.2], cases=["a"], times=DAYS[:1]).new == 0
