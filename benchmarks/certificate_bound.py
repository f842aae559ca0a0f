"""The most that any certificate can save: a bound for every valid procedure.

A procedure that keeps the limits in the next cases with 95 % confidence, whatever the population,
keeps them also in populations that differ from this one by a few positives less among the first
cases. Validation cases hardly tell these apart, and that bounds what may be deployed in this one.
The theorem is in docs/theory/guarantee-price.md. Run ``python benchmarks/certificate_bound.py
normal``; or with ``few`` for procedures with a few thresholds only; or with ``mimic`` and
VOROS_PAPER_PREDICTIONS set; or with files of scores (npz with
y_valid, y_test, and valid and test of shape (models, cases)), after ``pooled`` if they are splits
of the same cases.
Limits and costs are those of the paper's scenario 2. ``figure`` draws the picture of that page.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import brentq, isotonic_regression, minimize
from scipy.special import bdtr, expit
from scipy.stats import binom, norm

import voros
from voros.guarantee.next_cases.fixed_sequence import needed_to_keep
from voros.guarantee.next_cases.one_threshold import OneTest, most_once, needed_once
from voros.typing import AnyArray, BoolArray, FloatArray

ALPHA = 0.05
SCENARIO = voros.Scenario(0.5, 0.1, (1 / 40, 1 / 20))
"""The paper's scenario 2."""
BINS, FINE_SHARE = 80, 0.3
"""Bins of cases by rank, and the share of the first cases that they divide."""
RANKS = np.linspace(0.03, 1.1, 60)
"""Thresholds of each model, as parts of the capacity."""
TILTED = (0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.36, 0.43, 0.5, 0.6, 0.7, 0.85, 1.0)
"""How many of the first cases have fewer positives, as parts of the capacity."""
DEVIATES = (-0.5, 0.0, 0.3, 0.6, 0.9, 1.2, 1.6)
"""Their precision in standard deviations of the next cases above the floor."""
POSSIBLE = (1e-4, 1 - 1e-4)
"""Least and greatest chance to be positive."""
FEW = ((0.47,), (0.3, 0.61), (0.25, 0.47, 0.68), (0.14, 0.27, 0.39, 0.54, 0.66, 0.79))
"""The best one, two, three and six thresholds that were found, as parts of the capacity."""
KINDS = ("parabola", "isotonic")
"""Ways to smooth labels."""
SEARCHED, EVALUATED = 4000, 16_000
"""Validations with which the weights are sought, and others with which the bound is computed."""


