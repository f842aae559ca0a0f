r"""Choose one operating point for each of several streams within a shared capacity, exactly.

A stream is an outcome or a group of cases, with operating points. Its cost at a point is
``miss * FN + false_alarm * FP``; the costs and the alarms of the streams add up. Minimising the
total cost is a multiple-choice knapsack problem (Kellerer, Pferschy and Pisinger, 2004):

1. Points are dropped if another point of their stream raises no more alarms and saves as much.
2. The savings along a stream are bounded by its upper hull. The steps of all hulls are sorted by
   the savings per alarm. The step at which the capacity ends gives the Lagrange multiplier
   :math:`\lambda`, and with it an upper bound U on the savings of any choice.
3. A choice saves U minus its *deficit*: the sum of the distances of its points below the lines of
   slope :math:`\lambda` that support the hulls, and :math:`\lambda` times the unused alarms. All
   choices with a deficit of at most d are enumerated, with increasing d, until the deficit of the
   best one is at most d: then no other choice can be better. See `voros.core.deficit_search`.

Costs are compared as whole numbers, so equal costs are exactly equal. Of equals the choice with the
fewest alarms is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from voros.core.counting import adds_recall
from voros.core.deficit_search import Options, best_choice
from voros.core.exact_limits import WEIGHT_ROUNDING, as_fraction
from voros.core.hull import upper_vertices
from voros.core.operating_points import OperatingPoints
from voros.text.numbers import percent, rounded_up
from voros.typing import AnyArray, BoolArray, FloatArray

LARGEST_COST, LARGEST_VALUE = 2**60, 2**50
"""Largest total costs in whole units, for counts and for sums of values; these are floats, which
have fewer digits."""

SAME_NUMBER = 1e-12
"""Largest relative distance of a cost from the simple fraction that replaces it."""


@dataclass(frozen=True, eq=False)
class Stream:
    """Operating points of which one is to be chosen, and the costs of their errors.

    Attributes
    ----------
    points : OperatingPoints
    allowed : ndarray of bool
        Which points may be chosen; raising no alarm always is one.
    false_alarm, miss : Fraction
        Cost of a false alarm and of a miss, in a unit that all streams share.

    Examples
    --------
    >>> points = OperatingPoints.from_counts([4, 6, 9], [1, 6, 41], n_positive=10, n_negative=90)
    >>> Stream.within(points, min_precision=0.5, false_alarm=0.2).allowed.tolist()
    [True, True, True, False]
    """

    points: OperatingPoints
    allowed: BoolArray
    false_alarm: Fraction
    miss: Fraction

    @classmethod
    def within(
        cls,
        points: OperatingPoints,
        *,
        false_alarm: float | Fraction,
        miss: float | Fraction = 1,
        min_precision: float = 0.0,
    ) -> Stream:
        """Allow the points that keep a precision floor."""
        allowed = points.precise_enough(min_precision)
        allowed[0] = True
        return cls(points, allowed, as_cost(false_alarm), as_cost(miss))

    def cost(self, row: int) -> Fraction:
        """Return the cost at one of the points."""
        points = self.points.costed
        missed, fp = points.n_positive - points.tp[row].item(), points.fp[row].item()
        return self.miss * Fraction(missed) + self.false_alarm * Fraction(fp)


@dataclass(frozen=True)
class Certificate:
    """Proof that no other choice costs less, except for a gap.

    Attributes
    ----------
    relaxed_cost : float
        Lower bound from the Lagrangian, before the search.
    shadow_price : float
        Misses of weight 1 that one more alarm would avoid.
    n_states : int
        Number of partial choices, or of programs that a search solved.
    resolution : float
        Largest rounding error of the costs; 0 where they are exact.
    gap : float
        Largest distance from the least cost, as a share of the cost: 0 unless a search was ended.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> policy.certificate.relaxed_cost <= policy.default.cost
    True
    """

    relaxed_cost: float
    shadow_price: float
    n_states: int
    resolution: float
    gap: float = 0.0

    @property
    def gap_in_words(self) -> str:
        """The gap in words; empty if there is none."""
        return (
            "" if self.gap == 0 else f"at most {percent(rounded_up(self.gap))} above the least cost"
        )


@dataclass(frozen=True)
class SharedChoice:
    """The choice of least total cost, with its certificate.

    Attributes
    ----------
    rows : tuple of int
        The point of each stream; 0 raises no alarm.
    alarms : tuple of float
        Alarms of each stream.
    cost : Fraction
        Total cost, in the unit of the streams.
    certificate : Certificate
    """

    rows: tuple[int, ...]
    alarms: tuple[float, ...]
    cost: Fraction
    certificate: Certificate

    @classmethod
    def from_rows(
        cls,
        streams: Sequence[Stream],
        rows: tuple[int, ...],
        units: WholeCosts,
        *,
        bound: float,
        price: float,
        n_states: int,
    ) -> SharedChoice:
        """Return the choice of rows from a search, with its bound and price in whole units."""
        chosen = list(zip(streams, rows, strict=True))
        nothing = float(sum(stream.cost(0) for stream in streams))
        relaxed, price = nothing - bound / units.per_cost, price / units.per_cost
        return cls(
            rows,
            tuple(stream.points.alarms[row].item() for stream, row in chosen),
            sum((stream.cost(row) for stream, row in chosen), Fraction(0)),
            Certificate(relaxed, price, n_states, units.resolution),
        )


def share_capacity(streams: Sequence[Stream], max_alarms: float) -> SharedChoice:
    """Choose one point for each stream, with the least total cost within ``max_alarms`` alarms.

    Examples
    --------
    >>> ward = OperatingPoints.from_counts([4, 6], [1, 6], n_positive=10, n_negative=90)
    >>> icu = OperatingPoints.from_counts([5, 9], [5, 9], n_positive=10, n_negative=20)
    >>> streams = [Stream.within(points, false_alarm=0.1) for points in (ward, icu)]
    >>> for most in (16, 23, 30):
    ...     choice = share_capacity(streams, most)
    ...     print(choice.alarms, float(choice.cost), round(choice.certificate.shadow_price, 3))
    (5, 10) 11.6 0.214
    (5, 18) 8.0 0.214
    (12, 18) 6.5 0.0
    """
    units = whole_costs(streams)
    integral = all(stream.points.whole for stream in streams)
    slack = 0.0 if integral else WEIGHT_ROUNDING * max_alarms
    options = [
        options_of(stream, *cost, max_alarms + slack)
        for stream, cost in zip(streams, units.costs, strict=True)
    ]
    price = multiplier(options, max_alarms)
    best = best_choice(options, price, max_alarms + slack)
    rows = tuple(int(o.rows[i]) for o, i in zip(options, best.positions, strict=True))
    return SharedChoice.from_rows(
        streams, rows, units, bound=best.bound, price=price, n_states=best.n_states
    )


def as_cost(cost: float | Fraction) -> Fraction:
    """Return the nearest simple fraction to a cost, or its exact value if none is near.

    Examples
    --------
    >>> as_cost(0.1), float(as_cost(1e-12))
    (Fraction(1, 10), 1e-12)
    """
    if isinstance(cost, Fraction):
        return cost
    simple, exact = as_fraction(float(cost)), Fraction(cost)
    return simple if abs(simple - exact) <= SAME_NUMBER * exact else exact


@dataclass(frozen=True)
class WholeCosts:
    """Costs of a miss and of a false alarm in each stream, as whole numbers of a small unit.

    Attributes
    ----------
    costs : list of pairs of int
    per_cost : float
        Number of units in a cost of 1.
    resolution : float
        Largest error of a total cost.
    """

    costs: list[tuple[int, int]]
    per_cost: float
    resolution: float


def whole_costs(streams: Sequence[Stream]) -> WholeCosts:
    """Find a unit in which all costs are whole numbers; round if it would be too small."""
    # A cost of false alarms above that of all misses has the same effect as this one.
    costed = [stream.points.costed for stream in streams]
    valued = any(stream.points.worth is not None for stream in streams)
    sizes = [tuple(map(Fraction, (c.n_positive, c.n_negative))) for c in costed]
    everything = sum(s.miss * size[0] for s, size in zip(streams, sizes, strict=True))
    pairs = [(stream.miss, min(stream.false_alarm, everything)) for stream in streams]
    common = math.lcm(*(cost.denominator for pair in pairs for cost in pair))
    most = sum(a * p + b * n for (a, b), (p, n) in zip(pairs, sizes, strict=True))
    if most * common <= LARGEST_COST and not valued:
        return WholeCosts([(int(a * common), int(b * common)) for a, b in pairs], common, 0.0)
    largest = LARGEST_VALUE if valued else LARGEST_COST
    unit = Fraction(2) ** math.floor(math.log2(largest) - math.log2(most) - 1)
    cases = sum(float(points.n_cases) for points in costed)
    rounded = [(round(a * unit), round(b * unit)) for a, b in pairs]
    # Sums of values are rounded again in each stream.
    once_more = len(streams) if valued else 0
    return WholeCosts(rounded, float(unit), (cases + once_more) / (2 * float(unit)))


def savings(points: OperatingPoints, miss: int, false_alarm: int) -> AnyArray:
    """Return the savings of each point compared with no alarm, in whole units."""
    points = points.costed
    if points.whole:
        return np.asarray(points.tp * miss - points.fp * false_alarm, dtype=np.int64)
    return np.rint(points.tp * float(miss) - points.fp * float(false_alarm)).astype(np.int64)


def options_of(stream: Stream, miss: int, false_alarm: int, most: float) -> Options:
    """Keep the points that save more than every one with fewer alarms."""
    points = stream.points
    rows = np.flatnonzero(stream.allowed & (points.alarms <= most))
    saved = savings(points.take(rows), miss, false_alarm)
    better = adds_recall(saved)
    rows, saved = rows[better], saved[better]
    alarms = points.alarms[rows]
    last = np.append(alarms[1:] > alarms[:-1], True)
    return Options(alarms[last], saved[last], rows[last])


def merged_steps(options: Sequence[Options]) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Return stream, alarms and savings of all steps along hulls, by falling savings per alarm."""
    hulls = [upper_vertices(option.alarms, option.saved) for option in options]
    pairs = list(zip(options, hulls, strict=True))
    alarms = np.concatenate([np.diff(option.alarms[hull]) for option, hull in pairs])
    saved = np.concatenate([np.diff(option.saved[hull]) for option, hull in pairs])
    owner = np.repeat(np.arange(len(hulls)), [len(hull) - 1 for hull in hulls])
    order = np.argsort(-saved / alarms, kind="stable")
    return owner[order], alarms[order].astype(np.float64), saved[order].astype(np.float64)


def multiplier(options: Sequence[Options], max_alarms: float) -> float:
    """Return the savings per alarm on the step where the capacity ends; 0 where it does not."""
    _, alarms, saved = merged_steps(options)
    beyond = np.flatnonzero(np.cumsum(alarms) > max_alarms)
    return float(saved[beyond[0]] / alarms[beyond[0]]) if len(beyond) else 0.0
