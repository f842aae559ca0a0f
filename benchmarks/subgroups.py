"""How often a guarantee in every subgroup, or what is said of a subgroup's floor, is wrong.

``python benchmarks/subgroups.py [RUNS]`` prints for each of three populations of three subgroups
the share of runs in which the floor of some subgroup or the capacity is broken; then how often a
subgroup is called kept though a rare threshold breaks its floor. At most 5 % are allowed.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray

import voros

FLOOR, CAPACITY, N_CASES, N_LEVELS = 0.4, 0.249, 900, 12
SHARES = np.array([0.5, 0.3, 0.2])
"""Of the subgroups."""

POPULATIONS: dict[str, NDArray[np.float64]] = {
    "floor": np.tile(np.r_[[0.39] * 4, [0.3] * 8], (3, 1)),
    "mixed": np.array([np.linspace(top, 0.05, N_LEVELS) for top in (0.9, 0.7, 0.5)]),
    "capacity": np.full((3, N_LEVELS), 0.8),
}
"""Chance of a positive at each level of the score, best first, by subgroup."""


def thresholds(chances: NDArray[np.float64], rng: np.random.Generator) -> dict[str, float]:
    """Draw validation cases and return the guaranteed thresholds."""
    subgroup, level = rng.choice(3, N_CASES, p=SHARES), rng.integers(0, N_LEVELS, N_CASES)
    y_true = rng.random(N_CASES) < chances[subgroup, level]
    scenario = voros.Scenario(min_precision=FLOOR, capacity=CAPACITY, cost_ratio=0.05)
    sure = voros.Guarantee(0.95)
    scores = N_LEVELS - level.astype(float)
    found = voros.compare_subgroup_thresholds(y_true, scores, scenario, by=subgroup, guarantee=sure)
    return found.policy("guaranteed").thresholds()


def breaks(deployed: dict[str, float], chances: NDArray[np.float64]) -> bool:
    """Say whether a limit is broken in the population."""
    scores = N_LEVELS - np.arange(N_LEVELS)
    raised = np.array([scores >= deployed[str(subgroup)] for subgroup in range(3)])
    precisions = [chances[g, raised[g]].mean() for g in range(3) if raised[g].any()]
    return bool(SHARES @ raised.mean(axis=1) > CAPACITY or min(precisions, default=1.0) < FLOOR)


def false_kept(runs: int) -> float:
    """Call the floor of a subgroup kept, where one case in 1,000 reaches the strict threshold.

    None of those is positive, and of the others that raise an alarm 60 % are.
    """
    rng, chance = np.random.default_rng(5), np.array([0.0, 0.12, 0.25, 0.33, 0.9])
    level = rng.choice(5, 4000, p=[0.6, 0.1, 0.1, 0.1, 0.1])
    scenario = voros.Scenario(min_precision=0.3, cost_ratio=(0.02, 0.42))
    policy = voros.ThresholdPolicy.from_validation(
        rng.random(4000) < chance[level], level.astype(float), scenario
    )
    kept = 0
    for _ in range(runs):
        level = rng.choice(4, 1000, p=[0.799, 0.0, 0.2, 0.001])
        y_true = (level == 2) & (rng.random(1000) < 0.6)
        found = policy.evaluate(
            y_true, level.astype(float), by=["a"] * 1000, by_cost=True
        ).by_subgroup
        assert found is not None
        kept += found["subgroup", "a"].floor == "kept"
    return kept / runs


def main(runs: int) -> None:
    """Simulate every population."""
    warnings.simplefilter("ignore", voros.NeverAlarmWarning)
    for name, chances in POPULATIONS.items():
        seeds = (np.random.default_rng([seed, 77, len(name)]) for seed in range(runs))
        broken = sum(breaks(thresholds(chances, rng), chances) for rng in seeds) / runs
        error = np.sqrt(broken * (1 - broken) / runs)
        print(f"{name:9} {broken:.2%} broken (Monte Carlo error {error:.2%}) in {runs:,} runs")
    print(f"a rare threshold breaks the floor: {false_kept(runs):.2%} called kept")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
