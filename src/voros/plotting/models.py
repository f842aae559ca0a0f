"""What a picture is drawn of: estimators or operating points, one or many models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voros.core.operating_points import OperatingPoints, same_cases
from voros.models import ONLY_MODEL


def points_from_estimator(
    estimator: Any, X: Any, y: Any, *, pos_label: Any = None, sample_weight: Any = None
) -> dict[str, OperatingPoints]:
    """Count alarms of one fitted classifier, or of a mapping from names to such classifiers."""
    # scikit-learn doubles the time it takes to import voros.
    from voros.estimators.classifier import RESPONSE_METHODS
    from voros.estimators.held_out import positive_class, positive_scores

    given = estimator if isinstance(estimator, Mapping) else {_name(estimator): estimator}
    positive = {name: positive_class(model.classes_, pos_label) for name, model in given.items()}
    return {
        name: OperatingPoints.from_scores(
            y,
            positive_scores(model, X, RESPONSE_METHODS, positive[name]),
            pos_label=positive[name],
            sample_weight=sample_weight,
        )
        for name, model in given.items()
    }


def named_points(
    points: OperatingPoints | Mapping[str, OperatingPoints],
) -> dict[str, OperatingPoints]:
    """Read operating points of one model, or of several by name, counted on the same cases."""
    named = dict(points) if isinstance(points, Mapping) else {ONLY_MODEL: points}
    if not named:
        raise ValueError("points holds no model; at least one is needed")
    first = next(iter(named.values()))
    if not all(same_cases(first, each) for each in named.values()):
        sizes = {(each.n_positive, each.n_negative) for each in named.values()}
        listed = ", ".join(f"{p:g} positive and {n:g} negative" for p, n in sorted(sizes))
        raise ValueError(
            f"points were counted on different cases ({listed}), so their limits differ; "
            "draw models of the same cases together"
        )
    return named


def renamed(
    points: OperatingPoints | Mapping[str, OperatingPoints], name: str | None
) -> dict[str, OperatingPoints]:
    """Read operating points as `named_points` does; a single model may be given another name."""
    named = named_points(points)
    if name is None:
        return named
    if len(named) > 1:
        raise ValueError(
            f"name={name!r} and {len(named)} models ({', '.join(named)}); it names a single one"
        )
    return {name: only_model(named)}


def only_model(points: Mapping[str, OperatingPoints]) -> OperatingPoints:
    """Return the points of the single model that a picture can show."""
    if len(points) != 1:
        raise ValueError(
            f"{len(points)} models were given ({', '.join(points)}); this picture shows one"
        )
    return next(iter(points.values()))


def _name(estimator: Any) -> str:
    return str(type(estimator).__name__)
