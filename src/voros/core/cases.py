"""Checks of the labels, scores and weights that a user passes."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.arguments import as_number
from voros.core.arrays import (
    LARGEST_FINITE,
    as_floats,
    as_vector,
    check_same_length,
    check_weights,
    is_missing,
    shown,
)
from voros.exceptions import Argument, ArgumentError, Message
from voros.typing import AnyArray, BoolArray, FloatArray

SMALLEST_SIZE, LARGEST_SIZE = 1e-280, 1e280
"""Bounds of the size of a class: products with limits stay finite and exact."""

LARGEST_ODDS = 1e100
"""Largest ratio between the sizes of the classes: products with costs stay finite."""

WEIGHT_SUMS = "sum(sample_weight of positives)", "sum(sample_weight of negatives)"
"""Names in errors for the sizes of the classes, where cases have weights."""

CLASS_WITHOUT_WEIGHT = (
    "sample_weight is 0 for every case of a class; both classes are needed to draw a ROC curve"
)


def check_labels(y_true: Any, pos_label: Any = None, *, name: str = "y_true") -> BoolArray:
    """Mark the positive cases, of labels with both classes.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,)
        Two distinct labels: bool, {0, 1}, {-1, 1}, or any two with `pos_label`.
    pos_label : label, optional
        The label of the positive class.

    Examples
    --------
    >>> check_labels(["ill", "well", "ill"], pos_label="ill").tolist()
    [True, False, True]
    """
    positive = read_labels(y_true, pos_label, name=name)
    n_positive = np.count_nonzero(positive)
    if n_positive in (0, len(positive)):
        held = "positive" if n_positive else "negative"
        raise ValueError(
            f"{name} holds {held} cases only; both classes are needed to draw a ROC curve"
        )
    return positive


def read_labels(y_true: Any, pos_label: Any = None, *, name: str = "y_true") -> BoolArray:
    """Mark the positive cases; there may be none, or no others."""
    array = as_vector(y_true, name)
    if len(array) == 0:
        raise ValueError(f"{name} is empty; at least one case of each class is needed")
    if pos_label is not None and not is_label(pos_label):
        raise ValueError(f"pos_label={pos_label!r}; accepted is one of the labels of {name}")
    if array.dtype == np.bool_:
        label = True if pos_label is None else _positive_label([False, True], pos_label, name)
        return array if label else ~array
    numeric = array.dtype.kind in "iuf"
    label = _positive_label((_numbers if numeric else _values)(array, name), pos_label, name)
    if numeric:
        return np.asarray(array == label, dtype=np.bool_)
    return np.array([value == label for value in array.tolist()], dtype=np.bool_)


def label_or_remembered(y_true: Any, pos_label: Any, remembered: Any) -> Any:
    """Return the positive label stated now, or else that of the validation data.

    Boolean labels say by themselves who is positive, whatever the validation labels were.
    """
    if pos_label is not None or as_vector(y_true, "y_true").dtype == np.bool_:
        return pos_label
    return remembered


def _numbers(array: AnyArray, name: str) -> list[Any]:
    """Return the distinct numbers of an array, rising."""
    # Minimum and maximum are two passes, while `unique` would sort all labels.
    low, high = array.min(), array.max()
    if np.isnan(low):
        raise ValueError(f"{name} holds NaN; drop or impute those cases first")
    between = array.dtype.kind == "f" or int(high) - int(low) > 1
    if between and np.count_nonzero(array == low) + np.count_nonzero(array == high) < len(array):
        return list(np.unique(array))
    return sorted({low, high})


def _values(array: AnyArray, name: str) -> list[Any]:
    """Return the distinct values of an array of any type, in the order of their texts."""
    try:
        kinds = set(array.tolist())
    except TypeError as error:
        raise ValueError(f"{name} holds values that are not labels: {error}") from None
    if any(is_missing(kind) for kind in kinds):
        raise ValueError(f"{name} holds missing values; drop or impute those cases first")
    return sorted(kinds, key=str)


def _positive_label(distinct: list[Any], pos_label: Any, name: str) -> Any:
    if len(distinct) <= 2:
        if pos_label is None and (set(distinct) <= {0, 1} or set(distinct) <= {-1, 1}):
            return 1
        # The only label of a few cases may be the other one, if it is of the same kind.
        alike = len(distinct) == 1 and isinstance(distinct[0], str) == isinstance(pos_label, str)
        if pos_label is not None and (alike or pos_label in distinct):
            return pos_label
    listed = shown(distinct)
    if len(distinct) > 2:
        raise ValueError(f"{name} has {len(distinct)} distinct labels ({listed}); two are accepted")
    if pos_label is None:
        which = "and which of them is the positive class is not clear; pass "
        raise ValueError(Message(f"{name} has the labels {listed}, {which}", Argument("pos_label")))
    problem = f"={pos_label!r} is not one of the labels of {name} ({listed})"
    raise ValueError(Message(Argument("pos_label"), problem))


def is_label(value: Any) -> bool:
    """Whether a value can be a label: neither a collection nor missing."""
    if isinstance(value, Sized) and not isinstance(value, (str, bytes)):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return not is_missing(value)


def check_scores(y_score: Any, *, name: str = "y_score") -> AnyArray:
    """Return scores as a numeric array without NaN; infinities are allowed."""
    array = as_vector(y_score, name)
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf":
        array = as_floats(array, name)
    if len(array) and array.dtype.kind == "f":
        # The minimum is NaN if any score is, and needs one pass without a temporary array.
        if np.isnan(array.min()):
            rows = np.flatnonzero(np.isnan(array))
            raise ValueError(holds_nan(name, len(rows), len(array), int(rows[0])))
        if np.isposinf(array.max()):
            array = np.where(np.isposinf(array), LARGEST_FINITE, array)
    return array


def are_risks(scores: AnyArray) -> bool:
    """Whether all scores are probabilities."""
    return bool(((scores >= 0) & (scores <= 1)).all())


def check_risks(scores: AnyArray, otherwise: str = "") -> None:
    """Raise unless all scores are probabilities; ``otherwise`` names what else is accepted."""
    if not are_risks(scores):
        raise ArgumentError(
            "y_score",
            f" runs from {scores.min():g} to {scores.max():g}; accepted are probabilities from 0 "
            f"to 1{otherwise}",
        )


def holds_nan(name: str, n_nan: int, n_cases: int, first: int) -> str:
    """Return the number of cases without a score and the index of the first, as a sentence."""
    return (
        f"{name} holds NaN in {n_nan} of {n_cases} cases (first at index {first}); drop or impute "
        "those cases first"
    )


def check_sum_of_weights(weights: FloatArray) -> None:
    """Raise unless the sum of the weights is within the accepted sizes."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if len(weights) and not SMALLEST_SIZE <= total <= LARGEST_SIZE:
        raise ValueError(
            f"sum(sample_weight)={total!r}; accepted is a number of cases above 0, from "
            f"{SMALLEST_SIZE:g} to {LARGEST_SIZE:g}"
        )


