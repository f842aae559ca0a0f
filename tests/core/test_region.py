from __future__ import annotations

import numpy as np
import pytest
from shapely.geometry import Polygon, box

from voros.core.geometry import RegionCase, feasible_region

CASES = {
    # name: (n_positive, n_negative, min_precision, max_alarms, corners by the paper's names)
    RegionCase.WHOLE_SQUARE: (10, 90, 0.0, 100, "v00 v10 v11 v01"),
    RegionCase.TRIANGLE_BELOW_PERFECT: (1000, 9000, 0.15, 900, "v00 vak v0k"),
    RegionCase.QUADRILATERAL_WITH_PERFECT: (1000, 9000, 0.15, 3000, "v00 vak vk1 v01"),
    RegionCase.TRIANGLE_PRECISION_ALONE: (1000, 9000, 0.15, 9100, "v00 va1 v01"),
    RegionCase.PENTAGON_TO_THE_RIGHT: (50, 50, 0.1, 80, "v00 v1a v1k vk1 v01"),
    RegionCase.TRAPEZOID_TO_THE_RIGHT: (80, 20, 0.5, 70, "v00 v1a v1k v0k"),
    RegionCase.PRECISION_ONLY_TO_TOP: (10, 90, 0.3, 100, "v00 va1 v01"),
    RegionCase.PRECISION_ONLY_TO_RIGHT: (30, 70, 0.2, 100, "v00 v1a v11 v01"),
    RegionCase.CAPACITY_ONLY_LEFT_TO_BOTTOM: (40, 60, 0.0, 30, "v00 vk0 v0k"),
    RegionCase.CAPACITY_ONLY_LEFT_TO_RIGHT: (70, 30, 0.0, 50, "v00 v10 v1k v0k"),
    RegionCase.CAPACITY_ONLY_TOP_TO_BOTTOM: (30, 70, 0.0, 50, "v00 vk0 vk1 v01"),
    RegionCase.CAPACITY_ONLY_TOP_TO_RIGHT: (40, 60, 0.0, 90, "v00 v10 v1k vk1 v01"),
    RegionCase.SEGMENT_OF_NO_FALSE_ALARM: (40, 60, 1.0, 100, "v00 v0a"),
}
POLYGONS = [case for case in CASES if case is not RegionCase.SEGMENT_OF_NO_FALSE_ALARM]


def independent_region(n_positive, n_negative, min_precision, max_alarms) -> Polygon:
    """The same region from shapely: the square less what breaks a limit."""
    far = 1e6
    slope = min_precision * n_negative / ((1 - min_precision) * n_positive)
    precise = Polygon([(0, 0), (far, slope * far), (-far, far * slope + far), (-far, 0)])
    top, right = max_alarms / n_positive, max_alarms / n_negative
    beyond = Polygon([(0, top), (right, 0), (right, -far), (far, -far), (far, far), (0, far)])
    return box(0, 0, 1, 1).intersection(precise).difference(beyond)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_is_recognised_and_its_corners_named(case: RegionCase) -> None:
    *limits, names = CASES[case]
    region = feasible_region(*limits)
    assert region.case is case
    assert " ".join(region.names) == names
    area, rest = repr(region).removeprefix("Region(area=").split(", ", 1)
    assert float(area) == pytest.approx(region.area, rel=5.1e-3)
    assert rest == f"{names.replace(' ', '-')}: {case.value})"


@pytest.mark.parametrize("case", POLYGONS, ids=lambda case: case.name)
def test_every_case_against_an_independent_clip(case: RegionCase) -> None:
    limits = CASES[case][:-1]
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
        seen.add(region.case)
    assert len(seen) >= 9


def test_the_corners_have_the_papers_coordinates() -> None:
    p, n, alpha, kappa = 1000, 9000, 0.15, 3000
    region = feasible_region(p, n, alpha, kappa)
    corners = dict(zip(region.names, region.vertices.tolist(), strict=True))
    assert corners["vak"] == pytest.approx([(1 - alpha) * kappa / n, alpha * kappa / p])
    assert corners["vk1"] == pytest.approx([(kappa - p) / n, 1])


def test_a_line_through_a_corner_makes_no_second_corner_there() -> None:
    # The capacity line passes (0, 1) exactly; the precision line passes (1, 1) exactly.
    triangle = feasible_region(50, 50, 0.0, 50)
    assert triangle.names == ("v00", "vk0", "v0k")
    assert triangle.case is RegionCase.CAPACITY_ONLY_LEFT_TO_BOTTOM
    assert feasible_region(30, 70, 0.3, 100).names == ("v00", "va1", "v01")


def test_without_limits_the_whole_square_is_left() -> None:
    assert feasible_region(10, 90).names == ("v00", "v10", "v11", "v01")
    assert feasible_region(10, 90, max_alarms=30).names == ("v00", "vk0", "vk1", "v01")


def test_all_alarms_right_leaves_the_left_side_up_to_the_capacity() -> None:
    region = feasible_region(40, 60, 1.0, 20)
    assert region.area == 0
    assert region.highest_recall == 0.5
