r"""Thin operating points for a page, and bound how much that can change a score.

**Without loss.** A threshold that catches no more than one with fewer alarms is never the better
of the two, at any limits, costs or prevalence. `useful_points` drops those; the thresholds at a
positive's score remain.

**With a bound.** Let d be dropped and k be kept, with no more true positives, no more false
positives and no less precision. Then k is feasible wherever d is. Taking k for d moves the line of
equal cost down by at most their difference in recall, so it gives up at most that times the width
W of the feasible region. The region is convex and holds the triangle over its left side, whose
height is the highest recall H that the capacity admits: its area is at least W H / 2. So

.. math:: \text{loss} \le 2 \, \frac{y_d - y_k}{H}, \qquad
          H = \min(1, \kappa / P) \ge y_d,

whatever the precision floor, the costs and the prevalence are. `largest_change` is the maximum of
this over the points, for all capacities of at least a stated share of the positives.

Where other alarms count for the capacity too, k must have no more of those alarms either.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from voros.core.counting import adds_recall
from voros.core.coverage import GIVEN_POINTS
from voros.core.operating_points import OperatingPoints
from voros.typing import AnyArray, BoolArray, FloatArray

CERTIFIED_RECALL = 0.25
"""Thinning is certified for capacities that admit at least this share of the positives."""

BISECTIONS = 40
"""Halvings of the tolerance in the search for the least that a number of points allows."""


def useful_points(points: OperatingPoints) -> OperatingPoints:
    """Drop the thresholds that no setting can choose; scores do not change at all.

    Examples
    --------
    >>> points = OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> useful_points(points).thresholds.tolist()
    [inf, 0.9, 0.7]
    """
    useful = adds_recall(points.tp)
    if points.capacity_alarms is not None:
        # One that catches no more may still take less of the capacity.
        first_best = np.maximum.accumulate(np.where(useful, np.arange(len(points)), 0))
        useful |= points.capacity_alarms < points.capacity_alarms[first_best]
    return points.take(useful, covers=GIVEN_POINTS)


def thin_points(points: OperatingPoints, at_most: int, recall_floor: float) -> OperatingPoints:
    """Keep ``at_most`` thresholds that raise an alarm, such that `largest_change` is small.

    The capacities that matter admit at least a share ``recall_floor`` of the positives.
    """
    useful = useful_points(points)
    if len(useful) - 1 <= at_most:
        return useful
    if useful.capacity_alarms is not None:
        return _thin_by_both(useful, at_most, recall_floor)
    low, high = 0.0, 2.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if _kept_within(useful, middle, recall_floor).sum() - 1 <= at_most:
            high = middle
        else:
            low = middle
    return useful.take(_kept_within(useful, high, recall_floor), covers=GIVEN_POINTS)


def largest_change(full: OperatingPoints, kept: OperatingPoints, recall_floor: float) -> float:
    """Bound how far the score of ``kept``, some of the points of ``full``, lies below theirs.

    The bound holds for every capacity of at least a share ``recall_floor`` of the positives.

    Examples
    --------
    >>> full = OperatingPoints.from_counts([40, 50, 100], [0, 2, 100], 100, 900)
    >>> kept = OperatingPoints.from_counts([40, 100], [0, 100], 100, 900)
    >>> largest_change(full, kept, recall_floor=0.8)  # 10 of 100 less, twice, at a recall of 0.8
    0.25
    """
    return float(np.clip(_changes(useful_points(full), kept, recall_floor).max(), 0.0, 1.0))


def _changes(points: OperatingPoints, kept: OperatingPoints, recall_floor: float) -> FloatArray:
    """Bound what leaving out each point can change, if it is left out."""
    allowed = np.maximum(points.tp, recall_floor * points.n_positive)
    return np.asarray(2 * (points.tp - _covered(points, kept)) / np.maximum(allowed, 1e-300))


def _covered(points: OperatingPoints, kept: OperatingPoints) -> AnyArray:
    """For each point, the most true positives of a kept one that is feasible wherever it is."""
    most = np.zeros_like(points.tp)
    for tp, fp, counted in zip(kept.tp, kept.fp, kept.counted_alarms, strict=True):
        within = (tp <= points.tp) & (fp <= points.fp) & (tp * points.fp >= points.tp * fp)
        within &= counted <= points.counted_alarms
        most[within] = np.maximum(most[within], tp)
    return most


def _thin_by_both(points: OperatingPoints, at_most: int, recall_floor: float) -> OperatingPoints:
    """Thin those points that rise in all alarms too, to half, and add what would change most."""
    counted = points.counted_alarms
    later = np.minimum.accumulate(counted[::-1])[::-1]
    rising = points.take(adds_recall(points.tp) & (counted <= later))
    kept = thin_points(replace(rising, capacity_alarms=None), at_most // 2, recall_floor)
    rows = np.isin(points.thresholds, kept.thresholds)
    change = _changes(points, points.take(rows), recall_floor)
    rows[np.argsort(-change, kind="stable")[: at_most + 1 - rows.sum()]] = True
    return points.take(rows, covers=GIVEN_POINTS)


def _kept_within(points: OperatingPoints, change: float, recall_floor: float) -> BoolArray:
    """Choose few points such that each of the others has a stand-in within ``change``.

    From the most alarms down: of the points that can stand in for the current one, the most
    precise can stand in for all between, so it is kept, and the one before it is the next.
    """
    allowed = np.maximum(points.tp, recall_floor * points.n_positive)
    starts = np.searchsorted(points.tp, points.tp - change / 2 * allowed, side="left")
    # Order by precision, whatever the prevalence; raising no alarm is the most precise.
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.asarray(points.tp / points.fp, dtype=np.float64)
    odds[0] = np.inf
    kept = np.zeros(len(odds), dtype=np.bool_)
    kept[0] = True
    current = len(odds) - 1
    while current > 0:
        start = int(starts[current])
        current = start + int(np.argmax(odds[start : current + 1]))
        kept[current] = True
        current -= 1
    return kept
