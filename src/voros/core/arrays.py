"""What a user passes as labels, scores and weights, checked and turned into numpy arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from voros.devices.libraries import on_device
from voros.exceptions import ArgumentError
from voros.text.messages import Argument, Message
from voros.typing import AnyArray as AnyArray
from voros.typing import BoolArray as BoolArray
from voros.typing import FloatArray as FloatArray

Checked = TypeVar("Checked")

OPEN_INTERVAL = float(np.nextafter(0.0, 1.0)), float(np.nextafter(1.0, 0.0))
"""The least and the greatest number strictly between 0 and 1."""

SHOWN_VALUES = 5
"""How many offending values an error message lists."""

LARGEST_COUNT = 2**53
"""Up to here every whole number is a float of its own."""

LARGEST_FINITE = np.finfo(np.float64).max
"""The threshold that stands for a score of +inf, because +inf itself means *never alarm*."""

SMALLEST_SIZE, LARGEST_SIZE = 1e-280, 1e280
"""Sizes of a class, as sums of weights, that leave products with limits finite and exact."""

LARGEST_ODDS = 1e100
"""Cases of one class for one of the other, at most: with costs up to as much, nothing overflows."""


WEIGHT_SUMS = "sum(sample_weight of positives)", "sum(sample_weight of negatives)"
"""What the sizes of the classes are, where cases carry weights."""

CLASS_WITHOUT_WEIGHT = (
    "sample_weight is 0 for every case of a class; both classes are needed to draw a ROC curve"
)


def as_vector(values: Any, name: str) -> AnyArray:
    """Return one value per case (array, list, tensor or data-frame column) as a numpy array.

    A column of shape (n, 1) is one value per case, too. Masked values are refused: what lies under
    a mask is no value, and who is left out must be left out of every argument.

    Examples
    --------
    >>> as_vector([[0.2], [0.7]], "y_score").tolist()
    [0.2, 0.7]
    """
    if isinstance(values, np.ndarray):
        array = _unmasked(values, name)
    elif hasattr(values, "detach"):
        array = _from_tensor(values, name)
    elif isinstance(values, (list, tuple)):
        array = _as_array(values, name)
    else:
        refuse_counts(values, name)
        # Only columns of data frames need narwhals, which takes as long to load as numpy.
        import narwhals.stable.v2 as nw

        native = nw.from_native(values, allow_series=True, pass_through=True)
        if isinstance(native, nw.LazyFrame):
            raise _not_collected(values, name)
        array = native.to_numpy() if isinstance(native, nw.Series) else _as_array(values, name)
    if array.dtype.names is not None:
        fields = ", ".join(map(repr, array.dtype.names))
        raise ValueError(f"{name} is a structured array with the fields {fields}; pass one of them")
    if array.ndim == 2 and array.shape[1] == 1:
        return np.asarray(array).reshape(-1)
    if array.ndim != 1:
        advice = (
            ". If these are the probabilities of both classes, as predict_proba returns them, "
            f"pass [:, 1]: {name}[:, 1] are those of the second class"
        )
        found = f"its shape is {array.shape}" if array.ndim else f"it is a {type(values).__name__}"
        raise ValueError(
            f"{name} must be one-dimensional, one value per case; {found}"
            f"{advice if array.shape[1:] == (2,) else ''}"
        )
    return array


def named_columns(values: Any, name: str) -> list[tuple[Any, Any]] | None:
    """Return names and columns of a mapping or an eager data frame; None for anything else."""
    if isinstance(values, Mapping):
        return list(values.items())
    # Arrays and lists are what most callers pass, and narwhals takes as long to load as numpy.
    if isinstance(values, (np.ndarray, list, tuple)) or on_device(values):
        return None
    refuse_counts(values, name)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(values, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise _not_collected(values, name)
    found = isinstance(frame, nw.DataFrame)
    return [(column, frame[column]) for column in frame.columns] if found else None


def _not_collected(query: Any, name: str) -> ValueError:
    engine = type(query).__module__.split(".")[0].strip("_")
    return ValueError(
        f"{name} is a {engine} query and has no rows yet; collect it into a data frame first, or "
        "see voros.engines.count_frame"
    )


def _unmasked(values: AnyArray, name: str) -> AnyArray:
    # Whoever has a masked array has imported numpy.ma, which takes long and others do without.
    if "numpy.ma" not in sys.modules or not isinstance(values, np.ma.MaskedArray):
        return values
    masked = int(np.count_nonzero(np.ma.getmaskarray(values)))
    if masked:
        raise ValueError(
            f"{name} is a masked array with {masked} of {values.size} values masked; leave those "
            "cases out of every argument first, as in y_true[~mask], y_score[~mask]"
        )
    return np.asarray(values.data)


def _from_tensor(values: Any, name: str) -> AnyArray:
    """Read a torch tensor, wherever it lives and whether or not it carries gradients."""
    held = values.detach().cpu()
    try:
        return np.asarray(held.numpy())
    except TypeError:
        # Types that numpy lacks, such as bfloat16, fit into the next larger one.
        return _as_array(held.float(), name)


def _as_array(values: Any, name: str) -> AnyArray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} cannot be read as an array: {error}") from None


def as_number(value: Any, name: str, accepted: str = "a number") -> float:
    """Return a real number as a float; text, truth values and arrays are none.

    Examples
    --------
    >>> as_number(True, "capacity")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: capacity=True; accepted is a number
    """
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    try:
        return float(value) if is_number else _refuse(value, name, accepted)
    except OverflowError:
        raise ArgumentError(name, f" is beyond all floats; accepted is {accepted}") from None


def is_scalar(value: Any) -> bool:
    """Whether a value is one thing and not a list of them; text is one thing."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    return isinstance(value, (str, bytes)) or not isinstance(value, Iterable)


