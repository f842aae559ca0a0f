"""Thresholds, counts and costs of many scores at once agree with those that voros computes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch")

import torch

from voros import OperatingPoints, Scenario, ThresholdPolicy
from voros.policy.allowed import allowed_thresholds
from voros_studies.experiments.study import ranking_cost
from voros_studies.training.counts import best_thresholds, choose_columns, count_alarms
from voros_studies.training.prepare import limits_of
from voros_studies.training.summary import costs_of

SCENARIOS = (
    Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(1 / 9, 1 / 6)),
    Scenario(min_precision=0.5, capacity=0.1, cost_ratio=(1 / 40, 1 / 20)),
    Scenario(min_precision=0.3, capacity=0.2, cost_ratio=(0.1, 0.25)),
)
LIMITS = torch.tensor(np.array([limits_of(one) for one in SCENARIOS]))

# Slow, for only those run where continuous integration has torch.
pytestmark = pytest.mark.slow


def drawn(seed, n=400, ties=False):
    rng = np.random.default_rng(seed)
    y = rng.random((2, n)) < 0.15
    scores = (rng.normal(size=(2, 3, n)) + 1.5 * y[:, None]).astype(np.float32)
    return (np.round(scores, 1) if ties else scores), y


def as_tensors(scores, y):
    return torch.from_numpy(scores), torch.from_numpy(y[:, None].astype(np.float32))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_thresholds_are_those_of_brute_force(seed, ties):
    scores, y = drawn(seed, 60, ties)
    best = best_thresholds(*as_tensors(scores, y), LIMITS, 5)
    for at in np.ndindex(2, 3, 5):
        alpha, kappa, low, high = LIMITS[at[1]].tolist()
        ratio = low + (high - low) * (at[2] + 0.5) / 5
        costs = {np.inf: float(y[at[0]].sum())}
        for threshold in scores[at[:2]]:
            alarm = scores[at[:2]] >= threshold
            tp, n_alarms = int((alarm & y[at[0]]).sum()), int(alarm.sum())
            if tp >= alpha * n_alarms and n_alarms <= kappa * 60:
                costs[float(threshold)] = ratio * (n_alarms - tp) + y[at[0]].sum() - tp
        own = costs[float(best.thresholds[at])]
        assert own == pytest.approx(min(costs.values()), abs=1e-9)
        counted = ratio * best.fp[at] + y[at[0]].sum() - best.tp[at]
        assert float(counted) == pytest.approx(own, abs=1e-6)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_costs_from_counts_are_those_of_the_scores(seed, ties):
    (valid, y_valid), (test, y_test) = drawn(seed, ties=ties), drawn(seed + 10, ties=ties)
    counts = count_alarms(as_tensors(valid, y_valid), as_tensors(test, y_test), LIMITS).numpy()
    for place, column in np.ndindex(2, 3):
        scenario, parts = SCENARIOS[column], ((valid, y_valid), (test, y_test))
        points = [OperatingPoints.from_scores(y[place], s[place, column]) for s, y in parts]
        policy = ThresholdPolicy.from_allowed(allowed_thresholds(points[0], scenario))
        deployed = policy.evaluate(points[1], by_cost=True)
        n_cases = np.array([c for _, y in parts for c in (y[place].sum(), (~y[place]).sum())])
        ranking, cost, excess = costs_of(counts[place, column], n_cases, scenario)
        # A vertex that is best between two cost ratios only is not counted.
        assert ranking == pytest.approx(ranking_cost(points[1], scenario), abs=5e-4)
        assert cost == pytest.approx(deployed.expected_cost, abs=2e-3)
        missed = max((one.missed_by / one.bound for one in deployed.violations), default=0.0)
        assert excess == pytest.approx(missed, abs=0.05)


def test_each_scenario_chooses_among_its_own_columns():
    scores, y = drawn(0)
    perfect = scores.copy()
    perfect[:, 2] += 100 * y
    own = torch.tensor([0, 1, 2])
    assert choose_columns(*as_tensors(perfect, y), LIMITS).tolist() == [[2, 2, 2]] * 2
    assert choose_columns(*as_tensors(perfect, y), LIMITS, own).tolist() == [[0, 1, 2]] * 2