def check_class_sizes(
    n_positive: float,
    n_negative: float,
    positives: str = "n_positive",
    negatives: str = "n_negative",
) -> None:
    """Raise unless the sizes of both classes, and their ratio, are accepted."""
    for name, size in ((positives, n_positive), (negatives, n_negative)):
        accepted = f"a number of cases above 0, from {SMALLEST_SIZE:g} to {LARGEST_SIZE:g}"
        if not SMALLEST_SIZE <= as_number(size, name, accepted) <= LARGEST_SIZE:
            raise ValueError(f"{name}={size!r}; accepted is {accepted}")
    if not 1 / LARGEST_ODDS <= float(n_negative) / float(n_positive) <= LARGEST_ODDS:
        raise ValueError(
            f"{positives}={n_positive:g} and {negatives}={n_negative:g}; accepted is a ratio of at "
            f"most {LARGEST_ODDS:g} between them"
        )


def check_cases(
    y_true: Any,
    y_score: Any,
    pos_label: Any = None,
    sample_weight: Any = None,
    *,
    both_classes: bool = True,
) -> tuple[BoolArray, AnyArray, FloatArray | None]:
    """Check labels, scores and weights together; rows of weight zero are left out.

    Callers check with `check_aligned` that all arguments list the cases in the same order.
    """
    # Lengths come first, because a mismatch explains many other errors.
    labels, scores = as_vector(y_true, "y_true"), as_vector(y_score, "y_score")
    check_same_length(y_true=labels, y_score=scores)
    how = {"pos_label": pos_label, "sample_weight": sample_weight, "both_classes": both_classes}
    cases = LabelledCases.read(labels, scores, **how)
    return cases.positive, cases.check_scores(scores), cases.weights


@dataclass(frozen=True, eq=False)
class LabelledCases:
    """Labels and weights, checked once for all models.

    Attributes
    ----------
    positive : ndarray of bool
    weights : ndarray of float or None
        Weights above 0.
    counted : ndarray of bool or None
        Rows with a weight above 0, where some weights are 0.
    """

    positive: BoolArray
    weights: FloatArray | None = None
    counted: BoolArray | None = None

    @classmethod
    def read(
        cls,
        labels: AnyArray,
        scores: AnyArray,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        both_classes: bool = True,
    ) -> LabelledCases:
        """Check labels and weights; the scores of any model show whether arguments are swapped."""
        positive = labels_of(labels, scores, pos_label, both_classes)
        if sample_weight is None:
            return cls(positive)
        weights = check_weights(sample_weight)
        check_same_length(y_true=labels, sample_weight=weights)
        counted = weights > 0
        if counted.all():
            return cls(positive, weights)
        if both_classes and len(np.unique(positive[counted])) < 2:
            raise ValueError(CLASS_WITHOUT_WEIGHT)
        if not counted.any():
            raise ValueError("sample_weight is 0 for every case; at least one must count")
        return cls(positive[counted], weights[counted], counted)

    def check_scores(self, scores: AnyArray) -> AnyArray:
        """Check the scores of one model, without cases of weight 0."""
        return check_scores(scores if self.counted is None else scores[self.counted])


def labels_of(labels: AnyArray, scores: AnyArray, pos_label: Any, both_classes: bool) -> BoolArray:
    """Check labels; if they look like scores, and the scores like labels, the error says so."""
    try:
        return (check_labels if both_classes else read_labels)(labels, pos_label)
    except ValueError as error:
        if len(set(labels.tolist())) > 2 >= len(set(scores.tolist())):
            raise ValueError(
                f"{error}. y_score has at most two distinct values: the arguments look swapped; "
                "y_true, the labels, comes first, then the scores"
            ) from None
        raise
