"""Ways to allow for the many thresholds tried, beside each other on real predictions.

MIMIC-IV predictions of the paper's scenario 2, split at random by patient: thresholds are chosen on
one half with each way, limits counted on the other. Every way promises 95 %, of the cases in the
other half; "no correction" shows what looking at all thresholds as if each were the only one would
do. Run ``python benchmarks/controls.py [splits]`` with VOROS_PAPER_PREDICTIONS set;
docs/theory/guarantee-price.md has the results.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from guarantees import pooled_predictions
from scipy.stats import beta, binom

import voros
from voros.guarantee.next_cases.certify import certified_next
from voros.guarantee.next_cases.fixed_sequence import keeping_chance
from voros.typing import AnyArray, BoolArray

SCENARIO = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))
LEVEL = 0.05
HALF = 7831
"""Cases of a half, near enough: halves by patient differ by some 60 of them."""

RANKS = np.unique(np.geomspace(40, 740, 20).astype(int))
"""Thresholds tried where their number counts; the capacity is out of reach beyond the last."""


@cache
def needed(alarms: int, n_cases: int, level: float) -> int:
    """Right alarms with which a threshold fixed beforehand may be deployed.

    The risk is that validation passes and the next cases break the floor; the two are independent,
    so it is a product of two tails, at the precision where that is largest.
    """
    spread = 0.5 / np.sqrt(alarms)
    precision = np.clip(np.linspace(0.5 - 6 * spread, 0.5 + 8 * spread, 200), 0, 1)
    broken = 1 - keeping_chance(np.array([alarms / n_cases]), precision, HALF, 0.5).values[0]
    right = np.arange(alarms + 2)
    risk = (binom.sf(right[:, None] - 1, alarms, precision) * broken).max(axis=1)
    return int(np.flatnonzero(risk <= level)[0])


@cache
def needed_by_intervals(alarms: int, level: float) -> int:
    """The same by an interval: a lower bound on the precision, then the luck of the next cases."""
    right = np.arange(1, alarms + 1)
    low = np.asarray(beta.ppf(level, right, alarms - right + 1))
    passing = np.flatnonzero(
        1 - keeping_chance(np.array([alarms / HALF]), low, HALF, 0.5).values[0] <= LEVEL / 2
    )
    return int(right[passing[0]]) if len(passing) else alarms + 1


def at_ranks(ranks: AnyArray, need: Callable[[int], int]) -> Callable[..., BoolArray]:
    """Deploy the last of these ranks at which enough alarms are right."""

    def allowed(points: voros.OperatingPoints) -> BoolArray:
        found = np.zeros(len(points), dtype=np.bool_)
        index = np.searchsorted(points.alarms, ranks, side="right") - 1
        passing = [i for i in index if i > 0 and points.tp[i] >= need(int(points.alarms[i]))]
        found[passing[-1:]] = True
        return found

    return allowed


def by_split(points: voros.OperatingPoints, rng: np.random.Generator) -> BoolArray:
    """Choose a threshold on one part of the validation cases, and test it alone on the other."""
    right, wrong = (np.diff(c, prepend=0) for c in (points.tp, points.fp))
    choosing_right, choosing_wrong = rng.binomial(right, 0.5), rng.binomial(wrong, 0.5)
    tp, alarms = choosing_right.cumsum(), (choosing_right + choosing_wrong).cumsum()
    found = np.zeros(len(points), dtype=np.bool_)
    promising = [
        i
        for i in np.flatnonzero((alarms >= RANKS[0] // 2) & (alarms <= RANKS[-1] // 2))
        if tp[i] >= needed(int(alarms[i]), HALF // 2, LEVEL / 4)
    ]
    if promising:
        last = promising[-1]
        left, left_right = int(points.alarms[last] - alarms[last]), points.tp[last] - tp[last]
        found[last] = left > 0 and left_right >= needed(left, HALF // 2, LEVEL)
    return found


def by_walk(points: voros.OperatingPoints) -> BoolArray:
    """What `Guarantee` does."""
    return certified_next(points, SCENARIO, HALF, LEVEL)


def ways(rng: np.random.Generator) -> dict[str, Callable[[voros.OperatingPoints], BoolArray]]:
    """Every way, by name."""
    every = np.arange(RANKS[0], RANKS[-1] + 1)
    few, many = LEVEL / len(RANKS), LEVEL / len(every)
    return {
        "no correction": at_ranks(every, lambda a: needed(a, HALF, LEVEL)),
        "intervals, union over 20 ranks": at_ranks(
            RANKS, lambda a: needed_by_intervals(a, few / 2)
        ),
        "exact tests, union over 20 ranks": at_ranks(RANKS, lambda a: needed(a, HALF, few)),
        "exact tests, union over all ranks": at_ranks(every, lambda a: needed(a, HALF, many)),
        "split of the validation cases": lambda points: by_split(points, rng),
        "walk": by_walk,
    }


@dataclass(frozen=True)
class Settled(voros.Guarantee):
    """Stands for a guarantee that has settled which thresholds may be deployed."""

    mask: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def certified(self, _points: voros.OperatingPoints, _scenario: voros.Scenario) -> BoolArray:
        """Return which thresholds pass the tests: those that have been settled."""
        return self.mask

    def explain(
        self, points: voros.OperatingPoints, scenario: voros.Scenario, n_models: int = 1
    ) -> str:
        """Leave the shortfall, which takes a while, out."""
        return f"nothing passes among {len(points)} thresholds of {n_models} for {scenario}"


def main() -> None:
    warnings.simplefilter("ignore")
    n_splits = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    labels, scores, patients = pooled_predictions(Path(os.environ["VOROS_PAPER_PREDICTIONS"]))
    rng = np.random.default_rng(1)
    controls = ways(rng)
    tally = {name: np.zeros(3) for name in controls}
    for _ in range(n_splits):
        one = (rng.random(patients.max() + 1) < 0.5)[patients]
        points = voros.OperatingPoints.from_scores(labels[one], scores[one])
        other = voros.OperatingPoints.from_scores(labels[~one], scores[~one])
        for name, allowed in controls.items():
            settled = Settled(mask=allowed(points))
            policy = voros.ThresholdPolicy.from_points(
                points, SCENARIO, guarantee=settled, n_models=1
            )
            judged = policy.evaluate(other, by_cost=True)
            tally[name] += (not judged.satisfied, judged.expected_cost, policy.never_alarms)
    for name, total in tally.items():
        broken, cost, never = total / n_splits
        print(f"{name:<36} broken {broken:.4f}  cost {cost:.4f}  never alarm {never:.3f}")


if __name__ == "__main__":
    main()
