"""Where the scores lie, guessed from the first rows: what the first count of all cases asks for.

A bad guess costs a pass, never a number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.arrays import LARGEST_FINITE, AnyArray, BoolArray, FloatArray
from voros.engines.plan import SMALLEST_ANSWER, Wanted
from voros.engines.scales import Scale, level_for, scale_for

PILOT_MARGIN = 1.25
"""How far beyond the capacity the first cut aims."""

SELECTIVE = 0.4
"""A cut that keeps more than this share of the rows is not worth the pass it may cost."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """The first rows of a model.

    Attributes
    ----------
    scores : ndarray of float
        Finite ones only.
    positive : ndarray of bool
    weights : ndarray of float
    ends : tuple of (float, float)
        Lowest and highest score, of all cases if known.
    """

    scores: FloatArray
    positive: BoolArray
    weights: FloatArray
    ends: tuple[float, float]

    @classmethod
    def of(
        cls,
        scores: AnyArray,
        positive: AnyArray,
        weights: AnyArray | None,
        ends: tuple[float, float] | None,
    ) -> Pilot:
        """Leave out what is no finite score; nothing else is checked yet."""
        values = np.asarray(scores, dtype=np.float64)
        kept = np.isfinite(values)
        if not kept.any():
            return cls(np.zeros(1), np.zeros(1, dtype=np.bool_), np.ones(1), (0.0, 0.0))
        values = values[kept]
        mass = np.ones(len(values)) if weights is None else weights[kept]
        ends = ends or (float(values.min()), float(values.max()))
        low, high = np.clip(ends, -LARGEST_FINITE, LARGEST_FINITE).tolist()
        # A missing label is not True.
        return cls(values, np.asarray(positive[kept] == True), mass, (low, high))  # noqa: E712

    def scale(self) -> Scale:
        """Choose a scale that tells these scores apart."""
        return scale_for(self.scores, self.positive, *self.ends)

    def cut(self, share: float) -> float:
        """Score above which the sample has at least this share of its weight.

        Examples
        --------
        >>> Pilot.of(np.array([0.25, 0.5, 1.0, 2.0]), np.zeros(4), None, None).cut(0.5)
        1.0
        """
        order = np.argsort(-self.scores)
        above = np.cumsum(self.weights[order]) / self.weights.sum()
        return float(self.scores[order][min(int(np.searchsorted(above, share)), len(order) - 1)])

    def wanted(self, scale: Scale, cut: float, at_most: int) -> Wanted:
        """Plan to count the rows from a score up, by no more cells than this where they lie."""
        low, high = scale.cells([max(self.ends[0], cut), self.ends[1]]).tolist()
        level = level_for(low, high, max(at_most, SMALLEST_ANSWER))
        first, last = scale.cells([max(scale.lowest, cut), scale.highest], level).tolist()
        return Wanted(scale, level, first, last, low=cut)
