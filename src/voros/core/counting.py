"""Labels and scores, checked and counted: true and false positives at each threshold.

An alarm is ``score >= threshold``, and the first threshold, +inf, is never alarm.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from voros.core.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    as_vector,
    check_class_sizes,
    check_labels,
    check_same_length,
    check_same_order,
    check_scores,
    check_weights,
    look_swapped,
    read_labels,
)

WEIGHT_SUMS = "sum(sample_weight of positives)", "sum(sample_weight of negatives)"
"""What the sizes of the classes are, where cases carry weights."""

SAMPLE_ROOTS = 6.0
"""Scores sampled to guess how far down the capacity reaches, in roots of their number."""

SAMPLE_MARGIN = 3.0
"""Standard deviations by which the guess lies deeper than the sample says."""


class Counts(NamedTuple):
    """Thresholds with their counts, and the sizes of the classes."""

    thresholds: AnyArray
    tp: AnyArray
    fp: AnyArray
    n_positive: float
    n_negative: float
    one_case: float = 1.0

    @classmethod
    def below(cls, thresholds: AnyArray, tp: AnyArray, fp: AnyArray, *sizes: float) -> Counts:
        """Put never alarm before falling thresholds."""
        finest = np.result_type(thresholds.dtype, np.float64)
        # -0.0 equals 0.0, and which of them a sort or an engine leaves first is chance.
        unsigned_zero = thresholds + 0.0
        return cls(_led(np.inf, unsigned_zero, finest), _led(0, tp), _led(0, fp), *sizes)


def _led(first: float, rest: AnyArray, dtype: Any = None) -> AnyArray:
    # A third of the time that `append` takes, which shows where cases are few.
    column = np.empty(len(rest) + 1, dtype or rest.dtype)
    column[0], column[1:] = first, rest
    return column


def check_cases(
    y_true: Any,
    y_score: Any,
    pos_label: Any = None,
    sample_weight: Any = None,
    *,
    both_classes: bool = True,
) -> tuple[BoolArray, AnyArray, FloatArray | None]:
    """Check labels, scores and weights together; rows of weight zero are left out."""
    # Lengths first: a mismatch explains many other complaints.
    check_same_order(y_true, y_score=y_score, sample_weight=sample_weight)
    labels, scores = as_vector(y_true, "y_true"), as_vector(y_score, "y_score")
    check_same_length(y_true=labels, y_score=scores)
    if sample_weight is None:
        return _labels_of(labels, scores, pos_label, both_classes), check_scores(scores), None
    weights = check_weights(sample_weight)
    check_same_length(y_true=labels, sample_weight=weights)
    counted = weights > 0
    if not counted.all():
        whole = _labels_of(labels, scores, pos_label, both_classes)
        labels, scores, weights = labels[counted], scores[counted], weights[counted]
        if both_classes:
            _check_weighted(whole[counted])
        elif not counted.any():
            raise ValueError("sample_weight is 0 for every case; at least one must count")
    return _labels_of(labels, scores, pos_label, both_classes), check_scores(scores), weights


def _check_weighted(positive: BoolArray) -> None:
    if positive.all() or not positive.any():
        raise ValueError(
            "sample_weight is 0 for every case of a class; both classes are needed to draw a ROC "
            "curve"
        )


def _labels_of(labels: AnyArray, scores: AnyArray, pos_label: Any, both_classes: bool) -> BoolArray:
    """Check labels; where they look like scores, and the scores like labels, say so."""
    try:
        return (check_labels if both_classes else read_labels)(labels, pos_label)
    except ValueError as error:
        if look_swapped(labels, scores):
            raise ValueError(
                f"{error}. y_score has at most two distinct values: the arguments look swapped; "
                "y_true, the labels, comes first, then the scores"
            ) from None
        raise


def rank(
    scores: AnyArray, kind: Literal["quicksort", "stable"] = "stable"
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Order cases by falling score.

    Returns
    -------
    order : ndarray of int
    ranked : ndarray
        The scores in that order.
    last : ndarray of int
        Where the last case of each distinct score stands.
    """
    order = np.argsort(scores, kind=kind)[::-1]
    ranked = scores[order]
    return order, ranked, np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))


