"""The study: who is selected, what it costs on test, and how sure that is."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import voros
from voros.policy import ThresholdPolicy
from voros_studies.experiments import study
from voros_studies.experiments.folder import RunFolder
from voros_studies.experiments.study import (
    GUARANTEED,
    STUDIED,
    WITH_MARGIN,
    CostInterval,
    Scored,
    cost_intervals,
    deploy,
    guaranteed,
    run_study,
)
from voros_studies.paper.cells import SCENARIOS

PAPER = os.environ.get("VOROS_PAPER_PREDICTIONS")


def some_scored(n_cases=1500, n_models=6, random_state=0):
    rng = np.random.default_rng(random_state)
    y_true = rng.random(n_cases) < 0.15
    patient = rng.integers(0, n_cases // 2, n_cases)
    scores = {}
    for j in range(n_models):
        score = rng.normal(size=n_cases) + y_true * (0.8 + 0.25 * j) * rng.choice([1, 1.6])
        scores[f"m{j}"] = np.round(expit(score - 1), 3)
    return Scored(patient, y_true, scores)


@pytest.fixture(scope="module")
def parts():
    return some_scored(), some_scored(random_state=1)


@pytest.fixture(scope="module")
def deployed(parts):
    return run_study(*parts)


@pytest.mark.slow
def test_each_strategy_takes_the_model_that_its_metric_prefers(parts, deployed):
    """By the metrics themselves, and recall by counting at every threshold."""
    valid, _ = parts
    for one in deployed:
        scenario = SCENARIOS[one.scenario]
        limits = {"min_precision": scenario.min_precision, "capacity": scenario.capacity}
        costs = scenario.costs.support
        scores = {}
        for name, score in valid.scores.items():
            if one.strategy == "voros":
                scores[name] = voros.voros_score(valid.y_true, score, cost_ratio=costs)
            elif one.strategy == "recall":
                scores[name] = greatest_recall(valid.y_true, score, **limits)
            elif one.strategy == "partial_voros":
                scores[name] = voros.partial_voros_score(
                    valid.y_true, score, cost_ratio=costs, **limits
                )
            elif one.strategy == "auroc":
                above = score[valid.y_true][:, None] - score[~valid.y_true]
                scores[name] = (above > 0).mean() + (above == 0).mean() / 2
            elif one.strategy == "log_loss":
                risk = np.clip(score, 1e-15, 1 - 1e-15)
                scores[name] = np.log(np.where(valid.y_true, risk, 1 - risk)).mean()
        if scores:
            assert scores[one.model] == pytest.approx(max(scores.values()))


def greatest_recall(y_true, score, min_precision, capacity):
    recalls = [0.0]
    for threshold in np.unique(score):
        alarm = score >= threshold
        if alarm.sum() <= capacity * len(alarm) and y_true[alarm].mean() >= min_precision:
            recalls.append(y_true[alarm].sum() / y_true.sum())
    return max(recalls)


def test_nothing_is_decided_on_test(parts, deployed):
    """Other test labels change what is found, not what is deployed."""
    valid, test = parts
    reversed_scores = {name: score[::-1].copy() for name, score in test.scores.items()}
    flipped = Scored(test.patient, np.roll(test.y_true, 7), reversed_scores)
    for one, other in zip(deployed, run_study(valid, flipped), strict=True):
        assert one.model == other.model
        assert one.policy.thresholds.tolist() == other.policy.thresholds.tolist()
        assert one.test.expected_cost != other.test.expected_cost


def test_all_patients_certify_and_the_error_is_split_over_the_models(parts, deployed):
    valid, _ = parts
    once = valid.once
    assert sorted(once.patient) == sorted(set(valid.patient))
    for one in deployed:
        if one.strategy != GUARANTEED:
            continue
        part = voros.Guarantee(0.95, horizon=1500).split(len(valid.scores))
        points = once.points[one.model]
        certified = part.allowed(points, SCENARIOS[one.scenario])
        assert set(one.policy.thresholds.tolist()) <= set(points.thresholds[certified].tolist())
        assert (one.policy.model, one.policy.n_models) == (one.model, len(valid.scores))
        assert one.policy.n_positive + one.policy.n_negative == len(once)


def test_development_cases_fix_what_the_patients_certify(parts):
    valid, test = parts
    model, allowed = guaranteed(SCENARIOS[1], valid, 1500, development=test)
    assert model in valid.scores
    assert allowed.n_models == 1
    assert allowed.origin.n_development == len(test)
    deployed = ThresholdPolicy.from_allowed(allowed).thresholds
    assert np.isin(deployed[np.isfinite(deployed)], test.scores[model]).all()


def test_one_case_with_the_outcome_certifies_nothing_and_does_not_end_the_study(parts):
    rows = np.flatnonzero(~parts[0].y_true)[:60]
    valid = parts[0].take(np.append(rows, np.flatnonzero(parts[0].y_true)[0]))
    deployments = run_study(valid, parts[1])
    for one in deployments:
        if one.strategy == GUARANTEED:
            assert one.policy.never_alarms
            assert one.policy.guarantee is not None
            assert one.test.mean_alarms == 0
            by = {other.strategy: other for other in deployments if other.scenario == one.scenario}
            assert one.model == by["partial_voros"].model
    assert len(deployments) == 2 * len(STUDIED)


def test_strategies_are_compared_on_the_same_resamples(parts):
    """A model and its logarithm are the same model, so on the same resamples nothing differs."""
    valid, test = (
        Scored(part.patient, part.y_true, {"m": score, "log m": np.log(score + 9)})
        for part in parts
        for score in [part.scores["m2"]]
    )
    ones = []
    for name in ("m", "log m"):
        policy = ThresholdPolicy.from_points(valid.points[name], SCENARIOS[1], model=name)
        ones.append(deploy(1, name, policy, valid, test))
    intervals = cost_intervals(ones, test, n_resamples=100, beside="m")
    assert intervals["m"].cost == intervals["log m"].cost
    assert intervals["log m"].verdict == "the same choice"


def test_the_same_choice_costs_the_same_on_every_resample(parts, deployed):
    ones = [one for one in deployed if one.scenario == 1]
    intervals = cost_intervals(ones, parts[1], n_resamples=100)
    assert intervals["partial_voros"].excess == CostInterval(0.0, 0.0, 0.0)
    assert intervals["partial_voros"].verdict == "the same choice"
    assert set(intervals) == set(STUDIED)


def test_resamples_are_kept_when_the_run_is_killed(parts, deployed, tmp_path, monkeypatch):
    """The second strategy is interrupted; the next run completes it without repeating the first."""
    ones, done = [one for one in deployed if one.scenario == 1][:3], []
    bootstrap = study.bootstrap

    def killed(*cases, metric, **options):
        done.append(metric.strategy)
        if len(done) == 2:
            raise KeyboardInterrupt
        return bootstrap(*cases, metric=metric, **options)

    beside = ones[0].strategy
    monkeypatch.setattr(study, "bootstrap", killed)
    with pytest.raises(KeyboardInterrupt):
        cost_intervals(ones, parts[1], n_resamples=100, beside=beside, kept=tmp_path)
    intervals = cost_intervals(ones, parts[1], n_resamples=100, beside=beside, kept=tmp_path)
    assert done == [ones[0].strategy, ones[1].strategy, ones[1].strategy, ones[2].strategy]
    assert intervals == cost_intervals(ones, parts[1], n_resamples=100, beside=beside)
    assert (
        cost_intervals(ones, parts[1], n_resamples=100, beside=beside, kept=tmp_path) == intervals
    )
    other = parts[1].take(np.arange(len(parts[1]) - 1))
    cost_intervals(ones[:1], other, n_resamples=100, beside=beside, kept=tmp_path)
    assert done[-1] == ones[0].strategy, "of other cases nothing is known"


def test_the_margin_is_decided_within_tighter_limits_and_judged_by_the_real_ones(parts, deployed):
    valid, _ = parts
    for one in deployed:
        if one.strategy != WITH_MARGIN:
            continue
        limits = SCENARIOS[one.scenario]
        floor, capacity = 1.1 * limits.min_precision, 0.9 * limits.capacity
        tight = voros.Scenario(floor, capacity, limits.cost_ratio)
        scores = {
            name: voros.partial_voros_score(valid.y_true, score, tight)
            for name, score in valid.scores.items()
        }
        assert scores[one.model] == max(scores.values())
        for threshold in one.policy.thresholds[np.isfinite(one.policy.thresholds)]:
            alarm = valid.scores[one.model] >= threshold
            assert alarm.sum() <= capacity * len(valid)
            assert valid.y_true[alarm].mean() >= floor
        assert one.policy.scenario == limits
        assert one.test.max_alarms == limits.capacity * 1500


class PublishedFolder(RunFolder):
    """The authors' folder, which holds nothing but predictions."""

    def prediction(self, name, part):
        return self.root / f"{name}_{part}.csv"


@pytest.mark.skipif(PAPER is None, reason="VOROS_PAPER_PREDICTIONS names no folder")
@pytest.mark.slow
def test_the_papers_own_models_give_the_papers_own_costs():
    """Each strategy selects its own published model again, at the published cost."""
    names = ("scenario1_pvoros", "scenario1_recall", "scenario2", "mimic_s2_voros")
    valid, test = (
        Scored.read(PublishedFolder(Path(PAPER or "")), names, part) for part in ("valid", "test")
    )
    costs = {
        (one.scenario, one.strategy): round(one.test.expected_cost, 3)
        for one in run_study(valid, test)
        if one.strategy != GUARANTEED
    }
    assert costs[1, "partial_voros"] == 0.261
    assert costs[1, "voros"] == 0.261
    assert costs[1, "recall"] == 0.302
    assert costs[2, "partial_voros"] == costs[2, "recall"] == costs[2, "partial_auroc"] == 0.538
    assert costs[2, "voros"] == 0.640
