from __future__ import annotations

import numpy as np
import pytest
from shapely.geometry import Polygon, box

from voros.core.geometry import feasible_region

CASES = {
    # name: (n_positive, n_negative, min_precision, max_alarms)
    "whole square": (10, 90, 0.0, 100),
    "triangle below perfect": (1000, 9000, 0.15, 900),
    "quadrilateral with perfect": (1000, 9000, 0.15, 3000),
    "triangle precision alone": (1000, 9000, 0.15, 9100),
    "pentagon to the right": (50, 50, 0.1, 80),
    "trapezoid to the right": (80, 20, 0.5, 70),
    "precision only to top": (10, 90, 0.3, 100),
    "precision only to right": (30, 70, 0.2, 100),
    "capacity only left to bottom": (40, 60, 0.0, 30),
    "capacity only left to right": (70, 30, 0.0, 50),
    "capacity only top to bottom": (30, 70, 0.0, 50),
    "capacity only top to right": (40, 60, 0.0, 90),
    "segment of no false alarm": (40, 60, 1.0, 100),
}
POLYGONS = [case for case in CASES if case != "segment of no false alarm"]


def independent_region(n_positive, n_negative, min_precision, max_alarms) -> Polygon:
    """The same region from shapely: the square less what breaks a limit."""
    far = 1e6
    slope = min_precision * n_negative / ((1 - min_precision) * n_positive)
    precise = Polygon([(0, 0), (far, slope * far), (-far, far * slope + far), (-far, 0)])
    top, right = max_alarms / n_positive, max_alarms / n_negative
    beyond = Polygon([(0, top), (right, 0), (right, -far), (far, -far), (far, far), (0, far)])
    return box(0, 0, 1, 1).intersection(precise).difference(beyond)


@pytest.mark.parametrize("case", POLYGONS)
def test_every_case_against_an_independent_clip(case: str) -> None:
    limits = CASES[case]
    expected = independent_region(*limits)
    region = feasible_region(*limits)
    assert region.area == pytest.approx(expected.area, abs=1e-9)
    assert Polygon(region.vertices).symmetric_difference(expected).area < 1e-9


def test_random_regions_against_an_independent_clip() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(1000):
        n_positive, n_negative = rng.integers(1, 100, 2).tolist()
        min_precision = rng.choice([0, rng.uniform(0, 0.99)])
        max_alarms = rng.uniform(1, n_positive + n_negative)
        region = feasible_region(n_positive, n_negative, min_precision, max_alarms)
        expected = independent_region(n_positive, n_negative, min_precision, max_alarms)
        assert region.area == pytest.approx(expected.area, abs=1e-8)
        seen.add(len(region.vertices))
    assert seen == {3, 4, 5}


def test_the_corners_have_the_papers_coordinates() -> None:
    p, n, alpha, kappa = 1000, 9000, 0.15, 3000
    region = feasible_region(p, n, alpha, kappa)
    assert region.vertices[1] == pytest.approx([(1 - alpha) * kappa / n, alpha * kappa / p])
    assert region.vertices[2] == pytest.approx([(kappa - p) / n, 1])


def test_a_line_through_a_corner_makes_no_second_corner_there() -> None:
    # The capacity line passes (0, 1) exactly; the precision line passes (1, 1) exactly.
    assert feasible_region(50, 50, 0.0, 50).vertices.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert feasible_region(30, 70, 0.3, 100).vertices.tolist() == [[0, 0], [1, 1], [0, 1]]


def test_without_limits_the_whole_square_is_left() -> None:
    assert feasible_region(10, 90).vertices.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert feasible_region(10, 90, max_alarms=30).vertices[1].tolist() == [30 / 90, 0]


def test_all_alarms_right_leaves_the_left_side_up_to_the_capacity() -> None:
    region = feasible_region(40, 60, 1.0, 20)
    assert region.area == 0
    assert region.highest_recall == 0.5
