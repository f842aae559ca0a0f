"""Groups of cases that are not independent of each other, such as cases of one patient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.arrays import as_vector, check_same_length, is_missing
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class GroupedCases:
    """Labels, scores and groups of cases.

    `OperatingPoints.from_scores` keeps them if ``groups`` are given.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray of float
    codes : ndarray of int
        The group of each case, numbered from 0 in the order of the names.

    Examples
    --------
    >>> labels, scores = np.array([True, False, True]), np.array([0.9, 0.8, 0.7])
    >>> cases = GroupedCases(labels, scores, group_codes(["ann", "bob", "ann"], labels))
    >>> cases.n_groups, cases.repeated, cases.sizes.tolist()
    (2, True, [2, 1])
    """

    positive: BoolArray
    scores: FloatArray
    codes: AnyArray

    @property
    def sizes(self) -> AnyArray:
        """Number of cases in each group."""
        return np.bincount(self.codes)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.codes.max()) + 1

    @property
    def repeated(self) -> bool:
        """Whether any group has more than one case."""
        return self.n_groups < len(self.codes)


def group_codes(groups: Any, positive: BoolArray, name: str = "groups") -> AnyArray:
    """Return the group of each case as a number from 0, or raise where a group is missing.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], np.array([True, False, True])).tolist()
    [1, 0, 1]
    """
    names = as_vector(groups, name)
    check_same_length(**{"y_true": positive, name: names})
    missing = missing_values(names)
    if missing.any():
        raise ValueError(
            f"{name} is missing in {np.count_nonzero(missing)} of {len(names)} cases (first at "
            f"index {np.flatnonzero(missing)[0]}); accepted is a name or number for every case"
        )
    if names.dtype == object:
        # Names of mixed types cannot be sorted.
        names = np.array([f"{type(name).__name__} {name}" for name in names.tolist()])
    return np.asarray(np.unique(names, return_inverse=True)[1])


def group_names(names: AnyArray, codes: AnyArray) -> AnyArray:
    """Return the name of each group as text, in the order of their numbers.

    Examples
    --------
    >>> group_names(np.array([7, 3, 7]), np.array([1, 0, 1])).tolist()
    ['3', '7']
    """
    first = np.unique(codes, return_index=True)[1]
    return np.array([str(name) for name in names[first].tolist()], dtype=np.str_)


def seen_before(codes: AnyArray) -> AnyArray:
    """Return the number of earlier cases of the same group for each case.

    Examples
    --------
    >>> seen_before(np.array([3, 1, 3, 3, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(codes, kind="stable")
    counts = np.empty(len(codes), dtype=np.intp)
    counts[order] = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return counts


def counts_by_group(
    codes: AnyArray,
    n_groups: int,
    scores: FloatArray,
    thresholds: FloatArray,
    weights: FloatArray | None = None,
) -> AnyArray:
    """Count the cases of each group at or above each threshold, or add up their weights.

    The result has the shape (n_groups, n_thresholds).

    Examples
    --------
    >>> scores, wards = np.array([0.9, 0.2, 0.6]), np.array([0, 0, 1])
    >>> counts_by_group(wards, 2, scores, np.array([0.5, 0.1])).tolist()
    [[1, 2], [1, 1]]
    """
    order = np.argsort(thresholds, kind="stable")
    columns = len(thresholds) + 1
    n_reached = np.searchsorted(thresholds[order], scores, side="right")
    table = np.bincount(codes * columns + n_reached, weights, minlength=n_groups * columns)
    sums = np.cumsum(table.reshape(n_groups, columns)[:, ::-1], axis=1)[:, -2::-1]
    counts = np.empty((n_groups, len(thresholds)), dtype=sums.dtype)
    counts[:, order] = sums
    return counts


def missing_values(names: AnyArray) -> BoolArray:
    """Mark the values that are missing: NaN, NaT, None, or pandas' missing value."""
    if names.dtype.kind in "fc":
        return np.isnan(names)
    if names.dtype.kind in "mM":
        return np.isnat(names)
    if names.dtype != object:
        return np.zeros(len(names), dtype=np.bool_)
    return np.array([is_missing(name) for name in names.tolist()], dtype=np.bool_)