@dataclass(frozen=True)
class Population:
    """Cases in bins; a threshold flags a share of each.

    Attributes
    ----------
    shares : ndarray of shape (n_bins,)
        Of all cases.
    chance : ndarray of shape (n_bins,)
        To be positive.
    flagged : ndarray of shape (n_thresholds, n_bins)
    """

    shares: FloatArray
    chance: FloatArray
    flagged: FloatArray

    @classmethod
    def from_bins(cls, bins: AnyArray, chance: FloatArray) -> Population:
        """Make a population of one model: cases by rank, best first, with the bin of each."""
        n_cases, counts = len(bins), np.bincount(bins)
        alarms = np.unique((RANKS * SCENARIO.capacity * n_cases).astype(int))
        flagged = [
            np.bincount(bins[:k], minlength=len(counts)) / counts
            for k in alarms[alarms > 0].tolist()
        ]
        return cls(counts / n_cases, chance, np.array(flagged))

    @classmethod
    def normal(cls, auroc: float, prevalence: float) -> Population:
        """Normal scores in both classes."""
        shift = norm.ppf(auroc) * np.sqrt(2)

        def above(cut: float) -> tuple[float, float]:
            tp = prevalence * norm.sf(cut - shift)
            return tp, tp + (1 - prevalence) * norm.sf(cut)

        edges = np.unique(np.append(RANKS * SCENARIO.capacity, np.geomspace(0.001, 0.3, BINS)))
        cuts = [brentq(lambda cut, u=u: above(cut)[1] - u, -12, 12) for u in edges.tolist()]
        tp = np.append([above(cut)[0] for cut in cuts], prevalence)
        shares = np.diff(np.append(edges, 1.0), prepend=0.0)
        rows = np.searchsorted(edges, RANKS * SCENARIO.capacity)
        flagged = np.tril(np.ones((len(shares), len(shares))))[rows]
        return cls(shares, np.diff(tp, prepend=0.0) / shares, flagged)

    @property
    def prevalence(self) -> float:
        """Share of positives."""
        return float(self.shares @ self.chance)

    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Share of alarms and precision of each threshold."""
        alarms = self.flagged @ self.shares
        return alarms, self.flagged @ (self.shares * self.chance) / alarms

    def saving(self, fractional_cost: float) -> FloatArray:
        """What each threshold saves of the normalised cost, compared with never alarm."""
        alarms, precision = self.rates()
        tpr = alarms * precision / self.prevalence
        fpr = alarms * (1 - precision) / (1 - self.prevalence)
        return np.asarray((1 - fractional_cost) * tpr - fractional_cost * fpr)

    def alternatives(self, horizon: int) -> list[Population]:
        """Return this population, and others with a lower precision of the first cases."""
        floor, rank = SCENARIO.min_precision, np.cumsum(self.shares) - self.shares / 2
        populations = [self]
        for part in TILTED:
            first = rank <= part * SCENARIO.capacity
            spread = np.sqrt(floor * (1 - floor) / (horizon * self.shares[first].sum()))
            for deviate in DEVIATES:
                lowered = self._lowered(first, floor + deviate * float(spread))
                populations += [] if lowered is None else [lowered]
        return populations

    def _lowered(self, first: BoolArray, precision: float) -> Population | None:
        """Return the nearest population with this precision of the first cases.

        Of all with it, this one has the least relative entropy: positives among the first cases
        become rarer by one factor, negatives more frequent by another. None if theirs is lower.
        """
        positive, negative = self.shares * self.chance, self.shares * (1 - self.chance)

        def tilted(tilt: float) -> tuple[FloatArray, FloatArray]:
            up = np.where(first, np.exp(tilt * precision), 1.0)
            return positive * np.where(first, np.exp(tilt * (precision - 1)), 1.0), negative * up

        def excess(tilt: float) -> float:
            tp, fp = (shares[first].sum() for shares in tilted(tilt))
            return float(tp / (tp + fp)) - precision

        if excess(0.0) <= 0:
            return None
        tp, fp = tilted(brentq(excess, 0.0, 40.0))
        return replace(self, shares=(tp + fp) / (tp + fp).sum(), chance=tp / (tp + fp))

    def ratios(
        self, others: Sequence[Population], n_cases: int, runs: int, rng: np.random.Generator
    ) -> FloatArray:
        """Likelihood ratios of other populations, for validations drawn from this one."""
        cases = rng.multinomial(n_cases, self.shares, size=runs)
        positive = rng.binomial(cases, self.chance)
        return np.exp(
            [
                positive @ np.log(other.shares * other.chance / (self.shares * self.chance))
                + (cases - positive)
                @ np.log(other.shares * (1 - other.chance) / (self.shares * (1 - self.chance)))
                for other in others
            ]
        )


def bins_by_rank(n_cases: int) -> AnyArray:
    """Return the bin of each rank."""
    edges = np.append(np.geomspace(8, FINE_SHARE * n_cases, BINS).astype(int), n_cases)
    return np.searchsorted(np.unique(edges), np.arange(1, n_cases + 1))


def positives_by_bin(positive: BoolArray, scores: FloatArray, bins: AnyArray) -> FloatArray:
    """Count the positives of each model by rank; shape (n_models, n_bins)."""
    ranked = [positive[np.argsort(-row, kind="stable")] for row in scores]
    return np.array([np.bincount(bins, row) for row in ranked], dtype=np.float64)


def best_model(counts: FloatArray, sizes: AnyArray) -> FloatArray:
    """Return the counts of the model with most positives within the limits.

    Counted on the same cases, the best of many models looks better than it is, so the bound is
    generous; hardly so for the mean of many splits.
    """
    tp, alarms = np.cumsum(counts, axis=1), np.cumsum(sizes)
    within = alarms <= SCENARIO.capacity * alarms[-1]
    kept = within & (tp >= SCENARIO.min_precision * alarms)
    return np.asarray(counts[int(np.where(kept, tp, 0.0).max(axis=1).argmax())])


def smooth(positive: AnyArray, counts: AnyArray, kind: str) -> FloatArray:
    """Return the chance to be positive in each bin.

    A logistic parabola in the normal deviate of the rank, or the falling step function next to the
    labels (isotonic regression), which is a little too good among the first cases.
    """
    if kind == "isotonic":
        chance = isotonic_regression(positive / counts, weights=counts, increasing=False).x
        return np.clip(chance, *POSSIBLE)
    deviate = norm.ppf((np.cumsum(counts) - counts / 2) / counts.sum())
    design = np.stack([np.ones_like(deviate), deviate, deviate**2], axis=1)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        odds = design @ weights
        slope = design.T @ (counts * expit(odds) - positive)
        return float(counts @ np.logaddexp(0, odds) - positive @ odds), slope

    return np.clip(expit(design @ minimize(loss, np.zeros(3), jac=True).x), *POSSIBLE)


def breaking(alarms: float, precision: float, horizon: int, scenario: voros.Scenario) -> float:
    """Chance that the next cases break a limit at a threshold.

    ``alarms`` is the share of the cases that it flags.
    """
    spread = 8 * np.sqrt(horizon * alarms) + 8
    low, high = max(0, int(horizon * alarms - spread)), int(horizon * alarms + spread)
    count = np.arange(low, min(high, horizon) + 1)
    needed = needed_to_keep(count, scenario.min_precision)
    below = np.where(needed > 0, bdtr(np.maximum(needed - 1, 0), count, precision), 0.0)
    broken = np.where(count > scenario.max_alarms(horizon), 1.0, below)
    return float(binom.pmf(count, horizon, alarms) @ broken)


def dual(
    weights: FloatArray, saving: FloatArray, broken: FloatArray, ratios: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return the bound for each validation, and how it changes with the weights.

    Parameters
    ----------
    weights : ndarray of shape (n_populations,)
        At least 0; any of them give a bound.
    saving : ndarray of shape (n_thresholds,)
    broken : ndarray of shape (n_populations, n_thresholds)
        Chances that the next cases break a limit.
    ratios : ndarray of shape (n_populations, n_validations)
        Likelihood ratios.
    alpha : float
    """
    left = saving[:, None] - (broken * weights[:, None]).T @ ratios
    best = left.argmax(axis=0)
    value = left[best, np.arange(len(best))]
    slope = alpha - broken[:, best] * ratios * (value > 0)
    return alpha * weights.sum() + np.maximum(value, 0.0), slope