def count_cases(positive: BoolArray, scores: AnyArray) -> Counts:
    """Count alarms at every distinct score."""
    order, ranked, last = rank(scores, "quicksort")
    tp = np.cumsum(positive[order])[last]
    n_positive = int(tp[-1])
    return Counts.below(ranked[last], tp, last + 1 - tp, n_positive, len(scores) - n_positive)


def sum_weights(positive: BoolArray, scores: AnyArray, weights: FloatArray) -> Counts:
    """Add up the weights of the alarms at every distinct score."""
    order, ranked, last = rank(scores)
    with np.errstate(over="ignore"):
        n_positive, n_negative = float(weights[positive].sum()), float(weights[~positive].sum())
    check_class_sizes(n_positive, n_negative, *WEIGHT_SUMS)
    return Counts.below(
        ranked[last],
        _running_sums(positive[order], weights[order], n_positive)[last],
        _running_sums(~positive[order], weights[order], n_negative)[last],
        n_positive,
        n_negative,
        float(weights.min()),
    )


def _running_sums(counted: BoolArray, weights: FloatArray, total: float) -> FloatArray:
    """Sum weights down a ranking; whoever comes last, all of them together make the total.

    Models rank the same cases in different orders, and sums in different orders round differently.
    """
    sums = np.minimum(np.cumsum(np.where(counted, weights, 0.0)), total)
    sums[np.flatnonzero(counted)[-1] :] = total
    return np.asarray(sums)


def leading_counts(positive: BoolArray, scores: AnyArray, at_most: float) -> Counts:
    """Count alarms only where the best threshold within ``at_most`` cases can lie.

    Thresholds that flag more than ``at_most`` cases are out of capacity. Of the others, one that
    is not at a positive's score adds false positives to the one before and nothing else. So a
    sort of the short part replaces the sort of everything.
    """
    n_positive = int(np.count_nonzero(positive))
    leading = True if at_most >= len(scores) else within_reach(scores, at_most)
    # Positions are gathered faster than marks.
    right = scores[(positive & leading).nonzero()[0]]
    false = scores[(~positive & leading).nonzero()[0]]
    first, fp = count_at_positives(right, false)
    tp = len(right) - first
    kept = (tp + fp).searchsorted(at_most, side="right")
    return Counts.below(
        right[first[:kept]], tp[:kept], fp[:kept], n_positive, len(scores) - n_positive
    )


def count_at_positives(right: AnyArray, false: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Sort the scores of positives and of negatives in place, and count from the highest down.

    Returns
    -------
    first : ndarray of int
        Where each distinct score of a positive first stands in `right`, highest first.
    fp : ndarray of int
        How many scores of negatives are no lower.
    """
    right.sort()
    false.sort()
    new = np.ones(len(right), dtype=np.bool_)
    np.not_equal(right[1:], right[:-1], out=new[1:])
    first = new.nonzero()[0]
    fp = len(false) - false.searchsorted(right[first])
    return first[::-1], fp[::-1]


def within_reach(scores: AnyArray, at_most: float) -> BoolArray:
    """Mark the scores down to where more than ``at_most`` are marked, and not many more.

    A sample guesses how far down that is. A guess that falls short costs time, not exactness.
    """
    rank = int(at_most) + 1
    stride = max(int(len(scores) ** 0.5 / SAMPLE_ROOTS), 1)
    sample = scores[::stride]
    expected = rank / stride
    depth = int(expected + SAMPLE_MARGIN * expected**0.5) + 1
    if depth < len(sample):
        reached = scores >= np.partition(sample, len(sample) - depth)[-depth]
        if np.count_nonzero(reached) >= rank:
            return np.asarray(reached)
    return np.asarray(scores >= np.partition(scores, len(scores) - rank)[-rank])


def adds_recall(tp: AnyArray) -> BoolArray:
    """Mark the thresholds, by rising alarms, that catch more than every one before them.

    Whatever limits another threshold meets, one of these meets too, at no higher cost.

    Examples
    --------
    >>> adds_recall(np.array([0, 3, 3, 2, 5])).tolist()
    [True, True, False, False, True]
    """
    marks = np.ones(len(tp), dtype=np.bool_)
    np.greater(tp[1:], np.maximum.accumulate(tp)[:-1], out=marks[1:])
    return marks


def is_whole(counts: AnyArray) -> bool:
    """Whether counts are whole numbers, which are compared exactly."""
    return counts.dtype.kind in "iu"
