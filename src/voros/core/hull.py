"""The thresholds that are best at some cost: the upper hull of the points that are allowed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.core.operating_points import OperatingPoints

FEW_POINTS = 64
"""Up to this number, walking the points one by one is as fast as all at once."""

WORTHWHILE = 0.8
"""A round over all points that keeps more than this share of them is the last."""


@dataclass(frozen=True, eq=False)
class CostHull:
    """The thresholds that are best at some cost ratio, by rising alarms.

    Attributes
    ----------
    index : ndarray of int, shape (n_vertices,)
        Rows of the operating points.
    enter : ndarray of shape (n_vertices,)
        Cost ratio at which each takes over from the one before; the first enters at +inf. Each is
        best from its own down to that of the next.
    """

    index: AnyArray
    enter: FloatArray

    @property
    def leave(self) -> FloatArray:
        """Cost ratio at which each gives way to the next; the last stays best down to 0."""
        return np.append(self.enter[1:], 0.0)

    def best(self, cost_ratio: FloatArray) -> AnyArray:
        """Position within the hull of the best threshold at each cost ratio.

        Where two are equally good the one with fewer alarms is taken.
        """
        later = np.searchsorted(-self.enter, -np.asarray(cost_ratio), side="left")
        return np.maximum(later - 1, 0)


def cost_hull(points: OperatingPoints, allowed: BoolArray) -> CostHull:
    """Find the upper hull of the allowed points.

    In coordinates (alarms, true positives), an affine image of ROC space, steps are never of zero
    width.
    """
    index = allowed.nonzero()[0]
    tp, fp = points.tp[index], points.fp[index]
    alarms = tp + fp
    if len(index) > 1:
        # Of points with equally many alarms only the one with most true positives counts.
        distinct = np.ones(len(alarms), dtype=np.bool_)
        np.greater(alarms[1:], alarms[:-1], out=distinct[:-1])
        if not distinct.all():
            index, tp, fp = index[distinct], tp[distinct], fp[distinct]
            alarms = alarms[distinct]
    vertices = upper_vertices(alarms, tp)
    right, false = tp[vertices], fp[vertices]
    gain, harm = right[1:] - right[:-1], false[1:] - false[:-1]
    useful = gain > 0
    gain, harm = gain[useful], harm[useful]
    # More true and no more false positives is better at every cost: the step enters at infinity.
    ratios = np.divide(gain, harm, out=np.full(len(gain), np.inf), where=harm > 0)
    vertices = np.append(vertices[0], vertices[1:][useful])
    # Slopes fall along a hull; rounding of weighted counts must not make them rise.
    return CostHull(index[vertices], np.minimum.accumulate(np.append(np.inf, ratios)))


def upper_vertices(x: AnyArray, y: AnyArray) -> AnyArray:
    """Positions of the corners of the upper hull of points whose `x` rises strictly.

    A point on or below the line between its neighbours is no corner, whatever the others are. So
    all of those are dropped at once, again and again while that thins the points out, and what is
    left is walked one by one.

    Examples
    --------
    >>> upper_vertices(np.array([0, 1, 2, 3, 4]), np.array([0, 2, 3, 4, 4])).tolist()
    [0, 1, 3, 4]
    """
    x, y = x.astype(np.float64), y.astype(np.float64)
    # A power of two changes no digit, and keeps products of very small or large weights exact.
    size = float(np.ldexp(1.0, -int(np.frexp(x[-1])[1]))) if len(x) else 1.0
    x, y = x * size, y * size
    rising = x
    while len(x) > FEW_POINTS:
        width, rise = x[1:] - x[:-1], y[1:] - y[:-1]
        above = np.ones(len(x), dtype=np.bool_)
        np.greater(rise[:-1] * width[1:], rise[1:] * width[:-1], out=above[1:-1])
        x, y = x[above], y[above]
        if len(x) == len(above):
            return rising.searchsorted(x)
        if len(x) > WORTHWHILE * len(above):
            break
    return rising.searchsorted(x[_walk(x.tolist(), y.tolist())])


def _walk(x: list[float], y: list[float]) -> list[int]:
    """Walk along rising points, turning right only; the positions of the turns and the ends."""
    turns: list[int] = []
    for i in range(len(x)):
        while len(turns) > 1:
            a, b = turns[-2], turns[-1]
            if (y[b] - y[a]) * (x[i] - x[b]) > (y[i] - y[b]) * (x[b] - x[a]):
                break
            turns.pop()
        turns.append(i)
    return turns
