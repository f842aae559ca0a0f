"""What a scenario decides about points, beyond what its parts are tested for."""

import numpy as np
import pytest

from voros import OperatingPoints, Scenario
from voros.core.costs import miss_costs
from voros.core.decision import cost_range_note, solve

POINTS = OperatingPoints.from_counts([4, 6, 9], [1, 6, 41], n_positive=10, n_negative=90)


def costlier_than_no_alarm(ratio):
    """Share of a grid of points, within a floor of 0.2 and 50 alarms, that costs more."""
    n = 400
    fpr, tpr = np.meshgrid(*2 * [(np.arange(n) + 0.5) / n])
    tp, fp = 10 * tpr, 90 * fpr
    inside = (tp >= 0.2 * (tp + fp)) & (tp + fp <= 50)
    return np.mean((ratio * fp - tp > 0)[inside])


@pytest.mark.parametrize("ratio", [0.2, 0.25, 0.251, 0.26, 0.5])
def test_raising_no_alarm_scores_the_share_of_the_region_that_is_costlier(ratio):
    score = solve(POINTS, Scenario(0.2, 0.5, ratio)).never_alarm_score
    assert score == pytest.approx(costlier_than_no_alarm(ratio), abs=0.003)
    assert (score > 0) == (ratio > 0.25)


@pytest.mark.parametrize(
    ("floor", "costs"),
    [(0.2, (0.1, 0.25)), (0.2, miss_costs(4, 10)), (0.2, 0.251), (0.0, 0.9), (1.0, 0.9)],
)
def test_costs_are_not_noted_where_raising_no_alarm_scores_little(floor, costs):
    assert cost_range_note(solve(POINTS, Scenario(floor, 0.5, costs))) is None


def test_the_note_says_what_raising_no_alarm_scores():
    note = cost_range_note(solve(POINTS, Scenario(0.2, 0.5, miss_costs(2, 10))))
    opening, scored = note.removesuffix(" here").split(": raising none scores ")
    assert opening == (
        "with a precision floor of 0.2, raising no alarm is not the worst choice at cost ratios "
        'above 0.25, so a score of 0 no longer means "no better than no alarms"'
    )
    # Only misses worth less than four false alarms count, a quarter of these.
    shares = [costlier_than_no_alarm(1 / miss) for miss in 2 + (np.arange(40) + 0.5) / 20]
    assert float(scored) == pytest.approx(np.mean(shares) / 4, abs=0.001)


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_the_score_without_limits_is_that_of_the_scenario_without_limits(prevalence):
    limited = Scenario(0.5, 0.2, (0.1, 0.2), prevalence)
    unlimited = solve(POINTS, limited.without_limits())
    assert solve(POINTS, limited).voros == unlimited.partial_voros
