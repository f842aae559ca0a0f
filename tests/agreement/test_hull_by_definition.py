"""The hull against its definition in whole numbers: no chord over a vertex, no cheaper threshold.

Counts are small whole numbers or eighths, so that products of them are exact as floats too, and
points that raise equally many alarms, repeat, lie on one line or lose right alarms are common.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from voros import OperatingPoints
from voros.core.hull import CostHull, cost_hull, upper_vertices

Pair = tuple[Fraction, Fraction]


def random_points(rng: np.random.Generator, unit: Fraction) -> OperatingPoints:
    """Operating points in any order, a few of them near a convex curve, on a coarse grid."""
    n_points, most = int(rng.integers(1, 9)), int(rng.integers(2, 10))
    fp = rng.integers(0, most + 1, n_points)
    on_curve = np.minimum(np.sqrt(fp * most).astype(int) + rng.integers(0, 2, n_points), most)
    tp = np.where(rng.random(n_points) < 0.5, on_curve, rng.integers(0, most + 1, n_points))
    counts = (tp, fp) if unit == 1 else (tp * float(unit), fp * float(unit))
    return OperatingPoints.from_counts(*counts, n_positive=most, n_negative=most)


def random_mask(rng: np.random.Generator, points: OperatingPoints) -> np.ndarray:
    """Any points may be allowed, at least one; never alarm usually is."""
    mask = rng.random(len(points)) < 0.8
    mask[0] |= rng.random() < 0.8
    mask[int(rng.integers(len(points)))] = True
    return mask


def pairs_of(points: OperatingPoints, index: np.ndarray) -> list[Pair]:
    return [(Fraction(points.tp[i].item()), Fraction(points.fp[i].item())) for i in index]


def under_a_chord(pair: Pair, others: list[Pair]) -> bool:
    """Whether some chord between points on both sides runs through the point or above it."""
    alarms, tp = sum(pair), pair[0]
    before = [(sum(p), p[0]) for p in others if sum(p) < alarms]
    after = [(sum(p), p[0]) for p in others if sum(p) > alarms]
    return any(
        y0 * (x1 - alarms) + y1 * (alarms - x0) >= tp * (x1 - x0)
        for x0, y0 in before
        for x1, y1 in after
    )


def vertices_by_definition(allowed: list[Pair]) -> list[Pair]:
    """Corners of the hull by rising alarms, up to the one with most right alarms."""
    best: dict[Fraction, Fraction] = {}
    for tp, fp in allowed:
        best[tp + fp] = max(best.get(tp + fp, tp), tp)
    pairs = [(tp, alarms - tp) for alarms, tp in sorted(best.items())]
    corners = [pair for pair in pairs if not under_a_chord(pair, pairs)]
    kept = corners[:1]
    for corner in corners[1:]:
        if corner[0] > kept[-1][0]:
            kept.append(corner)
    return kept


def entries_by_definition(corners: list[Pair]) -> list[float]:
    """Cost ratios of equal cost with the corner before: more for no more enters at infinity."""
    entries = [np.inf]
    for (tp0, fp0), (tp1, fp1) in pairwise(corners):
        entries.append(float((tp1 - tp0) / (fp1 - fp0)) if fp1 > fp0 else np.inf)
    return entries


def cost_ratios(pairs: list[Pair]) -> list[Fraction]:
    """Ratios at which two points cost the same, and one between each two and beyond them."""
    ties = {
        (tp1 - tp0) / (fp1 - fp0)
        for tp0, fp0 in pairs
        for tp1, fp1 in pairs
        if fp1 > fp0 and tp1 > tp0
    }
    marks = sorted({Fraction(1, 100), *ties, Fraction(100)})
    middles = [(a + b) / 2 for a, b in pairwise(marks)]
    return sorted({*marks, *middles})


def cheapest(pairs: list[Pair], ratio: Fraction) -> Pair:
    """Least cost; of equals the one with fewest alarms."""
    return min(pairs, key=lambda pair: (ratio * pair[1] - pair[0], sum(pair)))


def problems(seed: int, n_problems: int) -> list[tuple[OperatingPoints, np.ndarray]]:
    rng = np.random.default_rng(seed)
    points = [
        random_points(rng, Fraction(1, 8) if rng.random() < 0.3 else Fraction(1))
        for _ in range(n_problems)
    ]
    return [(one, random_mask(rng, one)) for one in points]


def hull_and_pairs(points: OperatingPoints, mask: np.ndarray) -> tuple[CostHull, list[Pair]]:
    return cost_hull(points, mask), pairs_of(points, np.flatnonzero(mask))


def test_vertices_and_their_cost_ratios_are_those_of_the_definition() -> None:
    for points, mask in problems(1, 400):
        hull, allowed = hull_and_pairs(points, mask)
        corners = vertices_by_definition(allowed)
        assert pairs_of(points, hull.index) == corners
        assert hull.enter.tolist() == entries_by_definition(corners)
        assert hull.leave.tolist() == [*hull.enter.tolist()[1:], 0.0]
        assert mask[hull.index].all()


def test_no_allowed_threshold_is_cheaper_or_as_cheap_with_fewer_alarms() -> None:
    for points, mask in problems(2, 150):
        hull, allowed = hull_and_pairs(points, mask)
        ratios = cost_ratios(allowed)
        best = hull.index[hull.best(np.array([float(ratio) for ratio in ratios]))]
        assert pairs_of(points, best) == [cheapest(allowed, ratio) for ratio in ratios]


@pytest.mark.parametrize("n_points", [2, 3, 4])
def test_of_points_that_raise_equally_many_alarms_the_one_with_most_right_ones_is_left(
    n_points: int,
) -> None:
    points = OperatingPoints.from_counts(np.arange(n_points), 6 - np.arange(n_points), 9, 9)
    hull = cost_hull(points, np.arange(n_points + 1) > 0)
    assert pairs_of(points, hull.index) == [(n_points - 1, 7 - n_points)]
    assert hull.enter.tolist() == [np.inf]


def corners_by_slopes(x: np.ndarray, y: np.ndarray) -> list[int]:
    """A corner rises less steeply to every later point than from every earlier one."""
    corners = []
    for i in range(len(x)):
        rise, run = y - y[i], x - x[i]
        before, after = np.arange(i), np.arange(i + 1, len(x))
        from_before = np.multiply.outer(-rise[before], run[after])
        to_after = np.multiply.outer(-run[before], rise[after])
        if (from_before > to_after).all():
            corners.append(i)
    return corners


@pytest.mark.parametrize("n_points", [1, 2, 3, 5, 20, 63, 64, 65, 66, 130, 200])
@pytest.mark.parametrize("shape", ["stairs", "arc", "lines", "noise"])
def test_corners_of_whole_numbers_are_exact_however_many_points(n_points: int, shape: str) -> None:
    rng = np.random.default_rng(n_points)
    for _ in range(3 if n_points > 100 else 6):
        x = np.cumsum(rng.integers(1, 4, n_points))
        y = {
            "stairs": np.cumsum(rng.integers(0, 2, n_points)),
            "arc": x * (2 * x[-1] - x) + rng.integers(0, 2, n_points),
            # Long runs on one line: their inner points are no corners.
            "lines": np.minimum(3 * x, x + 40) + (rng.random(n_points) < 0.05),
            "noise": rng.integers(-50, 50, n_points),
        }[shape]
        assert upper_vertices(x, y).tolist() == corners_by_slopes(x, y)