def best_weights(
    saving: FloatArray,
    broken: FloatArray,
    ratios: FloatArray,
    alpha: float,
    probability: FloatArray | None = None,
) -> FloatArray:
    """Return weights of the populations with which the bound is lowest; it is convex in them."""
    if probability is None:
        probability = np.full(ratios.shape[1], 1 / ratios.shape[1])

    def mean(weights: FloatArray) -> tuple[float, FloatArray]:
        value, slope = dual(weights, saving, broken, ratios, alpha)
        return float(probability @ value), slope @ probability

    start = np.full(len(broken), saving.max() / len(broken))
    return np.asarray(
        minimize(mean, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start)).x
    )


@dataclass(frozen=True)
class Bound:
    """The most saved on average, its standard error, and what never alarm costs."""

    saved: float
    error: float
    never_alarm: float

    @property
    def cost(self) -> float:
        """The least expected cost."""
        return self.never_alarm - self.saved


def bound(population: Population, n_cases: int, horizon: int, seed: int = 0) -> Bound:
    """Bound what any valid procedure saves in a population.

    A policy may have a threshold for each cost. The bound is convex in the fractional cost, so
    between the ends of its range it lies below the line through both.
    """
    rng, others = np.random.default_rng(seed), population.alternatives(horizon)
    rates = [zip(*other.rates(), strict=True) for other in others]
    broken = np.array([[breaking(*pair, horizon, SCENARIO) for pair in pairs] for pairs in rates])
    searched, fresh = (
        population.ratios(others, n_cases, runs, rng) for runs in (SEARCHED, EVALUATED)
    )
    costs = SCENARIO.costs.support
    odds = (1 - population.prevalence) / population.prevalence
    low, high = (c * odds / (1 + c * odds) for c in costs)
    grid = np.linspace(*costs, 1001) * odds
    part = (float((grid / (1 + grid)).mean()) - low) / (high - low)
    saved, error = 0.0, 0.0
    for fractional, weight in ((low, 1 - part), (high, part)):
        saving = population.saving(fractional)
        weights = best_weights(saving, broken, searched, ALPHA)
        values, _ = dual(weights, saving, broken, fresh, ALPHA)
        saved += weight * values.mean()
        error += weight * values.std() / np.sqrt(EVALUATED)
    return Bound(saved, error, 1 - (1 - part) * low - part * high)


Labelled = tuple[str, BoolArray, FloatArray, int]
"""Name, labels and scores of validation and test cases, and how many are validation cases."""


def bounds(splits: Sequence[Labelled], pooled: bool) -> Iterator[tuple[str, Bound]]:
    """Bounds for splits, with two ways to smooth the labels of each, or of all together."""
    bins = [bins_by_rank(len(positive)) for _, positive, _, _ in splits]
    counts = [positives_by_bin(*split[1:3], rank) for split, rank in zip(splits, bins, strict=True)]
    if pooled:
        splits, counts = [("all", *splits[0][1:])], [np.mean(counts, axis=0)]
    for i, (name, positive, _, n_cases) in enumerate(splits):
        sizes = np.bincount(bins[i])
        sums = best_model(counts[i], sizes)
        for kind in KINDS:
            population = Population.from_bins(bins[i], smooth(sums, sizes, kind))
            yield f"{name} {kind}", bound(population, n_cases, len(positive) - n_cases)


