r"""The cost of alarms and misses in money, from the price of a false alarm.

Where a false alarm costs M and the cost ratio is c, a miss costs M / c. Over uncertain costs, with
FP(c) and FN(c) the false positives and misses of the threshold deployed at c among n cases,

.. math:: \frac{1000\,M}{n}\;\mathbb E\!\left[FP(c) + FN(c)/c\right].

The mean of 1/c does not always exist: with t uniform from 0, a miss may be worth any number of
false alarms, and there is no mean cost in money.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voros.core.arguments import OPEN_INTERVAL, check_number
from voros.core.costs import TAIL_HALVINGS, CostDistribution, Density
from voros.core.exact_intervals import PER_CASES, Interval, ThresholdCounts
from voros.core.volume import cost_moments, ratio_moments
from voros.exceptions import ArgumentError
from voros.text.numbers import short
from voros.typing import FloatArray

if TYPE_CHECKING:
    from voros.core.hull import Choice

__all__ = ["MoneyCost"]

BEYOND_TAIL = 1e-3
"""Largest share of a mean that may come from costs that are too rare for the quadrature."""


@dataclass(frozen=True)
class MoneyCost:
    """Expected cost in units of money.

    Attributes
    ----------
    false_alarm : float
        Cost of a false alarm.
    miss : float
        Mean cost of a miss over the cost distribution.
    per_1000 : float
        Cost of 1,000 cases with the deployed thresholds.
    never_alarm : float
        Cost of 1,000 cases without alarms.
    interval : tuple of two floats, or None
        Interval of `per_1000`, where cases have no weights.

    Examples
    --------
    >>> MoneyCost(35.0, 700.0, 5250.0, 14000.0)
    cost of 1,000 cases 5,250, against 14,000 without alarms (a false alarm costs 35, a miss 700)
    """

    false_alarm: float
    miss: float
    per_1000: float
    never_alarm: float
    interval: Interval | None = None

    @property
    def saved(self) -> float:
        """Savings of the alarms on 1,000 cases; below 0 where they cost more than they save."""
        return self.never_alarm - self.per_1000

    def __repr__(self) -> str:
        """Show costs and prices in one line."""
        ends = "" if self.interval is None else " ({} to {})".format(*map(short, self.interval))
        return (
            f"cost of {PER_CASES:,} cases {short(self.per_1000)}{ends}, against "
            f"{short(self.never_alarm)} without alarms (a false alarm costs "
            f"{short(self.false_alarm)}, a miss {short(self.miss)})"
        )


def money_cost(
    choices: Sequence[Choice],
    costs: CostDistribution,
    n_positive: float,
    n_negative: float,
    false_alarm_cost: float | None,
    counts: ThresholdCounts | None = None,
    confidence_level: float = 0.95,
) -> MoneyCost:
    """Return the cost of thresholds, each deployed on an interval of the cost ratio.

    The interval needs ``counts`` as observed, of cases without weights.
    """
    price = check_price(false_alarm_cost)
    probability, worth = _moments(choices, costs, n_positive, n_negative)
    fp, tp = (np.array([getattr(c, name) for c in choices], float) for name in ("fp", "tp"))
    scale, interval = PER_CASES * price / (n_positive + n_negative), None
    if counts is not None and counts.whole:
        interval = counts.cost_interval(price * probability, price * worth, confidence_level)
    return MoneyCost(
        price,
        price * float(worth.sum()),
        scale * float(probability @ fp + worth @ (n_positive - tp)),
        scale * float(worth.sum()) * n_positive,
        interval,
    )


def money_of_values(
    per_1000: float,
    miss_value: float,
    false_alarm_cost: float,
    n_positive: float,
    n_negative: float,
    mean_ratio: float,
) -> MoneyCost:
    """Return a cost that adds up values, which are sums over classes of these sizes.

    Examples
    --------
    >>> money_of_values(900.0, 400.0, 300.0, n_positive=4, n_negative=96, mean_ratio=2.0)
    cost of 1,000 cases 900, against 4,000 without alarms (a false alarm costs 6.25, a miss 100)
    """
    return MoneyCost(
        mean_ratio * false_alarm_cost / n_negative if n_negative else 0.0,
        miss_value / n_positive if n_positive else 0.0,
        per_1000,
        PER_CASES * miss_value / (n_positive + n_negative),
    )


def refuse_price(false_alarm_cost: object) -> None:
    """Raise where a price of false alarms is given for cases with values."""
    if false_alarm_cost is not None:
        raise ArgumentError(
            "false_alarm_cost",
            f"={false_alarm_cost!r}: these cases have values, which determine the cost of errors; "
            "leave it out",
        )


def _moments(
    choices: Sequence[Choice], costs: CostDistribution, n_positive: float, n_negative: float
) -> tuple[FloatArray, FloatArray]:
    """Integrate 1 and C_FN / C_FP over the costs at which each threshold is deployed."""
    odds = n_negative / n_positive if n_positive and n_negative else 1.0
    starts = np.array([choice.cost_ratio_low for choice in choices[1:]])
    worth = ratio_moments(costs, starts, odds, power=-1)
    if not _has_mean(costs, odds, float(worth.sum())):
        raise ArgumentError(
            "false_alarm_cost",
            f" with cost_ratio={costs!r}: the mean of C_FN / C_FP is infinite, or depends on "
            "costs that almost never occur, so a miss has no mean price; accepted are costs with "
            "C_FP / C_FN bounded away from 0, such as a range",
        )
    return cost_moments(costs, starts, odds)[0], worth


def _has_mean(costs: CostDistribution, odds: float, mean: float) -> bool:
    """Whether the mean of C_FN / C_FP is finite, and a quadrature over the mass is enough."""
    if not math.isfinite(mean):
        return False
    if not isinstance(costs, Density):
        return True
    rare = 0.5 ** np.array([TAIL_HALVINGS - 1, TAIL_HALVINGS])
    ends = np.stack([costs.distribution.ppf(rare), costs.distribution.isf(rare)])
    with np.errstate(divide="ignore"):
        terms = rare / costs.to_ratio(ends, odds)
    before, last = terms[:, 0], terms[:, 1]
    # The terms beyond the last halving are roughly a geometric series.
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = last * last / (before - last)
    return bool(((last < before) & (beyond <= BEYOND_TAIL * mean)).all())


def check_price(false_alarm_cost: float | None) -> float:
    """Return the cost of a false alarm, or raise and say what is accepted."""
    accepted, largest = "a finite number above 0", np.finfo(np.float64).max
    return check_number(false_alarm_cost, "false_alarm_cost", accepted, OPEN_INTERVAL[0], largest)
