"""Base classes of pictures of models: their constructors, and reading operating points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature, unwrap
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.operating_points import OperatingPoints
from voros.decision_curves import CensoredCases
from voros.evaluation import Evaluation
from voros.io.frames import join_frames
from voros.models import ONLY_MODEL, check_points, check_same_cases, count_models
from voros.notices import warn_about
from voros.plotting.model_styles import model_styles
from voros.plotting.style import axes_to_draw_on
from voros.text.signatures import takes
from voros.typing import AnyArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PointsLike: TypeAlias = OperatingPoints | Mapping[str, OperatingPoints]
"""One model, or several by name, counted on the same cases."""


def _handing_on(maker: Callable[..., Any]) -> Callable[..., Any]:
    """Copy a constructor for a class, so that it can show the signature of that class."""

    @wraps(maker)
    def made(cls: Any, *arguments: Any, **options: Any) -> Any:
        return maker(cls, *arguments, **options)

    return made


CASES = ("y_true", "scores", "pos_label", "sample_weight")
"""Arguments that describe cases, which points take the place of."""


class ModelDisplay(ABC):
    """A picture of the operating points of one or many models.

    Constructors named ``from_...`` compute, warn and draw; `plot` only draws.
    """

    @abstractmethod
    def __init__(self, points: Any, *arguments: Any, **options: Any) -> None:
        """Keep what is drawn."""

    @abstractmethod
    def plot(self, *arguments: Any, **options: Any) -> Self:
        """Draw on axes, or on a new figure."""

    def __init_subclass__(cls) -> None:
        """Show the arguments of the class and of `plot` in the signatures of the constructors."""
        named = takes(cls, cls.plot, leave_out=("self", "points", *CASES))
        for name in ("from_points", "from_predictions", "from_estimator"):
            maker = unwrap(getattr(cls, name).__func__)
            setattr(cls, name, classmethod(named(_handing_on(maker))))

    @property
    def evaluations(self) -> Mapping[Any, Evaluation]:
        """The models in the scenarios that they were given."""
        return {}

    @classmethod
    def from_points(cls, points: Any, *arguments: Any, ax: Any = None, **options: Any) -> Self:
        """Draw from operating points, such as those of a published curve.

        Parameters
        ----------
        points : OperatingPoints, or mapping of str to OperatingPoints
            One model, or several by name where the picture shows several.
        *arguments
            Those of the class that follow the points; the scenario comes first.
        ax : Axes, optional
        **options
            Those of the class and of `plot`, by name.

        Returns
        -------
        display
        """
        made_with = set(options).intersection(signature(cls).parameters)
        display = cls(points, *arguments, **{name: options.pop(name) for name in made_with})
        for evaluation in display.evaluations.values():
            warn_about(evaluation.decision)
        return display.plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        scores: Any,
        *arguments: Any,
        ax: Any = None,
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
            Scores of one model, or of several by name or column where the picture shows several. In
            a mapping a single model has a name too.
        *arguments, **options
            Those of `from_points` that follow the points; the scenario comes first.
        ax : Axes, optional
        pos_label, sample_weight
            As in `voros.partial_voros_score`.

        Returns
        -------
        display
        """
        points = count_models(y_true, scores, pos_label=pos_label, sample_weight=sample_weight)
        return cls.from_points(points, *arguments, ax=ax, **options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *arguments: Any, pos_label: Any = None, **options: Any
    ) -> Self:
        """Draw from fitted classifiers.

        Parameters
        ----------
        estimator : classifier, or mapping of str to classifier
            With ``predict_proba`` or ``decision_function``.
        X : array-like of shape (n_cases, n_features)
        y : array-like of shape (n_cases,)
        *arguments, pos_label, **options
            As in `from_predictions`.

        Returns
        -------
        display
        """
        # scikit-learn doubles the time it takes to import voros.
        from voros.estimators.held_out import positive_class, positive_scores

        check_aligned(X=X, y=y)
        named = isinstance(estimator, Mapping)
        scores = {}
        for name, model in (estimator if named else {type(estimator).__name__: estimator}).items():
            label = positive_class(model.classes_, pos_label)
            scores[name] = positive_scores(model, X, label)
        return cls.from_predictions(y, scores, *arguments, pos_label=label, **options)


class CurveDisplay(ModelDisplay):
    """Curves of one or many models on shared axes."""

    shape: ClassVar[float]
    """Height of a new figure, in its widths."""

    points: Mapping[str, OperatingPoints]

    def plot(self, ax: Axes | None = None, *, color: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure.

        Parameters
        ----------
        ax : Axes, optional
        color : color, sequence of colors, or mapping of str to color, optional
            Of the models: one for a single model, one each, or by name.

        Returns
        -------
        display
        """
        self.ax_ = axes_to_draw_on(ax, shape=self.shape)
        self.styles_ = model_styles(self.ax_, list(self.points), color)
        self._draw(grow=ax is None)
        return self

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame of the curves, a row for each place where one is drawn."""
        parts = [named_rows(model, self._columns(model)) for model in self.points]
        return join_frames(parts, backend)

    @abstractmethod
    def _draw(self, *, grow: bool) -> None: ...

    @abstractmethod
    def _columns(self, model: str) -> Mapping[str, AnyArray]:
        """Return the curve of a model, without its name."""


def named_rows(model: str, columns: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Put the name of a model before the columns of a frame."""
    length = len(next(iter(columns.values())))
    return {"model": np.full(length, model, dtype=object), **columns}


def named_points(points: Any) -> dict[str, Any]:
    """Read points of one model, or of several by name on the same cases."""
    named = dict(points) if isinstance(points, Mapping) else {ONLY_MODEL: points}
    if not named:
        raise ValueError("points holds no model; at least one is needed")
    if any(isinstance(cases, CensoredCases) for cases in named.values()):
        return named
    counted = {model: check_points(one, f"points[{model!r}]") for model, one in named.items()}
    check_same_cases(counted, "their limits differ; draw models of the same cases together")
    # Pictures show every threshold.
    return {model: curve.in_memory() for model, curve in counted.items()}


def is_named(points: Mapping[str, Any]) -> bool:
    """Whether a legend should name the models: several, or one in a mapping."""
    return list(points) != [ONLY_MODEL]
