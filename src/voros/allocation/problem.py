"""Streams with their limits and costs: what is solved for one cost, for all, and as capacity grows.

The cost ratios of the streams move together, from the lowest of each (quantile 0) to the highest
(quantile 1). Where they are known or uniform they are linear in the quantile q, and so is the cost
of every choice. The least cost is the lower envelope of these lines. It is found exactly by solving
at both ends and then wherever two lines of the envelope cross, until nothing better turns up there
(Eisner and Severance, 1976): two solutions for each piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from voros.core.costs import CostDistribution, Samples, Uniform
from voros.core.decision import Decision
from voros.core.shared_capacity import (
    SharedChoice,
    Stream,
    as_cost,
    merged_steps,
    options_of,
    share_capacity,
    whole_costs,
)
from voros.core.volume import ratio_moments
from voros.exceptions import ArgumentError
from voros.io.frames import make_frame
from voros.typing import AnyArray, FloatArray

Solver = Callable[[list[Stream], float], SharedChoice]


@dataclass(frozen=True, eq=False)
class JointProblem:
    """Several streams and one capacity.

    Attributes
    ----------
    names : tuple of str
    decisions : tuple of Decision
        What each stream's own limits leave.
    weights : tuple of Fraction
        What a miss costs in each stream.
    max_alarms : float
        Of all streams together.
    solver : callable
        Finds the choice of least cost.
    """

    names: tuple[str, ...]
    decisions: tuple[Decision, ...]
    weights: tuple[Fraction, ...]
    max_alarms: float
    solver: Solver = share_capacity

    def streams(self, ratios: Sequence[float | Fraction]) -> list[Stream]:
        """Return the streams at known cost ratios."""
        return [
            Stream(decision.points, decision.feasible, weight * as_cost(ratio), weight)
            for decision, weight, ratio in zip(self.decisions, self.weights, ratios, strict=True)
        ]

    def choose(self, ratios: Sequence[float | Fraction]) -> SharedChoice:
        """Find the points of least total cost at known cost ratios."""
        return self.solver(self.streams(ratios), self.max_alarms)

    @property
    def mean_ratios(self) -> tuple[float, ...]:
        """The mean cost ratio of each stream."""
        return tuple(
            mean_ratio(d.scenario.costs, d.points.negatives_per_positive) for d in self.decisions
        )


def mean_ratio(costs: CostDistribution, negatives_per_positive: float) -> float:
    """Return the mean of C_FP / C_FN, or refuse costs that have none.

    Examples
    --------
    >>> from voros.core.costs import uniform
    >>> mean_ratio(uniform(0.1, 0.3), 9.0)
    0.2
    """
    if isinstance(costs, Uniform) and costs.over == "ratio":
        return (costs.low + costs.high) / 2
    (mean,) = ratio_moments(costs, np.array([]), negatives_per_positive)
    if not np.isfinite(mean):
        raise ArgumentError(
            "cost_ratio",
            f"={costs!r} has no finite mean; accepted are costs with one, such as a uniform range",
        )
    return float(mean)


def ratio_ends(costs: CostDistribution, name: str) -> tuple[Fraction, Fraction]:
    """Return the cost ratio at the quantiles 0 and 1 of costs that are linear between them."""
    known = isinstance(costs, Samples) and len(costs.values) == 1 and costs.over != "t"
    if not known and not (isinstance(costs, Uniform) and costs.over == "ratio"):
        raise ArgumentError(
            "cost_ratio",
            f"={costs!r} of stream {name!r}: policies by cost need a known ratio or a uniform "
            "range of ratios in every stream; without by_cost any distribution with a mean will do",
        )
    low, high = costs.ratio_range(1.0)
    return as_cost(low), as_cost(high)


@dataclass(frozen=True)
class CostLine:
    """The cost of one choice of points as a line in the quantile."""

    rows: tuple[int, ...]
    at_zero: Fraction
    slope: Fraction

    def at(self, quantile: Fraction) -> Fraction:
        """Return the cost at a quantile."""
        return self.at_zero + self.slope * quantile


@dataclass(frozen=True)
class Piece:
    """Quantiles between which one choice is best."""

    low: Fraction
    high: Fraction
    line: CostLine

    @property
    def mean_cost(self) -> Fraction:
        """The mean cost over the piece."""
        return self.line.at((self.low + self.high) / 2)


def cost_pieces(problem: JointProblem) -> tuple[Piece, ...]:
    """Return the best choice on each piece of the quantiles, from 0 to 1."""
    costs = [decision.scenario.costs for decision in problem.decisions]
    ends = [
        ratio_ends(distribution, name)
        for distribution, name in zip(costs, problem.names, strict=True)
    ]
    first, last = (_solved(problem, ends, Fraction(end)) for end in (0, 1))
    lines = [first, *_between(problem, ends, first, last)]
    if last.slope < lines[-1].slope:
        lines.append(last)
    breaks = [_crossing(before, after) for before, after in pairwise(lines)]
    bounds = [Fraction(0), *breaks, Fraction(1)]
    pieces = map(Piece, bounds[:-1], bounds[1:], lines)
    return tuple(piece for piece in pieces if piece.low < piece.high)


def _solved(
    problem: JointProblem, ends: list[tuple[Fraction, Fraction]], quantile: Fraction
) -> CostLine:
    rows = problem.choose([low + quantile * (high - low) for low, high in ends]).rows
    low, high = (
        sum(
            (s.cost(row) for s, row in zip(problem.streams(ratios), rows, strict=True)),
            Fraction(0),
        )
        for ratios in zip(*ends, strict=True)
    )
    return CostLine(rows, low, high - low)


def _crossing(before: CostLine, after: CostLine) -> Fraction:
    return (after.at_zero - before.at_zero) / (before.slope - after.slope)


def _between(
    problem: JointProblem,
    ends: list[tuple[Fraction, Fraction]],
    first: CostLine,
    last: CostLine,
) -> list[CostLine]:
    """Return the lines of the envelope between two of its lines, by falling slope."""
    if first.slope <= last.slope:
        return []
    quantile = _crossing(first, last)
    if not 0 < quantile < 1:
        return []
    middle = _solved(problem, ends, quantile)
    if middle.at(quantile) >= first.at(quantile):
        return []
    return [
        *_between(problem, ends, first, middle),
        middle,
        *_between(problem, ends, middle, last),
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class CapacityGrowth:
    """Choices of least cost as the shared capacity grows.

    At each of these capacities, which are the ends of steps along the hulls of the streams, the
    choice is the best of all (the relaxation is whole there). Between two of them the best choice
    lies between the two, and saves at most what the straight line does.

    Attributes
    ----------
    names : tuple of str
    capacity : ndarray of shape (n_steps + 1,)
        Alarms of all streams together, from 0.
    alarms : ndarray of shape (n_steps + 1, n_streams)
    cost : ndarray of shape (n_steps + 1,)
        Total expected cost.
    shadow_price : ndarray of shape (n_steps + 1,)
        What one more alarm saves, in misses of weight 1; 0 at the end.
    stream : ndarray of str, shape (n_steps + 1,)
        Who gets the next alarms; empty at the end.

    Examples
    --------
    >>> import voros
    >>> y = {"sepsis": [1, 0, 1, 0, 0, 0, 1, 0], "kidney": [0, 0, 1, 1, 0, 0, 0, 0]}
    >>> s = {"sepsis": [9, 8, 7, 6, 5, 4, 3, 2], "kidney": [1, 2, 8, 7, 6, 5, 4, 3]}
    >>> growth = voros.allocation.capacity_growth(y, s, voros.Scenario(0.5, cost_ratio=0.2))
    >>> growth.capacity.tolist(), growth.stream.tolist()
    ([0.0, 1.0, 3.0, 5.0], ['sepsis', 'kidney', 'sepsis', ''])
    """

    names: tuple[str, ...]
    capacity: FloatArray
    alarms: FloatArray
    cost: FloatArray
    shadow_price: FloatArray
    stream: AnyArray

    def frame(self, backend: str | None = None) -> Any:
        """Return one row for each capacity: cost, shadow price, who is next, and all alarms."""
        columns = {
            "capacity": self.capacity,
            "cost": self.cost,
            "shadow_price": self.shadow_price,
            "next_stream": self.stream,
        }
        columns |= {f"alarms_{name}": self.alarms[:, i] for i, name in enumerate(self.names)}
        return make_frame(columns, backend)


def grow(problem: JointProblem) -> CapacityGrowth:
    """Merge the steps of all hulls, the most worth for an alarm first."""
    streams = problem.streams(problem.mean_ratios)
    units = whole_costs(streams)
    pairs = zip(streams, units.costs, strict=True)
    options = [options_of(stream, *cost, np.inf) for stream, cost in pairs]
    owner, width, saved = merged_steps(options)
    saved = saved / units.per_cost
    added = np.zeros((len(owner) + 1, len(streams)))
    added[np.arange(1, len(owner) + 1), owner] = width
    nothing = float(sum(stream.cost(0) for stream in streams))
    return CapacityGrowth(
        names=problem.names,
        capacity=np.append(0.0, np.cumsum(width)),
        alarms=np.cumsum(added, axis=0),
        cost=nothing - np.append(0.0, np.cumsum(saved)),
        shadow_price=np.append(saved / width, 0.0),
        stream=np.append(np.array(problem.names, dtype=object)[owner], ""),
    )
