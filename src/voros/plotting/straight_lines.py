"""Straight lines through ROC space, and runs of marked places."""

from __future__ import annotations

import numpy as np

from voros.typing import BoolArray, FloatArray


def across_the_square(on_x: float, on_y: float, constant: float) -> FloatArray:
    """Return two points on either side of the unit square where a linear function is 0.

    The function is ``on_x * x + on_y * y + constant``.

    Examples
    --------
    >>> across_the_square(2.0, 0.0, -1.0).tolist()
    [[0.5, 1.5], [0.5, -0.5]]
    """
    # Class sizes may be tiny or vast, and their squares would not be floats.
    length = np.hypot(on_x, on_y)
    normal, centre = np.array([on_x, on_y]) / length, np.array([0.5, 0.5])
    nearest = centre - normal * (normal @ centre + constant / length)
    along = np.array([-normal[1], normal[0]])
    return np.asarray([nearest + along, nearest - along])


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
