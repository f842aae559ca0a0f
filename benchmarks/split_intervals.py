"""How often the intervals over splits hold the true difference, where all splits share a test set.

Run ``python benchmarks/split_intervals.py --runs 2000``. A case's difference in cost on a split is
the sum of what the split (training and validation) did, what the test case does on every split, and
what it does on that split alone; the true mean is 0. ``ratio`` is the standard deviation of what
splits do over that of the mean of the shared test cases.
"""

from __future__ import annotations

import argparse

import numpy as np

from voros.typing import FloatArray
from voros_studies.experiments.splits import corrected_interval, fixed_test_interval

N_CASES, N_RESAMPLES = 300, 2000
RUNS_PER_DRAW = 50
"""Studies that share their resamples; a new draw for each would take most of the time."""

ALONE = 0.5
"""Standard deviation of what a test case does on one split, over that on every split."""

RATIOS = (2.0, 1.0, 0.5, 0.25, 0.0)


def resampled_differences(
    n_splits: int, ratio: float, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draw the differences of a study: a row for each split, as it is and then resampled."""
    shared = rng.normal(size=N_CASES)
    splits = ratio / np.sqrt(N_CASES) * rng.normal(size=(n_splits, 1))
    cases = splits + shared + ALONE * rng.normal(size=(n_splits, N_CASES))
    return np.column_stack([cases.mean(axis=1), cases @ weights.T])


def held(n_splits: int, ratio: float, runs: int, seed: int = 0) -> tuple[float, float]:
    """Share of runs whose corrected interval, and whose interval by resampling, holds 0."""
    rng, covered = np.random.default_rng(seed), []
    for run in range(runs):
        if run % RUNS_PER_DRAW == 0:
            drawn = rng.multinomial(N_CASES, np.full(N_CASES, 1 / N_CASES), size=N_RESAMPLES)
            weights = drawn / N_CASES
        differences = resampled_differences(n_splits, ratio, weights, rng)
        # PhysioNet 2012 with set c for testing: 4,000 cases beside 8,000.
        intervals = corrected_interval(differences[:, 0], 0.5), fixed_test_interval(differences)
        covered.append([one.low <= 0 <= one.high for one in intervals])
    corrected, resampled = np.mean(covered, axis=0).tolist()
    return corrected, resampled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--splits", nargs="*", type=int, default=[2, 5, 20])
    asked = parser.parse_args()
    for n_splits in asked.splits:
        for ratio in RATIOS:
            corrected, resampled = held(n_splits, ratio, asked.runs)
            print(
                f"{n_splits:3} splits, ratio {ratio:4}: holds 0 in {resampled:.3f}, corrected as "
                f"for test parts drawn again {corrected:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
