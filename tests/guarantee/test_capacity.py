from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta

from voros import Scenario
from voros.exceptions import InfeasibleError
from voros.guarantee.binomial_tests import capacity_risk, most_alarms


def test_population_risk_is_the_order_statistic_beyond_the_capacity() -> None:
    scenario = Scenario(capacity=0.1, cost_ratio=0.1)
    alarms = np.arange(0, 200, 7)
    # At most a of n cases lie among the share 0.1 when the (a+1)-th largest score lies beyond it.
    expected = beta.sf(0.1, alarms + 1, 1000 - alarms)
    np.testing.assert_allclose(capacity_risk(alarms, 1000, scenario, None), expected, rtol=1e-10)


@pytest.mark.parametrize(("n_cases", "horizon", "room"), [(5, 4, 1), (4, 6, 2), (6, 3, 2)])
def test_horizon_risk_counts_every_way_the_cases_can_fall(
    n_cases: int, horizon: int, room: int
) -> None:
    """Brute force: every set of ranks the future cases can have is equally likely."""
    scenario = Scenario(capacity=room / horizon, cost_ratio=0.1)
    counts = np.zeros(n_cases + 1)
    for future in combinations(range(n_cases + horizon), horizon):
        one_too_many = future[room]
        counts[one_too_many - room] += 1
    expected = np.cumsum(counts) / counts.sum()
    found = capacity_risk(np.arange(n_cases + 1), n_cases, scenario, horizon)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("horizon", [None, 500])
def test_no_capacity_limit_is_no_risk(horizon: int | None) -> None:
    scenario = Scenario(min_precision=0.5, cost_ratio=0.1)
    assert capacity_risk(np.array([1, 900]), 1000, scenario, horizon).tolist() == [0.0, 0.0]
    assert most_alarms(1000, scenario, horizon, 0.05) == 1000


def test_most_alarms_is_the_last_within_the_level() -> None:
    scenario = Scenario(capacity=0.1, cost_ratio=0.1)
    most = most_alarms(1000, scenario, 400, 0.05)
    risk = capacity_risk(np.array([most, most + 1]), 1000, scenario, 400)
    assert risk[0] <= 0.05 < risk[1]


def test_a_horizon_without_room_for_one_alarm_is_an_error() -> None:
    with pytest.raises(InfeasibleError, match=r"capacity=0\.1 of 5 cases"):
        capacity_risk(np.array([1]), 1000, Scenario(capacity=0.1, cost_ratio=0.1), 5)
