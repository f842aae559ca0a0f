from __future__ import annotations

import numpy as np
import pytest

import voros
from voros import Scenario, costs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_precision": -0.1}, r"min_precision=-0.1; accepted is a number within \[0, 1\]"),
        ({"min_precision": 1.5}, r"min_precision=1.5"),
        ({"min_precision": float("nan")}, r"min_precision=nan"),
        ({"min_precision": "0.5"}, r"min_precision='0.5'"),
        ({"capacity": 0}, r"capacity=0; accepted is a float within \(0, 1\]"),
        ({"capacity": -3}, r"capacity=-3"),
        ({"capacity": 500.0}, r"capacity=500.0; .*for 500.0 cases write 500"),
        ({"capacity": True}, r"capacity=True"),
        ({"capacity": None}, r"capacity=None"),
        ({"prevalence": 0.0}, r"prevalence=0.0; accepted is a number strictly between 0 and 1"),
        ({"prevalence": 1.2}, r"prevalence=1.2"),
        ({"cost_ratio": 0}, r"cost_ratio holds 0; accepted are finite numbers above 0"),
        ({"cost_ratio": -2.0}, r"cost_ratio holds -2"),
        ({"cost_ratio": (0.2, 0.1)}, r"cost_ratio=\(0.2, 0.1\) is reversed"),
        ({"cost_ratio": (0.1, float("inf"))}, r"cost_ratio holds inf"),
        ({"cost_ratio": "cheap"}, r"cost_ratio='cheap' is not understood; accepted are a number"),
        ({"cost_ratio": (1, 2, 3)}, r"cost_ratio=\(1, 2, 3\) is not understood"),
    ],
)
def test_limits_out_of_range_are_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        Scenario(**({"cost_ratio": 0.1} | arguments))


def test_a_cost_ratio_is_required_and_unknown_keywords_are_refused() -> None:
    with pytest.raises(TypeError, match="cost_ratio is required"):
        Scenario(min_precision=0.5)
    with pytest.raises(TypeError, match="precision"):
        Scenario(precision=0.5, cost_ratio=0.1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("capacity", "n_cases", "expected"),
    [
        (0.29, 100, 29),  # 0.29 * 100 is 28.999999999999996 in floats
        (0.07, 100, 7),  # 0.07 * 100 is 7.000000000000001
        (1 / 3, 9, 3),
        (0.1, 7802, 780.2),
        (1.0, 50, 50),
        (2, 50, 2),
        (80, 50, 50),
        (np.int64(5), 50, 5),
        (np.float32(0.5), 50, 25),
    ],
)
def test_capacity_as_a_number_of_alarms(capacity, n_cases, expected) -> None:
    assert Scenario(capacity=capacity, cost_ratio=0.1).max_alarms(n_cases) == expected


def test_a_capacity_below_one_case_is_an_error_that_says_so() -> None:
    with pytest.raises(voros.InfeasibleError, match=r"fewer than one case.*is 0.01 of the cases"):
        Scenario(capacity=0.005, cost_ratio=0.1).max_alarms(100)


def test_scenarios_are_values() -> None:
    first = Scenario(0.1, 0.5, (0.1, 0.2), 0.3)
    assert first == Scenario(0.1, 0.5, costs.uniform(0.1, 0.2), 0.3)
    assert len({first, Scenario(0.1, 0.5, (0.1, 0.2), 0.3)}) == 1
    assert "prevalence=0.3" in repr(first)
    with pytest.raises(AttributeError):
        first.capacity = 0.2  # type: ignore[misc]


@pytest.mark.parametrize("per", [np.array([]), np.array(["day", "week"])], ids=["empty", "two"])
def test_an_array_is_no_name_of_a_period(per: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"per=.*; accepted is the name of a period"):
        Scenario(0.3, 3, 0.1, per=per)
