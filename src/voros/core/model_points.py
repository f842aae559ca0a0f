"""Operating points that somebody passes, of one model or of several on the same cases."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voros.core.arguments import check_type
from voros.core.operating_points import OperatingPoints
from voros.text.numbers import count

SAME_TOTAL = 1e-9
"""Relative difference of class sizes that sums of weights in another order may have."""


def check_same_cases(points_by_model: Mapping[str, OperatingPoints], remedy: str) -> None:
    """Refuse models whose classes differ in size: they were not counted on the same cases."""
    (first, expected), *rest = points_by_model.items()
    for name, other in rest:
        sizes = [(curve.n_positive, curve.n_negative) for curve in (expected, other)]
        if not np.allclose(sizes[0], sizes[1], rtol=SAME_TOTAL, atol=0.0):
            sizes_said = (f"{count(p)} positive and {count(n)} negative" for p, n in sizes)
            said = " against ".join(sizes_said)
            raise ValueError(
                f"models {first!r} and {name!r} were counted on different cases: {said}; {remedy}"
            )


def check_points(points: object, name: str = "points") -> OperatingPoints:
    """Return operating points, and refuse anything else by name."""
    example = "OperatingPoints.from_scores(y_true, y_score)"
    return check_type(points, name, OperatingPoints, f"a voros.OperatingPoints, such as {example}")
