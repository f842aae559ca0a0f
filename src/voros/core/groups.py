"""Whose case it is: groups of cases that are not independent of each other, such as patients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from voros.core.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    as_vector,
    check_same_length,
    is_missing,
)


@dataclass(frozen=True, eq=False)
class GroupedCases:
    """Labels and scores of cases, and the group that each belongs to.

    `OperatingPoints.from_scores` keeps them where it is given ``groups``.

    Attributes
    ----------
    positive : ndarray of bool
    scores : ndarray of float
    codes : ndarray of int
        The group of each case, from 0; numbered in the order of their names.

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
        """Cases of each group."""
        return np.bincount(self.codes)

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.codes.max()) + 1

    @property
    def repeated(self) -> bool:
        """Whether some group has more than one case."""
        return self.n_groups < len(self.codes)


def group_codes(groups: Any, positive: BoolArray) -> AnyArray:
    """Return the group of each case as a number from 0, or raise where some case has none.

    Examples
    --------
    >>> group_codes(["b", "a", "b"], np.array([True, False, True])).tolist()
    [1, 0, 1]
    """
    names = as_vector(groups, "groups")
    check_same_length(y_true=positive, groups=names)
    missing = _missing(names)
    if missing.any():
        raise ValueError(
            f"groups is missing in {np.count_nonzero(missing)} of {len(names)} cases (first at "
            f"index {np.flatnonzero(missing)[0]}); accepted is a name or number for every case"
        )
    if names.dtype == object:
        # Names of mixed types cannot be sorted as they are.
        names = np.array([f"{type(name).__name__} {name}" for name in names.tolist()])
    return np.asarray(np.unique(names, return_inverse=True)[1])


def _missing(names: AnyArray) -> BoolArray:
    if names.dtype.kind in "fc":
        return np.isnan(names)
    if names.dtype.kind in "mM":
        return np.isnat(names)
    if names.dtype != object:
        return np.zeros(len(names), dtype=np.bool_)
    return np.array([is_missing(name) for name in names.tolist()], dtype=np.bool_)
