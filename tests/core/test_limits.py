"""Limits that cannot be met are said out loud, and so are costs beyond the precision floor."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

import voros
from voros import OperatingPoints, Scenario, costs, evaluate

Y = np.array([0, 1, 0, 0, 1, 0, 1, 0, 0, 0])
S = np.array([0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])


def test_a_floor_out_of_reach_scores_zero_and_says_what_could_be_met() -> None:
    message = (
        r"no threshold that raises an alarm meets a precision floor of 0.9 within 5 alarms "
        r"\(a capacity of 0.5\). The precision floor binds: the highest precision within the "
        r"capacity is 0.500, at a recall of 0.333 \(2 alarms\)$"
    )
    limits = {"min_precision": 0.9, "capacity": 0.5, "cost_ratio": (0.1, 0.2)}
    with pytest.warns(voros.NeverAlarmWarning, match=message):
        assert voros.partial_voros_score(Y, S, **limits) == 0.0
    with pytest.warns(voros.NeverAlarmWarning, match=message):
        result = evaluate(Y, S, Scenario(**limits))
    assert result.score == 0.0
    assert not result.feasible
    assert result.binding == ("precision",)
    assert [c.never_alarm for c in result.choices] == [True]


def test_a_floor_within_reach_of_a_larger_capacity_is_said() -> None:
    # One false alarm on top, then three right ones: 0.6 is first reached at three alarms.
    with pytest.warns(voros.NeverAlarmWarning, match="with a capacity of 3 alarms the floor could"):
        voros.partial_voros_score(
            [0, 1, 1, 1, 0, 0], [6, 5, 4, 3, 2, 1], min_precision=0.6, capacity=2, cost_ratio=0.1
        )


def test_ties_beyond_the_capacity_are_said() -> None:
    with pytest.warns(voros.NeverAlarmWarning, match=r"tied, and the fewest alarms .* is 4$"):
        voros.partial_voros_score([1, 0, 1, 0, 0], [2, 2, 2, 2, 1], capacity=3, cost_ratio=0.1)


def test_thresholds_that_only_raise_false_alarms_are_feasible_and_not_worth_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = voros.partial_voros_score([0, 0, 1, 1], [4, 3, 2, 1], capacity=2, cost_ratio=0.1)
    result = evaluate([0, 0, 1, 1], [4, 3, 2, 1], Scenario(capacity=2, cost_ratio=0.1))
    assert result.feasible
    assert result.score == score


def test_a_capacity_below_one_case_is_an_error() -> None:
    with pytest.raises(voros.InfeasibleError, match=r"capacity=0.05 of 10 cases is 0.5 alarms"):
        voros.partial_voros_score(Y, S, capacity=0.05, cost_ratio=0.1)


@pytest.mark.parametrize(
    "cost_ratio",
    [
        (0.1, 0.4),
        0.3,
        costs.miss_costs(2, 6),
        costs.from_scipy(stats.lognorm(0.5, scale=0.25)),
    ],
)
def test_costs_that_pass_the_floors_odds_are_said(cost_ratio) -> None:
    # At a floor of 0.2 raising no alarm is the costliest choice up to 0.2/0.8 = 0.25.
    with pytest.warns(
        voros.exceptions.CostRangeWarning, match=r"not the worst choice.*above 0\.25"
    ):
        voros.partial_voros_score(Y, S, min_precision=0.2, cost_ratio=cost_ratio)


def test_costs_below_the_floors_odds_pass_in_silence() -> None:
    voros.partial_voros_score(Y, S, min_precision=0.2, cost_ratio=(0.1, 0.25))
    tail = costs.from_scipy(stats.lognorm(0.1, scale=0.1))
    voros.partial_voros_score(Y, S, min_precision=0.2, cost_ratio=tail)
    voros.voros_score(Y, S, cost_ratio=(0.1, 5))


def test_beyond_the_floors_odds_never_alarm_scores_above_zero() -> None:
    points = OperatingPoints.from_counts([1], [9], 10, 90)
    with pytest.warns(voros.exceptions.InvertedCostsWarning):
        costly = Scenario(min_precision=0.5, cost_ratio=3.0)
    with pytest.warns(voros.exceptions.CostRangeWarning), pytest.warns(voros.NeverAlarmWarning):
        dear = evaluate(points, scenario=costly)
    with pytest.warns(voros.NeverAlarmWarning):
        cheap = evaluate(points, scenario=Scenario(min_precision=0.5, cost_ratio=0.9))
    assert (cheap.score, dear.score > 0) == (0.0, True)


@pytest.mark.parametrize(
    ("min_precision", "capacity", "expected"),
    [
        (0.0, 1.0, ()),
        (0.0, 0.3, ("capacity",)),
        (0.45, 1.0, ("precision",)),
        (0.45, 5, ("precision",)),
        # With either limit alone 2 alarms are best, as with both; with neither it is 7.
        (0.45, 4, ("precision", "capacity")),
    ],
)
def test_which_limit_binds(min_precision, capacity, expected) -> None:
    scenario = Scenario(min_precision=min_precision, capacity=capacity, cost_ratio=0.1)
    assert evaluate(Y, S, scenario).binding == expected


def test_all_alarms_right_scores_the_limit_of_a_rising_floor() -> None:
    y_true, y_score = [1, 1, 0, 1, 0, 0, 0, 1], [8, 7, 6, 5, 4, 3, 2, 1]
    for capacity, best in ((1.0, 4), (3, 3)):
        limits = {"capacity": capacity, "cost_ratio": (0.1, 0.3)}
        at_one = voros.partial_voros_score(y_true, y_score, min_precision=1.0, **limits)
        # Two positives are ranked above all negatives.
        assert at_one == pytest.approx((2 / best) ** 2)
        near = voros.partial_voros_score(y_true, y_score, min_precision=1 - 1e-8, **limits)
        assert near == pytest.approx(at_one, abs=1e-6)
