"""Models that order nearly all cases alike, so that their ranges of scores can be combined.

If one model is a rising or falling function of another, their ranges cut the same list of cases.
The cuts of both together form ranges that neither model shows, with as few as a single case.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from voros.engines.keys import KEY_BITS, bucket_of
from voros.typing import AnyArray, FloatArray

NEARLY_ALL = 0.75
"""Orders are alike if this share of neighbours in one follow each other in the other. In unrelated
orders half of them do; a few swapped cases do not protect the others."""

Order: TypeAlias = Literal["alike", "reversed"]
Orders: TypeAlias = Mapping[tuple[str, str], Order]


def orders_of_models(
    scores: Mapping[str, AnyArray], bits: int, weights: AnyArray | None = None
) -> Orders:
    """Return the pairs of models that order nearly all cases alike or in reverse.

    Parameters
    ----------
    scores : mapping of str to array of shape (n_cases,)
    bits : int
        Precision at which scores are compared, as in `BinnedCounts`.
    weights : array of shape (n_cases,), optional
        Cases of weight 0 are not counted.

    Examples
    --------
    >>> risk = np.array([0.25, 0.5, 0.75])
    >>> scores = {"risk": risk, "percent": 100 * risk, "survival": 1 - risk, "age": risk[[1, 0, 2]]}
    >>> orders_of_models(scores, bits=20)
    {('risk', 'percent'): 'alike', ('risk', 'survival'): 'reversed', ...}
    """
    orders: dict[tuple[str, str], Order] = {}
    counted = slice(None) if weights is None else np.asarray(weights) > 0
    columns = {
        name: np.asarray(column, dtype=np.float64)[counted] for name, column in scores.items()
    }
    for one, other in combinations(columns, 2):
        buckets = bucket_of(columns[one], KEY_BITS - bits)
        rising = np.argsort(buckets, kind="stable")
        begin = np.flatnonzero(np.diff(buckets[rising], prepend=buckets[rising[0]] - 1))
        values = columns[other][rising]
        order = _order(np.minimum.reduceat(values, begin), np.maximum.reduceat(values, begin))
        if order is not None:
            orders[one, other] = order
    return orders


def _order(low: FloatArray, high: FloatArray) -> Order | None:
    """Compare orders by a model's lowest and highest score in each bucket of another model."""
    rises, falls = high[:-1] <= low[1:], low[:-1] >= high[1:]
    changes = np.count_nonzero(~(rises & falls))
    if np.count_nonzero(rises & ~falls) >= NEARLY_ALL * changes:
        return "alike"
    return "reversed" if np.count_nonzero(falls & ~rises) >= NEARLY_ALL * changes else None
