"""Scores of cases that a classifier was not fitted on, from any scikit-learn classifier."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.multiclass import type_of_target

from voros.exceptions import PositiveClassWarning
from voros.inputs import AnyArray, FloatArray, check_same_length


def check_binary(y: Any) -> AnyArray:
    """Return labels of exactly two classes as an array."""
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        # scikit-learn's own checks look for these words.
        raise ValueError(
            "Only binary classification is supported: y must hold two classes. Unknown label "
            f"type: {kind}"
        )
    return np.asarray(column_or_1d(y, warn=True))


def check_both_classes(y: AnyArray, weights: FloatArray | None) -> None:
    """Raise unless cases of both classes are left, those of weight 0 not counted."""
    if len(np.unique(y)) < 2:
        raise ValueError("y holds one class only; both are needed to find a threshold")
    if weights is None:
        return
    check_same_length(y=y, sample_weight=weights)
    if len(np.unique(y[weights > 0])) < 2:
        raise ValueError("sample_weight leaves one class only; both are needed for a threshold")


def positive_class(classes: AnyArray, pos_label: Any = None) -> Any:
    """Return the positive one of two classes."""
    if pos_label is not None:
        if pos_label not in classes.tolist():
            shown = ", ".join(map(repr, classes.tolist()))
            raise ValueError(f"pos_label={pos_label!r} is not one of the classes {shown}")
        return pos_label
    if classes.tolist() not in ([0, 1], [-1, 1]):
        warnings.warn(
            f"the classes are {classes.tolist()}; {classes[1]!r}, the greater, is taken as the "
            "positive one: pass pos_label to say which it is",
            PositiveClassWarning,
            stacklevel=3,
        )
    return classes[1]


def positive_scores(estimator: Any, X: Any, methods: tuple[str, ...], pos_label: Any) -> FloatArray:
    """Return a classifier's scores, higher meaning more likely positive.

    Parameters
    ----------
    estimator : fitted classifier
    X : array-like or sparse matrix of shape (n_cases, n_features)
    methods : tuple of str
        Of "predict_proba" and "decision_function"; the first that exists is used.
    pos_label : label
    """
    method = next((name for name in methods if hasattr(estimator, name)), None)
    if method is None:
        raise ValueError(
            f"{type(estimator).__name__} has no {' or '.join(methods)}; a threshold needs scores"
        )
    if len(estimator.classes_) != 2:
        raise ValueError(
            f"{type(estimator).__name__} was fitted on one class only; use fewer folds"
        )
    response = np.asarray(getattr(estimator, method)(X))
    is_positive = np.asarray(estimator.classes_ == pos_label)
    if method == "predict_proba":
        return np.asarray(response[:, np.flatnonzero(is_positive)[0]])
    return response if is_positive[1] else -response


def fit_on(estimator: Any, X: Any, y: Any, rows: AnyArray, fit_params: dict[str, Any]) -> Any:
    """Fit on some of the cases; what is given per case is cut to them."""
    cut = {
        name: _safe_indexing(value, rows) if _is_per_case(value, y) else value
        for name, value in fit_params.items()
    }
    return estimator.fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **cut)


def score_held_out(
    estimator: Any,
    X: Any,
    y: Any,
    fitted: AnyArray | None,
    held_out: AnyArray,
    fit_params: dict[str, Any],
    methods: tuple[str, ...],
    pos_label: Any,
) -> FloatArray:
    """Fit on one part, unless the estimator is fitted already, and score the other."""
    if fitted is not None:
        estimator = fit_on(estimator, X, y, fitted, fit_params)
    return positive_scores(estimator, _safe_indexing(X, held_out), methods, pos_label)


def _is_per_case(value: Any, y: Any) -> bool:
    return not isinstance(value, str) and np.ndim(value) > 0 and len(value) == len(y)
