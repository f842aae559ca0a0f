"""What is decided jointly: streams, the capacity they share, thresholds within it, the promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.allocation.search_space import PeriodLimit
from voros.core.arrays import LARGEST_COUNT
from voros.core.costs import CostDistribution, Uniform
from voros.core.exact_limits import as_fraction
from voros.core.periods import Periods, most_above
from voros.core.scenario import Scenario
from voros.core.shared_capacity import SharedChoice, Stream
from voros.core.volume import ratio_moments
from voros.exceptions import ArgumentError

Overlap: TypeAlias = Literal["each", "once"]
OVERLAPS: tuple[Overlap, ...] = ("each", "once")

Solver = Callable[[list[Stream], float], SharedChoice]
"""Finds the choice of least cost within a number of alarms."""


@dataclass(frozen=True, kw_only=True)
class JointChoice:
    """Thresholds of all streams, and what they did on the validation data.

    Attributes
    ----------
    thresholds : tuple of float
        +inf raises no alarm.
    tp, fp : tuple of float
    cost : float
        At the mean cost ratios, in misses of weight 1.
    n_above : int or None
        Periods with more alarms than the capacity, where it is one for each period.
    n_flagged_cases : int or None
        Cases with an alarm of any stream, where a case counts once.
    value_caught, false_alarm_cost : tuple of float, or None
        Sums over the true and the false positives, where cases have values.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> choice = policy.default
    >>> choice.thresholds, choice.tp, choice.fp, choice.alarms, choice.cost
    ((6.0, 4.0), (1, 1), (0, 0), (1, 1), 1.0)
    """

    thresholds: tuple[float, ...]
    tp: tuple[float, ...]
    fp: tuple[float, ...]
    cost: float
    n_above: int | None = None
    n_flagged_cases: int | None = None
    value_caught: tuple[float, ...] | None = None
    false_alarm_cost: tuple[float, ...] | None = None

    @property
    def alarms(self) -> tuple[float, ...]:
        """True and false positives of each stream."""
        return tuple(tp + fp for tp, fp in zip(self.tp, self.fp, strict=True))


@dataclass(frozen=True, kw_only=True)
class JointPromise:
    """What is promised of a joint policy, and what it rests on.

    Attributes
    ----------
    confidence : float
        That every floor and the shared capacity hold in the population.
    n_tested : int
        Units that the limits were tested on.
    uncertified : tuple of str
        Streams that never alarm because their floor could not be certified.
    units : {"cases", "patients", "periods"}
        What is taken as independent.
    block : int
        How many neighbouring periods are one unit.

    Examples
    --------
    >>> import voros
    >>> y, s = {"a": [1] * 60 + [0] * 140}, {"a": list(range(200, 0, -1))}
    >>> limits, promise = voros.Scenario(0.5, cost_ratio=0.2), voros.Guarantee(0.9)
    >>> policy = voros.allocate(y, s, limits, capacity=0.5, guarantee=promise)
    >>> print(policy.promise.in_words)
    all limits hold with confidence 0.9, tested on 133 cases
    """

    confidence: float
    n_tested: int
    uncertified: tuple[str, ...]
    units: str = "cases"
    block: int = 1

    @property
    def in_words(self) -> str:
        """What is promised, in a sentence."""
        units = self.units if self.block == 1 else f"blocks of {self.block} periods"
        return (
            f"all limits hold with confidence {self.confidence:g}, tested on "
            f"{self.n_tested:,} {units}"
        )


@dataclass(frozen=True)
class SharedLimit:
    """How many alarms all streams together may raise.

    Attributes
    ----------
    capacity : float or int
        A share of the cases, or a number of alarms; with `per` in each period.
    per : str or None
        The name of a period.
    exceed : float or None
        With `per`: the share of the periods that may have more alarms; None where only their mean
        counts.
    n_periods : int or None
        With `per`: how many periods the cases span.

    Examples
    --------
    >>> SharedLimit(0.15).max_alarms(20), SharedLimit(12, "day", n_periods=30).max_alarms(1000)
    (3.0, 360.0)
    """

    capacity: float
    per: str | None = None
    exceed: float | None = None
    n_periods: int | None = None

    @classmethod
    def from_arguments(cls, capacity: Any, per: Any = None, exceed: Any = None) -> SharedLimit:
        """Check what a user stated."""
        limit = cls(capacity, per, exceed)
        if limit.scenario is not None:
            return replace(limit, capacity=int(capacity))
        limit.max_alarms(1)  # raises, and says what is accepted
        return limit

    @property
    def scenario(self) -> Scenario | None:
        """The capacity of each period as a scenario's, which has the same meanings."""
        if self.per is None and self.exceed is None:
            return None
        return Scenario(capacity=self.capacity, cost_ratio=1.0, per=self.per, exceed=self.exceed)

    @property
    def rule(self) -> str:
        """What a capacity per period means, in words; empty where there is none."""
        return "" if self.scenario is None else self.scenario.rule

    def over(self, periods: Periods | None) -> SharedLimit:
        """Return the limit for cases that span these periods."""
        return replace(self, n_periods=None if periods is None else periods.n_periods)

    def in_periods(self, periods: Periods) -> PeriodLimit:
        """Return the limit on the alarms of each period."""
        assert self.scenario is not None, "a capacity of each period has a name"
        above = most_above(self.scenario, periods.n_periods)
        return PeriodLimit(int(self.capacity), above, periods.n_periods)

    def max_alarms(self, n_cases: float) -> float:
        """Return the most alarms in all."""
        if isinstance(self.capacity, Real) and not isinstance(self.capacity, bool):
            if isinstance(self.capacity, Integral) and 0 < int(self.capacity) <= LARGEST_COUNT:
                return float(int(self.capacity) * (self.n_periods or 1))
            if not isinstance(self.capacity, Integral) and 0 < float(self.capacity) <= 1:
                return float(as_fraction(float(self.capacity)) * Fraction(n_cases))
        raise ArgumentError(
            "capacity",
            f"={self.capacity!r}; accepted is a float within (0, 1], a share of the cases, or an "
            f"int from 1 to {LARGEST_COUNT}, a number of alarms",
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