def read_split(path: str) -> Labelled:
    """Read a file of scores."""
    held = np.load(path)
    positive = np.concatenate([held["y_valid"], held["y_test"]]).astype(bool)
    scores = np.concatenate([held["valid"], held["test"]], axis=1)
    return Path(path).stem, positive, scores, len(held["y_valid"])


def mimic() -> Iterator[tuple[str, Bound]]:
    """Bounds for halves of the paper's MIMIC-IV predictions of scenario 2."""
    folder, parts = Path(os.environ["VOROS_PAPER_PREDICTIONS"]), ("valid", "test")
    files = [
        np.genfromtxt(folder / f"scenario2_{p}.csv", delimiter=",", skip_header=1) for p in parts
    ]
    table = np.concatenate(files)
    return bounds([("halves", table[:, 1] > 0, table[None, :, 2], len(table) // 2)], False)


def normal() -> Iterator[tuple[str, Bound]]:
    """Bounds for the settings of benchmarks/development.py."""
    for auroc, n_cases, horizon in ((0.8, 1000, 2000), (0.85, 1000, 2000), (0.9, 2000, 2000)):
        population = Population.normal(auroc, 0.14)
        yield f"AUROC {auroc}, {n_cases}, next {horizon}", bound(population, n_cases, horizon)


def few() -> Iterator[tuple[str, Bound]]:
    """Bounds for procedures that choose among a few thresholds, fixed with the population known."""
    population = Population.normal(0.8, 0.14)
    alarms, _ = population.rates()
    for parts in FEW:
        rows = np.searchsorted(alarms, np.array(parts) * SCENARIO.capacity)
        chosen = replace(population, flagged=population.flagged[rows])
        yield f"AUROC 0.8, {len(parts)} thresholds", bound(chosen, 1000, 2000)


def one_threshold(population: Population, n_cases: int, horizon: int, cost: float) -> float:
    """Return what the best single threshold saves if the population is known."""
    capacity = int(SCENARIO.max_alarms(horizon))
    most = most_once(n_cases, horizon, capacity, ALPHA)
    test = OneTest(
        n_cases=n_cases,
        horizon=horizon,
        min_precision=SCENARIO.min_precision,
        capacity=capacity,
        alpha=ALPHA,
        least=min(5, most),
        most=most,
    )
    needed, alarms = needed_once(test), np.arange(test.least, most + 1)
    passed = [
        binom.pmf(alarms, n_cases, share) @ binom.sf(needed - 1, alarms, precision)
        for share, precision in zip(*population.rates(), strict=True)
    ]
    return float((np.array(passed) * population.saving(cost)).max())


def figure(path: str = "docs/images/certificate-bound.png") -> None:
    """Draw what is saved against the number of validation cases: AUROC .80, 2,000 next cases."""
    from matplotlib import pyplot as plt

    population, horizon, sizes = Population.normal(0.8, 0.14), 2000, (250, 500, 1000, 2000, 4000)
    odds = (1 - population.prevalence) / population.prevalence * np.mean(SCENARIO.costs.support)
    cost = float(odds / (1 + odds))
    lowest = [bound(population, n, horizon) for n in sizes]
    most = [limit.saved / limit.never_alarm for limit in lowest]
    one = [one_threshold(population, n, horizon, cost) / (1 - cost) for n in sizes]
    drawing, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot(sizes, most, "o-", label="no valid procedure saves more")
    axes.plot(sizes, one, "s-", label="one threshold, population known")
    axes.set(xscale="log", xlabel="validation cases", ylabel="share of the misses saved", ylim=0)
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes], minor=False)
    axes.minorticks_off()
    axes.legend()
    drawing.savefig(path, dpi=110)
    print([(n, round(a, 3), round(b, 3)) for n, a, b in zip(sizes, most, one, strict=True)])


def main() -> None:
    what = sys.argv[1:] or ["normal"]
    if what[0] == "figure":
        figure()
        return
    own = {"normal": normal, "few": few, "mimic": mimic}.get(what[0])
    pooled = what[0] == "pooled"
    results = own() if own else bounds([read_split(path) for path in what[pooled:]], pooled)
    for name, lowest in results:
        share = lowest.saved / lowest.never_alarm
        print(
            f"{name:<32} cost at least {lowest.cost:.4f} ({lowest.error:.4f}), never alarm "
            f"{lowest.never_alarm:.4f}, saved at most {share:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
