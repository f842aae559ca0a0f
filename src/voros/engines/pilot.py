"""Where the scores lie, guessed from the first rows: what the first count of all cases asks for.

A bad guess costs a pass, never a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.core.decision import Decision, solve
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.engines.plan import SMALLEST_ANSWER, Wanted
from voros.engines.scales import Scale, level_for, scale_for
from voros.typing import AnyArray, BoolArray, FloatArray

PILOT_MARGIN = 1.25
"""How far beyond the capacity the first cut aims."""

NOISE = 3.0
"""Standard deviations by which a sample must rule scores out."""

SELECTIVE = 0.4
"""A cut that keeps more than this share of the rows is not worth the pass it may cost."""

TIES_ROWS, MANY_TIES = 10_000, 0.5
"""Rows in which ties are looked for, and distinct scores for each row below which they are many."""


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

    def cost_cut(self, scenario: Scenario) -> float:
        """Score below which no threshold can pay, however well the scores there are ordered.

        It cannot where even all positives below, and none of the negatives, would be worth less
        than the false alarms between the best threshold and the cut cost where they are cheapest.

        Examples
        --------
        >>> scores, ill = np.linspace(1, 0, 1000), np.arange(1000) < 20
        >>> pilot = Pilot.of(scores, ill, None, None)
        >>> round(pilot.cost_cut(Scenario(cost_ratio=(0.5, 1))), 2)
        0.97
        """
        if self.positive.all() or not self.positive.any():
            return -np.inf
        hopeless = _hopeless(solve(self._points, scenario))
        return float(self._points.thresholds[np.argmax(hopeless)]) if hopeless.any() else -np.inf

    @cached_property
    def _points(self) -> OperatingPoints:
        mass = self.weights / self.weights.mean()
        return OperatingPoints.from_cases(self.positive, self.scores, mass)

    def share_above(self, cut: float) -> float:
        """Share of the sample from a score up."""
        return float(np.mean(self.scores >= cut))

    @property
    def tied(self) -> bool:
        """Whether many cases share a score, so that a cell may well hold a single one."""
        some = self.scores[:TIES_ROWS]
        return len(np.unique(some)) < MANY_TIES * len(some)

    def wanted(self, scale: Scale, cut: float, at_most: int) -> Wanted:
        """Plan to count the rows from a score up, by no more cells than this where they lie."""
        low, high = scale.cells([max(self.ends[0], cut), self.ends[1]]).tolist()
        level = level_for(low, high, max(at_most, SMALLEST_ANSWER))
        first, last = scale.cells([max(scale.lowest, cut), scale.highest], level).tolist()
        by_edges = scale.has_edges(level) and not self.tied
        return Wanted(scale, level, first, last, low=cut, by_edges=by_edges)


def _hopeless(decision: Decision) -> BoolArray:
    """Mark the thresholds of a sample below which none is better than the best one."""
    points = decision.points
    cheapest = decision.scenario.costs.ratio_range(points.negatives_per_positive)[0]
    if not 0 < cheapest < np.inf:
        return np.zeros(len(points.tp), dtype=np.bool_)
    worth = np.where(decision.feasible, points.tp - cheapest * points.fp, -np.inf)
    best = np.argmax(worth)
    missed = points.n_positive - points.tp[best]
    added = np.maximum(points.fp - points.fp[best], 0.0)
    noise = NOISE * np.sqrt(missed + cheapest**2 * added)
    return np.asarray(missed + noise < cheapest * added)
