"""Explain why no threshold passes: which limit fails by how much, and what would pass."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import alpha_shares, most_counted, needed_in_sequence
from voros.guarantee.next_cases.certify import needed_next
from voros.guarantee.tuning import TUNING
from voros.text.numbers import short, threshold_text


def limits_in_words(scenario: Scenario) -> str:
    """Name the limits of a scenario.

    Examples
    --------
    >>> limits_in_words(Scenario(0.3, 20, 0.1, per="day"))
    'precision >= 0.3 and capacity=20 per day, on average'
    """
    precision, recall = scenario.min_precision, scenario.min_recall
    rule = f" {scenario.rule}" if scenario.per else ""
    limits = [
        *([f"precision >= {precision:g}"] if precision > 0 else []),
        *([] if recall is None else [f"recall >= {recall:g}"]),
        *([f"capacity={scenario.capacity!r}{rule}"] if scenario.has_capacity else []),
    ]
    return " and ".join(limits)


def why_floor_fails(
    points: OperatingPoints, scenario: Scenario, alpha: float, horizon: int | None
) -> str:
    """Say what the threshold lacks that came closest to the precision floor within the capacity."""
    n_cases, floor = int(points.n_cases), scenario.min_precision
    cases = n_cases if horizon is None else horizon
    capacity = scenario.max_alarms(cases)
    for_floor, for_capacity = alpha_shares(alpha, floor, capacity, cases)
    most = most_counted(n_cases, capacity, horizon, for_capacity)
    index = np.flatnonzero((points.alarms > 0) & (points.alarms <= most))
    if len(index) == 0 or floor == 0:
        return "The capacity fails: not even one alarm among these cases is sure to keep it."
    tp, alarms = points.tp[index], points.alarms[index]
    if horizon is None:
        needed = needed_in_sequence(floor, for_floor, alarms, most)
    else:
        needed = needed_next(n_cases, horizon, floor, for_floor, most, alarms)
    # In standard deviations; of thresholds that are not tested, one with more alarms is closer.
    lacking = np.where(needed > alarms, TUNING.untested, needed - tp) / np.sqrt(alarms)
    best = int(np.argmin(lacking))
    if tp[best] >= needed[best]:
        failed = "which is enough, but stricter thresholds, which are tested first, fail"
    elif needed[best] > alarms[best]:
        failed = "too few alarms to pass even without a false one"
    else:
        failed = f"where {needed[best]:,} are needed"
    return (
        "The precision floor fails: the closest threshold is "
        f"{threshold_text(float(points.thresholds[index[best]]))}, with {tp[best]:,} true "
        f"positives in {alarms[best]:,} alarms (precision {short(tp[best] / alarms[best])}), "
        f"{failed}."
    )


Candidate = TypeVar("Candidate")


def first_passing(
    candidates: Sequence[Candidate], passes: Callable[[Candidate], bool], n_parts: int = 1
) -> Candidate | None:
    """Return the first candidate that passes, if later ones pass more easily; None if none does.

    Sometimes a later one fails, because the order of the tests depends on the limits. So the last
    candidate of each of several parts is tried until one passes, and then the others of its part.

    Examples
    --------
    >>> (
    ...     first_passing([1, 2, 3, 4], lambda value: value > 2),
    ...     first_passing([1], lambda value: False),
    ... )
    (3, None)
    >>> first_passing([1, 2, 3, 4, 5, 6], lambda value: value in (3, 4), n_parts=3)
    3
    """
    n, size = len(candidates), max(len(candidates) // n_parts, 1)
    enough = next((end for end in range((n - 1) % size, n, size) if passes(candidates[end])), None)
    if enough is None:
        return None
    first = max(enough - size + 1, 0)
    return candidates[bisect_left(candidates, True, first, enough, key=passes)]


def more_positives(
    points: OperatingPoints, passes: Callable[[OperatingPoints], bool], n_parts: int
) -> str:
    """Say about how many more validation positives are needed, or that more will not help."""
    times = np.geomspace(1, TUNING.most_times_the_data, TUNING.times_tried + 1)[1:].tolist()
    enough = first_passing(times, lambda factor: passes(repeated(points, factor)), n_parts)
    if enough is None:
        return "More cases will not help; change the model or the limits."
    more = int(np.ceil((enough - 1) * points.n_positive))
    return (
        f"About {more:,} more validation positives like these (and negatives in proportion) would "
        "be enough."
    )


def relaxed_in_words(relaxed: Mapping[str, float | None]) -> list[str]:
    """Say at which value of each limit a threshold would pass; nothing where none would."""
    ways = [f"a {name} of {value:g}" for name, value in relaxed.items() if value is not None]
    if not ways:
        return []
    return [
        f"These cases would pass at {', or at '.join(ways)}; to use it, state it before you look "
        "at new validation cases."
    ]


def lower_floors(floor: float) -> list[float]:
    """Return floors below this one, in round steps, down to half of it.

    Examples
    --------
    >>> lower_floors(0.5)[:3], lower_floors(0.02)[:2]
    ([0.49, 0.48, 0.47], [0.019, 0.018])
    """
    step = 0.01 if floor >= TUNING.coarse_floor else 0.001
    return [round(floor - step * i, 3) for i in range(1, int(floor / 2 / step) + 1)]


def larger_capacities(share: float) -> list[float]:
    """Return larger shares of alarms, up to twice this one.

    Examples
    --------
    >>> larger_capacities(0.1), larger_capacities(0.9)
    ([0.11, 0.125, 0.15, 0.2], [0.99])
    """
    return [round(share * times, 6) for times in (1.1, 1.25, 1.5, 2.0) if share * times <= 1]


def repeated(points: OperatingPoints, times: float) -> OperatingPoints:
    """Multiply the counts of all cases, rounded down to whole counts.

    Examples
    --------
    >>> points = OperatingPoints.from_counts([3, 4], [1, 5], 5, 10)
    >>> repeated(points, 2.5).tp.tolist()
    [0, 7, 10]
    """
    return replace(
        points,
        tp=np.floor(points.tp * times).astype(np.int64),
        fp=np.floor(points.fp * times).astype(np.int64),
        n_positive=int(points.n_positive * times),
        n_negative=int(points.n_negative * times),
    )
