"""Labels and scores that stay on a device, with the same checks as in memory.

Errors have the same messages: the values concerned are copied to the host, where the checks of
`voros.core.cases` raise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.arrays import LARGEST_FINITE, as_vector, check_same_length
from voros.core.cases import holds_nan, labels_of, read_labels
from voros.devices.libraries import Library, library_of
from voros.typing import AnyArray


@dataclass(frozen=True, eq=False, kw_only=True)
class DeviceCases:
    """Cases on a device.

    Attributes
    ----------
    library : Library
    scores, positive : array of shape (n_cases,)
        On the device; `positive` is bool.
    n_positive, n_negative : int
    low, high : number
        The least and the greatest score.
    versions : tuple
        Number of writes to scores and labels when they were checked, if their library counts
        them.
    """

    library: Library
    scores: Any
    positive: Any
    n_positive: int
    n_negative: int
    low: Any
    high: Any
    versions: tuple[int | None, ...] = ()

    def __len__(self) -> int:
        """Return the number of cases."""
        return self.n_positive + self.n_negative

    @property
    def totals(self) -> tuple[int, int]:
        """Positives and negatives."""
        return self.n_positive, self.n_negative


def read_device_cases(y_true: Any, y_score: Any, pos_label: Any = None) -> DeviceCases:
    """Check labels and scores that lie on one device, and drop gradients.

    Parameters are as in `voros.partial_voros_score`, arrays of torch, CuPy or the array API
    standard.
    """
    library = _one_library({"y_true": y_true, "y_score": y_score})
    labels, scores = _vector(library, y_true, "y_true"), _vector(library, y_score, "y_score")
    check_same_length(y_true=labels, y_score=scores)
    positive = _positive(library, labels, scores, pos_label)
    if scores.shape[0] == 0:
        _check_both_classes(0, 0)  # raises
    low, high, n_positive = library.extremes(scores, positive)
    _check_both_classes(n_positive, scores.shape[0])
    if low != low or high != high:
        rows = library.to_host(library.where_true(library.xp.isnan(scores)))
        raise ValueError(holds_nan("y_score", len(rows), scores.shape[0], int(rows[0])))
    if high == np.inf and library.type_name(scores) == "float64":
        high = float(LARGEST_FINITE)
        scores, low = _merged_ends(library, scores), min(low, high)
    versions = tuple(map(library.version, (scores, positive)))
    return DeviceCases(
        library=library,
        scores=scores,
        positive=positive,
        n_positive=n_positive,
        n_negative=scores.shape[0] - n_positive,
        low=low,
        high=high,
        versions=versions,
    )


def _merged_ends(library: Library, scores: Any) -> Any:
    """Replace +inf by the greatest float: they are one threshold, as in memory."""
    greatest = library.xp.full_like(scores, LARGEST_FINITE)
    return library.xp.where(scores == library.xp.inf, greatest, scores)


def check_unchanged(cases: DeviceCases) -> None:
    """Raise if the arrays were written to since they were checked."""
    if tuple(map(cases.library.version, (cases.scores, cases.positive))) != cases.versions:
        raise RuntimeError(
            "y_true or y_score changed after points were made from them; make the points again, "
            "or from copies"
        )


def device_counts(cases: DeviceCases) -> tuple[Any, ...]:
    """Count alarms at every distinct score, and return the counts on the host.

    They are the arguments of `OperatingPoints.with_never_alarm`.
    """
    library = cases.library
    keys, order, last = _ranked(cases)
    thresholds = thresholds_of(library.to_host(library.take(keys, library.take(order, last))))
    kind = library.xp.int64 if len(cases) >= 2**31 else library.xp.int32
    ones = library.xp.astype(library.take(cases.positive, order), kind)
    sums = library.take(library.xp.cumulative_sum(ones, dtype=kind), last)
    # Comparisons with limits multiply counts by up to a billion.
    tp = library.to_host(sums).astype(np.int64)
    return thresholds, tp, library.to_host(last) + 1 - tp, *cases.totals


def _ranked(cases: DeviceCases) -> tuple[Any, Any, Any]:
    """Return comparable scores, their falling order, and the last position of each score in it."""
    library, xp = cases.library, cases.library.xp
    keys = library.comparable(cases.scores)
    order = xp.argsort(keys, descending=True)
    starts = library.starts(library.take(keys, order))
    end = xp.full(1, len(cases), dtype=starts.dtype, device=library.device)
    return keys, order, xp.concat([starts[1:], end]) - 1


def thresholds_of(scores: AnyArray) -> AnyArray:
    """Return scores as thresholds; +inf, which means no alarm, becomes the greatest float."""
    if scores.dtype.kind != "f" or not np.isposinf(scores).any():
        return scores
    return np.where(np.isposinf(scores), LARGEST_FINITE, scores)


def _one_library(named: dict[str, Any]) -> Library:
    """Return the library of all arrays; refuse arrays of several libraries or devices."""
    libraries = {name: library_of(array) for name, array in named.items()}
    first, *rest = libraries.values()
    if first is None or any(other != first for other in rest):
        places = " and ".join(
            f"{name} is {_place(libraries[name], named[name])}" for name in libraries
        )
        raise ValueError(f"{places}; accepted are arrays of one library on one device")
    return first


def _place(library: Library | None, array: Any) -> str:
    return f"a {type(array).__name__} in memory" if library is None else repr(library)


def _vector(library: Library, array: Any, name: str) -> Any:
    """Return one value per case from a vector or a column of shape (n, 1)."""
    array, shape = library.detach(array), tuple(array.shape)
    if "complex" in library.type_name(array):
        raise ValueError(f"{name} must be real numbers; its dtype is {array.dtype}")
    if len(shape) != 1:
        # A view of one zero in this shape, for the checks in memory.
        as_vector(np.broadcast_to(np.zeros(()), shape), name)
        array = array[:, 0]
    return array


def _positive(library: Library, labels: Any, scores: Any, pos_label: Any) -> Any:
    """Mark the positive cases."""
    if library.type_name(labels) == "bool" and pos_label is None:
        return labels
    witness = _witness(library, labels)
    marks = _read_witness(library, witness, scores, pos_label)
    named = witness[marks].tolist()
    return labels == named[0] if named else labels != labels


def _check_both_classes(n_positive: int, n_cases: int) -> None:
    if n_positive in (0, n_cases):
        one_class = np.full(min(n_cases, 1), n_positive > 0)
        labels_of(one_class, np.zeros(1), None, both_classes=True)


def _witness(library: Library, labels: Any) -> AnyArray:
    """Return the distinct labels; more than two are for an error message."""
    n_cases, keys = labels.shape[0], library.comparable(labels)
    kind = np.bool_ if library.type_name(labels) == "bool" else None
    if n_cases == 0:
        return np.empty(0)
    low, high, n_at_ends = library.extremes(keys)
    if low == low and n_at_ends < n_cases:
        return library.to_host(library.xp.unique_values(keys))
    return np.array(sorted({low, high}), dtype=kind)


def _read_witness(library: Library, witness: AnyArray, scores: Any, pos_label: Any) -> AnyArray:
    try:
        return read_labels(witness, pos_label)
    except ValueError:
        # Checked again with the scores, because the arguments may be swapped.
        distinct = library.to_host(library.xp.unique_values(library.comparable(scores)))
        return labels_of(witness, distinct, pos_label, both_classes=False)
