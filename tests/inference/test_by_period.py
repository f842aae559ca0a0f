"""Intervals under a capacity per period: resamples of whole periods, against copying their rows."""

from __future__ import annotations

import numpy as np
import pytest

import voros
from voros.core.periods import Periods
from voros.exceptions import ArgumentError
from voros.inference.resampling import Ranked, Sampling

RULES = ({}, {"exceed": 0.1}, {"exceed": 0.0}, {"exceed": 0.2, "prevalence": 0.3})


def stream(seed: int = 0, n: int = 240):
    """Cases of 40 days, five of them without a case."""
    rng = np.random.default_rng(seed)
    day = rng.choice(np.setdiff1d(np.arange(40), [3, 9, 10, 21, 30]), n)
    day[:2] = 0, 39
    y = rng.random(n) < 0.3
    score = np.round(1.5 * y + rng.normal(size=n) + 0.3 * np.sin(day), 1)
    times = np.datetime64("2024-01-01") + day
    return y, score, times


def copied(y, score, periods: Periods, counts):
    """Write the rows of every drawn period out, each time under a name of its own."""
    rows, codes, place = [], [], 0
    for period, often in enumerate(counts):
        for _ in range(often):
            members = np.flatnonzero(periods.codes == period)
            rows.append(members)
            codes.append(np.full(len(members), place))
            place += 1
    drawn, codes = np.concatenate(rows), np.concatenate(codes)
    names = np.arange(place).astype(str)
    return y[drawn], score[drawn], Periods(codes, names, None, "")


@pytest.mark.parametrize("rule", RULES)
def test_a_resample_scores_what_its_copied_rows_score(rule) -> None:
    y, score, times = stream()
    scenario = voros.Scenario(0.3, 2, cost_ratio=(0.05, 0.2), per="day", **rule)
    interval = voros.bootstrap(
        y, score, scenario, times=times, n_resamples=100, random_state=3, method="percentile"
    )
    periods = Periods.from_times(times, "day")
    draws = Sampling.from_cases(y, periods=periods).resamples(100, np.random.default_rng(3))
    expected = []
    for counts in draws:
        assert counts.sum() == 40
        labels, scores, own = copied(y, score, periods, counts)
        expected.append(voros.evaluate(labels, scores, scenario, periods=own).score)
    np.testing.assert_allclose(interval.distribution, expected, rtol=1e-12)
    assert interval.estimate == voros.evaluate(y, score, scenario, times=times).score
    assert interval.drawn == "periods"
    assert interval.low <= interval.estimate <= interval.high


@pytest.mark.parametrize("metric", ["expected_cost", "threshold", "recall", "partial_auroc"])
def test_other_metrics_too(metric) -> None:
    y, score, times = stream(1)
    scenario = voros.Scenario(0.3, 2, cost_ratio=(0.05, 0.2), per="day", exceed=0.1)
    options = {"times": times, "n_resamples": 100, "random_state": 0, "metric": metric}
    interval = voros.bootstrap(y, score, scenario, **options)
    assert np.isfinite(interval.estimate)
    assert interval.low <= interval.high


def test_fixed_policies_are_compared_on_whole_periods() -> None:
    y, score, times = stream(2, 900)
    scenario = voros.Scenario(0.3, 4, cost_ratio=(0.05, 0.2), per="day", exceed=0.2)
    scores = {"one": score, "other": score + np.random.default_rng(0).normal(size=len(y))}
    policies = {
        name: voros.ThresholdPolicy.from_validation(y, column, scenario, times=times)
        for name, column in scores.items()
    }
    options = {"n_resamples": 100, "random_state": 0}
    result = voros.compare_policies(y, scores, policies, times=times, **options)
    for name, policy in policies.items():
        tested = policy.evaluate(y, scores[name], times=times)
        assert result.models[name].estimate == pytest.approx(tested.expected_cost)
        assert result.models[name].drawn == "periods"
    with pytest.raises(ArgumentError, match="per='day' needs the period of each case"):
        voros.compare_policies(y, scores, policies, **options)


def test_what_excludes_one_another_is_refused() -> None:
    y, score, times = stream()
    scenario = voros.Scenario(0.3, 2, cost_ratio=(0.05, 0.2), per="day")
    with pytest.raises(ArgumentError, match="groups and a capacity per day are mutually exclusive"):
        voros.bootstrap(y, score, scenario, times=times, groups=np.arange(len(y)))
    with pytest.raises(ArgumentError, match="times needs a capacity per period"):
        voros.bootstrap(y, score, voros.Scenario(cost_ratio=0.1), times=times)
    with pytest.raises(ArgumentError, match="per='day' needs the period of each case"):
        voros.bootstrap(y, score, scenario)


def test_a_period_left_out_is_one_less() -> None:
    y, score, times = stream()
    periods = Periods.from_times(times, "day")
    ranked = Ranked.from_cases(y, score, units=periods.codes, periods=periods)
    counts = np.ones(40, dtype=np.intp)
    counts[[0, 3]] = 0
    points = ranked.points(counts)
    assert points.by_period is not None
    assert points.by_period.n_periods == 38
    scenario = voros.Scenario(capacity=2, cost_ratio=0.1, per="day")
    assert points.max_alarms(scenario) == 76
