"""Costs on an axis: cost ratios, fractional costs, and round ticks."""

from __future__ import annotations

from typing import Any

import numpy as np

from voros.core.costs import uniform_t
from voros.core.volume import in_unit_of
from voros.text.numbers import typed
from voros.typing import FloatArray

ROUND_MISSES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 100, 150, 200, 300, 500, 1000, 2000, 5000)
"""Round numbers of false alarms that a miss may be worth."""

IN_T = uniform_t(0.0, 1.0)
"""Converts between fractional costs and cost ratios."""

CLOSEST_TICKS = 0.11
"""Least distance between two ticks, as a share of the axis."""


def fractional_cost(cost_ratio: Any, negatives_per_positive: float) -> Any:
    """Return t = cN/(cN + P), the weight of false alarms in the normalised cost.

    Examples
    --------
    >>> fractional_cost([0.0, 1 / 9, np.inf], negatives_per_positive=9.0).tolist()
    [0.0, 0.5, 1.0]
    """
    return in_unit_of(IN_T, np.asarray(cost_ratio), negatives_per_positive)


def ratio_at(t: Any, negatives_per_positive: float) -> Any:
    """Return the cost ratio C_FP / C_FN at which the fractional cost is ``t``.

    Examples
    --------
    >>> ratio_at([0.0, 0.5, 1.0], negatives_per_positive=9.0).round(3).tolist()
    [0.0, 0.111, inf]
    """
    return IN_T.to_ratio(np.asarray(t, dtype=np.float64), negatives_per_positive)


def round_ratios(t_low: float, t_high: float, negatives_per_positive: float) -> FloatArray:
    """Return round cost ratios, such as 1/20 and 3, spread over a range of t.

    Examples
    --------
    >>> [ratio_text(c) for c in round_ratios(0.2, 0.6, negatives_per_positive=9.0)]
    ['1/30', '1/20', '1/15', '1/10', '1/7']
    """
    misses = np.asarray(ROUND_MISSES, dtype=np.float64)
    ratios = np.union1d(1.0 / misses, misses)
    t = fractional_cost(ratios, negatives_per_positive)
    gap = CLOSEST_TICKS * (t_high - t_low)
    kept: list[int] = []
    for i in np.flatnonzero((t >= t_low - gap / 100) & (t <= t_high + gap / 100)).tolist():
        if not kept or t[i] - t[kept[-1]] >= gap:
            kept.append(i)
    if len(kept) < 2:
        return np.asarray(ratio_at(np.linspace(t_low, t_high, 3)[:-1], negatives_per_positive))
    return ratios[kept]


def ratio_text(cost_ratio: float) -> str:
    """Write a cost ratio in short: 1/20 rather than 0.05.

    Examples
    --------
    >>> ratio_text(0.05), ratio_text(0.0375), ratio_text(3.0)
    ('1/20', '0.0375', '3')
    """
    misses = round(1 / cost_ratio) if cost_ratio > 0 else 0
    if misses > 1 and np.isclose(misses * cost_ratio, 1.0):
        return f"1/{misses}"
    return typed(cost_ratio)
