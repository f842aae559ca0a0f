"""Labels, scores and weights that stay on a device, checked as those in memory are.

What goes wrong is said in the same words: the few values that an error is about come to the host,
and the checks of `voros.core.cases` speak.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.arrays import LARGEST_FINITE, as_vector, bad_weights, check_same_length
from voros.core.cases import (
    CLASS_WITHOUT_WEIGHT,
    WEIGHT_SUMS,
    check_class_sizes,
    holds_nan,
    labels_of,
    read_labels,
)
from voros.core.scenario import Scenario
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
    weights : array of shape (n_cases,) or None
        In double precision, all above 0.
    n_positive, n_negative : int
    low, high : number
        The least and the greatest score.
    versions : tuple
        How often scores and labels had been written to, where their library says so.
    """

    library: Library
    scores: Any
    positive: Any
    weights: Any
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


def read_device_cases(
    y_true: Any, y_score: Any, pos_label: Any = None, sample_weight: Any = None
) -> DeviceCases:
    """Check labels, scores and weights that lie on one device; gradients are left behind.

    Parameters are those of `voros.partial_voros_score`, arrays of torch, CuPy, JAX or the array API
    standard.
    """
    named = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    library = _one_library({name: array for name, array in named.items() if array is not None})
    labels, scores = _vector(library, y_true, "y_true"), _vector(library, y_score, "y_score")
    check_same_length(y_true=labels, y_score=scores)
    weights = None
    if sample_weight is not None:
        weights = _weights(library, _vector(library, sample_weight, "sample_weight"))
        check_same_length(y_true=labels, sample_weight=weights)
        labels, scores, weights = _weighted(library, labels, scores, weights, pos_label)
    positive = _positive(library, labels, scores, pos_label)
    if scores.shape[0] == 0:
        _check_both_classes(0, 0)  # raises: there is no extreme
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
        weights=weights,
        n_positive=n_positive,
        n_negative=scores.shape[0] - n_positive,
        low=low,
        high=high,
        versions=versions,
    )


def _merged_ends(library: Library, scores: Any) -> Any:
    """Make one number of +inf and the greatest float, which are one threshold, as in memory."""
    greatest = library.xp.full_like(scores, LARGEST_FINITE)
    return library.xp.where(scores == library.xp.inf, greatest, scores)


def check_unchanged(cases: DeviceCases) -> None:
    """Raise where the arrays of cases were written to since they were read."""
    if tuple(map(cases.library.version, (cases.scores, cases.positive))) != cases.versions:
        raise RuntimeError(
            "y_true or y_score changed after points were made from them; make the points again, "
            "or from copies"
        )


def device_counts(cases: DeviceCases) -> tuple[Any, ...]:
    """Count alarms at every distinct score, or add up their weights; the counts reach the host.

    Returns what `OperatingPoints.with_never_alarm` takes.
    """
    library = cases.library
    keys, order, last = _ranked(cases)
    thresholds = thresholds_of(library.to_host(library.take(keys, library.take(order, last))))
    if cases.weights is None:
        tp = library.to_host(_positives_up_to(cases, order, last))
        return thresholds, tp, library.to_host(last) + 1 - tp, *cases.totals
    positive, weights = (library.take(column, order) for column in (cases.positive, cases.weights))
    counts, sizes = _weighted_counts(cases, positive, weights, last)
    return thresholds, *counts, *sizes


def device_area(cases: DeviceCases, scenario: Scenario, max_alarms: float) -> float:
    """Area of the trapezoids under the thresholds that keep the limits, in whole numbers.

    For cases without weights, few enough that products of their numbers have 64 bits.
    """
    library, xp = cases.library, cases.library.xp
    _, order, last = _ranked(cases)
    tp = xp.astype(_positives_up_to(cases, order, last), xp.int64)
    alarms = xp.astype(last, xp.int64) + 1
    floor, recall = scenario.floor, scenario.recall_floor
    precise = tp * floor.denominator >= alarms * floor.numerator
    recalled = tp * recall.denominator >= cases.n_positive * recall.numerator
    kept = library.where_true(precise & recalled & (alarms <= int(max_alarms)))
    if recall and not kept.shape[0]:
        return 0.0
    # Raising no alarm keeps every limit but a recall floor.
    never = xp.zeros(int(recall == 0), dtype=xp.int64, device=library.device)
    tp, alarms = (xp.concat([never, library.take(column, kept)]) for column in (tp, alarms))
    fp = alarms - tp
    doubled = int(xp.sum((fp[1:] - fp[:-1]) * (tp[1:] + tp[:-1])))
    return doubled / (2 * cases.n_positive * cases.n_negative)


