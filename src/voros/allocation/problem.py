"""The parts of a joint decision: the shared capacity, a choice of thresholds, and a promise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.allocation.search_space import PeriodLimit
from voros.core.arrays import LARGEST_COUNT
from voros.core.costs import CostDistribution, Uniform
from voros.core.exact_limits import as_fraction
from voros.core.periods import Periods, most_above
from voros.core.scenario import Scenario
from voros.core.volume import ratio_moments
from voros.exceptions import ArgumentError

Overlap: TypeAlias = Literal["each", "once"]
OVERLAPS: tuple[Overlap, ...] = ("each", "once")


@dataclass(frozen=True, kw_only=True)
class JointChoice:
    """Thresholds of all streams, and their alarms and cost on the validation data.

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
    """The guarantee of a joint policy, and the units it was tested on.

    Attributes
    ----------
    confidence : float
        Confidence that every floor and the shared capacity hold in the population.
    n_tested : int
        Number of units that the limits were tested on.
    uncertified : tuple of str
        Streams that raise no alarm because their floor could not be certified.
    units : {"cases", "patients", "periods"}
        The independent units.
    block : int
        Number of neighbouring periods that are one unit.

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
        """The promise in a sentence."""
        units = self.units if self.block == 1 else f"blocks of {self.block} periods"
        return (
            f"all limits hold with confidence {self.confidence:g}, tested on "
            f"{self.n_tested:,} {units}"
        )


def shared_limit(capacity: Any, per: Any = None, exceed: Any = None) -> Scenario:
    """Check a shared capacity and return it as a scenario; its costs are not used.

    An int of 1 means one alarm of all streams together, so it raises no warning here.
    """
    return Scenario(cost_ratio=1.0).changed(capacity=capacity, per=per, exceed=exceed)


def most_alarms(limit: Scenario, n_cases: float, n_periods: int | None = None) -> float:
    """Return how many alarms all streams together may raise; a case may raise several.

    Examples
    --------
    >>> most_alarms(shared_limit(0.15), 20), most_alarms(shared_limit(12, "day"), 1000, 30)
    (3.0, 360.0)
    """
    if limit.capacity_is_count:
        return float(min(limit.capacity, LARGEST_COUNT) * (n_periods or 1))
    return float(as_fraction(limit.capacity) * Fraction(n_cases))


def period_limit(limit: Scenario, periods: Periods) -> PeriodLimit:
    """Return the limit on the alarms of each period."""
    above = most_above(limit, periods.n_periods)
    return PeriodLimit(int(limit.capacity), above, periods.n_periods)


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
