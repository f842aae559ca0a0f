"""Fewer points: without loss where that is promised, within the bound where it is not."""

import warnings

import numpy as np
import pytest
from alarms.test_points import large_ward
from hypothesis import given, settings
from hypothesis import strategies as st
from slower import slow_after

import voros
from voros import OperatingPoints, Scenario
from voros.present.explorer.patient_days import in_patient_days
from voros.present.explorer.thinning import largest_change, thin_points, useful_points


def _curve(seed: int, n: int = 300, digits: int = 2) -> OperatingPoints:
    rng = np.random.default_rng(seed)
    y = np.append([True, False], rng.random(n) < 0.25)
    return OperatingPoints.from_scores(y, np.round(rng.normal(size=n + 2) + 1.2 * y, digits))


def _ward(n_stays: int) -> OperatingPoints:
    """Points with alarms that count for the capacity only, in patient-days."""
    stay, hour, score, events = large_ward(1, n_stays=n_stays)
    rule = voros.AlarmRule(snooze=2, horizon=8, repeats="capacity_only", unfinished="capacity_only")
    points = voros.alarm_points(stay=stay, time=hour, score=score, events=events, rule=rule)
    limits = Scenario(0.1, 0.5, cost_ratio=0.1, per="patient-day")
    return in_patient_days({"risk": points}, limits)[0]["risk"]


def _score(points: OperatingPoints, scenario: Scenario) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.VorosWarning)
        return voros.evaluate(points, scenario=scenario).score


scenarios = st.builds(
    Scenario,
    min_precision=st.floats(0, 1),
    capacity=st.floats(0.05, 1),
    cost_ratio=st.tuples(st.floats(0.001, 0.2), st.floats(0.3, 3)),
    prevalence=st.none() | st.floats(0.05, 0.9),
)


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), digits=st.integers(0, 3), scenario=scenarios)
def test_useful_points_score_exactly_as_all(seed, digits, scenario):
    full = _curve(seed, digits=digits)
    assert _score(useful_points(full), scenario) == pytest.approx(_score(full, scenario), abs=1e-12)


def test_useful_points_of_scores_are_those_at_a_positive_and_no_more():
    rng = np.random.default_rng(1)
    y, scores = rng.random(200) < 0.3, np.round(rng.normal(size=200), 1)
    kept = useful_points(OperatingPoints.from_scores(y, scores))
    assert set(kept.thresholds[1:]) == set(scores[y])


@pytest.mark.parametrize("floor", [0.0, 0.1, 0.4])
def test_useful_points_of_a_ward_score_exactly_as_all(floor):
    full = _ward(90)
    useful = useful_points(full)
    assert len(useful) < len(full) / 10
    for capacity in np.unique(full.counted_alarms[full.counted_alarms > 1])[:120]:
        scenario = Scenario(floor, int(capacity), cost_ratio=(0.01, 0.3))
        assert _score(useful, scenario) == pytest.approx(_score(full, scenario), abs=1e-12)


@pytest.mark.parametrize("at_most", [1, 8, 30])
def test_no_score_of_a_ward_changes_by_more_than_the_bound(at_most):
    full, recall_floor = _ward(150), 0.25
    kept = thin_points(full, at_most, recall_floor)
    assert len(kept) - 1 <= at_most
    bound = largest_change(full, kept, recall_floor)
    assert 0 < bound < 1 or at_most == 1
    least = recall_floor * full.n_positive
    within = (full.counted_alarms >= least) & (full.counted_alarms <= full.n_cases)
    for i in np.flatnonzero(within)[::7]:
        floor, capacity = float(full.precision[i]) * (1 - 1e-9), int(full.counted_alarms[i])
        scenario = Scenario(floor, capacity, cost_ratio=(0.01, 0.3))
        assert _score(full, scenario) - _score(kept, scenario) <= bound + 1e-12


@pytest.mark.parametrize("at_most", [1, 5, 20, 60, 10_000])
def test_thin_points_keeps_at_most_so_many_and_never_alarm(at_most):
    full = _curve(3)
    kept = thin_points(full, at_most, recall_floor=0.25)
    assert len(kept) - 1 <= at_most
    assert kept.thresholds[0] == np.inf
    assert set(kept.thresholds) <= set(full.thresholds)
    assert (kept.n_positive, kept.n_negative) == (full.n_positive, full.n_negative)


def test_nothing_is_lost_where_there_is_room_for_all():
    full = _curve(4)
    kept = thin_points(full, len(full), recall_floor=0.25)
    assert largest_change(full, kept, recall_floor=0.0) == 0


def test_more_points_never_make_the_bound_larger():
    full = _curve(5, n=2000, digits=6)
    bounds = [
        largest_change(full, thin_points(full, at_most, 0.25), 0.25)
        for at_most in (10, 40, 160, 400)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 0.05


def _hardest_settings(full: OperatingPoints, kept: OperatingPoints) -> list[tuple[float, float]]:
    """Limits that just admit a dropped point: where thinning hurts most."""
    dropped = np.setdiff1d(useful_points(full).thresholds, kept.thresholds)
    index = np.flatnonzero(np.isin(full.thresholds, dropped))
    return [(float(full.precision[i]), float(full.alarms[i] / full.n_cases)) for i in index]


@pytest.mark.parametrize("seed", slow_after(2, range(4)))
@pytest.mark.parametrize("prevalence", [None, 0.1, 0.6])
def test_no_score_changes_by_more_than_the_bound(seed, prevalence):
    recall_floor = 0.25
    full = _curve(seed, n=400, digits=5)
    kept = thin_points(full, 25, recall_floor)
    bound = largest_change(full, kept, recall_floor)
    assert 0 < bound < 1
    deployed = full.at_prevalence(prevalence)
    least_capacity = recall_floor * deployed.n_positive / deployed.n_cases
    worst = 0.0
    for floor, capacity in _hardest_settings(deployed, kept):
        for costs in ((0.001, 0.01), (0.05, 0.3), (0.5, 3.0)):
            scenario = Scenario(
                floor * (1 - 1e-9), max(capacity, least_capacity), costs, prevalence
            )
            change = _score(full, scenario) - _score(kept, scenario)
            assert -1e-12 <= change <= bound + 1e-12
            worst = max(worst, change)
    assert worst > bound / 10, "the bound is no mere formality"


def test_bound_by_hand():
    full = OperatingPoints.from_counts([10, 20, 30], [0, 5, 30], 40, 160)
    without_middle = OperatingPoints.from_counts([10, 30], [0, 30], 40, 160)
    # 20 of 40 stand in by 10 of 40, and no capacity that admits it allows less than 20 of 40.
    assert largest_change(full, without_middle, 0.0) == 2 * (10 / 40) / (20 / 40)
    assert largest_change(full, without_middle, 1.0) == 2 * (10 / 40)
    without_first = OperatingPoints.from_counts([20, 30], [5, 30], 40, 160)
    # The first is the most precise, and only raising no alarm keeps every floor that it keeps.
    assert largest_change(full, without_first, 1.0) == 2 * (10 / 40)
