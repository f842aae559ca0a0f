"""The study: who is selected, what it costs on test, and how sure that is."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import voros
from voros.policy import ThresholdPolicy
from voros.studies.experiments.folder import Predictions, read_predictions
from voros.studies.experiments.intervals import Interval, cost_intervals
from voros.studies.experiments.study import GUARANTEED, STRATEGIES, Deployed, Scored, run_study
from voros.studies.paper.cells import SCENARIOS

PAPER = os.environ.get("VOROS_PAPER_PREDICTIONS")


def some_predictions(n_cases=1500, n_models=6, random_state=0):
    rng = np.random.default_rng(random_state)
    y_true = rng.random(n_cases) < 0.15
    patient = rng.integers(0, n_cases // 2, n_cases)
    made = {}
    for j in range(n_models):
        score = rng.normal(size=n_cases) + y_true * (0.8 + 0.25 * j) * rng.choice([1, 1.6])
        made[f"m{j}"] = Predictions(patient, y_true, np.round(score, 2))
    return made


@pytest.fixture(scope="module")
def parts():
    return Scored.of(some_predictions()), Scored.of(some_predictions(random_state=1))


@pytest.fixture(scope="module")
def deployed(parts):
    return run_study(*parts)


def test_each_strategy_takes_the_model_that_its_metric_prefers(parts, deployed):
    """By the metrics themselves, and recall by counting at every threshold."""
    valid, _ = parts
    for one in deployed:
        scenario = SCENARIOS[one.scenario]
        limits = {"min_precision": scenario.min_precision, "capacity": scenario.capacity}
        costs = scenario.costs.support
        scores = {}
        for name, p in valid.predictions.items():
            if one.strategy == "voros":
                scores[name] = voros.voros_score(p.y_true, p.score, cost_ratio=costs)
            elif one.strategy == "recall":
                scores[name] = greatest_recall(p, **limits)
            elif one.strategy == "partial_voros":
                scores[name] = voros.partial_voros_score(
                    p.y_true, p.score, cost_ratio=costs, **limits
                )
        if scores:
            assert scores[one.model] == pytest.approx(max(scores.values()))


def greatest_recall(p, min_precision, capacity):
    found = [0.0]
    for threshold in np.unique(p.score):
        alarm = p.score >= threshold
        if alarm.sum() <= capacity * len(alarm) and p.y_true[alarm].mean() >= min_precision:
            found.append(p.y_true[alarm].sum() / p.y_true.sum())
    return max(found)


def test_nothing_is_decided_on_test(parts, deployed):
    """Other test labels change what is found, not what is deployed."""
    valid, test = parts
    flipped = {
        name: Predictions(p.patient, np.roll(p.y_true, 7), p.score[::-1].copy())
        for name, p in test.predictions.items()
    }
    for one, other in zip(deployed, run_study(valid, Scored.of(flipped)), strict=True):
        assert one.model == other.model
        assert one.policy.thresholds.tolist() == other.policy.thresholds.tolist()
        assert one.test.expected_cost != other.test.expected_cost


def test_the_guaranteed_policy_is_tested_on_patients_that_did_not_rank_its_model(parts, deployed):
    valid, _ = parts
    ranking, testing = valid.halves
    patients = testing.sample.patient
    assert len(patients) == len(np.unique(patients))
    assert set(patients) & set(ranking.sample.patient) == set()
    assert set(patients) | set(ranking.sample.patient) == set(valid.sample.patient)
    assert ranking.n_cases == np.isin(valid.sample.patient, ranking.sample.patient).sum()
    for one in deployed:
        if one.strategy != GUARANTEED:
            continue
        scenario = SCENARIOS[one.scenario]
        scores = {
            name: voros.partial_voros_score(p.y_true, p.score, scenario)
            for name, p in ranking.predictions.items()
        }
        assert scores[one.model] == max(scores.values())
        points = testing.points[one.model]
        certified = voros.Guarantee(0.95, horizon=1500).allowed(points, scenario)
        assert set(one.policy.thresholds.tolist()) <= set(points.thresholds[certified].tolist())
        assert (one.policy.model, one.policy.n_models) == (one.model, 1)
        assert one.policy.n_positive + one.policy.n_negative == len(patients)


def test_strategies_are_compared_on_the_same_resamples(parts):
    """A model and its logarithm are the same model, so on the same resamples nothing differs."""
    valid, test = (
        Scored.of({"m": p, "log m": Predictions(p.patient, p.y_true, np.log(p.score + 9))})
        for p in (part.predictions["m2"] for part in parts)
    )
    ones = []
    for name in ("m", "log m"):
        policy = ThresholdPolicy.from_points(valid.points[name], SCENARIOS[1])
        account = policy.evaluate_points(test.points[name], by_cost=True)
        ones.append(Deployed(1, name, name, policy, account, account, account.expected_cost))
    found = cost_intervals(ones, test, n_resamples=100, beside="m")
    assert found["m"].cost == found["log m"].cost
    assert found["log m"].verdict == "the same choice"


def test_the_same_choice_costs_the_same_on_every_resample(parts, deployed):
    ones = [one for one in deployed if one.scenario == 1]
    found = cost_intervals(ones, parts[1], n_resamples=100)
    assert found["partial_voros"].excess == Interval(0.0, 0.0, 0.0)
    assert found["partial_voros"].verdict == "the same choice"
    assert set(found) == set(STRATEGIES)


@pytest.mark.skipif(PAPER is None, reason="VOROS_PAPER_PREDICTIONS names no folder")
def test_the_papers_own_models_give_the_papers_own_costs():
    """Among the published models each strategy picks its own again, at the published cost."""
    names = ("scenario1_pvoros", "scenario1_recall", "scenario2", "mimic_s2_voros")
    valid, test = (
        Scored.of({n: read_predictions(Path(PAPER or "") / f"{n}_{part}.csv") for n in names})
        for part in ("valid", "test")
    )
    found = {
        (one.scenario, one.strategy): round(one.test.expected_cost, 3)
        for one in run_study(valid, test)
        if one.strategy != GUARANTEED
    }
    assert found[1, "partial_voros"] == 0.261
    assert found[1, "voros"] == 0.261
    assert found[1, "recall"] == 0.302
    assert found[2, "partial_voros"] == found[2, "recall"] == found[2, "partial_auroc"] == 0.538
    assert found[2, "voros"] == 0.640
