"""Regret of methods of choosing a model, over a grid of limits, without luck in thresholds.

Regret is the cost of the chosen model on test above that of the best model there, the thresholds of
both set on the test cases within the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from voros import Guarantee, OperatingPoints, Scenario, ThresholdPolicy
from voros.blending import blend
from voros.core.decision import STRATEGIES, Decision, solve
from voros.policy.allowed import allowed_thresholds
from voros.typing import BoolArray, FloatArray
from voros_studies.evidence.fits import Fitted
from voros_studies.experiments.study import (
    AUROC,
    LOG_LOSS,
    STUDY_CONFIDENCE,
    Scored,
    deploy,
    ranking_cost,
)

LIFTS = (1.5, 2.0, 2.5, 3.0, 4.0)
"""Precision floors of the grid, in prevalences."""

HIGHEST_FLOOR = 0.6
"""A floor is at most this: beyond it a false alarm would cost more than a miss."""

CAPACITIES = (0.02, 0.1, 0.2)
"""Capacities of the grid, as shares of the cases."""

COSTS = (0.25, 0.5)
"""The range of the cost ratio, in odds of the floor: alarms pay, and the limits bind."""

N_RESAMPLES = 40
"""Resamples of the validation cases for bagged and shrunken choices."""

BLEND = "blend"
WAYS = (
    *("partial_voros", "voros", "partial_auroc", "recall", AUROC, LOG_LOSS),
    *("shrunken", "bagged", "certified", "pooled", "pooled_log_loss", BLEND, "pooled_blend"),
)
"""Methods of choice: by a score, by a less noisy score, and by combining models."""


@dataclass(frozen=True, kw_only=True)
class Regret:
    """The result of one method of choice in one cell of the grid, on one split.

    Attributes
    ----------
    lift, capacity : float
        The cell of the grid of limits.
    way : str
    model : str
    regret : float
        Cost above that of the best model, the thresholds of both set on test within the limits.
    deployed : float
        Cost with the thresholds set where the model was chosen.
    excess : float
        Share by which these thresholds break the limit that they break most.
    """

    lift: float
    capacity: float
    way: str
    model: str
    regret: float
    deployed: float
    excess: float


def grid_scenario(lift: float, capacity: float, prevalence: float) -> Scenario:
    """Return the limits and costs of a cell of the grid.

    Examples
    --------
    >>> cell = grid_scenario(2.0, 0.1, prevalence=0.1)
    >>> cell.min_precision, cell.capacity, cell.costs.support
    (0.2, 0.1, (0.0625, 0.125))
    """
    floor = min(lift * prevalence, HIGHEST_FLOOR)
    low, high = (share * floor / (1 - floor) for share in COSTS)
    return Scenario(min_precision=floor, capacity=capacity, cost_ratio=(low, high))


def regrets_of_split(fitted: Fitted, prevalence: float, seed: int) -> list[Regret]:
    """Return the result of every method of choice in every cell of the grid."""
    chooser = Chooser.prepare(fitted, seed)
    return [
        row
        for lift, capacity in product(LIFTS, CAPACITIES)
        for row in chooser.regrets(lift, capacity, grid_scenario(lift, capacity, prevalence))
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class Chooser:
    """Scores of one split with blends among them, and resamples of the validation cases.

    Attributes
    ----------
    valid, test : Scored
        By models fitted on the training cases.
    pooled, refitted : Scored
        The same for models fitted on training and validation cases; see `Fitted`.
    models : tuple of str
        Those that are not blends.
    resamples : tuple of dict of str to OperatingPoints
    losses : dict of str to float
        Log loss of each model on validation.
    """

    valid: Scored
    test: Scored
    pooled: Scored
    refitted: Scored
    models: tuple[str, ...]
    resamples: tuple[Mapping[str, OperatingPoints], ...]
    losses: Mapping[str, float]

    @classmethod
    def prepare(cls, fitted: Fitted, seed: int) -> Chooser:
        """Make the blends, draw the resamples, and count alarms once for all cells."""
        valid, test = _with_blend(fitted.valid, fitted.test)
        pooled, refitted = _with_blend(fitted.pooled, fitted.refitted)
        rng = np.random.default_rng(seed)
        return cls(
            valid=valid,
            test=test,
            pooled=pooled,
            refitted=refitted,
            models=tuple(fitted.valid.scores),
            resamples=tuple(_resample(fitted.valid, rng).points for _ in range(N_RESAMPLES)),
            losses={m: log_loss(valid.y_true, s) for m, s in fitted.valid.scores.items()},
        )

    def regrets(self, lift: float, capacity: float, scenario: Scenario) -> list[Regret]:
        """Return the result of every method of choice in one cell."""
        best = min(ranking_cost(self.test.points[model], scenario) for model in self.models)
        rows = []
        for way, model in self.choose(scenario).items():
            pooled = way.startswith("pooled")
            parts = (self.pooled, self.refitted) if pooled else (self.valid, self.test)
            allowed = allowed_thresholds(parts[0].points[model], scenario)
            policy = ThresholdPolicy.from_allowed(allowed, model=model)
            one = deploy(way, way, policy, *parts)
            rows.append(
                Regret(
                    lift=lift,
                    capacity=capacity,
                    way=way,
                    model=model,
                    regret=one.ranking_only - best,
                    deployed=one.test.expected_cost,
                    excess=one.excess,
                )
            )
        return rows

    def choose(self, scenario: Scenario) -> dict[str, str]:
        """Return the model that each method chooses; of equals, the first."""
        decisions = {m: solve(self.valid.points[m], scenario) for m in self.models}
        drawn = np.array(
            [[self._score(r[m], scenario) for m in self.models] for r in self.resamples]
        )
        by_strategy: dict[str, str] = {
            name: self._best({m: one.score(name) for m, one in decisions.items()}.__getitem__)
            for name in STRATEGIES
        }
        pooled = {m: -log_loss(self.pooled.y_true, self.pooled.scores[m]) for m in self.models}
        return {
            **by_strategy,
            AUROC: self._best(lambda m: roc_auc_score(self.valid.y_true, self.valid.scores[m])),
            LOG_LOSS: self._best(lambda m: -self.losses[m]),
            "shrunken": self.models[int(np.argmax(self._shrunken(decisions, drawn)))],
            "bagged": self.models[int(np.argmax(_shares_won(drawn)))],
            "certified": self._best(partial(self._certified_gain, scenario)),
            "pooled": self._best(lambda m: self._score(self.pooled.points[m], scenario)),
            "pooled_log_loss": self._best(pooled.__getitem__),
            BLEND: BLEND,
            "pooled_blend": BLEND,
        }

    def _best(self, quality: Callable[[str], float]) -> str:
        return max(self.models, key=quality)

    @staticmethod
    def _score(points: OperatingPoints, scenario: Scenario) -> float:
        return solve(points, scenario).partial_voros

    def _shrunken(self, decisions: Mapping[str, Decision], drawn: FloatArray) -> FloatArray:
        """Return partial VOROS shrunken towards its prediction from the log loss."""
        score = np.array([decisions[m].partial_voros for m in self.models])
        loss = np.array([self.losses[m] for m in self.models])
        slope, intercept = np.polyfit(loss, score, 1) if np.ptp(loss) > 0 else (0.0, score.mean())
        predicted = intercept + slope * loss
        noise = (drawn - drawn.mean(axis=1, keepdims=True)).var(axis=0).mean()
        spread = float(((score - predicted) ** 2).mean())
        kept = max(0.0, 1 - noise / spread) if spread > 0 else 0.0
        return np.asarray(kept * score + (1 - kept) * predicted)

    def _certified_gain(self, scenario: Scenario, model: str) -> float:
        """Return the expected cost that certified thresholds of a model save on validation."""
        guarantee = Guarantee(STUDY_CONFIDENCE)
        points = self.valid.points[model]
        allowed = allowed_thresholds(points, scenario, guarantee, len(self.models))
        policy = ThresholdPolicy.from_allowed(allowed, model=model)
        return -policy.evaluate(points, by_cost=True).expected_cost


def _with_blend(chosen_on: Scored, tested_on: Scored) -> tuple[Scored, Scored]:
    """Fit a blend on the first cases, and add it to the models of both."""
    blended = blend(chosen_on.y_true, dict(chosen_on.scores))
    first, second = (
        Scored(part.patient, part.y_true, {**part.scores, BLEND: blended.score(dict(part.scores))})
        for part in (chosen_on, tested_on)
    )
    return first, second


def _resample(scored: Scored, rng: np.random.Generator) -> Scored:
    """Draw cases of both classes with replacement."""
    rows = rng.integers(len(scored), size=len(scored))
    return scored.take(rows)


def _shares_won(drawn: FloatArray) -> FloatArray:
    """Return how often each model is best; ties count in equal parts."""
    best: BoolArray = drawn == drawn.max(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))
