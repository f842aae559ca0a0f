"""The joint guarantee: exact tests, their order, and how often a population breaks a limit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import voros
from voros.allocation import certified
from voros.exceptions import NeverAlarmWarning

PREVALENCE, SHIFT, FLOORS = np.array([0.15, 0.3]), np.array([1.8, 1.4]), (0.4, 0.5)
SCENARIOS = {str(i): voros.Scenario(floor, cost_ratio=0.1) for i, floor in enumerate(FLOORS)}


def grouped(seed, n_cases=3000):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n_cases)
    y = rng.random(n_cases) < PREVALENCE[group]
    return y, rng.normal(size=n_cases) + SHIFT[group] * y, group


def overlapping(seed, n_cases=3000):
    rng = np.random.default_rng(seed)
    y = rng.random((n_cases, 2)) < PREVALENCE
    common = rng.normal(size=(n_cases, 1))
    return y, 0.8 * rng.normal(size=(n_cases, 2)) + 0.6 * common + SHIFT * y


def in_population(thresholds):
    """Alarms for a case, and precision, of each stream."""
    tp = PREVALENCE * norm.sf(np.array(thresholds) - SHIFT)
    fp = (1 - PREVALENCE) * norm.sf(thresholds)
    return tp + fp, tp / np.maximum(tp + fp, 1e-300)


def broken(thresholds, share, case_share):
    alarms, precision = in_population(thresholds)
    floors = np.isfinite(thresholds) & (precision < FLOORS)
    return floors.any() or case_share * alarms.sum() > share


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_limits_hold_in_the_population():
    kept = [0, 0]
    for seed in range(40):
        y, s, group = grouped(seed)
        sure = voros.Guarantee(0.95)
        policy = voros.allocate(y, s, SCENARIOS, capacity=0.2, by=group, guarantee=sure)
        kept[0] += not broken(policy.default.thresholds, 0.2, 0.5)
        y, s = overlapping(seed)
        policy = voros.allocate(y, s, SCENARIOS, capacity=0.4, guarantee=sure)
        kept[1] += not broken(policy.default.thresholds, 0.4, 1.0)
    assert min(kept) >= 36


def test_it_uses_most_of_the_capacity_where_cases_are_many():
    y, s, group = grouped(0, 60_000)
    sure = voros.Guarantee(0.95)
    policy = voros.allocate(y, s, SCENARIOS, capacity=0.1, by=group, guarantee=sure)
    alarms, _ = in_population(policy.default.thresholds)
    assert 0.09 < 0.5 * alarms.sum() <= 0.1
    assert policy.promise.n_tested == 30_000
    assert policy.promise.uncertified == ()
    assert voros.JointPolicy.from_json(policy.to_json()) == policy


def test_counts_are_those_of_all_cases():
    y, s, group = grouped(1, 8000)
    sure = voros.Guarantee(0.9)
    policy = voros.allocate(y, s, SCENARIOS, capacity=0.2, by=group, guarantee=sure)
    alarm = policy.predict(s, by=group)
    assert sum(policy.default.tp) == (alarm & y).sum()
    assert sum(policy.default.fp) == (alarm & ~y).sum()


def test_too_few_cases_never_alarm_and_say_so():
    y, s, group = grouped(2, 60)
    sure = voros.Guarantee(0.99)
    with pytest.warns(NeverAlarmWarning, match="no threshold keeps the limits of '0', '1'"):
        policy = voros.allocate(y, s, SCENARIOS, capacity=0.2, by=group, guarantee=sure)
    assert policy.promise.uncertified == ("0", "1")


def test_tests_stop_at_the_first_failure():
    passed = np.array([[True, True], [False, True], [True, False], [True, True]])
    expected = [[True, True], [False, True], [False, False], [False, False]]
    assert certified._in_sequence(passed).tolist() == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::voros.NeverAlarmWarning")
def test_scores_that_say_nothing_are_certified_with_probability_alpha_at_most():
    """Precision is just below the floor at every threshold: any alarm breaks the promise."""
    broken_runs = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        y = rng.random(600) < 0.399
        scenario = voros.Scenario(0.4, cost_ratio=0.1)
        policy = voros.allocate(
            y[:, None],
            rng.random((600, 1)),
            scenario,
            capacity=0.9,
            guarantee=voros.Guarantee(0.8),
            random_state=seed,
        )
        broken_runs += sum(policy.default.alarms) > 0
    # Half of alpha = 0.2 is for the floor: 15 runs of 150 expected at most, 25 in 1 of 200.
    assert 0 < broken_runs <= 25


def test_own_capacities_are_refused():
    y, s, group = grouped(3, 200)
    scenario = voros.Scenario(0.4, 0.5, cost_ratio=0.1)
    with pytest.raises(ValueError, match=r"capacity=0\.5 of stream '0': a guarantee is for"):
        voros.allocate(y, s, scenario, capacity=0.2, by=group, guarantee=voros.Guarantee(0.95))
