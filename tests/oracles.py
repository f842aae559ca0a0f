"""Slow, independent ways to the same answers: count, clip, integrate. Nothing here uses voros.

`number` is the arithmetic: float for many problems, mpmath.mpf for thirty digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from scipy.integrate import quad

SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


@dataclass(frozen=True)
class Problem:
    """Labels, scores, limits and a range of costs."""

    y_true: list[int]
    y_score: list[float]
    min_precision: Fraction
    max_alarms: Fraction
    low: float
    high: float
    min_recall: Fraction = Fraction(0)

    @property
    def n_positive(self) -> int:
        return sum(self.y_true)

    @property
    def n_negative(self) -> int:
        return len(self.y_true) - sum(self.y_true)


def count_thresholds(problem: Problem) -> list[tuple[int, int]]:
    """(tp, fp) at never alarm and at every distinct score, by counting."""
    cases = list(zip(problem.y_true, problem.y_score, strict=True))
    counts = [(0, 0)]
    for threshold in sorted(set(problem.y_score), reverse=True):
        tp = sum(1 for y, s in cases if y == 1 and s >= threshold)
        fp = sum(1 for y, s in cases if y == 0 and s >= threshold)
        counts.append((tp, fp))
    return counts


def feasible_counts(problem: Problem) -> list[tuple[int, int]]:
    alpha, kappa = problem.min_precision, problem.max_alarms
    return [
        (tp, fp)
        for tp, fp in count_thresholds(problem)
        if tp >= alpha * (tp + fp)
        and tp + fp <= kappa
        and tp >= problem.min_recall * problem.n_positive
    ]


def clip(polygon: list[Any], a: Any, b: Any, c: Any) -> list[Any]:
    """Keep the part of a convex polygon where a x + b y <= c."""
    kept = []
    for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        d0, d1 = a * x0 + b * y0 - c, a * x1 + b * y1 - c
        if d0 <= 0:
            kept.append((x0, y0))
        if (d0 < 0 < d1) or (d1 < 0 < d0):
            share = d0 / (d0 - d1)
            kept.append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
    return kept


def area(polygon: list[Any]) -> Any:
    corners = zip(polygon, [*polygon[1:], *polygon[:1]], strict=True)
    return abs(sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in corners)) / 2


def region(problem: Problem, number: Any = float) -> list[Any]:
    p, n = number(problem.n_positive), number(problem.n_negative)
    alpha = number(problem.min_precision.numerator) / number(problem.min_precision.denominator)
    kappa = number(problem.max_alarms.numerator) / number(problem.max_alarms.denominator)
    square = [(number(x), number(y)) for x, y in SQUARE]
    recall = number(problem.min_recall.numerator) / number(problem.min_recall.denominator)
    above = clip(square, number(0), number(-1), -recall)
    return clip(clip(above, alpha * n, -(1 - alpha) * p, number(0)), n, p, kappa)


def best_share(problem: Problem, cost_ratio: Any, number: Any = float) -> Any:
    """Largest share of the region that is costlier than a feasible threshold."""
    shape = region(problem, number)
    p, n = number(problem.n_positive), number(problem.n_negative)
    slope = cost_ratio * n / p
    best = number(0)
    for tp, fp in feasible_counts(problem):
        h, k = number(fp) / n, number(tp) / p
        best = max(best, area(clip(shape, -slope, number(1), k - slope * h)))
    return best / area(shape)


def kinks(problem: Problem, number: Any = float) -> list[Any]:
    """Cost ratios where the integrand may bend: thresholds of equal cost, corners on the line."""
    p, n = number(problem.n_positive), number(problem.n_negative)
    points = [(number(fp) / n, number(tp) / p) for tp, fp in feasible_counts(problem)]
    corners = region(problem, number)
    low, high = number(problem.low), number(problem.high)
    ratios = {low, high}
    for i, (h, k) in enumerate(points):
        for x, y in [*points[i + 1 :], *corners]:
            if x != h:
                ratio = (y - k) / (x - h) * p / n
                if low < ratio < high:
                    ratios.add(ratio)
    return sorted(ratios)


def partial_voros(problem: Problem) -> float:
    """Brute force over thresholds, clipping for areas, adaptive quadrature between kinks."""
    ends = kinks(problem)
    pieces = [
        quad(lambda c: best_share(problem, c), a, b, epsabs=1e-13, epsrel=1e-11, limit=200)[0]
        for a, b in pairwise(ends)
        # A sliver between two roundings of the same kink holds nothing and defeats the quadrature.
        if b - a > 1e-14 * b
    ]
    return float(sum(pieces)) / (problem.high - problem.low)


def partial_voros_to_thirty_digits(problem: Problem) -> float:
    with mpmath.workdps(30):
        ends = kinks(problem, mpmath.mpf)
        total = sum(
            mpmath.quad(lambda c: best_share(problem, c, mpmath.mpf), [a, b])
            for a, b in pairwise(ends)
        )
        return float(total / (mpmath.mpf(problem.high) - mpmath.mpf(problem.low)))


def random_problem(rng: np.random.Generator, *, max_cases: int = 20) -> Problem:
    """A small problem; ties, odd class balances and tight limits are common."""
    n_cases = int(rng.integers(3, max_cases))
    n_positive = int(rng.integers(1, n_cases))
    y_true = rng.permutation([1] * n_positive + [0] * (n_cases - n_positive))
    noise = rng.normal(size=n_cases) + rng.choice([0, 1, 3]) * y_true
    y_score = np.round(noise, int(rng.integers(0, 3)))
    alpha = Fraction(int(rng.integers(0, rng.choice([1, 30, 100]))), 100)
    kappa = Fraction(int(rng.integers(100, 100 * n_cases + 1)), 100)
    low = 10.0 ** rng.uniform(-2, 0.5)
    high = low * 10.0 ** rng.uniform(0, 2)
    return Problem(y_true.tolist(), y_score.tolist(), alpha, kappa, float(low), float(high))
