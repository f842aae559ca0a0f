"""Count alarms, or add up their weights, at every distinct score of cases."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from voros.core.arrays import LARGEST_COUNT
from voros.core.cases import WEIGHT_SUMS, check_class_sizes
from voros.typing import AnyArray, BoolArray, FloatArray

MANY_CASES = 2**15
"""With fewer cases, sorting is as fast as any other way of counting."""

SUMMED_AT_ONCE = 2**16
"""Number of cases in a block, which stays in a fast cache."""

FEW_VALUES, SAMPLED, UNTIED = 3, 1000, 700
"""Up to the first number of distinct scores are compared one by one. Of a sample of the second
size, more distinct scores than the third number show that too few are tied."""

TABLE, MOST_MISSED = 2**13, 1 / 16
"""Length of the table of tied scores. Sorting is faster if a larger share of cases is not in it."""

Columns: TypeAlias = tuple[AnyArray, AnyArray, AnyArray, float, float, float]
"""Falling thresholds, true and false positives, the sizes of both classes, the smallest weight."""


def blocks_of(n_cases: int, size: int) -> list[slice]:
    """Cut cases into blocks."""
    starts = range(0, n_cases, size)
    return [slice(start, min(start + size, n_cases)) for start in starts] or [slice(0, 0)]


def order_by_score(scores: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Order cases by falling score.

    Returns
    -------
    order : ndarray of int
    ranked : ndarray
        The scores in that order.
    last : ndarray of int
        Rank of the last case of each distinct score.
    """
    order = np.argsort(scores, kind="stable")[::-1]
    ranked = scores[order]
    return order, ranked, np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))


def count_cases(
    positive: BoolArray, scores: AnyArray, weights: FloatArray | None = None
) -> Columns:
    """Count alarms, or add up their weights, at every distinct score.

    Without weights the values are sorted, because an argsort takes several times as long.
    """
    if weights is not None:
        return sum_weights(positive, scores, weights)
    of_values = count_values(positive, scores)
    if of_values is not None:
        return of_values
    ranked = np.sort(scores)
    first = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))[::-1]
    thresholds = ranked[first]
    # Several times as fast as a boolean index.
    of_positives = np.sort(scores.compress(positive))
    n_positive = len(of_positives)
    tp = n_positive - np.searchsorted(of_positives, thresholds)
    fp = len(scores) - first - tp
    return thresholds, tp, fp, n_positive, len(scores) - n_positive, 1.0


