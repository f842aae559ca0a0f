"""Thresholds fixed on development cases: how often they break a limit, and what they save.

``python benchmarks/development.py worst [runs]``: populations whose precision is, at every
threshold, the one at which the promise is hardest to keep; with ties; with a precision that is
lowest at the top; with many models. ``power [runs]``: normal scores, beside the sequences without
development cases, no guarantee at all, and limits tightened by a tenth. ``models [runs]``: many
models, beside splitting the error over them on the validation cases. The results are in
docs/theory/guarantee-price.md.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import norm

import voros
from voros.guarantee.development import Goal, Plan
from voros.guarantee.next_cases.fixed_sequence import needed_to_keep
from voros.guarantee.next_cases.one_threshold import OneTest, ProductRisk, needed_once
from voros.policy.allowed import allowed_thresholds
from voros.typing import AnyArray, BoolArray, FloatArray

ALPHA = 0.05
MANY_MODELS_FLOOR = 0.5
PLANS = 8
"""Development samples of each population; the runs are shared out over them."""

VALIDATIONS = 10
"""Validations for each development sample, where the power is measured."""

POWER: tuple[tuple[float, int, int, int | None], ...] = (
    *((0.8, 2000, 1000, 2000), (0.9, 1000, 2000, 2000), (0.8, 2000, 1000, None)),
    *((0.85, 1000, 1000, 2000), (0.9, 2000, 2000, 20_000)),
)
"""AUROC, and development, validation and next cases."""

FLOORS = (0.01, 0.1, 0.5, 0.9, 0.97)
SIZES: tuple[tuple[int, int | None], ...] = (
    *((100, 10), (100, 1000), (1000, None), (1000, 100), (1000, 1000), (1000, 10_000)),
    *((20_000, 2000), (20_000, 20_000), (20_000, 200_000)),
)


@dataclass(frozen=True)
class Population:
    """Cases by their rank, best first: how many positives lie above each share of all cases.

    Attributes
    ----------
    name : str
    goal : Goal
    above : callable
        Share of all cases that are positive and above each share.
    n_scores : int or None
        Values that scores take; None for no ties.
    n_models : int
        Models that are all alike, each with its own order of the cases.
    """

    name: str
    goal: Goal
    above: Callable[[FloatArray], FloatArray]
    n_scores: int | None = None
    n_models: int = 1

    def development(
        self, n_cases: int, rng: np.random.Generator
    ) -> dict[str, voros.OperatingPoints]:
        """Draw development cases; models are independent of one another."""
        edges = np.linspace(0, 1, 2001)
        chance = np.clip(np.diff(self.above(edges)) / np.diff(edges), 0, 1)
        points = {}
        for model in range(self.n_models):
            rank = rng.random(n_cases)
            positive = rng.random(n_cases) < chance[(rank * 2000).astype(int)]
            positive[:2] = True, False
            if self.n_scores is not None:
                rank = np.ceil(rank * self.n_scores) / self.n_scores
            points[f"m{model}"] = voros.OperatingPoints.from_scores(positive, -rank)
        return points

    def counts(
        self, shares: FloatArray, n: int, runs: int, rng: np.random.Generator
    ) -> tuple[AnyArray, AnyArray]:
        """True positives and alarms at each share, for many samples."""
        widths = np.diff(shares, prepend=0.0)
        precision = np.clip(
            np.diff(self.above(shares), prepend=0.0) / np.maximum(widths, 1e-300), 0, 1
        )
        cases = rng.multinomial(n, np.append(widths, max(1 - shares[-1], 0.0)), size=runs)[:, :-1]
        return np.cumsum(rng.binomial(cases, precision), axis=1), np.cumsum(cases, axis=1)

    def broken(self, runs: int, seed: int = 0) -> tuple[float, float]:
        """Share of runs in which a deployed threshold breaks a limit, and in which one is."""
        rng, n_broken, n_deployed = np.random.default_rng(seed), 0, 0
        for _ in range(PLANS):
            developed = self.development(self.goal.n_cases, rng)
            plan = Plan.from_development(developed, self.goal)
            deployed, bad = self._outcomes(plan, runs // PLANS, rng)
            n_deployed += int(deployed.any(axis=1).sum())
            n_broken += int((deployed & bad).any(axis=1).sum())
        return n_broken / runs, n_deployed / runs

    def _outcomes(
        self, plan: Plan, runs: int, rng: np.random.Generator
    ) -> tuple[BoolArray, BoolArray]:
        shares = np.clip(-np.array(plan.thresholds), 0, 1)
        tp, alarms = self.counts(shares, self.goal.n_cases, runs, rng)
        deployed = np.zeros(tp.shape, dtype=bool)
        for run in range(runs):
            tp_run, fp_run = (np.append(0, counts[run]) for counts in (tp, alarms - tp))
            rows = np.append(np.inf, plan.thresholds)
            points = voros.OperatingPoints(rows, tp_run, fp_run, 1, 1)
            deployed[run] = plan.passed(points)[1:]
        return deployed, self._bad(shares, runs, rng)

    def _bad(self, shares: FloatArray, runs: int, rng: np.random.Generator) -> BoolArray:
        floor, goal = self.goal.scenario.min_precision, self.goal
        if goal.horizon is None:
            bad = (self.above(shares) < floor * shares * (1 - 1e-12)) | (shares > goal.share)
            return np.broadcast_to(bad, (runs, len(shares)))
        tp, alarms = self.counts(shares, goal.horizon, runs, rng)
        return np.asarray((tp < needed_to_keep(alarms, floor)) | (alarms > goal.capacity))


def hardest_precision(goal: Goal, share: float) -> float:
    """The precision at which a threshold with this share of alarms breaks most promises."""
    if goal.horizon is None:
        return goal.scenario.min_precision * (1 - 1e-9)
    middle = goal.n_cases * share
    spread = 6 * np.sqrt(middle)
    least, most = max(1, int(middle - spread)), min(goal.n_cases, int(middle + spread) + 1)
    test = OneTest(
        n_cases=goal.n_cases,
        horizon=goal.horizon,
        min_precision=goal.scenario.min_precision,
        capacity=goal.horizon,
        alpha=goal.alpha,
        least=least,
        most=most,
    )
    risk = ProductRisk(test)
    row = int(np.searchsorted(risk.shares, share))
    product = risk.passing(needed_once(test)).values[row] * risk.breaking.values[row]
    return float(risk.precision[int(product.argmax())])


def hardest_curve(goal: Goal) -> Callable[[FloatArray], FloatArray]:
    """Positives above each share, if the precision is the hardest one at every share."""
    nodes = np.geomspace(10 / goal.n_cases, 0.95, 8)
    tp = np.array([hardest_precision(goal, share) * share for share in nodes.tolist()])
    steps = np.clip(np.diff(tp, prepend=0.0), 0.0, np.diff(nodes, prepend=0.0))
    return lambda shares: np.interp(shares, np.append(0.0, nodes), np.append(0.0, np.cumsum(steps)))


def populations() -> Iterator[Population]:
    """All worst cases."""
    for floor, (n_cases, horizon) in product(FLOORS, SIZES):
        scenario = voros.Scenario(floor, 1.0, 1e-4)
        goal = Goal(n_cases=n_cases, horizon=horizon, alpha=ALPHA, scenario=scenario)
        curve = hardest_curve(goal)
        everywhere = Population("hardest everywhere", goal, curve)
        yield everywhere
        if n_cases == 1000 and horizon in (None, 1000):
            yield replace(everywhere, name="ten scores", n_scores=10)
            late = partial(_late, curve)
            yield replace(everywhere, name="lowest at the top", above=late)
            # As large a share as some hundred alarms with room above the floor would need.
            share = min(0.5, max(0.05, 40 / (n_cases * min(floor, 1 - floor))))
            limits = voros.Scenario(floor, share, 1e-4)
            yield replace(everywhere, name="capacity", goal=replace(goal, scenario=limits))
            for n_models in (2, 20, 140) if floor == MANY_MODELS_FLOOR else ():
                yield replace(everywhere, name=f"{n_models} models", n_models=n_models)


def _late(curve: Callable[[FloatArray], FloatArray], shares: FloatArray) -> FloatArray:
    """Half of the positives of the first tenth come after it."""
    return np.where(
        shares < 0.1,
        0.5 * curve(shares),
        np.minimum(curve(shares), 0.5 * curve(np.array(0.1)) + shares - 0.1),
    )


def run_worst(runs: int = 2000) -> None:
    for population in populations():
        goal = population.goal
        broken, deployed = population.broken(runs)
        where = "population" if goal.horizon is None else f"next {goal.horizon}"
        error = np.sqrt(broken * (1 - broken) / runs)
        print(
            f"{goal.scenario.min_precision:<5g} {goal.n_cases:>6} {where:<12} "
            f"{population.name:<24} broken {broken:.4f} ({error:.4f}) deployed {deployed:.3f}",
            flush=True,
        )


@dataclass(frozen=True)
class Normal:
    """Normal scores in both classes, and the cases of each part."""

    auroc: float
    n_development: int
    n_cases: int
    horizon: int | None
    prevalence: float = 0.14
    scenario: voros.Scenario = field(
        default_factory=lambda: voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))
    )
    cost: float = 0.0375

    def draw(self, n: int, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
        """Draw labels and scores."""
        positive = rng.random(n) < self.prevalence
        return positive, rng.normal(size=n) + norm.ppf(self.auroc) * np.sqrt(2) * positive

    def judge(self, threshold: float, rng: np.random.Generator) -> tuple[float, bool, bool]:
        """Misses saved, whether any alarm is raised, and whether a limit breaks."""
        shift = norm.ppf(self.auroc) * np.sqrt(2)
        tp_share = self.prevalence * norm.sf(threshold - shift)
        fp_share = (1 - self.prevalence) * norm.sf(threshold)
        saved = (tp_share - self.cost * fp_share) / self.prevalence
        floor, share = self.scenario.min_precision, self.scenario.capacity
        if self.horizon is None:
            broken = tp_share < floor * (tp_share + fp_share) or tp_share + fp_share > share
            return saved, bool(np.isfinite(threshold)), bool(broken and np.isfinite(threshold))
        tp, fp, _ = rng.multinomial(self.horizon, [tp_share, fp_share, 1 - tp_share - fp_share])
        broken = tp < floor * (tp + fp) or tp + fp > share * self.horizon
        return saved, bool(np.isfinite(threshold)), bool(broken)


def ways(case: Normal, plan: Plan, rng: np.random.Generator) -> dict[str, float]:
    """The threshold that each way deploys on one draw of validation cases."""
    points = voros.OperatingPoints.from_scores(*case.draw(case.n_cases, rng))
    scenario, guarantee = case.scenario, voros.Guarantee(1 - ALPHA, case.horizon)
    tighter = replace(
        scenario, min_precision=1.1 * scenario.min_precision, capacity=0.9 * scenario.capacity
    )
    decide = voros.ThresholdPolicy.from_points
    counts = plan.counts(points)
    return {
        "no guarantee": decide(points, scenario).threshold(),
        "limits tightened by a tenth": decide(points, tighter).threshold(),
        # Without the search for what would pass, where nothing does.
        "guarantee": voros.ThresholdPolicy.from_allowed(
            allowed_thresholds(points, scenario, guarantee)
        ).threshold(),
        "guarantee, development": counts.thresholds[plan.passed(counts)][-1],
    }


def run_power(runs: int = 2000) -> None:
    for auroc, n_development, n_cases, horizon in POWER:
        case, rng = Normal(auroc, n_development, n_cases, horizon), np.random.default_rng(0)
        goal = Goal(
            n_cases=n_cases,
            horizon=horizon,
            alpha=ALPHA,
            scenario=case.scenario,
            false_alarm_cost=case.cost,
        )
        rows: dict[str, list[tuple[float, bool, bool]]] = {}
        for _ in range(runs // VALIDATIONS):
            developed = voros.OperatingPoints.from_scores(*case.draw(n_development, rng))
            plan = Plan.from_development({"model": developed}, goal)
            for _ in range(VALIDATIONS):
                for way, threshold in ways(case, plan, rng).items():
                    rows.setdefault(way, []).append(case.judge(threshold, rng))
        print(f"AUROC {auroc}, {n_development} development, {n_cases} validation, next {horizon}")
        for way, outcomes in rows.items():
            saved, alarms, broken = np.mean(outcomes, axis=0)
            error = np.std([row[0] for row in outcomes]) / np.sqrt(runs)
            print(
                f"  {way:<28} saved {saved:.4f} ({error:.4f}) alarms {alarms:.3f} "
                f"broken {broken:.4f}",
                flush=True,
            )


@dataclass(frozen=True)
class Models:
    """Correlated models of unequal worth: the last one is the best."""

    n_models: int
    n_cases: int
    scenario: voros.Scenario = field(default_factory=lambda: voros.Scenario(0.3, 0.2, 0.03))
    prevalence: float = 0.1

    @property
    def shifts(self) -> FloatArray:
        """How far the positives of each model lie above the negatives."""
        return np.linspace(0.9, 1.3, self.n_models)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[BoolArray, dict[str, FloatArray]]:
        """Draw labels, and scores of every model."""
        positive, common = rng.random(n) < self.prevalence, rng.normal(size=n)
        return positive, {
            f"m{i}": shift * positive + np.sqrt(0.7) * common + np.sqrt(0.3) * rng.normal(size=n)
            for i, shift in enumerate(self.shifts)
        }

    def recall(self, policy: voros.ThresholdPolicy) -> tuple[float, bool, bool]:
        """True recall, whether any alarm is raised, and whether a limit breaks."""
        shift, threshold = self.shifts[int((policy.model or "m0")[1:])], policy.threshold()
        tp = self.prevalence * norm.sf(threshold - shift)
        alarms = tp + (1 - self.prevalence) * norm.sf(threshold)
        broken = tp < self.scenario.min_precision * alarms or alarms > self.scenario.capacity
        return tp / self.prevalence, bool(np.isfinite(threshold)), bool(broken)


def ways_with_models(case: Models, rng: np.random.Generator) -> dict[str, voros.ThresholdPolicy]:
    """The policy that each way deploys on one draw."""
    positive, scores = case.draw(case.n_cases, rng)
    guarantee, scenario = voros.Guarantee(1 - ALPHA), case.scenario
    tighter = replace(
        scenario, min_precision=1.1 * scenario.min_precision, capacity=0.9 * scenario.capacity
    )
    half = np.arange(case.n_cases) % 2 == 0
    first, second = ({m: s[rows] for m, s in scores.items()} for rows in (half, ~half))
    winner = voros.select_model(positive[half], first, scenario).winner
    certify = voros.ThresholdPolicy.from_validation
    best = f"m{case.n_models - 1}"
    policies = {
        "no guarantee": voros.select_model(positive, scores, scenario).policy(),
        "limits tightened by a tenth": voros.select_model(positive, scores, tighter).policy(),
        "split over all models": voros.select_model(
            positive, scores, scenario, guarantee=guarantee
        ).policy(),
        "one half ranks, one certifies": certify(
            *(positive[~half], second[winner], scenario),
            guarantee=guarantee,
            n_models=1,
            model=winner,
        ),
        "one half develops, one certifies": voros.select_model(
            *(positive[~half], second, scenario),
            guarantee=guarantee,
            development=(positive[half], first),
        ).policy(),
        "the best model, known": certify(
            positive, scores[best], scenario, guarantee=guarantee, n_models=1, model=best
        ),
    }
    for part in (2, 1):
        developed = case.draw(case.n_cases // part, rng)
        name = f"{case.n_cases // part} development cases"
        policies[name] = voros.select_model(
            positive, scores, scenario, guarantee=guarantee, development=developed
        ).policy()
    return policies


def run_models(runs: int = 400) -> None:
    for n_models, n_cases in ((20, 2000), (20, 800), (2, 800), (140, 2000)):
        case, rng = Models(n_models, n_cases), np.random.default_rng(0)
        rows: dict[str, list[tuple[float, bool, bool]]] = {}
        for _ in range(runs):
            for way, policy in ways_with_models(case, rng).items():
                rows.setdefault(way, []).append(case.recall(policy))
        print(f"{n_models} models, {n_cases} validation cases")
        for way, outcomes in rows.items():
            recall, alarms, broken = np.mean(outcomes, axis=0)
            print(
                f"  {way:<33} recall {recall:.3f} alarms {alarms:.3f} broken {broken:.4f}",
                flush=True,
            )


def main() -> None:
    warnings.simplefilter("ignore")
    what, *rest = sys.argv[1:] or ["worst"]
    {"worst": run_worst, "power": run_power, "models": run_models}[what](*map(int, rest))


if __name__ == "__main__":
    main()
