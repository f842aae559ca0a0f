"""How often the floor of a subgroup is called kept though a rare threshold breaks it.

``python benchmarks/subgroups.py [RUNS]`` prints the share; at most 5 % are allowed.
"""

from __future__ import annotations

import sys

import numpy as np

import voros


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


if __name__ == "__main__":
    share = false_kept(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    print(f"a rare threshold breaks the floor: {share:.2%} called kept")