def _refuse(value: Any, name: str, accepted: str) -> float:
    raise ArgumentError(name, f"={value!r}; accepted is {accepted}")


def check_number(
    value: Any,
    name: str,
    accepted: str = "a number within [0, 1]",
    low: float = 0.0,
    high: float = 1.0,
) -> float:
    """Return a number from `low` to `high` as a float, or say what is accepted.

    Examples
    --------
    >>> check_number(1.5, "tolerance")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: tolerance=1.5; accepted is a number within [0, 1]
    """
    number = as_number(value, name, accepted)
    return number if low <= number <= high else _refuse(value, name, accepted)


def check_confidence(confidence: Any) -> float:
    """Return a confidence as a float: a number strictly between 0 and 1."""
    accepted = "a number strictly between 0 and 1"
    return check_number(confidence, "confidence", accepted, *OPEN_INTERVAL)


def check_count(value: Any, name: str, accepted: str, low: int = 1, high: float = np.inf) -> int:
    """Return a whole number from `low` to `high`, or say what is accepted.

    Examples
    --------
    >>> check_count(2.5, "thin", "a whole number above 0")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: thin=2.5; accepted is a whole number above 0
    """
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or not low <= value <= high:
        raise ArgumentError(name, f"={value!r:.40}; accepted is {accepted}")
    return int(value)


def check_type(value: Any, name: str, kind: type[Checked], accepted: str) -> Checked:
    """Return a value of a type, or say what is accepted instead of another.

    Examples
    --------
    >>> check_type(3, "policy", str, "a name")
    Traceback (most recent call last):
    TypeError: policy is a int; accepted is a name
    """
    if isinstance(value, kind):
        return value
    raise TypeError(f"{name} is a {type(value).__name__}; accepted is {accepted}")


