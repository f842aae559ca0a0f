"""Geometry of ROC space: the region within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from voros.core.arguments import as_number, check_number
from voros.core.cases import check_class_sizes
from voros.exceptions import Argument, InfeasibleError, Message
from voros.text.numbers import count, count_within, short, typed
from voros.typing import FloatArray

__all__ = ["Region", "feasible_region"]

ON_THE_LINE = 8 * np.finfo(np.float64).eps
"""A corner this near to a limit, relative to its terms, lies on it; the difference is rounding."""


Corner: TypeAlias = tuple[float, float]
"""A corner (fpr, tpr) of a region."""


@dataclass(frozen=True, eq=False)
class Region:
    """The part of ROC space within the limits.

    Attributes
    ----------
    ring : ndarray of shape (2, n_vertices + 1)
        Rows fpr and tpr of the corners, counter-clockwise from the lowest corner on the left, which
        is also the last; without a recall floor it is the origin.
    area : float

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.2)
    >>> region = voros.evaluate([0, 1, 0, 0], [0.1, 0.9, 0.8, 0.7], scenario).region
    >>> region.area, region.highest_recall
    (0.1667, 1.0)
    >>> region.vertices.tolist()
    [[0.0, 0.0], [0.3333, 1.0], [0.0, 1.0]]
    """

    ring: FloatArray
    area: float

    @property
    def vertices(self) -> FloatArray:
        """The corners (fpr, tpr), one per row."""
        return self.ring[:, :-1].T

    @property
    def highest_recall(self) -> float:
        """The greatest recall any feasible classifier could have."""
        return float(self.vertices[:, 1].max())

    def shares_without_area(self, fpr: FloatArray, tpr: FloatArray) -> FloatArray:
        """Share that is costlier than each point, in a region that is a segment or one point.

        This is the limit of the share in a narrow region. Its width grows with the recall as the
        precision floor approaches 1, and its height is constant as the recall floor approaches 1.
        In a region of one point the share is 1.

        Returns
        -------
        ndarray of shape (n_points,)
        """
        (least, right), (low, high) = ((row.min(), row.max()) for row in self.ring)
        if high > low:
            return np.asarray((tpr**2 - low**2) / (high**2 - low**2))
        if right > least:
            return np.asarray((right - fpr) / (right - least))
        return np.ones_like(tpr)

    def __repr__(self) -> str:
        """Show area and corners."""
        corners = " ".join(f"({typed(x)}, {typed(y)})" for x, y in self.vertices.tolist())
        return f"Region(area={short(self.area)}, {corners})"


def feasible_region(
    n_positive: float,
    n_negative: float,
    min_precision: float = 0.0,
    max_alarms: float = np.inf,
    min_recall: float = 0.0,
) -> Region:
    """Cut the unit square by the lines of minimum precision, maximum capacity and minimum recall.

    Returns
    -------
    Region
        Corners and area of the rest.

    Raises
    ------
    InfeasibleError
        Where the rest is empty: ``max_alarms`` is below the true positives for ``min_recall``.

    Examples
    --------
    >>> feasible_region(1000, 9000, min_precision=0.15, max_alarms=900)
    Region(area=0.0382, (0, 0) (0.0850, 0.135) (0, 0.9))
    >>> feasible_region(1000, 9000).area
    1.0
    >>> feasible_region(1000, 9000, max_alarms=900, min_recall=0.5)
    Region(area=0.00889, (0, 0.5) (0.0444, 0.5) (0, 0.9))
    """
    check_class_sizes(n_positive, n_negative)
    check_number(min_precision, "min_precision")
    if not as_number(max_alarms, "max_alarms") > 0:
        raise ValueError(f"max_alarms={max_alarms!r}; accepted is a number of alarms above 0")
    check_number(min_recall, "min_recall")
    return cut_square(n_positive, n_negative, min_precision, max_alarms, min_recall)


def cut_square(
    n_positive: float,
    n_negative: float,
    min_precision: float,
    max_alarms: float,
    min_recall: float = 0.0,
) -> Region:
    """Cut the unit square as `feasible_region` does, by limits that have been checked."""
    # Sums of numpy's small integers would overflow.
    n_positive, n_negative, max_alarms = float(n_positive), float(n_negative), float(max_alarms)
    corners = _above_floor(n_positive, n_negative, float(min_precision))
    if max_alarms < n_positive + n_negative:
        corners = cut_polygon(corners, -n_negative, -n_positive, max_alarms)
    if min_recall > 0:
        corners = _from_the_left(cut_polygon(corners, 0.0, 1.0, -float(min_recall)))
    if not corners:
        raise InfeasibleError(
            contradiction(min_recall, n_positive, max_alarms, "max_alarms", f"={count(max_alarms)}")
        )
    closed = [*corners, corners[0]]
    return Region(
        np.array(closed).T.copy(),
        sum(x * next_y - next_x * y for (x, y), (next_x, next_y) in pairwise(closed)) / 2,
    )


def cut_by_capacities(
    n_positive: float, n_negative: float, min_precision: float, max_alarms: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Cut the unit square as `cut_square` does, by each of several capacities.

    Returns
    -------
    rings : ndarray of shape (2, n_capacities, n_corners)
        Rows fpr and tpr; shorter rings repeat the origin, their last corner.
    areas : ndarray of shape (n_capacities,)

    Examples
    --------
    >>> rings, areas = cut_by_capacities(1000, 9000, 0.15, np.array([900.0, 10000.0]))
    >>> [
    ...     float(area) == feasible_region(1000, 9000, 0.15, k).area
    ...     for area, k in zip(areas, (900, 10000))
    ... ]
    [True, True]
    """
    corners = _above_floor(float(n_positive), float(n_negative), float(min_precision))
    x, y = np.array(corners).T
    here = -n_negative * x - n_positive * y + max_alarms[:, None]
    rounding = ON_THE_LINE * (n_negative + n_positive + max_alarms)
    here[np.abs(here) <= rounding[:, None]] = 0.0
    there = np.roll(here, -1, axis=1)
    crossed = np.minimum(here, there) * np.maximum(here, there) < 0
    share = np.divide(here, here - there, out=np.zeros_like(here), where=crossed)
    # Corners within the capacity are kept, and a side that crosses the capacity adds a corner.
    kept = np.stack([here >= 0, crossed], axis=2).reshape(len(here), -1)
    rings = np.zeros((2, len(here), kept.sum(axis=1).max() + 1))
    row, place = np.nonzero(kept)[0], (np.cumsum(kept, axis=1) - 1)[kept]
    for axis, start in enumerate((x, y)):
        meets = start + share * (np.roll(start, -1) - start)
        both = np.stack([np.broadcast_to(start, here.shape), meets], axis=2)
        rings[axis, row, place] = both.reshape(kept.shape)[kept]
    across = rings[0, :, :-1] * rings[1, :, 1:] - rings[0, :, 1:] * rings[1, :, :-1]
    return rings, across.sum(axis=1) / 2