def _ranked(cases: DeviceCases) -> tuple[Any, Any, Any]:
    """Return scores to compare, their falling order, and where the last of each score stands."""
    library, xp = cases.library, cases.library.xp
    keys = library.comparable(cases.scores)
    order = xp.argsort(keys, descending=True)
    starts = library.starts(library.take(keys, order))
    end = xp.full(1, len(cases), dtype=starts.dtype, device=library.device)
    return keys, order, xp.concat([starts[1:], end]) - 1


def _positives_up_to(cases: DeviceCases, order: Any, last: Any) -> Any:
    library, xp = cases.library, cases.library.xp
    kind = xp.int64 if len(cases) >= 2**31 else xp.int32
    ones = xp.astype(library.take(cases.positive, order), kind)
    return library.take(xp.cumulative_sum(ones, dtype=kind), last)


def thresholds_of(scores: AnyArray) -> AnyArray:
    """Return scores as thresholds: +inf means never alarm, and a score of it another number."""
    if scores.dtype.kind != "f" or not np.isposinf(scores).any():
        return scores
    return np.where(np.isposinf(scores), LARGEST_FINITE, scores)


def _weighted_counts(
    cases: DeviceCases, positive: Any, weights: Any, there: Any
) -> tuple[tuple[AnyArray, AnyArray], tuple[float, float, float]]:
    library, xp = cases.library, cases.library.xp
    running = [
        xp.cumulative_sum(xp.where(marks, weights, xp.zeros_like(weights)))
        for marks in (positive, ~positive)
    ]
    n_positive, n_negative = (float(sums[-1]) for sums in running)
    check_class_sizes(n_positive, n_negative, *WEIGHT_SUMS)
    tp, fp = (library.to_host(library.take(sums, there)) for sums in running)
    return (tp, fp), (n_positive, n_negative, float(xp.min(weights)))


def _one_library(named: dict[str, Any]) -> Library:
    """Return the library of all arrays, and refuse arrays that lie in different places."""
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
    """Return one value per case; a column of shape (n, 1) is that, too."""
    array, shape = library.detach(array), tuple(array.shape)
    if "complex" in library.type_name(array):
        raise ValueError(f"{name} must be real numbers; its dtype is {array.dtype}")
    if len(shape) != 1:
        # A view of one zero in that shape: the checks in memory speak about it.
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
    """Return the distinct labels; where there are more than two an error will name them."""
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
        # Said again with the scores at hand: the arguments may be swapped.
        distinct = library.to_host(library.xp.unique_values(library.comparable(scores)))
        return labels_of(witness, distinct, pos_label, both_classes=False)


def _weights(library: Library, weights: Any) -> Any:
    """Return weights in double precision; who has none cannot add them up to the last digit."""
    weights = library.xp.astype(weights, library.xp.float64)
    if library.type_name(weights) != "float64":
        raise ValueError(
            "sample_weight needs double precision, which this device or library lacks (in JAX, "
            "set jax_enable_x64); leave the weights out, or pass arrays in memory"
        )
    bad = library.where_true(~library.xp.isfinite(weights) | (weights < 0))
    if bad.shape[0]:
        values = library.to_host(library.take(weights, bad))
        raise ValueError(bad_weights("sample_weight", values, int(bad[0])))
    return weights


def _weighted(
    library: Library, labels: Any, scores: Any, weights: Any, pos_label: Any
) -> tuple[Any, Any, Any]:
    """Leave out rows of weight zero."""
    counted = library.where_true(weights > 0)
    if counted.shape[0] == weights.shape[0]:
        return labels, scores, weights
    positive = _positive(library, labels, scores, pos_label)
    _check_both_classes(library.count_true(positive), positive.shape[0])
    n_counted = library.count_true(library.take(positive, counted))
    if n_counted in (0, counted.shape[0]):
        raise ValueError(CLASS_WITHOUT_WEIGHT)
    kept = (library.take(column, counted) for column in (labels, scores, weights))
    return next(kept), next(kept), next(kept)
