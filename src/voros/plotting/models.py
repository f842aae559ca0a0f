"""What a picture is drawn of: scores, estimators or operating points, one or many models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from voros.roc import OperatingPoints

ONLY_MODEL = "model"
"""The name of a model that was given none."""


def points_from_predictions(
    y_true: Any, y_score: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> dict[str, OperatingPoints]:
    """Count alarms of one vector of scores, or of a mapping from model names to such vectors.

    Examples
    --------
    >>> points_from_predictions([0, 1], {"a": [0.2, 0.7], "b": [0.9, 0.1]})["b"].tp.tolist()
    [0, 0, 1]
    """
    scores = y_score if isinstance(y_score, Mapping) else {ONLY_MODEL: y_score}
    return {
        name: OperatingPoints.from_scores(
            y_true, column, pos_label=pos_label, sample_weight=sample_weight
        )
        for name, column in scores.items()
    }


def points_from_estimator(
    estimator: Any, X: Any, y: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> dict[str, OperatingPoints]:
    """Count alarms of one fitted classifier, or of a mapping from names to such classifiers."""
    given = estimator if isinstance(estimator, Mapping) else {_name(estimator): estimator}
    scores = {name: _scores(model, X, pos_label) for name, model in given.items()}
    return points_from_predictions(y, scores, pos_label=pos_label, sample_weight=sample_weight)


def named_points(
    points: OperatingPoints | Mapping[str, OperatingPoints],
) -> dict[str, OperatingPoints]:
    """Read operating points of one model, or of several by name, counted on the same cases."""
    named = dict(points) if isinstance(points, Mapping) else {ONLY_MODEL: points}
    if not named:
        raise ValueError("points holds no model; at least one is needed")
    sizes = {(model.n_positive, model.n_negative) for model in named.values()}
    if len(sizes) > 1:
        listed = ", ".join(f"{p:g} positive and {n:g} negative" for p, n in sorted(sizes))
        raise ValueError(
            f"points were counted on different cases ({listed}), so their limits differ; "
            "draw models of the same cases together"
        )
    return named


def _name(estimator: Any) -> str:
    return str(type(estimator).__name__)


def _scores(estimator: Any, X: Any, pos_label: Any) -> Any:
    if hasattr(estimator, "predict_proba"):
        column = 1 if pos_label is None else list(estimator.classes_).index(pos_label)
        return np.asarray(estimator.predict_proba(X))[:, column]
    if not hasattr(estimator, "decision_function"):
        raise ValueError(
            f"{_name(estimator)} has neither predict_proba nor decision_function, and so no scores"
        )
    scores = np.asarray(estimator.decision_function(X))
    reversed_classes = pos_label is not None and estimator.classes_[0] == pos_label
    return -scores if reversed_classes else scores
