r"""Which ranges of scores can hold a chosen threshold, where only the ends of ranges are counted.

The lower ends of the ranges are true operating points. A threshold inside range j raises between
TP_{j-1} and TP_j true and between FP_{j-1} and FP_j false positives. One of these pairs within the
limits is the best at every cost,

.. math:: (\min(TP_j,\; \kappa - FP_{j-1}),\; FP_{j-1}),

where all positives of the range come before its first negative, up to the capacity: no pair in the
range has more true positives within the capacity, fewer false positives or a higher precision. If
this best case breaks the floor of precision or recall, or the range starts beyond the capacity, the
range holds no feasible threshold.

A range is a candidate only if its best case beats the best known threshold at some cost in the
scenario's range. Without candidates, the known thresholds give the exact score.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from voros.core.decision import Decision, solve
from voros.core.exact_limits import WEIGHT_ROUNDING
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.typing import AnyArray, BoolArray

GAIN_ROUNDING = 1e-12
"""Relative slack in favour of a range's best case when it is compared with the hull."""


@dataclass(frozen=True, eq=False)
class CandidateBins:
    """What the ends of ranges imply about the thresholds inside.

    Attributes
    ----------
    decision : Decision
        The decision for no alarm and the lower end of every range.
    best : OperatingPoints
        The best case inside each range.
    improving : ndarray of bool, shape (n_ranges,)
        Ranges that may hold a better threshold than the known ones.
    informative : ndarray of bool, shape (n_ranges,)
        Ranges that may hold the first feasible threshold or the most precise one.
    """

    decision: Decision
    best: OperatingPoints
    improving: BoolArray
    informative: BoolArray


def find_candidate_bins(
    points: OperatingPoints, single: BoolArray, scenario: Scenario
) -> CandidateBins:
    """Find the ranges of scores that can matter.

    Parameters
    ----------
    points : OperatingPoints
        No alarm, and the lower end of every range.
    single : ndarray of bool
        Ranges with one distinct score, whose counts are exact.
    scenario : Scenario
    """
    decision = solve(points, scenario)
    ends = decision.points
    capable = decision.capable
    best, reached = _best_cases(ends, decision.max_alarms)
    recalled = best.recalls_enough(scenario.recall_floor)
    admitted = reached & recalled & best.precise_enough(scenario.floor)
    # Without a negative in a range its end is the best case, if it is within the capacity.
    inside = ~single & ~((np.diff(points.fp) == 0) & capable[1:])
    improving = inside & admitted & (decision.scores_nothing | _beats(best, decision))
    # Messages name the first feasible threshold, useful or not, and the most precise one.
    first = not decision.can_alarm and ((best.tp > 0) | (scenario.min_precision == 0))
    known = ends.precision[1:][capable[1:]].max(initial=0.0)
    as_precise = best.precision >= known * (1 - GAIN_ROUNDING)
    informative = inside & ((admitted & first) | (reached & as_precise & (best.tp > ends.tp[:-1])))
    return CandidateBins(decision, best, improving, informative)


def ranges_to_search(
    tp: AnyArray,
    fp: AnyArray,
    single: BoolArray,
    totals: tuple[float, float] | tuple[float, float, float],
    scenarios: Iterable[Scenario],
) -> BoolArray:
    """Mark the ranges, from the highest scores down, that can hold a chosen threshold.

    Parameters
    ----------
    tp, fp : ndarray of shape (n_ranges,)
        Counts at the lower end of each range.
    single : ndarray of bool
        Ranges with one distinct score.
    totals : tuple
        Positives, negatives and, with weights, the smallest weight.
    scenarios : iterable of Scenario
    """
    ends = OperatingPoints.with_never_alarm(np.full(len(tp), np.nan), tp, fp, *totals)
    with_positives = np.append(False, np.diff(ends.tp) > 0)
    wanted = np.zeros(len(ends), dtype=np.bool_)
    for scenario in scenarios:
        candidates = find_candidate_bins(ends, single, scenario)
        decision = candidates.decision
        wanted[1:] |= candidates.improving | candidates.informative
        wanted[decision.chosen_rows] = True
        wanted[decision.points.most_precise_row(decision.capable)] = True
        # That something is feasible must show, even where it is never chosen.
        wanted[np.flatnonzero(decision.feasible & with_positives)[:1]] = True
    return wanted[1:]


def skipped_counts(counts: AnyArray, chosen: BoolArray) -> AnyArray:
    """Count the cases above the lower end of each range, lowest first, in ranges not chosen."""
    return np.cumsum(np.where(chosen, 0, counts)[::-1])[::-1]


def _best_cases(ends: OperatingPoints, max_alarms: float) -> tuple[OperatingPoints, BoolArray]:
    """Return the best counts inside each range, and whether it starts within the capacity."""
    capacity = int(max_alarms) if ends.whole else max_alarms * (1.0 + WEIGHT_ROUNDING)
    tp, fp = np.minimum(ends.tp[1:], capacity - ends.fp[:-1]), ends.fp[:-1]
    sizes = ends.n_positive, ends.n_negative
    counts = np.maximum(tp, 0), fp
    best = OperatingPoints(ends.thresholds[1:], *counts, *sizes, one_case=ends.one_case)
    return best, np.asarray(ends.alarms[:-1] <= capacity)


def _beats(best: OperatingPoints, decision: Decision) -> BoolArray:
    """Whether each best case is cheaper than every known threshold at some cost in the range.

    The difference is concave in the cost ratio, and greatest where the best known threshold has
    the same number of false positives.
    """
    ends, hull = decision.points, decision.hull
    low, high = decision.scenario.costs.ratio_range(ends.negatives_per_positive)
    tp, fp = ends.tp[hull.index], ends.fp[hull.index]
    beside = np.searchsorted(fp, best.fp, side="right") - 1
    ratio = np.clip(hull.leave[beside], low, high)
    known = hull.best(ratio)
    gain = (best.tp - ratio * best.fp) - (tp[known] - ratio * fp[known])
    added = best.tp > ends.tp[:-1]
    # With a recall floor, all known thresholds may have more false positives.
    cheaper = (beside < 0) | (gain > -GAIN_ROUNDING * (best.tp + ratio * best.fp))
    return np.asarray(added & cheaper)
