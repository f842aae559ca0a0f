"""What a scenario decides about points, beyond what its parts are tested for."""

import pytest

from voros import OperatingPoints, Scenario
from voros.core.decision import costs_doubt, solve

POINTS = OperatingPoints.from_counts([4, 6, 9], [1, 6, 41], n_positive=10, n_negative=90)


@pytest.mark.parametrize(
    ("floor", "ratio", "doubtful"),
    [(0.2, 0.249, False), (0.2, 0.251, True), (0.0, 100.0, False), (1.0, 0.99, False)],
)
def test_never_alarm_is_costliest_below_alpha_over_one_minus_alpha(floor, ratio, doubtful):
    scenario = Scenario(min_precision=0.5, cost_ratio=0.1)
    changed = scenario.changed(min_precision=floor, cost_ratio=ratio)
    doubt = costs_doubt(changed, POINTS)
    assert (doubt is not None) == doubtful
    assert doubt is None or "only below 0.25" in doubt


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_the_score_without_limits_is_that_of_the_scenario_without_limits(prevalence):
    limited = Scenario(0.5, 0.2, (0.1, 0.2), prevalence)
    unlimited = solve(POINTS, limited.without_limits())
    assert solve(POINTS, limited).voros == unlimited.partial_voros
