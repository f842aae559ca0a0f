"""What all pictures of models share: the ways to make one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from voros.models import count_models
from voros.plotting.models import points_from_estimator


class ModelDisplay(ABC):
    """A picture of one or many models; subclasses say what is drawn of their operating points."""

    @classmethod
    @abstractmethod
    def from_points(cls, points: Any, *arguments: Any, **options: Any) -> Self:
        """Draw from operating points, such as those of a published curve."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        *arguments: Any,
        pos_label: Any = None,
        sample_weight: Any = None,
        **options: Any,
    ) -> Self:
        """Draw from labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n_cases,)
            Labels: bool, {0, 1}, {-1, 1}, or any two with `pos_label`.
        scores : array-like of shape (n_cases,), mapping of str to such, or data frame
            Scores of one model, or of several by name or column where the picture shows several.
        *arguments, **options
            Those of `from_points` that follow the points; the scenario comes first.
        pos_label : label, optional
        sample_weight : array-like of shape (n_cases,), optional
        """
        points = count_models(y_true, scores, pos_label=pos_label, sample_weight=sample_weight)
        return cls.from_points(points, *arguments, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *arguments: Any,
        pos_label: Any = None,
        sample_weight: Any = None,
        **options: Any,
    ) -> Self:
        """Draw from fitted classifiers.

        Parameters
        ----------
        estimator : classifier, or mapping of str to classifier
            With ``predict_proba`` or ``decision_function``.
        X : array-like of shape (n_cases, n_features)
        y : array-like of shape (n_cases,)
        *arguments, **options
            Those of `from_points` that follow the points; the scenario comes first.
        pos_label : label, optional
        sample_weight : array-like of shape (n_cases,), optional
        """
        points = points_from_estimator(
            estimator, X, y, pos_label=pos_label, sample_weight=sample_weight
        )
        return cls.from_points(points, *arguments, **options)