def count_values(positive: BoolArray, scores: AnyArray) -> Columns | None:
    """Count alarms without sorting where many cases have few distinct scores; None elsewhere."""
    if len(scores) < MANY_CASES:
        return None
    values = np.unique(scores[:: len(scores) // SAMPLED])
    if len(values) > UNTIED:
        return None
    if len(values) > SAMPLED // 10:
        # A larger sample misses fewer values.
        values = np.unique(scores[:: len(scores) // (20 * SAMPLED)])
    counts = _compared(positive, scores, values) if len(values) <= FEW_VALUES else None
    if counts is None:
        looked_up = _looked_up(positive, scores, values)
        if looked_up is None:
            return None
        values, counts = looked_up
    fp, tp = np.cumsum(counts[::-1], axis=0).T
    return values[::-1], tp, fp, int(tp[-1]), int(fp[-1]), 1.0


def _compared(positive: BoolArray, scores: AnyArray, values: AnyArray) -> AnyArray | None:
    """Count negatives and positives at each of a few values; None if other values occur."""
    counts = np.zeros((len(values), 2), dtype=np.int64)
    for block in blocks_of(len(scores), SUMMED_AT_ONCE):
        for place, value in enumerate(values):
            same = scores[block] == value
            n_positive = np.count_nonzero(same & positive[block])
            counts[place] += np.count_nonzero(same) - n_positive, n_positive
        if counts.sum() < block.stop:
            return None
    return counts


def _looked_up(
    positive: BoolArray, scores: AnyArray, values: AnyArray
) -> tuple[AnyArray, AnyArray] | None:
    """Count negatives and positives at each of ``values``, and at others that occur, rising.

    The size of a value determines its place in a table. The few cases whose value is not the one in
    their place are sorted.
    """
    low, span = float(values[0]), float(values[-1]) - float(values[0])
    scale = (TABLE - 1) / span if span else 1.0
    if not np.isfinite(span * scale):
        return None

    def places(some: AnyArray) -> AnyArray:
        with np.errstate(over="ignore"):
            place = np.subtract(some, low, dtype=np.float64)
            place *= scale
        return np.clip(place, 0, TABLE - 1, out=place).astype(np.intp)

    table = np.full(TABLE, values[0])
    table[places(values)] = values
    counts = np.zeros(2 * TABLE, dtype=np.intp)
    others = [np.empty(0, dtype=np.intp)]
    for block in blocks_of(len(scores), SUMMED_AT_ONCE):
        place = places(scores[block])
        missed = np.flatnonzero(table.take(place) != scores[block])
        others.append(missed + block.start)
        if sum(map(len, others)) > MOST_MISSED * block.stop:
            return None
        place *= 2
        place += positive[block]
        if len(missed):
            place = np.delete(place, missed)
        counts += np.bincount(place, minlength=len(counts))
    rest = np.concatenate(others)
    extra, place = np.unique(scores[rest], return_inverse=True)
    of_extra = np.bincount(2 * place + positive[rest], minlength=2 * len(extra))
    by_class = np.concatenate([counts, of_extra]).reshape(-1, 2)
    seen = np.flatnonzero(by_class.any(axis=1))
    values = np.concatenate([table, extra])[seen]
    order = np.argsort(values)
    return values[order], by_class[seen][order]


def sum_weights(
    positive: BoolArray,
    scores: AnyArray,
    weights: FloatArray,
    names: tuple[str, str] = WEIGHT_SUMS,
) -> Columns:
    """Add up the weights of the alarms at every distinct score; errors use ``names``."""
    order, ranked, last = order_by_score(scores)
    sizes = weight_sums(positive, weights, names)
    tp, fp = (
        _running_sums(members[order], weights[order], total)[last]
        for members, total in zip((positive, ~positive), sizes, strict=True)
    )
    return ranked[last], tp, fp, *sizes, float(weights.min())


def weight_sums(
    positive: BoolArray, weights: FloatArray, names: tuple[str, str] = WEIGHT_SUMS
) -> tuple[float, float]:
    """Add up the weights of each class; sums outside the range of a float are refused."""
    with np.errstate(over="ignore"):
        n_positive, n_negative = sum_where(positive, weights), sum_where(~positive, weights)
    check_class_sizes(n_positive, n_negative, *names)
    return n_positive, n_negative


def sum_where(marks: BoolArray, weights: FloatArray) -> float:
    """Add up the marked weights, in blocks that stay in a fast cache."""
    blocks = blocks_of(len(marks), SUMMED_AT_ONCE)
    return sum(float(np.where(marks[block], weights[block], 0.0).sum()) for block in blocks)


def _running_sums(counted: BoolArray, weights: FloatArray, total: float) -> FloatArray:
    """Sum weights down a ranking, ending at exactly ``total``.

    Models rank the same cases in different orders, and sums in different orders round differently.
    """
    sums = np.minimum(np.cumsum(np.where(counted, weights, 0.0)), total)
    sums[np.flatnonzero(counted)[-1] :] = total
    return np.asarray(sums)


def adds_recall(tp: AnyArray) -> BoolArray:
    """Mark the thresholds, by rising alarms, with more true positives than all before them.

    For every other threshold, one of these meets the same limits at no higher cost.

    Examples
    --------
    >>> adds_recall(np.array([0, 3, 3, 2, 5])).tolist()
    [True, True, False, False, True]
    """
    marks = np.ones(len(tp), dtype=np.bool_)
    np.greater(tp[1:], np.maximum.accumulate(tp)[:-1], out=marks[1:])
    return marks


def with_never_alarm(
    thresholds: AnyArray, tp: AnyArray, fp: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Put the threshold +inf, no alarm, before the counts at falling thresholds."""
    finest = np.result_type(thresholds.dtype, np.float64)
    # Of -0.0 and 0.0, which are equal, a sort or an engine may leave either first.
    levels = _settable(thresholds) + 0.0
    return _prepend(np.inf, levels, finest), _prepend(0, tp), _prepend(0, fp)


def _prepend(first: float, rest: AnyArray, dtype: Any = None) -> AnyArray:
    # Three times as fast as `append`, which matters with few cases.
    column = np.empty(len(rest) + 1, dtype or rest.dtype)
    column[0], column[1:] = first, rest
    return column


def _settable(thresholds: AnyArray) -> AnyArray:
    """Return thresholds, with NaN for whole numbers too large to be exact as floats."""
    if thresholds.dtype.kind not in "iu" or not len(thresholds):
        return thresholds
    if max(abs(float(thresholds[0])), abs(float(thresholds[-1]))) < LARGEST_COUNT:
        return thresholds
    return np.where(np.abs(thresholds.astype(np.float64)) < LARGEST_COUNT, thresholds, np.nan)
