"""Thresholds of several streams, why they are the best, and what is promised of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Overlap: TypeAlias = Literal["each", "once"]
OVERLAPS: tuple[Overlap, ...] = ("each", "once")


@dataclass(frozen=True)
class JointChoice:
    """Thresholds of all streams, and what they did on the validation data.

    Attributes
    ----------
    quantile_low, quantile_high : float
        Quantiles of the cost ratios between which the choice is best.
    thresholds : tuple of float
        +inf is never alarm.
    tp, fp : tuple of float
    cost : float
        Mean cost between those quantiles, in misses of weight 1.
    n_above : int or None
        Periods with more alarms than the capacity, where it is one for each period.
    n_visits : int or None
        Cases with an alarm of any stream, where a case counts once.

    Examples
    --------
    >>> import voros
    >>> y, s, ward = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1], ["a", "a", "b", "b", "b", "a"]
    >>> policy = voros.allocate(y, s, voros.Scenario(cost_ratio=0.2), capacity=0.5, by=ward)
    >>> choice = policy.choice()
    >>> choice.thresholds, choice.tp, choice.fp, choice.alarms, choice.cost
    ((6.0, 4.0), (1, 1), (0, 0), (1, 1), 1.0)
    """

    quantile_low: float
    quantile_high: float
    thresholds: tuple[float, ...]
    tp: tuple[float, ...]
    fp: tuple[float, ...]
    cost: float
    n_above: int | None = None
    n_visits: int | None = None

    @property
    def alarms(self) -> tuple[float, ...]:
        """True and false positives of each stream."""
        return tuple(right + false for right, false in zip(self.tp, self.fp, strict=True))


@dataclass(frozen=True, kw_only=True)
class JointPromise:
    """What is promised of a joint policy, and what it rests on.

    Attributes
    ----------
    confidence : float
        That every floor and the shared capacity hold in the population, or in the next cases.
    n_tested : int
        Units that the limits were tested on.
    uncertified : tuple of str
        Streams that never alarm because their floor could not be certified.
    units : {"cases", "patients", "periods"}
        What is taken as independent.
    horizon : int or None
        The number of next cases that are promised; None for the population.
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
    horizon: int | None = None
    block: int = 1

    @property
    def in_words(self) -> str:
        """What is promised, in a sentence."""
        where = f" in the next {self.horizon:,} cases" if self.horizon else ""
        units = self.units if self.block == 1 else f"blocks of {self.block} periods"
        return (
            f"all limits hold{where} with confidence {self.confidence:g}, tested on "
            f"{self.n_tested:,} {units}"
        )
