r"""What binned counts prove about a score: it lies between two numbers.

**Below.** The lower ends of the bins are true operating points. The score of them alone is at most
the true one, which is a mean of maxima over all operating points.

**Above.** A threshold inside bin j raises between TP_{j-1} and TP_j right and between FP_{j-1} and
FP_j false alarms. Of all such pairs within the limits one is best at every cost at once,

.. math:: (\min(TP_j,\; \kappa - FP_{j-1}),\; FP_{j-1}),

every positive of the bin before its first negative, as far as the capacity reaches: no pair in
the bin has more right alarms within the capacity, none has fewer false ones, and none is more
precise. So it is admitted where it keeps the precision floor and the bin starts within the
capacity; elsewhere the bin holds no feasible threshold. The score with these points added is at
least the true one.

**Undecided.** A bin can still move the score only if its best case beats, at some cost in the
scenario's range, the best threshold already known there. When no bin can, the score of the known
points is the exact one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.engines.bins import Bins
from voros.hull import CostHull, cost_hull
from voros.inputs import BoolArray, FloatArray
from voros.region import feasible_region
from voros.roc import WEIGHT_ROUNDING, OperatingPoints
from voros.scenario import Scenario
from voros.volume import partial_volume

GAIN_ROUNDING = 1e-12
"""Relative slack when a bin's best case is compared with the hull: in doubt, look inside."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """A certified interval for the partial VOROS of binned cases.

    Attributes
    ----------
    lower, upper : float
        The score lies between them, both included.
    undecided : ndarray of bool, shape (n_bins,)
        Bins whose inner order could still move the score, its feasibility or the highest
        precision within the capacity.
    """

    lower: float
    upper: float
    undecided: BoolArray

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper bound."""
        return self.lower, self.upper


def score_bounds(bins: Bins, points: OperatingPoints, scenario: Scenario) -> Bounds:
    """Bound the score of binned cases, and tell which bins keep the bounds apart.

    Parameters
    ----------
    bins : Bins
    points : OperatingPoints
        At the lower ends of those bins.
    scenario : Scenario
    """
    ends = points.at_prevalence(scenario.prevalence)
    max_alarms = ends.max_alarms(scenario)
    region = feasible_region(ends.n_positive, ends.n_negative, scenario.min_precision, max_alarms)
    feasible = ends.feasible(scenario)
    hull = cost_hull(ends, feasible)
    lower = partial_volume(ends, hull, region, scenario.costs)
    best, reached = _best_cases(ends, max_alarms)
    admitted = reached & best.precise_enough(scenario.min_precision)
    inside = _open_inside(bins, ends, max_alarms)
    moving = inside & admitted & _beats(best, ends, hull, scenario)
    telling = inside & (
        (admitted & _first_feasible(best, feasible, scenario))
        | (reached & _as_precise(best, ends, max_alarms))
    )
    upper = lower
    if moving.any():
        favourable = _together(ends, feasible, best, moving)
        outer = cost_hull(favourable, np.ones(len(favourable), dtype=np.bool_))
        upper = partial_volume(favourable, outer, region, scenario.costs)
    return Bounds(lower, max(lower, upper), moving | telling)


def _best_cases(ends: OperatingPoints, max_alarms: float) -> tuple[OperatingPoints, BoolArray]:
    """Best pair of counts that a threshold inside each bin can reach, and whether any can."""
    whole = ends.tp.dtype.kind in "iu"
    capacity = int(max_alarms) if whole else max_alarms * (1.0 + WEIGHT_ROUNDING)
    tp, fp = np.minimum(ends.tp[1:], capacity - ends.fp[:-1]), ends.fp[:-1]
    reached = ends.alarms[:-1] <= capacity
    best = OperatingPoints(
        ends.thresholds[1:], np.maximum(tp, 0), fp, ends.n_positive, ends.n_negative, ends.one_case
    )
    return best, np.asarray(reached)


def _open_inside(bins: Bins, ends: OperatingPoints, max_alarms: float) -> BoolArray:
    """Whether a bin's inner order is unknown and not settled by its end.

    With no negative in a bin its end is the best case, unless the capacity cuts it short.
    """
    settled = (bins.negative == 0) & ends.within_capacity(max_alarms)[1:]
    return np.asarray(~bins.single & ~settled)


def _beats(
    best: OperatingPoints, ends: OperatingPoints, hull: CostHull, scenario: Scenario
) -> BoolArray:
    """Whether each best case is cheaper than every known threshold at some cost in the range.

    How much cheaper is concave in the cost ratio, and greatest where the best known threshold
    passes the same number of false alarms.
    """
    low, high = scenario.costs.ratio_range(ends.negatives_per_positive)
    tp, fp = ends.tp[hull.index], ends.fp[hull.index]
    beside = np.searchsorted(fp, best.fp, side="right") - 1
    ratio = np.clip(hull.leave[beside], low, high)
    known = hull.best(ratio)
    gain = _worth(best.tp, best.fp, ratio) - _worth(tp[known], fp[known], ratio)
    added = best.tp > ends.tp[:-1]
    return np.asarray(added & (gain > -GAIN_ROUNDING * (best.tp + ratio * best.fp)))


def _worth(tp: FloatArray, fp: FloatArray, ratio: FloatArray) -> FloatArray:
    return np.asarray(tp - ratio * fp)


def _first_feasible(best: OperatingPoints, feasible: BoolArray, scenario: Scenario) -> BoolArray:
    """Whether a bin may hold the first feasible threshold, useful or not."""
    if feasible[1:].any():
        return np.zeros(len(best), dtype=np.bool_)
    return np.asarray((best.tp > 0) | (scenario.min_precision == 0))


def _as_precise(best: OperatingPoints, ends: OperatingPoints, max_alarms: float) -> BoolArray:
    """Whether a bin may hold the most precise threshold within the capacity."""
    known = ends.precision[1:][ends.within_capacity(max_alarms)[1:]]
    added = best.tp > ends.tp[:-1]
    return np.asarray(added & (best.precision >= known.max(initial=0.0) * (1 - GAIN_ROUNDING)))


def _together(
    ends: OperatingPoints, feasible: BoolArray, best: OperatingPoints, moving: BoolArray
) -> OperatingPoints:
    """Known feasible points and the best cases that beat them as one curve, by rising alarms."""
    tp = np.append(ends.tp[feasible], best.tp[moving])
    fp = np.append(ends.fp[feasible], best.fp[moving])
    order = np.lexsort((tp, tp + fp))
    return OperatingPoints(
        np.full(len(order), np.nan), tp[order], fp[order], ends.n_positive, ends.n_negative
    )
