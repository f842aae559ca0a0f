"""Areas of lesser classifiers by clipping polygons with shapely."""

from __future__ import annotations

from typing import Any

import numpy as np
from shapely.geometry import Polygon


def lesser_area(region: Any, fpr: float, tpr: float, t: float) -> float:
    """Area of the part of a polygon that is costlier than a point, by clipping."""
    direction = np.array([1 - t, t])
    costlier = np.array([t, -(1 - t)])
    p = np.array([fpr, tpr])
    far = [p - 9 * direction, p + 9 * direction]
    half = Polygon([*far, far[1] + 9 * costlier, far[0] + 9 * costlier])
    return float(region.intersection(half).area)


def best_area(y: Any, scores: Any, scenario: Any, region: Any, t: float) -> float:
    """Greatest normalised area over the feasible thresholds, tried one after another."""
    tried = [(0.0, 0.0)]
    for threshold in np.unique(scores):
        alarm = scores >= threshold
        if y[alarm].mean() >= scenario.min_precision and alarm.sum() <= scenario.capacity * len(y):
            tried.append(((alarm & ~y).sum() / (~y).sum(), (alarm & y).sum() / y.sum()))
    return max(lesser_area(region, *point, t) for point in tried) / region.area