def contradiction(
    min_recall: float, n_positive: float, max_alarms: float, *capacity: str
) -> Message:
    """Say that no classifier keeps a recall floor within a capacity, and which limits could."""
    return Message(
        Argument("min_recall"),
        f"={min_recall:g} and ",
        *capacity,
        f" contradict each other: no classifier finds {min_recall:g} of {count(n_positive)} "
        f"positives within {count_within(max_alarms)} alarms. With this capacity a recall of at "
        f"most {typed(max_alarms / n_positive)} could be met; the recall floor needs a capacity "
        f"of at least {count(np.ceil(min_recall * n_positive * (1 - ON_THE_LINE)))} alarms",
    )


def _from_the_left(corners: Sequence[Corner]) -> Sequence[Corner]:
    """Rotate the ring to begin at the lowest corner on the left."""
    first = min(range(len(corners)), key=lambda i: corners[i][::-1], default=0)
    return [*corners[first:], *corners[:first]]


@lru_cache(maxsize=16)
def _above_floor(n_positive: float, n_negative: float, min_precision: float) -> Sequence[Corner]:
    """Cut the unit square by the precision floor, cached for maps, which repeat it."""
    square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    if not min_precision > 0:
        return square
    return cut_polygon(square, -min_precision * n_negative, (1 - min_precision) * n_positive, 0.0)


def cut_polygon(
    corners: Sequence[Corner], on_x: float, on_y: float, constant: float
) -> Sequence[Corner]:
    """Keep the part of a convex polygon where ``on_x * x + on_y * y + constant >= 0``."""
    height = [on_x * x + on_y * y + constant for x, y in corners]
    rounding = ON_THE_LINE * (abs(on_x) + abs(on_y) + abs(constant))
    height = [0.0 if abs(level) <= rounding else level for level in height]
    kept: list[Corner] = []
    for i, (x, y) in enumerate(corners):
        next_x, next_y = corners[(i + 1) % len(corners)]
        here, there = height[i], height[(i + 1) % len(corners)]
        if here >= 0:
            kept.append((x, y))
        if min(here, there) < 0 < max(here, there):
            share = here / (here - there)
            kept.append((x + share * (next_x - x), y + share * (next_y - y)))
    return kept
