"""Policies and streams that the tests of the monitor share."""

from __future__ import annotations

from typing import Any

import numpy as np

import voros

FIRST_DAY = np.datetime64("2026-01-01")


def make_policy(
    floor: float = 0.25, capacity: float = 0.5, n_alarms: int = 40, **parts: Any
) -> voros.ThresholdPolicy:
    """Alarm at a score of 0.5 or more, which n_alarms of 100 validation cases have."""
    scenario = voros.Scenario(min_precision=floor, capacity=capacity, cost_ratio=0.05, **parts)
    y_true = np.array([1, 0] * 20 + [0] * 60)
    scores = np.where(np.arange(100) < n_alarms, 0.5, 0.1)
    periods = np.arange(100) if scenario.per else None
    return voros.ThresholdPolicy.from_validation(y_true, scores, scenario, periods=periods)


def days(n: int, per_day: int = 1) -> np.ndarray[Any, Any]:
    """The day of each of n cases."""
    return FIRST_DAY + np.arange(n) // per_day


def feed(
    monitor: voros.Monitor, labels: Any, *, delay: int = 0, per_day: int = 1, start: int = 0
) -> None:
    """Give a monitor one alarm for each label, and the labels some days later."""
    n = len(labels)
    when = days(n, per_day) + start
    cases = np.arange(n) + 10**6 * start
    monitor.update(np.full(n, 0.9), cases=cases, times=when)
    monitor.label(labels, cases=cases, times=when + delay)
    monitor.advance(str(when[-1] + 1000), confirm_times=True)


def feed_all(path: str, ready: Any = None) -> None:
    """Feed a hundred days of cases and labels, from the first day, whatever has come before."""
    rng = np.random.default_rng(0)
    with voros.Monitor.open(path) as monitor:
        if ready is not None:
            ready.set()
        for day in range(100):
            scores, labels = rng.random(30), rng.random(30) < 0.3
            cases, when = 30 * day + np.arange(30), np.full(30, FIRST_DAY + day)
            monitor.update(scores, cases=cases, times=when)
            monitor.label(labels, cases=cases, times=when + rng.integers(0, 5, 30))
