"""Scores of held-out cases from any scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.multiclass import type_of_target

from voros.core.arrays import check_same_length
from voros.core.cases import read_labels
from voros.typing import AnyArray, FloatArray


def check_binary(y: Any, weights: FloatArray | None) -> AnyArray:
    """Return labels of exactly two classes, with cases of a weight above 0, as an array."""
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        # scikit-learn's estimator checks search for these words.
        raise ValueError(
            "Only binary classification is supported: y must hold two classes. Unknown label "
            f"type: {kind}"
        )
    labels = np.asarray(column_or_1d(y, warn=True))
    check_same_length(y=labels, **({} if weights is None else {"sample_weight": weights}))
    counted = labels if weights is None else labels[weights > 0]
    if len(np.unique(counted)) < 2:
        where = "" if weights is None else " where sample_weight is above 0"
        raise ValueError(f"y holds one class only{where}; both are needed to find a threshold")
    return labels


def positive_class(classes: AnyArray, pos_label: Any = None) -> Any:
    """Return the positive one of two classes."""
    return classes[read_labels(classes, pos_label, name="y")][0]


RESPONSE_METHODS = ("predict_proba", "decision_function")
"""Methods that return scores; the first that a classifier has is used."""


def response_of(estimator: Any) -> str:
    """Return the name of the method that returns scores."""
    method = next((name for name in RESPONSE_METHODS if hasattr(estimator, name)), None)
    if method is None:
        named = " or ".join(RESPONSE_METHODS)
        raise ValueError(f"{type(estimator).__name__} has no {named}; a threshold needs scores")
    return method


def positive_scores(estimator: Any, X: Any, pos_label: Any) -> FloatArray:
    """Return a classifier's scores, higher meaning more likely positive.

    Parameters
    ----------
    estimator : fitted classifier
    X : array-like or sparse matrix of shape (n_cases, n_features)
    pos_label : label
    """
    method = response_of(estimator)
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
    """Fit on some of the cases, with parameters that have one value for each case."""
    of_rows = {name: _safe_indexing(value, rows) for name, value in fit_params.items()}
    return estimator.fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **of_rows)


def to_final_scale(scores: FloatArray, seen: FloatArray, final: FloatArray) -> FloatArray:
    """Map the scores of one fit to the scale of the final fit by quantiles.

    With more cases, a classifier often spreads its scores further, so a threshold of a fold's fit
    raises a different share of alarms with the final fit. The mapping takes the quantiles of some
    cases in the one fit to the quantiles of the same cases in the other. These should be cases to
    which both were fitted, so that overfitting affects both. The map is linear between quantiles
    and a shift beyond them.

    Parameters
    ----------
    scores : ndarray
        Scores to be mapped.
    seen, final : ndarray
        Scores of the same cases by the one fit and by the final fit.

    Examples
    --------
    >>> seen, final = np.array([0.1, 0.2, 0.4]), np.array([0.3, 0.1, 0.5])
    >>> to_final_scale(np.array([0.1, 0.3, 0.5]), seen, final).round(6).tolist()
    [0.1, 0.4, 0.6]
    """
    knots, first, counts = np.unique(np.sort(seen), return_index=True, return_counts=True)
    # Cases with equal scores are one knot, which maps to the middle one of their other scores: a
    # mean would lie between scores where these are coarse.
    values = np.sort(final)[first + counts // 2]
    inside = np.clip(scores, knots[0], knots[-1])
    return np.asarray(np.interp(inside, knots, values) + (scores - inside))


def score_held_out(
    estimator: Any,
    X: Any,
    y: AnyArray,
    fit_params: dict[str, Any],
    pos_label: Any,
    final_scores: FloatArray,
    split: tuple[AnyArray, AnyArray],
) -> FloatArray:
    """Score held-out cases by a fit on the others, on the scale of the final fit.

    Parameters
    ----------
    estimator : classifier
        Fitted on the first part of `split`.
    X, y, fit_params
        All cases, their labels, and further arguments of `fit`.
    pos_label : label
    final_scores : ndarray
        Scores of all cases by the final fit.
    split : pair of ndarray of int
        Cases to fit on, and cases to score.
    """
    part = fit_on(clone(estimator), X, y, split[0], fit_params)
    seen, new = (positive_scores(part, _safe_indexing(X, rows), pos_label) for rows in split)
    scores = to_final_scale(new, seen, final_scores[split[0]])
    probability = response_of(part) == "predict_proba"
    return np.clip(scores, 0.0, 1.0) if probability else scores


def check_held_out_once(splits: Iterable[tuple[Any, AnyArray]], n_cases: int) -> None:
    """Raise where a case is held out more than once, so that it would count repeatedly."""
    times = np.zeros(n_cases, dtype=np.intp)
    for _, held_out in splits:
        np.add.at(times, held_out, 1)
    if times.max() > 1:
        raise ValueError(
            f"cv holds out case {int(times.argmax())} {int(times.max())} times, and a case counts "
            "once; accepted are splits that hold out each case at most once, such as those of "
            "StratifiedKFold"
        )


def check_groups_apart(splits: Iterable[tuple[Any, AnyArray]], codes: AnyArray) -> None:
    """Raise where a group is both fitted and held out in a split."""
    for fitted, held_out in splits:
        both = np.intersect1d(codes[fitted], codes[held_out])
        if len(both):
            raise ValueError(
                f"cv puts cases of {len(both)} groups on both sides of a split, so that held-out "
                "cases are not new; accepted are splits that keep groups together, such as those "
                "of StratifiedGroupKFold"
            )


def weight_parameter(estimator: Any) -> str:
    """Return the name of the weights among the arguments of a classifier's `fit`.

    In a pipeline it is an argument of the last step. A classifier whose `fit` takes any keyword,
    such as a search, gets the weights and may refuse them.
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    takes = signature(estimator.fit).parameters
    if "sample_weight" in takes or any(p.kind is p.VAR_KEYWORD for p in takes.values()):
        return "sample_weight"
    raise ValueError(
        f"{type(estimator).__name__}.fit takes no sample_weight; leave it out, or fit the "
        "classifier beforehand and pass cv='prefit', where weights count for the thresholds alone"
    )
