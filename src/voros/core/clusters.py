"""Cases that come in groups, such as several of one patient: how many independent ones they equal.

Cases of one group are alike, so a share of them varies more from sample to sample than one of as
many independent cases. The *design effect* is the ratio of the two variances. Korn and Graubard
(1998) divide the numbers of cases by it and put them into the limits of Clopper and Pearson; with
few groups the variance is itself unsure, and the numbers fall by the square of the ratio of the
normal to Student's quantile.

Where no case of a share missed, or none hit, groups cannot be seen to differ; where few of many
sizes hit, the next to hit may be a large one. So one group that went the other way is added to the
variance. Groups count in a variance by the squares of their sizes, and so they do for its size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from voros.core.grouped_cases import counts_by_group
from voros.typing import AnyArray, BoolArray, FloatArray


def effective_groups(*sizes: AnyArray) -> float:
    """Return how many equal groups vary as much as groups of these sizes (Kish, 1965).

    Given the sizes of groups in each class it is the least over classes: a recall, and so a cost,
    hangs on the groups that hold positives.

    Examples
    --------
    >>> effective_groups(np.array([5, 5, 5, 5]))
    4.0
    >>> round(effective_groups(np.array([5, 5, 5, 5]), np.array([17, 1, 1, 1])), 2)
    1.37
    """
    arrays = (np.asarray(size, dtype=np.float64) for size in sizes)
    return float(min(np.sum(size) ** 2 / np.sum(size**2) for size in arrays))


def groups_in_variance(sizes: AnyArray) -> FloatArray:
    """Return, for each column, how many equal groups leave a variance as unsure as these sizes.

    A variance is a sum over groups in which large ones count by the squares of their sizes; its
    degrees of freedom are one less (Satterthwaite, 1946).

    Examples
    --------
    >>> groups_in_variance(np.array([[5, 17], [5, 1], [5, 1], [5, 0]])).round(2).tolist()
    [4.0, 1.01]
    """
    squares = np.square(sizes, dtype=np.float64)
    total, fourth = squares.sum(axis=0), np.square(squares).sum(axis=0)
    n_groups = np.divide(total**2, fourth, out=np.ones(total.shape), where=fourth > 0)
    return np.asarray(n_groups)


def allowance(n_groups: float, tail: float) -> float:
    """Return the share of the cases that is left where the variance comes from few groups.

    Examples
    --------
    >>> round(allowance(8.0, 0.025), 3), allowance(np.inf, 0.025)
    (0.687, 1.0)
    """
    from scipy.special import ndtri, stdtrit

    if not np.isfinite(n_groups):
        return 1.0
    return float(ndtri(tail) / stdtrit(max(n_groups - 1, MIN_DEGREES), tail)) ** 2


MIN_DEGREES = 1.0
"""Degrees of freedom of Student's distribution are not taken to be fewer."""


@dataclass(frozen=True, eq=False)
class GroupedCounts:
    """Alarms at thresholds in each group.

    Attributes
    ----------
    tp, fp : ndarray of shape (n_groups, n_thresholds)
    n_positive, n_negative : ndarray of shape (n_groups, 1)
    """

    tp: AnyArray
    fp: AnyArray
    n_positive: AnyArray
    n_negative: AnyArray

    @classmethod
    def from_cases(
        cls, codes: AnyArray, positive: BoolArray, scores: AnyArray, thresholds: FloatArray
    ) -> GroupedCounts:
        """Count the alarms of each group, of which ``codes`` are the numbers from 0.

        Examples
        --------
        >>> codes, ill = np.array([0, 0, 1]), np.array([True, False, True])
        >>> result = GroupedCounts.from_cases(codes, ill, np.array([3, 2, 1]), np.array([2, 1]))
        >>> result.tp.tolist(), result.fp.tolist(), result.n_positive.ravel().tolist()
        ([[1, 1], [0, 1]], [[1, 1], [0, 0]], [1, 1])
        """
        n_groups = int(codes.max()) + 1
        (tp, n_positive), (fp, n_negative) = (
            (
                counts_by_group(codes[which], n_groups, scores[which], thresholds),
                np.bincount(codes[which], minlength=n_groups)[:, None],
            )
            for which in (positive, ~positive)
        )
        return cls(tp, fp, n_positive, n_negative)

    def take(self, rows: AnyArray) -> GroupedCounts:
        """Return the counts at some of the thresholds."""
        return replace(self, tp=self.tp[:, rows], fp=self.fp[:, rows])

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.tp)

    @property
    def n_effective(self) -> float:
        """How many equal groups these count as."""
        return effective_groups(*self._sizes)

    @property
    def n_sure(self) -> float:
        """How many equal groups would leave the variance as unsure, in the class with fewer."""
        return float(min(groups_in_variance(size)[0] for size in self._sizes))

    @property
    def _sizes(self) -> list[AnyArray]:
        return [size for size in (self.n_positive, self.n_negative) if size.any()]


@dataclass(frozen=True, eq=False)
class GroupedShare:
    """How much a share of hits among cases varies, where both are known in each group.

    Attributes
    ----------
    design : ndarray of shape (n_thresholds,)
        The design effect, at least 1.
    residuals : ndarray of shape (n_groups, n_thresholds)
        What each group adds to the error of the share; their squares add up to its variance.
    """

    design: FloatArray
    residuals: FloatArray

    @classmethod
    def from_counts(cls, hits: AnyArray, cases: AnyArray) -> GroupedShare:
        """Linearise the ratio of two sums over groups.

        Examples
        --------
        Groups of four cases that hit or miss together are a case each, and with ten of them a
        little less:

        >>> hits = 4 * (np.arange(10) < 5)[:, None]
        >>> GroupedShare.from_counts(hits, np.full((10, 1), 4)).design.round(1).tolist()
        [4.3]
        """
        hits, cases = np.broadcast_arrays(hits.astype(np.float64), cases.astype(np.float64))
        total, n_groups = cases.sum(axis=0), len(hits)
        rate = np.divide(hits.sum(axis=0), total, out=np.zeros(len(total)), where=total > 0)
        off = (hits - rate * cases) * np.sqrt(n_groups / max(n_groups - 1, 1))
        n_sure = groups_in_variance(cases)
        varied = np.sum(off**2, axis=0) + np.sum(cases**2, axis=0) / n_sure
        independent = total * rate * (1 - rate) + total / n_sure
        design = np.divide(varied, independent, out=np.ones(len(total)), where=independent > 0)
        residuals = np.divide(off, total, out=np.zeros(off.shape), where=total > 0)
        return cls(np.maximum(design, 1.0), residuals)
