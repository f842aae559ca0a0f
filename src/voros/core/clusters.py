"""Effective sample sizes for cases in groups, such as several cases of one patient.

Cases of one group are alike, so a share of them varies more between samples than that of the same
number of independent cases. The *design effect* is the ratio of the two variances. Korn and
Graubard (1998) divide the numbers of cases by it and use them in the limits of Clopper and Pearson.
With few groups the variance itself is uncertain, and the numbers are multiplied by the square of
the ratio of the normal quantile to Student's.

Where the share is 0 or 1, groups cannot be seen to differ, and where few groups of different sizes
have hits, the next to have one may be large. Therefore one more group with the opposite outcome is
added to the variance. Its size weights the groups by the squares of their sizes, as a variance
does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.core.grouped_cases import counts_by_group
from voros.typing import AnyArray, BoolArray, FloatArray


def effective_groups(*sizes: AnyArray) -> float:
    """Return the number of equal groups with the same variance as these sizes (Kish, 1965).

    For sizes in each class it is the minimum over the classes, because a recall, and therefore a
    cost, depends on the groups with positives.

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
    """Return, for each column, the number of equal groups with an equally uncertain variance.

    A variance is a sum over groups, weighted by the squares of their sizes; its degrees of freedom
    are one less than this number (Satterthwaite, 1946).

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
    """Return the factor for numbers of cases where the variance comes from few groups.

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
"""Smallest number of degrees of freedom for Student's distribution."""


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
        """Count the alarms of each group; ``codes`` are the group numbers of the cases, from 0.

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

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.tp)

    @property
    def n_cases(self) -> AnyArray:
        """Number of cases in each group, of shape (n_groups, 1)."""
        return self.n_positive + self.n_negative

    @property
    def n_effective(self) -> float:
        """Number of equal groups with the same variance."""
        return effective_groups(*self._sizes)

    @property
    def n_sure(self) -> float:
        """Number of equal groups with an equally uncertain variance, in the class with fewer."""
        return float(min(groups_in_variance(size)[0] for size in self._sizes))

    @property
    def _sizes(self) -> list[AnyArray]:
        return [size for size in (self.n_positive, self.n_negative) if size.any()]


@dataclass(frozen=True, eq=False)
class GroupedShare:
    """The variance of a share of hits among cases in groups.

    Attributes
    ----------
    design : ndarray of shape (n_thresholds,)
        The design effect, at least 1.
    residuals : ndarray of shape (n_groups, n_thresholds)
        Contribution of each group to the error of the share; their squares add up to its variance.
    """

    design: FloatArray
    residuals: FloatArray

    @classmethod
    def from_counts(cls, hits: AnyArray, cases: AnyArray) -> GroupedShare:
        """Linearise the ratio of two sums over groups.

        Examples
        --------
        Groups of four cases with equal outcomes count as about one case each, a little less with
        ten groups:

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
