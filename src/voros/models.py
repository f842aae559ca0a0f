"""Scores of one model or several on the same cases: the one place where they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from voros.core.alignment import check_aligned
from voros.core.arrays import (
    AnyArray,
    as_vector,
    check_same_length,
    named_columns,
)
from voros.core.operating_points import OperatingPoints
from voros.devices.libraries import on_device

Result = TypeVar("Result")

ONLY_MODEL = "model"
"""The name of a model that was given none."""

ACCEPTED_SCORES = (
    "accepted are a one-dimensional array of scores, a mapping from model to scores, or a data "
    "frame with a column for each model"
)

ORDER = "y_true, the labels, comes first, then the scores"


def several_models(scores: Any) -> bool:
    """Whether scores are those of named models, one or many, and not of one without a name."""
    return named_columns(scores, "scores") is not None


def columns_by_model(y_true: Any, scores: Any) -> dict[str, AnyArray]:
    """Return the scores of each model, one for every label.

    Parameters
    ----------
    y_true : array-like of shape (n_cases,)
        Labels. Only their number is looked at.
    scores : array-like of shape (n_cases,), mapping of str to such, or data frame
        Scores of one model, which is then called "model", or of several by name. A data frame of
        pandas, polars or pyarrow has a column for each model.

    Examples
    --------
    >>> columns = columns_by_model([0, 1], {"a": [0.2, 0.7], "b": [0.9, 0.1]})
    >>> columns["b"].tolist()
    [0.9, 0.1]
    >>> list(columns_by_model([0, 1], [0.2, 0.7]))
    ['model']
    """
    check_order(y_true, scores)
    check_aligned(y_true=y_true, scores=scores)
    labels = _values(y_true, "y_true")
    named = several_models(scores)
    if not (named or hasattr(scores, "__len__") or hasattr(scores, "__array__")):
        raise ValueError(f"scores are of type {type(scores).__name__}; {ACCEPTED_SCORES}")
    columns = _named_columns(scores) if named else {ONLY_MODEL: _values(scores, "scores")}
    for model, column in columns.items():
        check_same_length(
            **{"y_true": labels, f"scores of {model!r}" if named else "scores": column}
        )
    return columns


def count_models(y_true: Any, scores: Any, **how: Any) -> dict[str, OperatingPoints]:
    """Count alarms of one model or several; parameters as in `columns_by_model`.

    ``how`` are further arguments of `OperatingPoints.from_scores`.

    Examples
    --------
    >>> count_models([0, 1], {"a": [0.2, 0.7], "b": [0.9, 0.1]})["b"].tp.tolist()
    [0, 0, 1]
    """
    named = several_models(scores)
    return {
        model: count_model(model if named else None, y_true, column, **how)
        for model, column in columns_by_model(y_true, scores).items()
    }


def count_model(model: str | None, y_true: Any, column: Any, **how: Any) -> OperatingPoints:
    """Count one model's alarms as `OperatingPoints.from_scores` does; an error names the model."""
    with naming(model):
        return OperatingPoints.from_scores(y_true, column, **how)


@contextmanager
def naming(model: str | None) -> Iterator[None]:
    """Name the model in errors about its scores, where it has a name."""
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error) if model is None else f"model {model!r}: {error}") from None


def one_or_all(results: Mapping[str, Result], scores: Any) -> Result | dict[str, Result]:
    """Return results by name where models had names, and otherwise the only result."""
    return dict(results) if several_models(scores) else results[ONLY_MODEL]


def check_order(y_true: Any, scores: Any) -> None:
    """Refuse labels that are scores of several models: the arguments were swapped."""
    columns = named_columns(y_true, "y_true")
    if columns is None or (len(columns) == 1 and not isinstance(y_true, Mapping)):
        return
    given = f"y_true is a {type(y_true).__name__}, as scores of several models are"
    if several_models(scores):
        raise ValueError(f"{given}; it must be one label per case")
    raise ValueError(f"{given}: the arguments are swapped. {ORDER}")


def _named_columns(scores: Any) -> dict[str, AnyArray]:
    items = named_columns(scores, "scores")
    if not items:
        raise ValueError("scores hold no model; at least one is needed")
    repeated = [name for name, n in Counter(str(name) for name, _ in items).items() if n > 1]
    if repeated:
        raise ValueError(f"scores name a model twice: {', '.join(repeated)}")
    return {str(name): _values(values, f"scores of {name!r}") for name, values in items}


def _values(values: Any, name: str) -> AnyArray:
    """Return one value per case; what lies on a device stays there."""
    if on_device(values):
        there: AnyArray = values
        return there
    return as_vector(values, name)
