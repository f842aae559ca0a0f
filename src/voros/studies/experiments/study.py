"""Select on validation, fix the thresholds, test: every strategy in every scenario."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from voros.core.arrays import AnyArray
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import NeverAlarmWarning
from voros.guarantee import Guarantee, one_per_group
from voros.policy import ThresholdPolicy
from voros.policy.deployment import PolicyEvaluation
from voros.selection import Strategy, select_points
from voros.studies.experiments.folder import Part, Predictions, RunFolder, read_predictions
from voros.studies.paper.cells import SCENARIOS, STRATEGY_ORDER

CONFIDENCE = 0.95
"""Of the fifth strategy: how sure its thresholds are to keep the limits on the test cases."""

GUARANTEED = "guaranteed"
GUARANTEED_BY: Strategy = "partial_voros"
"""The fifth strategy ranks by this on one half of the patients, and tests on the other."""

STRATEGIES: tuple[str, ...] = (*STRATEGY_ORDER, GUARANTEED)
"""The paper's four, and ours."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Every model's predictions on one part of the data, and their operating points."""

    predictions: Mapping[str, Predictions]
    points: Mapping[str, OperatingPoints]

    @classmethod
    def of(cls, predictions: Mapping[str, Predictions]) -> Scored:
        """Count the alarms of every model once."""
        points = {
            name: OperatingPoints.from_scores(p.y_true, p.score) for name, p in predictions.items()
        }
        return cls(predictions, points)

    @classmethod
    def read(cls, folder: RunFolder, names: Sequence[str], part: Part) -> Scored:
        """Read the prediction files of a run."""
        return cls.of({name: read_predictions(folder.prediction(name, part)) for name in names})

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.sample.y_true)

    @property
    def sample(self) -> Predictions:
        """Any model's predictions, for what all models share: the cases."""
        return next(iter(self.predictions.values()))

    @cached_property
    def halves(self) -> tuple[Scored, Scored]:
        """The cases of half of the patients, and one case of each of the others.

        The first half ranks the models, the second tests the winner: cases that nobody has looked
        at, and independent ones, are what exact tests need. With 140 models that costs less than
        splitting the error over all of them on all cases.
        """
        patients = np.unique(self.sample.patient)
        ranking = np.random.default_rng(0).permutation(patients)[: len(patients) // 2]
        first = np.isin(self.sample.patient, ranking)
        rest = np.flatnonzero(~first)
        once = rest[one_per_group(self.sample.patient[rest], random_state=0)]
        return self.take(np.flatnonzero(first)), self.take(once)

    def take(self, rows: AnyArray) -> Scored:
        """Keep the cases at these positions, for every model."""
        return Scored.of(
            {
                name: Predictions(p.patient[rows], p.y_true[rows], p.score[rows])
                for name, p in self.predictions.items()
            }
        )


@dataclass(frozen=True, eq=False)
class Deployed:
    """What a strategy selected in a scenario, and how it fared.

    Attributes
    ----------
    scenario : int
        Its number.
    strategy : str
    model : str
    policy : ThresholdPolicy
        Decided on validation.
    valid, test : PolicyEvaluation
    cost_aware_test : float
        Expected test cost of the same model with a threshold for each cost, as partial VOROS sets
        them: what is left of the difference once the thresholds no longer differ.
    """

    scenario: int
    strategy: str
    model: str
    policy: ThresholdPolicy
    valid: PolicyEvaluation
    test: PolicyEvaluation
    cost_aware_test: float


def run_study(
    valid: Scored, test: Scored, scenarios: Mapping[int, Scenario] = SCENARIOS
) -> list[Deployed]:
    """Deploy every strategy in every scenario.

    Parameters
    ----------
    valid, test : Scored
        The same models on both.
    scenarios : mapping of int to Scenario
        By default the paper's two.
    """
    return [
        _deploy(number, scenario, strategy, valid, test)
        for number, scenario in scenarios.items()
        for strategy in STRATEGIES
    ]


def _deploy(
    number: int, scenario: Scenario, strategy: str, valid: Scored, test: Scored
) -> Deployed:
    with never_alarm_is_a_result():
        if strategy == GUARANTEED:
            policy = aware = _guaranteed(scenario, valid, test.n_cases)
        else:
            by = cast("Strategy", strategy)
            selection = select_points(valid.points, scenario, strategy=by)
            policy, aware = selection.policy(), selection.policy(strategy=GUARANTEED_BY)
    model = policy.model or ""
    return Deployed(
        number,
        strategy,
        model,
        policy,
        policy.evaluate_points(valid.points[model], by_cost=True),
        policy.evaluate_points(test.points[model], by_cost=True),
        aware.evaluate_points(test.points[model], by_cost=True).expected_cost,
    )


def _guaranteed(scenario: Scenario, valid: Scored, horizon: int) -> ThresholdPolicy:
    ranking, testing = valid.halves
    model = select_points(ranking.points, scenario, strategy=GUARANTEED_BY).winner
    guarantee = Guarantee(confidence=CONFIDENCE, horizon=horizon)
    return ThresholdPolicy.from_points(
        testing.points[model],
        scenario,
        strategy=GUARANTEED_BY,
        guarantee=guarantee,
        n_models=1,
        model=model,
    )


@contextmanager
def never_alarm_is_a_result() -> Iterator[None]:
    """Do not warn of a strategy that ends in never alarm: the tables show it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverAlarmWarning)
        yield
