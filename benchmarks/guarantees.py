"""Whether certified limits hold, and what that costs.

Populations with known truth, hard corners among them: how often a deployed policy breaks a limit,
and its expected cost beside the plain policy, the oracle, and MAPIE. Then real predictions, split
at random by patient. Run ``python benchmarks/guarantees.py [validations]``, or with ``real
[splits] [seed]`` and VOROS_PAPER_PREDICTIONS set, or with ``ladder [validations]`` for confidences
that are chosen afterwards; docs/theory/guarantee-price.md has the results.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import norm

import voros
from voros.policy.allowed import allowed_thresholds
from voros.typing import AnyArray, BoolArray, FloatArray

CASES_OF_POPULATION = 10**9
"""Cases of the stand-in for an endless population."""

RIVAL_PART = 10
"""MAPIE is a thousand times slower, and is run on one validation of so many."""

BARE = voros.Scenario(min_precision=0.3, cost_ratio=0.02)
"""A floor alone."""


@dataclass(frozen=True)
class Population:
    """Normal scores in both classes, with odd shapes on request.

    Attributes
    ----------
    n_cases : int
        Of a validation, and of the horizon.
    step : float
        Scores are rounded down to a multiple of this, which ties them; 0 leaves them.
    impostors : float
        Share of the negatives whose scores are above everybody's.
    """

    name: str
    prevalence: float
    separation: float
    n_cases: int
    scenario: voros.Scenario
    step: float = 0.0
    impostors: float = 0.0

    def sample(self, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
        """Draw labels and scores."""
        positive = rng.random(self.n_cases) < self.prevalence
        scores = rng.normal(size=self.n_cases) + self.separation * positive
        first = ~positive & (rng.random(self.n_cases) < self.impostors)
        scores = np.where(first, 10 + scores, scores)
        return positive, np.floor(scores / self.step) * self.step if self.step else scores

    def points(self, thresholds: FloatArray) -> voros.OperatingPoints:
        """Operating points of the population at these thresholds."""
        cuts = np.ceil(thresholds / self.step) * self.step if self.step else thresholds
        fpr = (1 - self.impostors) * norm.sf(cuts) + self.impostors * norm.sf(cuts - 10)
        return voros.OperatingPoints.from_points(
            fpr,
            norm.sf(cuts - self.separation),
            self.prevalence * CASES_OF_POPULATION,
            (1 - self.prevalence) * CASES_OF_POPULATION,
            thresholds,
        )

    def account(self, policy: voros.ThresholdPolicy) -> voros.policy.PolicyEvaluation:
        """What a policy does in the population."""
        finite = np.unique(policy.thresholds[np.isfinite(policy.thresholds)])
        return policy.evaluate(
            self.points(finite if len(finite) else np.array([20.0])), by_cost=True
        )

    def oracle(self) -> float:
        """Expected cost of the best thresholds within the limits, the population known."""
        cuts = np.arange(-6, 14, self.step or 1e-3)
        policy = voros.ThresholdPolicy.from_points(self.points(cuts), self.scenario)
        return self.account(policy).expected_cost


POPULATIONS = (
    Population("ordinary", 0.1, 1.8, 2000, voros.Scenario(0.4, 0.2, (1 / 20, 1 / 10))),
    Population("few positives", 0.02, 2.5, 1000, voros.Scenario(0.3, 0.05, (1 / 40, 1 / 20))),
    Population("both limits bind", 0.2, 1.5, 2000, voros.Scenario(0.6, 0.195, (1 / 20, 1 / 10))),
    Population(
        "ties, ten scores", 0.1, 1.8, 2000, voros.Scenario(0.36, 0.3, (1 / 20, 1 / 10)), 0.5
    ),
    Population(
        "false alarms first", 0.1, 2.0, 2000, voros.Scenario(0.4, 0.2, (1 / 20, 1 / 10)), 0, 0.02
    ),
    Population("steep", 0.1, 3.5, 2000, voros.Scenario(0.8, 0.2, (1 / 20, 1 / 10))),
    Population("flat", 0.3, 0.4, 4000, voros.Scenario(0.35, 0.6, (1 / 20, 1 / 10))),
    Population("nothing to certify", 0.299, 0.0, 2000, voros.Scenario(0.3, 1.0, (1 / 20, 1 / 10))),
    Population("wide costs", 0.1, 1.8, 2000, voros.Scenario(0.15, 0.3, (1 / 20, 1 / 6))),
)


def threshold_by_mapie(population: Population, positive: BoolArray, scores: FloatArray) -> float:
    """The threshold MAPIE certifies for both limits, of greatest recall; +inf if none."""
    from mapie.risk_control import BinaryClassificationController

    scenario = population.scenario
    # A fixed grid that suits the population, from strict to lenient: MAPIE needs one beforehand.
    grid = norm.isf(np.linspace(0.001, min(1.2 * scenario.capacity, 0.999), 100))

    def alarm(cases: AnyArray, threshold: float) -> AnyArray:
        return (np.asarray(cases)[:, 0] >= threshold).astype(int)

    controller = BinaryClassificationController(
        alarm,
        ["precision", "predicted_positive_fraction"],
        [scenario.min_precision, scenario.capacity],
        confidence_level=0.95,
        best_predict_param_choice="recall",
        list_predict_params=grid[:, None],
    )
    controller.calibrate(scores[:, None], positive.astype(int))
    best = controller.best_predict_param
    return np.inf if best is None else float(np.ravel(best)[0])


def fixed_policy(threshold: float, scenario: voros.Scenario) -> voros.ThresholdPolicy:
    """A policy with one threshold whatever the cost."""
    points = voros.OperatingPoints.from_counts([1], [0], 1, 1, [threshold])
    free = voros.Scenario(0.0, 1.0, scenario.costs)
    policy = voros.ThresholdPolicy.from_points(points, free)
    if np.isinf(threshold):
        policy = voros.ThresholdPolicy.never_alarm(points, free)
    return voros.ThresholdPolicy(
        scenario=scenario,
        strategy="single",
        choices=(policy.fixed().choices[0],),
        default=policy.default,
        n_positive=1,
        n_negative=1,
    )


def simulate(population: Population, n_validations: int, seed: int = 0) -> dict[str, list[float]]:
    """Broken limits, cost, and share of never alarm, for each way to choose."""
    rng, n = np.random.default_rng(seed), population.n_cases
    ways = {"plain": None, "population": voros.Guarantee(), "next cases": voros.Guarantee(0.95, n)}
    tally = {way: np.zeros(3) for way in ways}
    for _ in range(n_validations):
        points = voros.OperatingPoints.from_scores(*population.sample(rng))
        future = voros.OperatingPoints.from_scores(*population.sample(rng))
        for way, guarantee in ways.items():
            # Without the search for what would pass, where nothing does.
            allowed = allowed_thresholds(points, population.scenario, guarantee)
            policy = voros.ThresholdPolicy.from_allowed(allowed)
            truth = population.account(policy)
            judged = policy.evaluate(future, by_cost=True) if way == "next cases" else truth
            tally[way] += (not judged.satisfied, truth.expected_cost, policy.never_alarms)
    return {way: (total / n_validations).tolist() for way, total in tally.items()}


def rival(population: Population, n_validations: int) -> tuple[float, float, float]:
    """The same for MAPIE, whose promise is of the population."""
    rng, total = np.random.default_rng(0), np.zeros(3)
    for _ in range(n_validations):
        positive, scores = population.sample(rng)
        population.sample(rng)
        threshold = threshold_by_mapie(population, positive, scores)
        truth = population.account(fixed_policy(threshold, population.scenario))
        total += (not truth.satisfied, truth.expected_cost, np.isinf(threshold))
    broken, cost, never = total / n_validations
    return float(broken), float(cost), float(never)


def split_real(n_splits: int, seed: int = 0) -> None:
    """Split pooled MIMIC-IV predictions by patient; choose on one half, count on the other."""
    labels, scores, patients = pooled_predictions(Path(os.environ["VOROS_PAPER_PREDICTIONS"]))
    scenario = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))
    rng, rows = np.random.default_rng(seed), []
    for _ in range(n_splits):
        one = (rng.random(patients.max() + 1) < 0.5)[patients]
        points = voros.OperatingPoints.from_scores(labels[one], scores[one])
        other = voros.OperatingPoints.from_scores(labels[~one], scores[~one])
        horizon = voros.Guarantee(0.95, int((~one).sum()))
        row = []
        for guarantee in (None, horizon, voros.Guarantee()):
            policy = voros.ThresholdPolicy.from_points(
                points, scenario, guarantee=guarantee, n_models=1
            )
            judged = policy.evaluate(other, by_cost=True)
            row += [not judged.satisfied, judged.expected_cost]
        rows.append(row)
    means = np.mean(rows, axis=0)
    for way, i in (("plain", 0), ("next cases", 2), ("population", 4)):
        print(f"{way:<12} broken {means[i]:.4f}  expected cost {means[i + 1]:.4f}", flush=True)


def pooled_predictions(folder: Path) -> tuple[AnyArray, FloatArray, AnyArray]:
    """Labels, scores and patients of the validation and the test file; patients are disjoint."""
    files = [
        np.genfromtxt(folder / f"scenario2_{part}.csv", delimiter=",", skip_header=1)
        for part in ("valid", "test")
    ]
    files[1][:, 0] += files[0][:, 0].max() + 1
    table = np.concatenate(files)
    patients = np.unique(table[:, 0], return_inverse=True)[1]
    return table[:, 1].astype(int), table[:, 2], patients


def climb(n_validations: int, seed: int = 0) -> None:
    """The mean of broken / error where the first confidence that passes is reported.

    Scores just below the floor: a yes or no, or all ranks of a fifth of the cases.
    """
    rng = np.random.default_rng(seed)
    ladders = (0.95, 0.9, 0.8), (0.99, 0.95, 0.9, 0.8, 0.7, 0.5), (0.95, 0.5)
    for tied, ladder in product((True, False), ladders):
        ways = {"ladder": voros.Guarantee(ladder).steps, "tried": map(voros.Guarantee, ladder)}
        steps = {way: tuple(guarantees) for way, guarantees in ways.items()}
        spent = {way: np.zeros(n_validations) for way in steps}
        for i in range(n_validations):
            scores = np.where(rng.random(2000) < 0.2, 1 + (not tied) * rng.random(2000), 0.0)
            positive = rng.random(2000) < np.where(scores > 0, 0.2999, 0.05)
            points = voros.OperatingPoints.from_scores(positive, scores)
            for way, guarantees in steps.items():
                passed = (g for g in guarantees if g.allowed(points, BARE)[1:].any())
                first = next(passed, None)
                spent[way][i] = 0.0 if first is None else 1 / first.alpha
        said = ", ".join(
            f"{way} {ratios.mean():.3f} (broken {np.mean(ratios > 0):.3f})"
            for way, ratios in spent.items()
        )
        print(f"{'yes or no' if tied else 'all ranks'} {ladder}: {said}", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["ladder"]:
        climb(*map(int, sys.argv[2:] or ["2000"]))
        return
    if sys.argv[1:2] == ["real"]:
        split_real(*map(int, sys.argv[2:] or ["1000"]))
        return
    n_validations = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    wanted = sys.argv[2:]
    for population in POPULATIONS:
        if wanted and population.name not in wanted:
            continue
        print(f"{population.name}: oracle cost {population.oracle():.4f}")
        for way, (broken, cost, never) in simulate(population, n_validations).items():
            print(f"  {way:<16} broken {broken:.4f}  cost {cost:.4f}  never alarm {never:.3f}")
        broken, cost, never = rival(population, n_validations // RIVAL_PART)
        print(
            f"  {'MAPIE':<16} broken {broken:.4f}  cost {cost:.4f}  never alarm {never:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
