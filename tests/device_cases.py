"""Cases that a device counts, and the scenarios they are counted for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import voros

SCENARIOS = (
    voros.Scenario(cost_ratio=(1 / 9, 1 / 6)),
    voros.Scenario(0.3, 0.1, cost_ratio=(1 / 40, 1 / 20)),
    voros.Scenario(0.5, 0.3, cost_ratio=(0.2, 0.9)),
    voros.Scenario(0.9, 0.02, cost_ratio=(0.1, 0.3)),
    voros.Scenario(0.2, 0.2, cost_ratio=(0.1, 0.3), prevalence=0.05),
    voros.Scenario(cost_ratio=voros.costs.uniform_t(0, 1)),
)


def draws(n_cases: int, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    ill = rng.random(n_cases) < 0.2
    score = rng.normal(size=n_cases) + 1.2 * ill
    yield "normal", ill, score
    yield "ties", ill, np.round(score, 1)
    yield "few values", ill, np.round(score)
    yield "crowded", ill, 1 / (1 + np.exp(6 - 3 * score))
    ends = score.copy()
    ends[:5], ends[5:9], ends[9:20], ends[20:30] = np.inf, -np.inf, 0.0, -0.0
    yield "infinities and zeros", ill, ends
    ends = ends.copy()
    ends[30:40] = np.finfo(np.float64).max
    yield "infinities and the greatest float", ill, ends
    yield "long tail", ill, np.exp(5 * score)
    yield "whole", ill, np.round(score * 100).astype(np.int64)
    yield "large whole", ill, np.round(score * 100).astype(np.int64) + 2**60
    yield "one value", ill, np.ones(n_cases)
    yield "sorted", np.sort(ill), np.sort(score)
    yield "many zeros", ill, np.where(score > 1, score, 0.0)


def example() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    ill = rng.random(4000) < 0.2
    return ill, (rng.normal(size=4000) + 1.2 * ill).astype(np.float32)
