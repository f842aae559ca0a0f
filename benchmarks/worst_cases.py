"""How often guarantees break in populations made to break them.

Scores take a few hundred values, or only twelve, and the chance to be positive at each is chosen
against the tests: all positives first and then none, a precision that hovers where the next cases
break the floor with a given chance, a precision that is lowest at the top, and a capacity that
binds where the floor does. A capacity of few alarms leaves most of alpha to the ranks that are
tested by themselves. Floors from .01 to .97, 100 to 20,000 validation cases, horizons from a tenth
of them to ten times as many, and the population; then 2, 20 and 140 models that are all alike. Run
``python benchmarks/worst_cases.py [validations] [processes] [part of the settings, such as 1/4]``;
docs/promises.md has the results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, product

import numpy as np
from scipy.stats import norm

import voros
from voros.guarantee.binomial_tests import starts
from voros.guarantee.next_cases.certify import plans
from voros.guarantee.next_cases.fixed_sequence import needed_to_keep, risky_precisions
from voros.typing import AnyArray, BoolArray, FloatArray

CONFIDENCE = 0.95
FLOORS = (0.01, 0.5, 0.9, 0.97)
SIZES = (100, 1000, 20_000)
HORIZONS = (1 / 10, 1, 10)
SCORES, FEW_SCORES = 400, 12
"""Values that scores take."""
MODELS, MANY_MODELS_CASES = (2, 20, 140), 1000
FEW_ALARMS, TIED_SCORES, HALF_WAY = 140, 40, 0.2
HARD = "few alarms, hovering at 0.2, 400", "positives first, 400"
AT_ONCE = 2000
"""Samples that are drawn at once."""


@dataclass(frozen=True)
class WorstCase:
    """A population by score, best first, and what is promised of it.

    Attributes
    ----------
    name : str
    n_cases : int
    horizon : int or None
    scenario : Scenario
    shares : ndarray
        Of all cases, at each score and, last, below all of them.
    precision : ndarray
        Chance to be positive at each of `shares`.
    n_models : int
        Models of such a population, independent of one another, among which alpha is split.
    """

    name: str
    n_cases: int
    horizon: int | None
    scenario: voros.Scenario
    shares: FloatArray
    precision: FloatArray
    n_models: int = 1

    def draw(self, n: int, runs: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray]:
        """True and false positives at each score, for many samples."""
        cases = rng.multinomial(n, self.shares, size=runs)
        positive = rng.binomial(cases, self.precision)
        return np.cumsum(positive, axis=1), np.cumsum(cases - positive, axis=1)

    def broken(self, runs: int, seed: int = 0) -> float:
        """Share of validations of which a deployed threshold breaks a limit."""
        rng, samples = np.random.default_rng(seed), runs * self.n_models
        firsts = range(0, samples, AT_ONCE)
        broken = [self._broken(min(AT_ONCE, samples - first), rng) for first in firsts]
        return float(np.concatenate(broken).reshape(runs, self.n_models).any(axis=1).mean())

    def _broken(self, runs: int, rng: np.random.Generator) -> BoolArray:
        guarantee = voros.Guarantee(CONFIDENCE, self.horizon).split(self.n_models)
        bad = np.broadcast_to(self._bad_scores(runs, rng), (runs, len(self.shares)))
        broken = np.zeros(runs, dtype=bool)
        for run, (tp, fp) in enumerate(zip(*self.draw(self.n_cases, runs, rng), strict=True)):
            points, rows = _points(tp, fp)
            allowed = guarantee.allowed(points, self.scenario)[1:]
            broken[run] = bad[run, rows[allowed]].any()
        return broken

    def _bad_scores(self, runs: int, rng: np.random.Generator) -> BoolArray:
        """Which scores break a limit as thresholds: in the population, or in each future."""
        floor, limits = self.scenario.min_precision, self.scenario
        if self.horizon is None:
            tp_share, alarms = np.cumsum(self.shares * self.precision), np.cumsum(self.shares)
            broken = tp_share < floor * alarms * (1 - 1e-12)
            return np.asarray(broken | (alarms > limits.capacity + 1e-12))
        tp, fp = self.draw(self.horizon, runs, rng)
        most = limits.max_alarms(self.horizon)
        return np.asarray((tp < needed_to_keep(tp + fp, floor)) | (tp + fp > most))


def _points(tp: AnyArray, fp: AnyArray) -> tuple[voros.OperatingPoints, AnyArray]:
    """Operating points of one validation, and at which scores they lie."""
    rows = np.flatnonzero(np.diff(tp + fp, prepend=0) > 0)
    points = voros.OperatingPoints(
        np.append(np.inf, -rows.astype(float)),
        np.append(0, tp[rows]),
        np.append(0, fp[rows]),
        int(tp[-1]),
        int(fp[-1]),
    )
    return points, rows


def with_curve(
    name: str,
    n: int,
    horizon: int | None,
    scenario: voros.Scenario,
    edges: FloatArray,
    tp: FloatArray,
) -> WorstCase:
    """Make a population from how many positives lie above each share of alarms."""
    shares = np.diff(edges, prepend=0)
    precision = np.clip(np.diff(tp, prepend=0) / shares, 0, 1)
    rest = max(1 - edges[-1], 0.0)
    return WorstCase(
        name,
        n,
        horizon,
        scenario,
        np.append(shares, rest) / (shares.sum() + rest),
        np.append(precision, 0.0),
    )


def settings() -> list[tuple[float, int, int | None]]:
    """Every floor, validation size and horizon at which something can be certified."""
    certifiable: list[tuple[float, int, int | None]] = []
    for floor, n in product(FLOORS, SIZES):
        horizons = [max(int(ratio * n), 1) for ratio in HORIZONS]
        certifiable += [(floor, n, m) for m in horizons if plans(n, m, floor, 1 - CONFIDENCE, n)]
        certifiable += [(floor, n, None)] if first_start(floor, n, None) < n else []
    return certifiable


def first_start(floor: float, n: int, horizon: int | None) -> int:
    """Rank at which the first test starts."""
    if horizon is None:
        return int(starts(floor, 1 - CONFIDENCE, n)[0][0])
    return min(test.start for test in plans(n, horizon, floor, 1 - CONFIDENCE, n).values())


def reproducers() -> Iterator[WorstCase]:
    """Ordinary populations in which small floors once broke too often."""
    yield normal_scores(0.01, 0.1, 5000, 100, 0.015, 4.0)
    yield normal_scores(0.02, 0.3, 2000, 40, 0.015, 12.0)


def of(floor: float, n: int, horizon: int | None) -> Iterator[WorstCase]:
    """All populations for one floor and horizon."""
    start = first_start(floor, n, horizon)
    middle = np.sqrt(start * n) / n
    free, tight = (voros.Scenario(floor, c, 0.001) for c in (1.0, float(middle)))
    for scores in (SCORES, FEW_SCORES):
        edges = np.geomspace(start / n / 4, 1.0, scores)
        first = np.minimum(edges, floor * middle)
        yield with_curve(f"positives first, {scores} scores", n, horizon, free, edges, first)
        for chance in (0.3, 0.1):
            tp = hovering(floor, n, horizon, edges, chance)
            name = f"hovering at {chance}, {scores} scores"
            yield with_curve(name, n, horizon, free, edges, tp)
    yield with_curve(
        "positives first, capacity there",
        n,
        horizon,
        tight,
        edges,
        np.minimum(edges, floor * middle),
    )
    edges = np.geomspace(start / n / 4, 1.0, SCORES)
    tp = hovering(floor, n, horizon, edges, 0.2)
    late = np.maximum(tp - tp[np.searchsorted(edges, start / n)], 0.0)
    yield with_curve("lowest at the top", n, horizon, free, edges, late)
    if horizon is not None:
        yield from few_alarms(floor, n, horizon)


def few_alarms(floor: float, n: int, horizon: int) -> Iterator[WorstCase]:
    """Populations with so small a capacity that single ranks have most of alpha."""
    share = float(min(1.0, max(4 * first_start(floor, n, horizon), FEW_ALARMS) / n))
    limits = voros.Scenario(floor, share, 0.001)
    for scores, chance in product((SCORES, TIED_SCORES), (0.2, 0.1)):
        edges = np.linspace(share / 10, 1.2 * share, scores) / max(1.2 * share, 1.0)
        tp = hovering(floor, n, horizon, edges, chance)
        name = f"few alarms, hovering at {chance}, {scores} scores"
        yield with_curve(name, n, horizon, limits, edges, tp)
        if chance == HALF_WAY:
            top = np.searchsorted(edges, share / 4)
            late = np.maximum(tp - tp[top] / 2, np.minimum(tp, tp[top] / 2))
            name = f"few alarms, lowest at the top, {scores} scores"
            yield with_curve(name, n, horizon, limits, edges, late)


def many_models() -> Iterator[WorstCase]:
    """Models that are all alike: with few alarms, and for the population."""
    n = MANY_MODELS_CASES
    for (floor, horizon), n_models in product(((0.5, n), (0.9, n), (0.5, None)), MODELS):
        hard = HARD[horizon is None]
        case = next(case for case in of(floor, n, horizon) if case.name.startswith(hard))
        yield replace(case, name=f"{n_models} models, {case.name}", n_models=n_models)


def hovering(
    floor: float, n: int, horizon: int | None, edges: FloatArray, chance: float
) -> FloatArray:
    """Positives above each share, where the next cases break the floor with a chance."""
    level = floor * np.ones_like(edges)
    if horizon is not None:
        risky = risky_precisions((float(edges[0]), 1.0), n, horizon, floor)
        column = int(np.searchsorted(np.cumsum(risky.weights), 1 - chance))
        level = risky.at(edges)[:, column]
    swing = 0.02 * chance if horizon is None else 0.0
    wave = 1 - 1e-9 + swing * np.sin(np.arange(len(edges)) / 3)
    return np.asarray(np.maximum.accumulate(np.minimum(level * edges * wave, edges)))


def normal_scores(
    floor: float, capacity: float, n: int, horizon: int, prevalence: float, separation: float
) -> WorstCase:
    """Normal scores in both classes."""
    cuts = np.linspace(separation + 5, -4, SCORES)
    tp = prevalence * norm.sf(cuts - separation)
    edges = tp + (1 - prevalence) * norm.sf(cuts)
    scenario = voros.Scenario(floor, capacity, 0.001)
    return with_curve(f"normal, {separation:g} apart", n, horizon, scenario, edges, tp)


def line(case: WorstCase, runs: int) -> str:
    """Run one case, and say how it went."""
    where = "population" if case.horizon is None else f"next {case.horizon}"
    floor, share = case.scenario.min_precision, case.broken(runs)
    error = np.sqrt(share * (1 - share) / runs)
    return f"{floor:<6g} {case.n_cases:>5} {where:<12} {case.name:<46} {share:.4f} ({error:.4f})"


def measure(setting: tuple[float, int, int | None] | None, runs: int) -> list[str]:
    """Run all cases of a setting; None stands for the reproducers and for many models."""
    cases = chain(reproducers(), many_models()) if setting is None else of(*setting)
    return [line(case, runs) for case in cases]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    wanted = [*settings(), None]
    part, parts = map(int, (sys.argv[3] if len(sys.argv) > 3 else "1/1").split("/"))
    wanted = wanted[part - 1 :: parts]
    with ProcessPoolExecutor(processes) as pool:
        for lines in pool.map(measure, wanted, [runs] * len(wanted)):
            print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
