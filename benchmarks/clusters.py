"""Guarantees where patients have several cases: how often limits break, and what is certified.

Scores and labels are binormal, and a share of the variance of both is the patient's. *Independent*
takes every case as independent, *one* keeps one case of each patient, *sums* bets on sums over
patients. Run with a number of validations, and names of settings if only some are wanted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

import voros
from voros.core.grouped_cases import GroupedCases
from voros.typing import FloatArray

GUARANTEE = voros.Guarantee(0.95)
FEWER = 4
"""The two other ways are measured on a quarter of the validations."""


@dataclass(frozen=True)
class Setting:
    """A population of patients, and the limits."""

    name: str
    n_groups: int
    mean_size: float
    shared: float
    """Share of the variance of score and label that cases of one patient have in common."""
    prevalence: float
    separation: float
    scenario: voros.Scenario
    unequal: bool = False

    def draw(self, rng: np.random.Generator) -> GroupedCases:
        """Draw patients: of equal size, or geometric."""
        sizes = np.full(self.n_groups, round(self.mean_size))
        if self.unequal:
            sizes = rng.geometric(1 / self.mean_size, size=self.n_groups)
        codes = np.repeat(np.arange(self.n_groups), sizes)
        positive = ndtr(self._normal(codes, rng)) < self.prevalence
        return GroupedCases(positive, self.separation * positive + self._normal(codes, rng), codes)

    def _normal(self, codes: np.ndarray, rng: np.random.Generator) -> FloatArray:
        common, own = rng.normal(size=self.n_groups)[codes], rng.normal(size=len(codes))
        return np.asarray(np.sqrt(self.shared) * common + np.sqrt(1 - self.shared) * own)

    def judge(self, thresholds: FloatArray) -> tuple[bool, float]:
        """Whether some threshold breaks a limit in the population, and the largest recall."""
        tp = self.prevalence * ndtr(self.separation - thresholds)
        alarms = tp + (1 - self.prevalence) * ndtr(-thresholds)
        precise = tp >= self.scenario.min_precision * alarms
        broken = not np.all(precise & (alarms <= self.scenario.capacity))
        return broken, float(tp.max(initial=0.0) / self.prevalence)


COSTS = (1 / 20, 1 / 10)
BOTH = voros.Scenario(0.3, 0.2, COSTS)
FLOOR = voros.Scenario(0.3, 1.0, COSTS)
SETTINGS = (
    Setting("null, 2 each, .9", 1000, 2, 0.9, 0.2999, 0.0, FLOOR),
    Setting("null, 10 each, .5", 200, 10, 0.5, 0.2999, 0.0, FLOOR),
    Setting("null, 10 each, .9", 200, 10, 0.9, 0.2999, 0.0, FLOOR),
    Setting("null, about 4, .9", 600, 4, 0.9, 0.2999, 0.0, FLOOR, unequal=True),
    Setting(
        "null, floor .02", 500, 6, 0.9, 0.01999, 0.0, voros.Scenario(0.02, 1.0, 0.01), unequal=True
    ),
    Setting(
        "null, floor .7", 300, 6, 0.9, 0.6999, 0.0, voros.Scenario(0.7, 1.0, 1.0), unequal=True
    ),
    Setting(
        "capacity, about 6", 300, 6, 0.9, 0.3, 1.0, voros.Scenario(0.1, 0.2, 0.05), unequal=True
    ),
    Setting("about 1.3, .5", 2300, 1.3, 0.5, 0.1, 1.5, BOTH, unequal=True),
    Setting("2 each, 0", 1500, 2, 0.0, 0.1, 1.5, BOTH),
    Setting("2 each, .5", 1500, 2, 0.5, 0.1, 1.5, BOTH),
    Setting("2 each, .9", 1500, 2, 0.9, 0.1, 1.5, BOTH),
    Setting("5 each, .1", 600, 5, 0.1, 0.1, 1.5, BOTH),
    Setting("5 each, .5", 600, 5, 0.5, 0.1, 1.5, BOTH),
    Setting("10 each, .1", 300, 10, 0.1, 0.1, 1.5, BOTH),
    Setting("10 each, .5", 300, 10, 0.5, 0.1, 1.5, BOTH),
    Setting("10 each, .9", 300, 10, 0.9, 0.1, 1.5, BOTH),
)


def independent(cases: GroupedCases, scenario: voros.Scenario) -> FloatArray:
    points = voros.OperatingPoints.from_scores(cases.positive, cases.scores)
    return points.thresholds[GUARANTEE.allowed(points, scenario)][1:]


def one(cases: GroupedCases, scenario: voros.Scenario) -> FloatArray:
    rows = np.unique(cases.codes, return_index=True)[1]
    if not 0 < np.count_nonzero(cases.positive[rows]) < len(rows):
        return np.empty(0)
    points = voros.OperatingPoints.from_scores(cases.positive[rows], cases.scores[rows])
    return points.thresholds[GUARANTEE.allowed(points, scenario)][1:]


def sums(cases: GroupedCases, scenario: voros.Scenario) -> FloatArray:
    points = voros.OperatingPoints.from_scores(cases.positive, cases.scores, groups=cases.codes)
    return points.thresholds[GUARANTEE.allowed(points, scenario)][1:]


def measure(setting: Setting, way: Callable[..., FloatArray], runs: int) -> str:
    """Judge what a way certifies, on one validation after another."""
    outcomes = []
    for seed in range(runs):
        cases = setting.draw(np.random.default_rng([seed, setting.n_groups]))
        if 0 < np.count_nonzero(cases.positive) < len(cases.positive):
            outcomes.append(setting.judge(way(cases, setting.scenario)))
    broken, recall = np.mean(np.array(outcomes, dtype=float), axis=0)
    return f"{way.__name__} broken {broken:.4f} recall {recall:.3f} (n={len(outcomes)})"


def main() -> None:
    runs, names = int(sys.argv[1]), sys.argv[2:]
    for setting in (s for s in SETTINGS if not names or s.name in names):
        shown = [measure(setting, way, runs // FEWER) for way in (independent, one)]
        print(f"{setting.name:18}", *shown, measure(setting, sums, runs), sep="  ", flush=True)


if __name__ == "__main__":
    main()
