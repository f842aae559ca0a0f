"""Streams with their limits and costs: what is solved, and as the capacity grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from voros.core.costs import CostDistribution, Uniform
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

    @property
    def streams(self) -> list[Stream]:
        """The streams at their mean cost ratios."""
        streams = []
        for decision, weight in zip(self.decisions, self.weights, strict=True):
            points = decision.points
            ratio = as_cost(mean_ratio(decision.scenario.costs, points.negatives_per_positive))
            streams.append(Stream(points, decision.feasible, weight * ratio, weight))
        return streams

    def choose(self) -> SharedChoice:
        """Find the points of least total cost."""
        return self.solver(self.streams, self.max_alarms)


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
    streams = problem.streams
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
