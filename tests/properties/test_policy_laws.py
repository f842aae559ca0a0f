"""What holds for every policy, whatever the cases, limits and costs."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import voros
from voros import Scenario, ThresholdPolicy, costs
from voros.policy.origin import POLICY_STRATEGIES

pytestmark = pytest.mark.filterwarnings("ignore::voros.exceptions.InvertedCostsWarning")
"""Laws hold where false alarms cost more than misses, too."""

ROUNDING = 1e-12
# `make test-slow` searches longer.
EXAMPLES = 100 if "VOROS_THOROUGH" in os.environ else 25
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def cases(draw):
    n_positive, n_negative = draw(st.integers(1, 12)), draw(st.integers(1, 25))
    labels = [1] * n_positive + [0] * n_negative
    scores = draw(st.lists(st.integers(-6, 6), min_size=len(labels), max_size=len(labels)))
    return np.array(labels), np.array(scores, dtype=float)


@st.composite
def scenarios(draw):
    low = draw(st.floats(0.01, 5))
    width = draw(st.floats(0.01, 5))
    distribution = draw(
        st.sampled_from(
            [
                costs.known(low),
                costs.uniform(low, low + width),
                costs.miss_costs(low, low + width),
                costs.uniform_t(0.05, 0.05 + min(width, 0.9)),
                costs.from_samples([low, low + width]),
            ]
        )
    )
    floor = draw(st.sampled_from([0.0, 0.1, 0.5, 2 / 3, 0.9, 1.0]))
    capacity = draw(st.sampled_from([1.0, 0.7, 3, 5]))
    prevalence = draw(st.sampled_from([None, 0.05, 0.5]))
    return Scenario(floor, capacity, distribution, prevalence)


def decide(labels, scores, scenario, strategy="partial_voros"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", voros.NeverAlarmWarning)
        try:
            return ThresholdPolicy.from_validation(labels, scores, scenario, strategy=strategy)
        except voros.InfeasibleError:
            return None


@given(cases(), scenarios())
@many
def test_no_strategy_breaks_a_limit_on_its_own_validation_cases(data, scenario):
    for strategy in POLICY_STRATEGIES:
        policy = decide(*data, scenario, strategy)
        if policy is not None:
            assert policy.evaluate(*data, by_cost=True).satisfied


@given(cases(), scenarios())
@many
def test_on_validation_more_freedom_never_costs_more(data, scenario):
    costs_of = []
    for strategy in ("partial_voros", "single", "recall"):
        policy = decide(*data, scenario, strategy)
        if policy is None:
            return
        costs_of.append(policy.evaluate(*data, by_cost=True).expected_cost)
    points = voros.OperatingPoints.from_scores(*data)
    never = (
        ThresholdPolicy.never_alarm(points, scenario).evaluate(*data, by_cost=True).expected_cost
    )
    aware, single, recall = costs_of
    assert aware <= single + ROUNDING
    assert single <= min(recall, never) + ROUNDING


@given(cases(), scenarios())
@many
def test_alarms_fall_as_false_alarms_grow_dearer(data, scenario):
    policy = decide(*data, scenario)
    if policy is None:
        return
    raised = [policy.predict(data[1], ratio).sum() for ratio in np.geomspace(1e-3, 1e3, 40)]
    assert raised == sorted(raised, reverse=True)


@given(cases(), scenarios())
@many
def test_only_the_order_of_scores_matters(data, scenario):
    labels, scores = data
    policy, stretched = decide(labels, scores, scenario), decide(labels, np.exp(scores), scenario)
    if policy is None or stretched is None:
        assert policy is stretched
        return
    np.testing.assert_array_equal(np.exp(policy.thresholds), stretched.thresholds)
    one, other = (
        policy.evaluate(labels, scores, by_cost=True),
        stretched.evaluate(labels, np.exp(scores), by_cost=True),
    )
    assert one.expected_cost == other.expected_cost


@given(cases(), cases(), scenarios())
@many
def test_the_account_adds_up_on_any_new_cases(data, new, scenario):
    policy = decide(*data, scenario)
    if policy is None:
        return
    account = policy.evaluate(*new, by_cost=True)
    assert account.probabilities.sum() == pytest.approx(1, abs=1e-9)
    assert -ROUNDING <= account.expected_cost <= 1 + ROUNDING
    assert account.satisfied == all(
        choice.never_alarm
        or (
            choice.precision >= scenario.min_precision - 1e-9
            and choice.alarms <= account.max_alarms + 1e-9
        )
        for choice in account.choices
    )
    for violation in account.violations:
        assert violation.missed_by > 0
        assert 0 < violation.probability <= 1 + 1e-9


@given(cases(), scenarios())
@many
def test_saving_and_reading_changes_nothing(data, scenario):
    policy = decide(*data, scenario)
    if policy is not None:
        assert ThresholdPolicy.from_json(policy.to_json()) == policy


@given(cases(), scenarios())
@many
def test_all_cases_twice_lead_to_the_same_thresholds(data, scenario):
    if scenario.capacity_is_count:
        return
    labels, scores = data
    once, twice = (
        decide(np.tile(labels, times), np.tile(scores, times), scenario) for times in (1, 2)
    )
    if once is None or twice is None:
        return
    np.testing.assert_array_equal(once.thresholds, twice.thresholds)
    assert once.evaluate(labels, scores, by_cost=True).expected_cost == pytest.approx(
        twice.evaluate(labels, scores, by_cost=True).expected_cost, abs=ROUNDING
    )