def check_flag(value: Any, name: str) -> bool:
    """Return a truth value; ``"no"`` and 0 are none.

    Examples
    --------
    >>> check_flag("no", "stratified")
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: stratified='no'; accepted are True and False
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(name, f"={value!r}; accepted are True and False")
    return bool(value)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Raise unless a value is one of the words that an argument accepts.

    Examples
    --------
    >>> check_choice("mean", "method", ("bca", "percentile"))
    Traceback (most recent call last):
    voros.exceptions.ArgumentError: method='mean'; accepted are 'bca', 'percentile'
    """
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(name, f"={value!r}; accepted are {', '.join(map(repr, choices))}")


def refuse_counts(values: Any, name: str) -> None:
    """Raise where counts were given for cases: nothing can be drawn from them case by case."""
    if getattr(type(values), "holds_counts", False):
        raise ValueError(
            f"{name} is a value of {type(values).__name__}, which holds counts and no cases; "
            "resampling, bands and comparisons draw cases one by one, so give those. Of counts "
            "evaluate_points, select_points and winner_map_points take the points, and "
            "bounds(scenario) gives a certified interval"
        )


def check_same_length(**arrays: AnyArray) -> None:
    """Raise unless all named arrays have the same length."""
    # The array API standard has shapes, and no len().
    lengths = {
        name: array.shape[0] if hasattr(array, "shape") else len(array)
        for name, array in arrays.items()
    }
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"all inputs need one value per case, but {listed}")


