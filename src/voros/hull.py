"""The thresholds that are best at some cost: the upper hull of the points that are allowed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.inputs import AnyArray, BoolArray, FloatArray
from voros.roc import OperatingPoints


@dataclass(frozen=True, eq=False)
class CostHull:
    """The thresholds that are best at some cost ratio, by rising alarms.

    Attributes
    ----------
    index : ndarray of int, shape (n_vertices,)
        Positions among the operating points.
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

    In coordinates (alarms, right alarms), an affine image of ROC space, steps are never of zero
    width, and the slopes of the hull are the isotonic regression of the step slopes.
    """
    index = np.flatnonzero(allowed)
    alarms = points.alarms[index]
    if len(index) > 1:
        # Of points that raise equally many alarms only the one with most right ones counts.
        distinct = np.append(alarms[1:] > alarms[:-1], True)
        index, alarms = index[distinct], alarms[distinct]
    tp, fp = points.tp[index], points.fp[index]
    width = np.diff(alarms).astype(np.float64)
    if len(width) == 0:
        return CostHull(index, np.array([np.inf]))
    # Imported here: scipy.optimize takes longer to load than all the rest of voros.
    from scipy.optimize import isotonic_regression

    slopes = isotonic_regression(np.diff(tp) / width, weights=width, increasing=False)
    vertices = slopes.blocks
    gain, harm = np.diff(tp[vertices]), np.diff(fp[vertices])
    useful = gain > 0
    gain, harm = gain[useful], harm[useful]
    # More right and no more false alarms is better at every cost: such a step enters at infinity.
    ratios = np.divide(gain, harm, out=np.full(len(gain), np.inf), where=harm > 0)
    vertices = np.append(0, vertices[1:][useful])
    # Slopes fall along a hull; rounding of weighted counts must not make them rise.
    return CostHull(index[vertices], np.minimum.accumulate(np.append(np.inf, ratios)))
