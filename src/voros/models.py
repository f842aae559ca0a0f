"""Read the scores of one model or several on the same cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.arguments import check_type
from voros.core.arrays import as_vector, check_same_length, named_columns, shown
from voros.core.cases import LabelledCases
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods, read_periods
from voros.core.places import on_device, refuse_on_device
from voros.core.pruning import points_of_cases
from voros.core.scenario import Scenario
from voros.core.worth import CaseValues, ThresholdOn, compared_scores
from voros.exceptions import (
    ArgumentError,
    DoubtfulColumnWarning,
    DoubtfulWeightsWarning,
    warn_caller,
)
from voros.io.columns import FEWEST_NUMBERED, names_identifier
from voros.text.numbers import count
from voros.typing import AnyArray, FloatArray

ONLY_MODEL = "model"
"""The name of a model that has no name."""

ACCEPTED_SCORES = (
    "accepted are a one-dimensional array of scores, a mapping from model to scores, or a data "
    "frame with a column for each model"
)

ORDER = "y_true, the labels, comes first, then the scores"

MANY_AMOUNTS, UNEVEN_AMOUNTS = 20, 100
"""Weights may be money if at least this number of them differ and, where all are whole numbers, if
the largest is at least this multiple of the median."""

SAMPLED_WEIGHTS = 1000
"""Number of weights that are checked."""

CENT_ROUNDING = 1e-8
"""Largest distance of an amount from whole cents."""

SAME_TOTAL = 1e-9
"""Largest relative difference between sums of the same weights in different orders."""


@dataclass(frozen=True, eq=False)
class ModelCases:
    """Labels and the scores of one model or several, read once.

    Attributes
    ----------
    y_true : array of shape (n_cases,)
        Labels, unchanged.
    scores : dict of str to array
        By model; arrays on a device stay there.
    named : bool
        Whether the models have names.

    Examples
    --------
    >>> cases = ModelCases.read([0, 1], {"a": [0.2, 0.7], "b": [0.9, 0.1]})
    >>> cases.scores["b"].tolist(), cases.named
    ([0.9, 0.1], True)
    >>> list(ModelCases.read([0, 1], [0.2, 0.7]).scores)
    ['model']
    """

    y_true: AnyArray
    scores: dict[str, AnyArray]
    named: bool

    @classmethod
    def read(cls, y_true: Any, scores: Any) -> ModelCases:
        """Read labels and scores, and check that there is one score for each label.

        Parameters
        ----------
        y_true : array-like of shape (n_cases,)
            Labels, of which only the number is checked.
        scores : array-like of shape (n_cases,), mapping of str to such, or data frame
            Scores of one model, which is then called "model", or of several by name. A data frame
            of pandas, polars or pyarrow has a column for each model. Callers check with
            `check_aligned` that all arguments list the cases in the same order.
        """
        columns = named_columns(scores, "scores")
        check_order(y_true, named=columns is not None)
        if columns is None and not (hasattr(scores, "__len__") or hasattr(scores, "__array__")):
            raise ValueError(f"scores are of type {type(scores).__name__}; {ACCEPTED_SCORES}")
        labels = _values(y_true, "y_true")
        named = columns is not None
        if columns is not None and not isinstance(scores, Mapping):
            columns = _models_among(columns, labels, getattr(y_true, "name", None))
        by_model = {ONLY_MODEL: _values(scores, "scores")} if columns is None else _named(columns)
        for model, column in by_model.items():
            check_same_length(
                **{"y_true": labels, f"scores of {model!r}" if named else "scores": column}
            )
        return cls(labels, by_model, named)

    def compared(self, miss_value: Any, threshold_on: ThresholdOn) -> ModelCases:
        """Replace the scores by the numbers that thresholds are compared with."""
        by_model = {}
        for model, column in self.scores.items():
            with naming(model if self.named else None):
                by_model[model] = compared_scores(column, miss_value, threshold_on)
        return replace(self, scores=by_model)

    def counted(
        self,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        periods: Periods | None = None,
        miss_value: Any = None,
        false_alarm_cost: Any = None,
    ) -> Mapping[str, OperatingPoints]:
        """Check labels and weights once, and return the points of each model, counted on access.

        Parameters are those of `OperatingPoints.from_scores`.
        """
        how = {"pos_label": pos_label, "sample_weight": sample_weight}
        units = {"groups": groups, "periods": periods}
        if on_device(self.y_true, *self.scores.values(), sample_weight):
            refuse_on_device(miss_value=miss_value, false_alarm_cost=false_alarm_cost)
            return _Counted(self, partial(OperatingPoints.from_scores, self.y_true, **how, **units))
        cases = LabelledCases.read(self.y_true, next(iter(self.scores.values())), **how)
        warn_of_amounts(cases.weights)
        values = CaseValues.read(self.y_true, miss_value, false_alarm_cost, sample_weight)

        def count(scores: AnyArray) -> OperatingPoints:
            counted = cases.positive, cases.check_scores(scores), cases.weights
            if groups is None and periods is None and values is None:
                return points_of_cases(*counted)
            return OperatingPoints.from_cases(*counted, **units, values=values)

        return _Counted(self, count)


@dataclass(frozen=True, eq=False)
class _Counted(Mapping[str, OperatingPoints]):
    """Operating points by model, counted on access: not all of them need fit into memory."""

    cases: ModelCases
    count: Callable[[AnyArray], OperatingPoints]

    def __getitem__(self, model: str) -> OperatingPoints:
        with naming(model if self.cases.named else None):
            return self.count(self.cases.scores[model])

    def __iter__(self) -> Iterator[str]:
        return iter(self.cases.scores)

    def __len__(self) -> int:
        return len(self.cases.scores)


def columns_by_model(y_true: Any, scores: Any) -> dict[str, AnyArray]:
    """Return the scores of each model, one for every label; see `ModelCases`."""
    check_aligned(y_true=y_true, scores=scores)
    return ModelCases.read(y_true, scores).scores


def count_models(y_true: Any, scores: Any, **how: Any) -> dict[str, OperatingPoints]:
    """Count the alarms of one model or several.

    Parameters are those of `ModelCases.read` and `OperatingPoints.from_scores`.

    Examples
    --------
    >>> count_models([0, 1], {"a": [0.2, 0.7], "b": [0.9, 0.1]})["b"].tp.tolist()
    [0, 0, 1]
    """
    per_case = ("sample_weight", "groups", "periods")
    check_aligned(y_true=y_true, scores=scores, **{name: how.get(name) for name in per_case})
    return dict(ModelCases.read(y_true, scores).counted(**how))


def refuse_stays(points_by_name: Mapping[str, OperatingPoints] | None, what: str) -> None:
    """Raise where points count alarms over stays, which have no cases."""
    if any(points.stays is not None for points in (points_by_name or {}).values()):
        raise ArgumentError("y_true", f" holds alarms over stays; {what} is of cases")


def check_thresholds(points: OperatingPoints) -> None:
    """Raise where points have no thresholds to deploy."""
    if points.cases is None and np.isnan(points.thresholds).any():
        raise ValueError(
            "points carry no thresholds, so none can be deployed; whole-number scores of 2**53 or "
            "beyond are not exact as floats: rescale or rank them first"
        )


def points_by_name(
    y_true: Any, *, worth: bool = False, **cases: Any
) -> dict[str, OperatingPoints] | None:
    """Return operating points passed in place of labels and scores, or None for labels.

    Parameters
    ----------
    y_true : OperatingPoints, mapping of str to OperatingPoints, or labels
    worth : bool, default False
        Whether the caller accepts points of cases with values.
    **cases
        Other arguments that describe cases; with points each must be None.

    Examples
    --------
    >>> points = OperatingPoints.from_scores([0, 1], [0.2, 0.7])
    >>> list(points_by_name({"a": points, "b": points}, scores=None))
    ['a', 'b']
    >>> points_by_name([0, 1], scores=[0.2, 0.7]) is None
    True
    >>> points_by_name(points, scores=[0.2, 0.7])
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: scores describes cases, but y_true holds operating points; ...
    """
    named = {ONLY_MODEL: y_true} if isinstance(y_true, OperatingPoints) else y_true
    if not (isinstance(named, Mapping) and any(map(_is_points, named.values()))):
        return None
    for name, value in cases.items():
        if value is not None:
            raise ArgumentError(
                name, " describes cases, but y_true holds operating points; leave it out"
            )
    points = {str(name): check_points(one, f"y_true[{name!r}]") for name, one in named.items()}
    if not worth and any(one.worth is not None for one in points.values()):
        raise ArgumentError(
            "y_true",
            " holds points of cases with values (miss_value, false_alarm_cost); accepted are "
            "points of cases without values",
        )
    return points


def points_of_one(y_true: Any, *, worth: bool = False, **cases: Any) -> OperatingPoints | None:
    """Return the operating points of one model; see `points_by_name`."""
    by_name = points_by_name(y_true, worth=worth, **cases) if _is_points(y_true) else None
    return None if by_name is None else by_name[ONLY_MODEL]


def read_points(
    y_true: Any,
    y_score: Any,
    scenario: Scenario,
    *,
    pos_label: Any = None,
    periods: Any = None,
    times: Any = None,
    worth: bool = False,
    **per_case: Any,
) -> OperatingPoints:
    """Return the operating points of one model, whose cases may be counted later.

    Parameters are those of `voros.evaluate` and `OperatingPoints.from_scores`; ``worth`` says
    whether points with values are accepted.
    """
    columns = {"y_score": y_score, **per_case, "periods": periods, "times": times}
    points = points_of_one(y_true, worth=worth, pos_label=pos_label, **columns)
    if points is not None:
        return points
    if on_device(y_true, y_score, per_case.get("sample_weight")):
        refuse_on_device(groups=per_case.get("groups"), periods=periods, times=times)
    check_aligned(y_true=y_true, **columns)
    labels, scores = _values(y_true, "y_true"), _values(y_score, "y_score")
    check_same_length(y_true=labels, y_score=scores)
    cases = ModelCases(labels, {ONLY_MODEL: scores}, named=False)
    in_periods = read_periods(scenario, labels, periods, times)
    return cases.counted(pos_label=pos_label, periods=in_periods, **per_case)[ONLY_MODEL]


def warn_of_amounts(weights: FloatArray | None) -> None:
    """Warn where weights look like money: many different amounts in cents, or very uneven ones."""
    if weights is None:
        return
    some = weights[:: max(len(weights) // SAMPLED_WEIGHTS, 1)]
    distinct = np.unique(some)
    with np.errstate(over="ignore", invalid="ignore"):
        in_cents = bool(np.all(np.abs(some - some.round(2)) <= CENT_ROUNDING))
        uneven = distinct[-1] >= UNEVEN_AMOUNTS * max(float(np.median(some)), 1.0)
    whole = bool((some == some.round()).all())
    if len(distinct) >= MANY_AMOUNTS and in_cents and (uneven or not whole):
        warn_caller(
            f"sample_weight looks like amounts ({shown(distinct[::-1])}); a weight is the number "
            "of cases that a row stands for, so capacity and precision would count amounts. For "
            "the value of cases pass miss_value: costs then add up values, and limits count cases",
            DoubtfulWeightsWarning,
        )


def _is_points(value: object) -> bool:
    return isinstance(value, OperatingPoints)


@contextmanager
def naming(model: str | None) -> Iterator[None]:
    """Put the name of a model before errors about its scores."""
    try:
        yield
    except ValueError as error:
        raise ValueError(str(error) if model is None else f"model {model!r}: {error}") from None


def check_order(y_true: Any, *, named: bool) -> None:
    """Refuse labels that are scores of several models, as swapped arguments are."""
    columns = named_columns(y_true, "y_true")
    if columns is None or (len(columns) == 1 and not isinstance(y_true, Mapping)):
        return
    problem = f"y_true is a {type(y_true).__name__}, as scores of several models are"
    if named:
        raise ValueError(f"{problem}; it must be one label per case")
    raise ValueError(f"{problem}: the arguments are swapped. {ORDER}")


def _named(columns: list[tuple[Any, Any]]) -> dict[str, AnyArray]:
    if not columns:
        raise ValueError("scores hold no model; at least one is needed")
    repeated = [name for name, n in Counter(str(name) for name, _ in columns).items() if n > 1]
    if repeated:
        raise ValueError(f"scores name a model twice: {', '.join(repeated)}")
    return {str(name): _values(values, f"scores of {name!r}") for name, values in columns}


def _models_among(
    columns: list[tuple[Any, Any]], labels: AnyArray, label_name: object
) -> list[tuple[Any, Any]]:
    """Leave out the label and identifiers among the columns of a data frame, with a warning."""
    models = []
    for name, column in columns:
        problem = _why_no_model(str(name), as_vector(column, str(name)), labels, label_name)
        if problem is None:
            models.append((name, column))
        else:
            warn_caller(
                f"column {name!r} {problem} and is not taken as a model; to take it as one, pass "
                "a mapping from model to scores",
                DoubtfulColumnWarning,
            )
    return models


def _why_no_model(name: str, column: AnyArray, labels: AnyArray, label_name: object) -> str | None:
    if name == label_name or (len(column) == len(labels) and np.array_equal(column, labels)):
        return "holds the labels"
    counts = column.dtype.kind in "iu" and len(column) >= FEWEST_NUMBERED
    if names_identifier(name) or (counts and set(np.diff(column).tolist()) in ({1}, {-1})):
        return "looks like an identifier"
    return None


def model_column(y_score: Any, model: str | None) -> Any:
    """Return the scores of a policy's model: its column among several, or the only column.

    Examples
    --------
    >>> model_column({"a": [0.2, 0.7], "b": [0.9, 0.1]}, "b")
    [0.9, 0.1]
    >>> model_column([0.2, 0.7], "b")
    [0.2, 0.7]
    """
    columns = named_columns(y_score, "y_score")
    if columns is None:
        _check_model(getattr(y_score, "name", None), model)
        return y_score
    by_name = {str(name): column for name, column in columns}
    if model in by_name:
        return by_name[model]
    if len(by_name) == 1 and model is None:
        return next(iter(by_name.values()))
    listed = ", ".join(map(repr, by_name))
    policy = "names no model" if model is None else f"is for the scores of {model!r}"
    raise ArgumentError("y_score", f" has the columns {listed}, and the policy {policy}")


def _check_model(name: object, model: str | None) -> None:
    """Refuse a series that has the name of another model."""
    if model not in (None, ONLY_MODEL) and isinstance(name, str) and name not in ("", model):
        raise ArgumentError(
            "y_score",
            f" is named {name!r}, and the policy is for the scores of {model!r}; if these are its "
            "scores, pass an array (.to_numpy())",
        )


def _values(values: Any, name: str) -> AnyArray:
    """Return one value per case; arrays on a device stay there."""
    vector: AnyArray = values if on_device(values) else as_vector(values, name)
    return vector


DEVELOPMENT_CASES = (
    "accepted is a pair of labels and scores, (y_dev, scores_dev), of cases that are not among the "
    "validation cases"
)


def read_development(development: Any, pos_label: Any = None) -> dict[str, OperatingPoints]:
    """Count development cases, a pair of labels and scores of one model or several."""
    if not isinstance(development, tuple) or len(development) != 2:
        raise ArgumentError(
            "development", f" is a {type(development).__name__}; {DEVELOPMENT_CASES}"
        )
    return count_models(*development, pos_label=pos_label)


def check_same_cases(points_by_model: Mapping[str, OperatingPoints], remedy: str) -> None:
    """Refuse models that were counted on different cases, as class sizes that differ show."""
    (first, expected), *rest = points_by_model.items()
    for name, other in rest:
        sizes = [(curve.n_positive, curve.n_negative) for curve in (expected, other)]
        if not np.allclose(sizes[0], sizes[1], rtol=SAME_TOTAL, atol=0.0):
            one, two = (f"{count(p)} positive and {count(n)} negative" for p, n in sizes)
            raise ValueError(
                f"models {first!r} and {name!r} were counted on different cases: {one} against "
                f"{two}; {remedy}"
            )


def check_points(points: object, name: str = "points") -> OperatingPoints:
    """Return operating points, or raise and name the argument."""
    example = "OperatingPoints.from_scores(y_true, y_score)"
    return check_type(points, name, OperatingPoints, f"a voros.OperatingPoints, such as {example}")
