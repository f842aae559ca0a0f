"""Guarantees for a capacity per period: how often the rule breaks, and what is certified.

Scores of a day share its level, and levels follow an autoregression; or one day in ten is a burst
of 200 cases and not 10. What share of the days is above the capacity at a threshold, and the mean,
are known exactly. Run with a number of validations, and names of settings if only some are wanted.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, ndtr
from scipy.stats import beta

import voros
from voros.typing import AnyArray, FloatArray

CONFIDENCE, PER_DAY, LEVEL = 0.95, 30, 0.5
GRID = np.polynomial.hermite_e.hermegauss(60)
"""Nodes and weights of a standard normal level."""


@dataclass(frozen=True)
class Setting:
    """Days, how the guarantee takes them, and the rule."""

    name: str
    days: int
    capacity: int
    exceed: float | None
    memory: float = 0.0
    """Correlation of the levels of neighbouring days."""
    block: int = 1
    bursts: bool = False

    @property
    def scenario(self) -> voros.Scenario:
        """The rule alone; costs do not matter."""
        return voros.Scenario(
            capacity=self.capacity, per="day", exceed=self.exceed, cost_ratio=0.05
        )

    def draw(self, rng: np.random.Generator) -> tuple[AnyArray, FloatArray]:
        """Return the day and the score of each case."""
        sizes = np.full(self.days, PER_DAY)
        if self.bursts:
            sizes = np.where(rng.random(self.days) < 0.1, 200, 10)
        days = np.repeat(np.arange(self.days), sizes)
        noise = rng.normal(size=len(days))
        return days, noise if self.bursts else noise + LEVEL * self._levels(rng)[days]

    def _levels(self, rng: np.random.Generator) -> FloatArray:
        level = rng.normal(size=self.days)
        for day in range(1, self.days):
            level[day] = self.memory * level[day - 1] + np.sqrt(1 - self.memory**2) * level[day]
        return level

    def broken(self, threshold: float) -> bool:
        """Whether the mean, or the share of days above, is beyond its limit in the population."""
        if np.isinf(threshold):
            return False
        if self.bursts:
            sizes, weights = np.array([10.0, 200.0]), np.array([0.9, 0.1])
            chance = np.full(2, ndtr(-threshold))
        else:
            nodes, weights = GRID
            sizes, weights = np.full(len(nodes), float(PER_DAY)), weights / weights.sum()
            chance = ndtr(LEVEL * nodes - threshold)
        above = weights @ bdtrc(self.capacity, sizes.astype(int), chance)
        crowded = self.exceed is not None and above > self.exceed
        return bool(weights @ (sizes * chance) > self.capacity or crowded)


SETTINGS = (
    Setting("bursts", 200, 5, 0.2, bursts=True),
    Setting("mean and share bind together", 120, 8, 0.4084),
    Setting("share", 120, 8, 0.2),
    Setting("mean", 120, 8, None),
    Setting("wave", 120, 8, 0.2, memory=0.95),
    Setting("long wave", 720, 8, 0.2, memory=0.95),
    Setting("long wave, weeks", 720, 8, 0.2, memory=0.95, block=7),
    Setting("long wave, months", 720, 8, 0.2, memory=0.95, block=30),
    Setting("long wave, months, mean", 720, 8, None, memory=0.95, block=30),
    Setting("half the memory, weeks", 720, 8, 0.2, memory=0.5, block=7),
    Setting("no memory, weeks", 720, 8, 0.2, block=7),
)


def main(repetitions: int, names: tuple[str, ...]) -> None:
    """Print one line for each setting."""
    for setting in SETTINGS:
        if names and setting.name not in names:
            continue
        rng, guarantee = np.random.default_rng(1), voros.Guarantee(CONFIDENCE, block=setting.block)
        broken = raised = warned = 0
        for _ in range(repetitions):
            days, scores = setting.draw(rng)
            points = voros.OperatingPoints.from_scores(
                rng.random(len(days)) < 0.2, scores, periods=voros.Periods.from_column(days)
            )
            lowest = float(
                points.thresholds[guarantee.certified(points, setting.scenario)].min(initial=np.inf)
            )
            assert points.by_period is not None
            correlation = points.by_period.correlation(lowest, setting.block)
            broken += setting.broken(lowest)
            raised += np.isfinite(lowest)
            warned += (
                np.isfinite(lowest) and correlation > 2 * (setting.block / setting.days) ** 0.5
            )
        most = float(beta.ppf(0.95, broken + 1, repetitions - broken))
        print(
            f"{setting.name}: broken {broken / repetitions:.4f} (at most {most:.4f} with 95 %), "
            f"something certified {raised / repetitions:.3f}, warned {warned / repetitions:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, tuple(sys.argv[2:]))
