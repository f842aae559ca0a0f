"""Convert columns that a user passes to numpy arrays."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from voros.typing import AnyArray, FloatArray

SHOWN_VALUES = 5
"""Number of values that an error message lists."""

LARGEST_COUNT = 2**53
"""Floats represent every whole number up to this one."""

LARGEST_FINITE = np.finfo(np.float64).max
"""Replaces a score of +inf, because the threshold +inf means no alarm."""


def as_vector(values: Any, name: str) -> AnyArray:
    """Return one value per case (array, list, tensor or data-frame column) as a numpy array.

    An array of shape (n, 1) has one value per case, too. Masked values are refused, because cases
    must be left out of all arguments.

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
        # Imported lazily: only columns of data frames need it, and it loads as slowly as numpy.
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
        problem = f"it is a {type(values).__name__}"
        if array.ndim:
            problem = f"its shape is {array.shape}"
        if array.shape[1:] == (2,):
            problem += (
                ". If these are the probabilities of both classes, as predict_proba returns them, "
                "pass [:, 1], the probabilities of the second class"
            )
        raise ValueError(f"{name} must be one-dimensional, one value per case; {problem}")
    return array


def named_columns(values: Any, name: str) -> list[tuple[Any, Any]] | None:
    """Return names and columns of a mapping or an eager data frame; None for anything else."""
    if isinstance(values, Mapping):
        return list(values.items())
    # Arrays and lists do not need narwhals, which loads as slowly as numpy.
    if isinstance(values, (list, tuple)) or hasattr(values, "__dlpack__"):
        return None
    refuse_counts(values, name)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(values, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise _not_collected(values, name)
    is_frame = isinstance(frame, nw.DataFrame)
    return [(column, frame[column]) for column in frame.columns] if is_frame else None


def _not_collected(query: Any, name: str) -> ValueError:
    engine = type(query).__module__.split(".")[0].strip("_")
    return ValueError(
        f"{name} is a {engine} query and has no rows yet; collect it into a data frame first, or "
        "see voros.engines.count_frame"
    )


def _unmasked(values: AnyArray, name: str) -> AnyArray:
    # Callers with a masked array have imported numpy.ma, which loads slowly.
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
        # numpy lacks types such as bfloat16.
        return _as_array(held.float(), name)


def _as_array(values: Any, name: str) -> AnyArray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} cannot be read as an array: {error}") from None


def refuse_counts(values: Any, name: str) -> None:
    """Raise for counts passed as cases, because single cases cannot be drawn from them."""
    if getattr(type(values), "holds_counts", False):
        raise ValueError(
            f"{name} is of type {type(values).__name__}, which holds counts and no cases. "
            "Resampling, bands and comparisons draw single cases: pass labels and scores. For "
            "counts, call evaluate, select_model or winner_map with OperatingPoints, or "
            "bounds(scenario) for a certified interval"
        )


def check_same_length(**arrays: AnyArray) -> None:
    """Raise unless all named arrays have the same length."""
    # The array API standard has no len().
    lengths = {
        name: array.shape[0] if hasattr(array, "shape") else len(array)
        for name, array in arrays.items()
    }
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"all inputs need one value per case, but {listed}")


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' missing value."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        # Comparing pandas' missing value gives no boolean.
        return True


def shown(values: Any) -> str:
    """List the first few values."""
    items = [repr(v.item() if isinstance(v, np.generic) else v) for v in values]
    dots = ", ..." if len(items) > SHOWN_VALUES else ""
    return ", ".join(items[:SHOWN_VALUES]) + dots


def as_floats(array: AnyArray, name: str) -> FloatArray:
    """Return an array of numbers as floats; text, dates and complex numbers are rejected."""
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


def check_weights(sample_weight: Any, *, name: str = "sample_weight") -> FloatArray:
    """Return case weights as finite floats of at least 0."""
    array = as_floats(as_vector(sample_weight, name), name)
    bad = ~np.isfinite(array) | (array < 0)
    if bad.any():
        raise ValueError(
            f"{name} must be finite and not negative; it holds {shown(array[bad])} (first at "
            f"index {np.flatnonzero(bad)[0]})"
        )
    return array
