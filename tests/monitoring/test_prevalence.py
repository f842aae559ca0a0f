"""The prevalence that alarms suggest: its interval, and where there is none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

import voros
from voros.monitoring.unlabelled import prevalence_interval

SCENARIO = voros.Scenario(min_precision=0.25, capacity=0.3, cost_ratio=(1 / 20, 1 / 10))


def drawn(rng: np.random.Generator, n: int, prevalence: float) -> tuple[np.ndarray, np.ndarray]:
    y = rng.random(n) < prevalence
    return y, 1.3 * y + rng.normal(size=n)


def note(monitor: voros.Monitor) -> str:
    return next(text for text in monitor.status().notes if text.startswith("prevalence"))


def fed(policy: voros.ThresholdPolicy, scores: np.ndarray) -> voros.Monitor:
    monitor = voros.Monitor(policy, window=30)
    when = np.datetime64("2026-01-01") + np.sort(np.arange(len(scores)) % 30)
    monitor.update(scores, cases=np.arange(len(scores)), times=when)
    return monitor


def test_of_known_rates_it_is_the_exact_interval_of_the_share_of_alarms() -> None:
    # Independent cases of many days; a recall of .6 and a false positive rate of .1 are known.
    alarms = np.zeros(4000)
    alarms[:600] = 1
    low, high = prevalence_interval(alarms, np.ones(4000), (0.6, 0.1), (10**9, 10**9), 0.95)
    exact = stats.binomtest(600, 4000).proportion_ci(0.95)
    assert low == pytest.approx((exact.low - 0.1) / 0.5, abs=5e-4)
    assert high == pytest.approx((exact.high - 0.1) / 0.5, abs=5e-4)


def test_of_endless_cases_what_is_unsure_is_the_rates() -> None:
    cases = np.full(30, 1e7)
    low, high = prevalence_interval(0.35 * cases, cases, (0.6, 0.1), (50, 10**9), 0.95)
    tail = stats.binomtest(30, 50).proportion_ci(0.975)
    assert low == pytest.approx(0.25 / (tail.high - 0.1), abs=5e-4)
    assert high == pytest.approx(0.25 / (tail.low - 0.1), abs=5e-4)


def test_days_that_vary_more_widen_it() -> None:
    cases, even = np.full(30, 100.0), np.full(30, 20.0)
    uneven = even + 15 * np.tile([-1, 1], 15)
    how = (0.6, 0.1), (5000, 5000), 0.95
    narrow, wide = (np.ptp(prevalence_interval(a, cases, *how)) for a in (even, uneven))
    assert wide > 2 * narrow


@pytest.mark.slow
def test_the_note_says_the_interval_and_it_holds() -> None:
    missed, runs, rng = 0, 60, np.random.default_rng(0)
    for _ in range(runs):
        policy = voros.ThresholdPolicy.from_validation(*drawn(rng, 1000, 0.1), SCENARIO)
        said = note(fed(policy, drawn(rng, 600, 0.2)[1]))
        value, confidence, low, high = map(float, re.findall(r"\d+\.?\d*", said)[:4])
        assert low <= value <= high
        assert confidence == 95
        missed += not low <= 0.2 <= high
    assert missed <= 6


def test_a_policy_of_patients_has_no_interval_and_says_why() -> None:
    rng = np.random.default_rng(1)
    y, scores = drawn(rng, 1000, 0.1)
    policy = voros.ThresholdPolicy.from_validation(
        y, scores, SCENARIO, guarantee=0.9, n_models=1, groups=np.arange(1000) // 2
    )
    assert "no interval: validated on patients" in note(fed(policy, scores))


def test_alarms_that_no_prevalence_explains_are_said() -> None:
    rng = np.random.default_rng(2)
    policy = voros.ThresholdPolicy.from_validation(*drawn(rng, 4000, 0.1), SCENARIO)
    said = note(fed(policy, rng.normal(-5, 1, size=3000)))
    assert "no share of positives explains the alarms" in said
