"""Streams with their limits and costs: what is solved for one cost, and for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from voros.core.costs import CostDistribution, Samples, Uniform
from voros.core.decision import Decision
from voros.core.shared_capacity import SharedChoice, Stream, as_cost, share_capacity
from voros.core.volume import ratio_moments
from voros.exceptions import ArgumentError

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
