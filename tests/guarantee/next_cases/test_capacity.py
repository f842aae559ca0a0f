from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta

from voros import OperatingPoints, Scenario
from voros.exceptions import InfeasibleError
from voros.guarantee.binomial_tests import most_counted, share_risk
from voros.guarantee.next_cases.certify import certified_next


def test_population_risk_is_the_order_statistic_beyond_the_capacity() -> None:
    alarms = np.arange(0, 200, 7)
    # At most a of n cases lie among the share 0.1 when the (a+1)-th largest score lies beyond it.
    expected = beta.sf(0.1, alarms + 1, 1000 - alarms)
    np.testing.assert_allclose(share_risk(alarms, 1000, 100, None), expected, rtol=1e-10)


@pytest.mark.parametrize(("n_cases", "horizon", "room"), [(5, 4, 1), (4, 6, 2), (6, 3, 2)])
def test_horizon_risk_counts_every_way_the_cases_can_fall(
    n_cases: int, horizon: int, room: int
) -> None:
    """Brute force: every set of ranks the future cases can have is equally likely."""
    counts = np.zeros(n_cases + 1)
    for future in combinations(range(n_cases + horizon), horizon):
        one_too_many = future[room]
        counts[one_too_many - room] += 1
    expected = np.cumsum(counts) / counts.sum()
    risk = share_risk(np.arange(n_cases + 1), n_cases, room, horizon)
    np.testing.assert_allclose(risk, expected, rtol=1e-10)


@pytest.mark.parametrize("horizon", [None, 500])
def test_no_capacity_limit_is_no_risk(horizon: int | None) -> None:
    most = 1000 if horizon is None else horizon
    assert share_risk(np.array([1, 900]), 1000, most, horizon).tolist() == [0.0, 0.0]
    assert most_counted(1000, most, horizon, 0.05) == 1000


def test_the_most_counted_is_the_last_within_the_level() -> None:
    most = most_counted(1000, 40, 400, 0.05)
    risk = share_risk(np.array([most, most + 1]), 1000, 40, 400)
    assert risk[0] <= 0.05 < risk[1]


def test_a_horizon_without_room_for_one_alarm_is_an_error() -> None:
    points = OperatingPoints.from_counts([3, 4], [1, 5], 5, 10)
    scenario = Scenario(capacity=0.1, cost_ratio=0.1)
    with pytest.raises(InfeasibleError, match=r"capacity=0\.1 of 5 cases"):
        certified_next(points, scenario, 5, 0.05)
