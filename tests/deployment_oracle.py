"""Thresholds and their costs by counting and quadrature. Nothing here uses voros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.integrate import quad

INF = float("inf")


def counts(y_true: Sequence[int], y_score: Sequence[float], threshold: float) -> tuple[int, int]:
    """(tp, fp) of ``score >= threshold``."""
    alarms = [y for y, s in zip(y_true, y_score, strict=True) if s >= threshold]
    return sum(alarms), len(alarms) - sum(alarms)


def feasible_thresholds(
    y_true: Sequence[int], y_score: Sequence[float], floor: Fraction, max_alarms: Fraction
) -> list[float]:
    """Every threshold that meets the limits, by falling threshold; never alarm is +inf."""
    kept = []
    for threshold in [INF, *sorted(set(y_score), reverse=True)]:
        tp, fp = counts(y_true, y_score, threshold)
        if tp >= floor * (tp + fp) and tp + fp <= max_alarms:
            kept.append(threshold)
    return kept


def best_threshold(
    y_true: Sequence[int], y_score: Sequence[float], allowed: Sequence[float], ratio: Fraction
) -> float:
    """The allowed threshold of least cost; of equals the one with fewest alarms."""

    def cost_then_alarms(threshold: float) -> tuple[Fraction, int]:
        tp, fp = counts(y_true, y_score, threshold)
        return ratio * fp - tp, tp + fp

    return min(allowed, key=cost_then_alarms)


def normalised_cost(
    y_true: Sequence[int], y_score: Sequence[float], threshold: float, ratio: float
) -> float:
    """Total cost over the worst possible: every negative an alarm and every positive missed."""
    tp, fp = counts(y_true, y_score, threshold)
    n_positive = sum(y_true)
    n_negative = len(y_true) - n_positive
    return (ratio * fp + (n_positive - tp)) / (ratio * n_negative + n_positive)


def mean_over(
    function: Callable[[float], float], low: float, high: float, breaks: Sequence[float] = ()
) -> float:
    """Mean of a function over an interval, by adaptive quadrature between breaks."""
    ends = sorted({low, high, *(b for b in breaks if low < b < high)})
    return sum(quad(function, a, b, epsabs=1e-13)[0] for a, b in pairwise(ends)) / (high - low)


def random_cases(
    rng: np.random.Generator, n_cases: int = 40, lift: float = 1.0
) -> tuple[list[int], list[float]]:
    """Labels of both classes and scores with ties."""
    n_positive = int(rng.integers(2, n_cases - 2))
    labels = rng.permutation([1] * n_positive + [0] * (n_cases - n_positive))
    scores = np.round(rng.normal(size=n_cases) + lift * labels, 1)
    return labels.tolist(), scores.tolist()
