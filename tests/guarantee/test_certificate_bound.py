"""The bound on what any certificate can save, beside all procedures of a small case."""

from __future__ import annotations

import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import voros
from voros.guarantee.next_cases.one_threshold import OneTest, needed_once

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "certificate_bound.py"))
SCENARIO = voros.Scenario(0.5, 0.8, 0.1)
SHARES = np.array([0.3, 0.3, 0.4])
CHANCES = np.array([[0.9, 0.7, 0.1], [0.5, 0.45, 0.1], [0.7, 0.2, 0.1]])
"""To be positive in each bin: in the population, and in two others."""


def break_by_counting(chance: np.ndarray, n_bins: int, horizon: int) -> float:
    """Chance that the next cases break a limit, over all of them."""
    total = 0.0
    kinds = [(b, y) for b in range(3) for y in (True, False)]
    for cases in product(kinds, repeat=horizon):
        alarms = [y for b, y in cases if b < n_bins]
        if sum(alarms) < 0.5 * len(alarms) or len(alarms) > 0.8 * horizon:
            total += np.prod([SHARES[b] * (chance[b] if y else 1 - chance[b]) for b, y in cases])
    return float(total)


def outcomes(n_cases: int) -> np.ndarray:
    """Probability of every validation in each of the populations."""
    kinds = [(b, y) for b in range(3) for y in (True, False)]
    return np.array(
        [
            [
                np.prod([SHARES[b] * (p[b] if y else 1 - p[b]) for b, y in cases])
                for cases in product(kinds, repeat=n_cases)
            ]
            for p in CHANCES
        ]
    )


def test_the_chance_to_break_a_limit_is_that_of_all_futures() -> None:
    for chance, n_bins in product(CHANCES, (1, 2)):
        alarms = SHARES[:n_bins].sum()
        precision = SHARES[:n_bins] @ chance[:n_bins] / alarms
        expected = break_by_counting(chance, n_bins, 4)
        assert BENCHMARK["breaking"](alarms, precision, 4, SCENARIO) == pytest.approx(expected)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_bound_is_the_best_of_all_procedures(alpha: float) -> None:
    """A linear program over every randomised procedure, valid in these populations."""
    probability, saving = outcomes(3), np.array([0.27, 0.48])
    broken = np.array([[break_by_counting(p, k, 4) for k in (1, 2)] for p in CHANCES])
    n_outcomes = probability.shape[1]
    # Deploy one threshold, the other or none, for each outcome.
    objective = -np.outer(probability[0], saving).ravel()
    valid = [
        np.outer(row, chances).ravel() for row, chances in zip(probability, broken, strict=True)
    ]
    once = np.repeat(np.eye(n_outcomes), 2, axis=1)
    best = linprog(
        objective, np.vstack([*valid, once]), np.append([alpha] * 3, np.ones(n_outcomes))
    )
    ratios = probability / probability[0]
    weights = BENCHMARK["best_weights"](saving, broken, ratios, alpha, probability[0])
    bound = probability[0] @ BENCHMARK["dual"](weights, saving, broken, ratios, alpha)[0]
    assert bound == pytest.approx(-best.fun, abs=2e-4)
    # Any other weights give a bound as well.
    other = probability[0] @ BENCHMARK["dual"](2 * weights, saving, broken, ratios, alpha)[0]
    assert other >= -best.fun - 1e-9


def test_the_certificate_of_one_threshold_stays_within_the_bound() -> None:
    """One threshold of a normal population: the exact test has less power, but hardly."""
    population = BENCHMARK["Population"].normal(0.85, 0.14)
    n_cases = horizon = 1000
    row = 30
    alarms, precision = (rates[row] for rates in population.rates())
    test = OneTest(
        n_cases=n_cases, horizon=horizon, min_precision=0.5, capacity=100, alpha=0.05, least=5,
        most=85,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    counts = rng.binomial(n_cases, alarms, size=20_000)
    inside = (counts >= test.least) & (counts <= test.most)
    needed = needed_once(test)[np.clip(counts, test.least, test.most) - test.least]
    passed = np.mean(inside & (rng.binomial(counts, precision) >= needed))
    single = BENCHMARK["Population"](
        population.shares, population.chance, population.flagged[[row]]
    )
    others = single.alternatives(horizon)
    broken = np.array(
        [[BENCHMARK["breaking"](*(float(rate[0]) for rate in other.rates()), horizon,
          BENCHMARK["SCENARIO"])] for other in others]
    )  # fmt: skip
    ratios = single.ratios(others, n_cases, 4000, rng)
    weights = BENCHMARK["best_weights"](np.ones(1), broken, ratios, 0.05)
    bound = BENCHMARK["dual"](weights, np.ones(1), broken, ratios, 0.05)[0].mean()
    assert bound - 0.08 < passed < bound + 0.01


def entropy(one: np.ndarray, other: np.ndarray) -> float:
    """Relative entropy of the one to the other: both are shares of all cases."""
    return float((one * np.log(one / other)).sum())


def test_the_lowered_population_is_the_nearest_with_its_precision() -> None:
    """Beside a general solver over all shares of bins and classes."""
    population = BENCHMARK["Population"](SHARES, CHANCES[0], np.eye(3)[:2])
    first, precision = np.array([True, True, False]), 0.6
    lowered = population._lowered(first, precision)
    kinds = np.concatenate([SHARES * CHANCES[0], SHARES * (1 - CHANCES[0])])
    flagged = np.array([1 - precision, 1 - precision, 0, -precision, -precision, 0])
    best = minimize(
        entropy, kinds, args=(kinds,), method="SLSQP", bounds=[(1e-6, 1)] * 6, tol=1e-12,
        constraints=[
            {"type": "eq", "fun": lambda q: q.sum() - 1},
            {"type": "eq", "fun": lambda q: flagged @ q},
        ],
    )  # fmt: skip
    shares = np.concatenate(
        [lowered.shares * lowered.chance, lowered.shares * (1 - lowered.chance)]
    )
    assert shares == pytest.approx(best.x, abs=1e-5)
    assert lowered.shares.sum() == pytest.approx(1)
    assert population._lowered(first, 0.85) is None


def test_likelihood_ratios_average_to_one() -> None:
    """And to the chance of the other population, where an event is counted."""
    population = BENCHMARK["Population"](SHARES, CHANCES[0], np.eye(3)[:2])
    lowered = population._lowered(np.array([True, True, False]), 0.7)
    ratios = population.ratios([population, lowered], 5, 200_000, np.random.default_rng(0))
    assert ratios[0] == pytest.approx(1)
    assert ratios[1].mean() == pytest.approx(1, abs=0.01)


def test_the_best_model_has_most_positives_within_the_limits() -> None:
    """Ten cases a bin: the first breaks the floor of .5, the last has its positives too late."""
    sizes = np.array([10, 10, 280])
    counts = np.array([[4, 4, 40], [6, 5, 0], [9, 1, 0], [8, 2, 99]], dtype=float)
    assert BENCHMARK["best_model"](counts, sizes).tolist() == [6, 5, 0]
    positive, bins = np.arange(300) % 3 == 0, np.repeat([0, 1, 2], sizes)
    scores = np.array([positive + 0.0, -np.arange(300.0)])
    n_positive = BENCHMARK["positives_by_bin"](positive, scores, bins)
    assert n_positive.tolist() == [[10, 10, 80], [4, 3, 93]]