def check_labels(y_true: Any, pos_label: Any = None, *, name: str = "y_true") -> BoolArray:
    """Return True for the positive cases; both classes are needed.

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
    """Return True for the positive cases, of which there may be none or all."""
    array = as_vector(y_true, name)
    if len(array) == 0:
        raise ValueError(f"{name} is empty; at least one case of each class is needed")
    if pos_label is not None and not is_label(pos_label):
        raise ValueError(f"pos_label={pos_label!r}; accepted is one of the labels of {name}")
    if array.dtype == np.bool_:
        return array if pos_label is None else np.asarray(array == pos_label)
    numeric = array.dtype.kind in "iuf"
    label = _positive_label((_numbers if numeric else _values)(array, name), pos_label, name)
    if numeric:
        return np.asarray(array == label, dtype=np.bool_)
    return np.array([value == label for value in array.tolist()], dtype=np.bool_)


def _numbers(array: AnyArray, name: str) -> list[Any]:
    """Return the distinct numbers of an array, rising."""
    # Two passes for the extremes: `unique` would sort ten million labels.
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
        raise ValueError(f"{name} holds values that are no labels: {error}") from None
    if any(is_missing(kind) for kind in kinds):
        raise ValueError(f"{name} holds missing values; drop or impute those cases first")
    return sorted(kinds, key=str)


def _positive_label(distinct: list[Any], pos_label: Any, name: str) -> Any:
    if len(distinct) <= 2:
        if pos_label is None and (set(distinct) <= {0, 1} or set(distinct) <= {-1, 1}):
            return 1
        if pos_label is not None and (len(distinct) == 1 or pos_label in distinct):
            return pos_label
    shown = _shown(distinct)
    if len(distinct) > 2:
        raise ValueError(f"{name} has {len(distinct)} distinct labels ({shown}); two are accepted")
    if pos_label is None:
        which = "and which of them is the positive class is not clear; pass "
        raise ValueError(Message(f"{name} has the labels {shown}, {which}", Argument("pos_label")))
    found = f"={pos_label!r} is not one of the labels of {name} ({shown})"
    raise ValueError(Message(Argument("pos_label"), found))


def is_label(value: Any) -> bool:
    """Whether a value can be that of one case: neither a collection nor missing."""
    if isinstance(value, Sized) and not isinstance(value, (str, bytes)):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return not is_missing(value)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or what pandas writes for no value."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        # pandas does not say whether a missing value differs from itself.
        return True


def _shown(values: Any) -> str:
    items = [repr(v.item() if isinstance(v, np.generic) else v) for v in values]
    dots = ", ..." if len(items) > SHOWN_VALUES else ""
    return ", ".join(items[:SHOWN_VALUES]) + dots


def check_scores(y_score: Any, *, name: str = "y_score") -> AnyArray:
    """Return scores as a numeric array without NaN; infinities are allowed."""
    array = as_vector(y_score, name)
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf":
        array = as_floats(array, name)
    if len(array) and array.dtype.kind == "f":
        # The minimum carries any NaN along and is one pass without a temporary.
        if np.isnan(array.min()):
            rows = np.flatnonzero(np.isnan(array))
            raise ValueError(holds_nan(name, len(rows), len(array), int(rows[0])))
        if np.isposinf(array.max()):
            array = np.where(np.isposinf(array), LARGEST_FINITE, array)
    return array


def holds_nan(name: str, n_nan: int, n_cases: int, first: int) -> str:
    """Say how many cases have no score, and where the first is."""
    return (
        f"{name} holds NaN in {n_nan} of {n_cases} cases (first at index {first}); drop or impute "
        "those cases first"
    )


def check_weights(sample_weight: Any, *, name: str = "sample_weight") -> FloatArray:
    """Return case weights as finite floats that are not negative."""
    array = as_floats(as_vector(sample_weight, name), name)
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        raise ValueError(bad_weights(name, array[bad], int(np.flatnonzero(bad)[0])))
    return array


def bad_weights(name: str, bad: FloatArray, first: int) -> str:
    """Say which weights cannot be added up, and where the first is."""
    return (
        f"{name} must be finite and not negative; it holds {_shown(bad)} (first at index {first})"
    )


def as_floats(array: AnyArray, name: str) -> FloatArray:
    """Return an array of numbers as floats; text, dates and complex numbers are none."""
    if array.dtype.kind in "cmM":
        raise ValueError(f"{name} must be real numbers; its dtype is {array.dtype}")
    if array.dtype.kind in "OSU":
        for value in array.tolist():
            if isinstance(value, (str, bytes)):
                raise ValueError(f"{name} must be numbers; it holds the text {value!r}")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be numbers; its dtype is {array.dtype} ({error})") from None


def check_sum_of_weights(weights: FloatArray) -> None:
    """Raise unless weights can be added up and multiplied with limits."""
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
    """Raise unless the sizes of both classes can be reckoned with, alone and against each other."""
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

    Whether they list the cases in the same order is for `check_aligned`, with all arguments.
    """
    # Lengths first: a mismatch explains many other complaints.
    labels, scores = as_vector(y_true, "y_true"), as_vector(y_score, "y_score")
    check_same_length(y_true=labels, y_score=scores)
    how = {"pos_label": pos_label, "sample_weight": sample_weight, "both_classes": both_classes}
    cases = LabelledCases.read(labels, scores, **how)
    return cases.positive, cases.check_scores(scores), cases.weights


@dataclass(frozen=True, eq=False)
class LabelledCases:
    """Labels and weights, checked once for all models that scored the cases.

    Attributes
    ----------
    positive : ndarray of bool
    weights : ndarray of float or None
        All above 0.
    counted : ndarray of bool or None
        Which of the rows have a weight above 0, where some have none.
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
        """Check labels and weights; scores, of any model, show whether they were swapped."""
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
        """Return the scores of one model, of the cases that count."""
        return check_scores(scores if self.counted is None else scores[self.counted])


def labels_of(labels: AnyArray, scores: AnyArray, pos_label: Any, both_classes: bool) -> BoolArray:
    """Check labels; where they look like scores, and the scores like labels, say so."""
    try:
        return (check_labels if both_classes else read_labels)(labels, pos_label)
    except ValueError as error:
        if len(set(labels.tolist())) > 2 >= len(set(scores.tolist())):
            raise ValueError(
                f"{error}. y_score has at most two distinct values: the arguments look swapped; "
                "y_true, the labels, comes first, then the scores"
            ) from None
        raise
