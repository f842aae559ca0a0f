"""Intervals of what thresholds do: against SciPy's exact ones, and by how often they cover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from voros import Scenario, ThresholdPolicy, costs
from voros.core.exact_intervals import binomial_limits
from voros.core.hull import Choice

SCENARIO = Scenario(min_precision=0.3, capacity=0.5, cost_ratio=(0.1, 0.3))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_limits_of_a_share_are_scipys_exact_ones(confidence):
    for n_cases in (1, 2, 7, 100):
        counts = np.arange(n_cases + 1)
        low, high = binomial_limits(counts, n_cases, confidence)
        for count in counts.tolist():
            exact = binomtest(count, n_cases).proportion_ci(confidence, method="exact")
            assert (low[count], high[count]) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_no_case_tells_nothing():
    low, high = binomial_limits(np.array([0]), 0, 0.95)
    assert (low.tolist(), high.tolist()) == ([0.0], [1.0])


def fixed(thresholds, scenario):
    """A policy with falling thresholds, each on an equal part of the costs."""
    low, high = scenario.costs.support
    ends = np.linspace(low, high, len(thresholds) + 1)
    ends[0], ends[-1] = 0.0, np.inf
    choices = tuple(
        Choice(
            cost_ratio_low=float(a),
            cost_ratio_high=float(b),
            threshold=t,
            tp=1,
            fp=1,
            alarms=2,
            precision=0.5,
            recall=0.5,
        )
        for a, b, t in zip(ends[:-1], ends[1:], sorted(thresholds), strict=True)
    )
    return ThresholdPolicy(
        scenario=scenario,
        strategy="partial_voros",
        choices=choices,
        default=choices[0],
        n_positive=10,
        n_negative=90,
    )


def truth(thresholds, scenario, prevalence, n_cases):
    """Precision, recall, alarms and cost of 1,000 in closed form; scores N(0, 1) + 1.5 y."""
    at = np.sort(np.asarray(thresholds))
    tpr, fpr = norm.sf(at - 1.5), norm.sf(at)
    tp, fp = prevalence * tpr, (1 - prevalence) * fpr
    low, high = scenario.costs.support
    ends = np.linspace(low, high, len(at) + 1)
    ratio = (ends[1:] + ends[:-1]) / 2
    return {
        "precision": (tp / (tp + fp)).mean(),
        "recall": tpr.mean(),
        "alarms": n_cases * (tp + fp).mean(),
        "cost_per_1000": 1000 * (ratio * fp + prevalence - tp).mean(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("thresholds", [(1.0,), (0.8, 1.2, 2.0)])
@pytest.mark.parametrize("stated", [None, 0.1])
def test_intervals_cover_as_often_as_they_say(thresholds, stated):
    n_cases, n_runs, rng = 150, 1000, np.random.default_rng(3)
    scenario = replace(SCENARIO, prevalence=stated)
    policy = fixed(thresholds, scenario)
    expected = truth(thresholds, scenario, 0.3 if stated is None else stated, n_cases)
    covered = dict.fromkeys((*expected, "cost"), 0)
    for _ in range(n_runs):
        y = rng.random(n_cases) < 0.3
        evaluation = policy.evaluate(y, rng.normal(size=n_cases) + 1.5 * y, by_cost=True)
        for name, value in expected.items():
            low, high = getattr(evaluation.intervals, name)
            covered[name] += low <= value <= high
        # The normalised cost is given the class sizes: theirs, with the true rates.
        counts, at = evaluation.counts, np.sort(np.asarray(thresholds))
        cost = counts.t_integral @ norm.sf(at) + (
            counts.probability - counts.t_integral
        ) @ norm.cdf(at - 1.5)
        low, high = evaluation.intervals.cost
        covered["cost"] += low <= cost <= high
    fewest = binom.ppf(0.001, n_runs, 0.95)
    assert {name: times for name, times in covered.items() if times < fewest} == {}


def test_weighted_cases_have_no_exact_interval():
    policy = fixed((0.5,), SCENARIO)
    evaluation = policy.evaluate([0, 1, 0], [0.2, 0.9, 0.7], sample_weight=[1.5, 1, 2])
    assert evaluation.intervals is None
    assert "interval" not in repr(evaluation)


def test_confidence_widens_and_is_checked():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    policy, scores = fixed((0.5,), SCENARIO), rng.normal(size=300) + y
    narrow, wide = (policy.evaluate(y, scores, confidence_level=c).intervals for c in (0.8, 0.99))
    for name in ("precision", "recall", "alarms", "cost", "cost_per_1000"):
        (a, b), (c, d) = getattr(narrow, name), getattr(wide, name)
        assert c < a < b < d
    for confidence in (0, 1, 1.5, True, "0.9"):
        with pytest.raises(ValueError, match="confidence_level="):
            policy.evaluate(y, scores, confidence_level=confidence)


@pytest.mark.parametrize(
    "cost_ratio", [0.25, (0.1, 0.3), costs.miss_costs(5, 20), costs.from_samples([0.1, 0.4])]
)
def test_the_cost_of_a_thousand_cases_is_counted_in_misses(cost_ratio):
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.3
    scores = rng.normal(size=400) + y
    scenario = Scenario(0.1, 0.9, cost_ratio)
    policy = ThresholdPolicy.from_validation(y, scores, scenario)
    mean = {"Uniform": 0.2, "Samples": 0.25}[type(scenario.costs).__name__]
    if scenario.costs.over == "miss":
        mean = np.log(20 / 5) / 15  # the mean of 1/u, u uniform from 5 to 20
    alarms = policy.predict(scores)
    by_hand = mean * (alarms & ~y).sum() + (~alarms & y).sum()
    assert policy.evaluate(y, scores).cost_per_1000 == pytest.approx(1000 * by_hand / 400)


def test_costs_without_end_cost_without_end():
    scenario = Scenario(cost_ratio=costs.uniform_t(0, 1))
    policy = fixed((0.5,), replace(SCENARIO, cost_ratio=scenario.costs))
    assert policy.evaluate([0, 1], [0.6, 0.7]).cost_per_1000 == np.inf
    assert policy.evaluate([0, 1], [0.4, 0.7]).cost_per_1000 == 0
