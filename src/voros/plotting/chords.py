"""Polygons and lines of ROC space, and runs of marks, as far as drawing needs them."""

from __future__ import annotations

import numpy as np

from voros.typing import BoolArray, FloatArray

TOUCHING = 1e-12
"""A line that passes a corner this closely touches it: corners carry rounding."""

UNIT_SQUARE: FloatArray = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def cost_excess(corners: FloatArray, fpr: float, tpr: float, t: float) -> FloatArray:
    """How much costlier each corner is than the ROC point, in normalised cost."""
    return np.asarray(t * (corners[:, 0] - fpr) - (1.0 - t) * (corners[:, 1] - tpr))


def part_above(corners: FloatArray, heights: FloatArray) -> FloatArray:
    """Cut a convex polygon to where a linear function, given at its corners, is not negative.

    Examples
    --------
    >>> part_above(UNIT_SQUARE, UNIT_SQUARE[:, 0] - 0.5).tolist()
    [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.5, 1.0]]
    """
    kept = []
    for i, corner in enumerate(corners):
        j = (i + 1) % len(corners)
        if heights[i] >= 0:
            kept.append(corner)
        if heights[i] * heights[j] < 0:
            share = heights[i] / (heights[i] - heights[j])
            kept.append(corner + share * (corners[j] - corner))
    return np.array(kept).reshape(-1, 2)


def chord(corners: FloatArray, heights: FloatArray) -> FloatArray:
    """Where a linear function, given at the corners, is zero within a convex polygon: two ends.

    Empty where it is nowhere zero.

    Examples
    --------
    >>> chord(UNIT_SQUARE, UNIT_SQUARE[:, 0] - 0.5).tolist()
    [[0.5, 0.0], [0.5, 1.0]]
    """
    heights = np.where(np.abs(heights) < TOUCHING * np.abs(heights).max(), 0.0, heights)
    following = np.roll(np.arange(len(corners)), -1)
    # Signs, because the product of two tiny heights is 0.
    crossed = np.sign(heights) * np.sign(heights[following]) < 0
    share = heights[crossed] / (heights[crossed] - heights[following][crossed])
    start, end = corners[crossed], corners[following][crossed]
    crossings = np.concatenate([corners[heights == 0], start + share[:, None] * (end - start)])
    if len(crossings) < 2:
        return np.repeat(crossings, 2, axis=0)
    order = np.lexsort((crossings[:, 1], crossings[:, 0]))
    return crossings[order[[0, -1]]]


def marked_runs(marked: BoolArray) -> list[tuple[int, int]]:
    """Return where each unbroken run of marks starts, and where it has ended.

    Examples
    --------
    >>> marked_runs(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    steps = np.diff(np.concatenate([[0], marked.astype(np.int8), [0]]))
    starts, stops = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    return list(zip(starts.tolist(), stops.tolist(), strict=True))
