"""Upper bounds on means of binomial tails in closed form, for many alarms.

Zubkov and Serov (2013): for X binomial(a, p) and k = 0, ..., a - 1, with the signed root
T(x) = sign(x - p) sqrt(2 a KL(x, p)) of the relative entropy,

    Phi(T(k / a)) <= P(X <= k) <= Phi(T((k + 1) / a)).

So P(X >= N) is at most Phi(-T((N - 1) / a)): about the probability of half a true positive less
than N, which is little where alarms are many. Over a range of counts *a* the bound is taken at the
end where it is largest. The cost does not grow with the number of cases.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import ndtr, xlogy

from voros.guarantee.binomial_tests import at_least
from voros.guarantee.next_cases.tail_bounds import windows
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, FloatArray


def tail_bound(
    alarms: tuple[AnyArray, AnyArray], share: FloatArray, success: FloatArray
) -> FloatArray:
    """Bound P(Bin(a, success) >= N) wherever a lies within a range and (N - 1)/a >= share.

    Parameters
    ----------
    alarms : tuple of ndarray
        The least and the greatest a of each range.
    share : ndarray
        The least (N - 1)/a of each range.
    success : ndarray
        Chances of success.

    Returns
    -------
    ndarray of shape (n_ranges, n_success)

    Examples
    --------
    At least 60 of 100 at a chance of .5 has a probability of .0284:

    >>> range_of_one = np.array([100])
    >>> tail_bound((range_of_one, range_of_one), np.array([0.59]), np.array([0.5])).round(4)
    array([[0.0355]])
    """
    x = np.minimum(share, 1.0)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = xlogy(x, x / success) + xlogy(1 - x, (1 - x) / (1 - success))
    entropy = np.where(np.isnan(entropy), 0.0, np.maximum(entropy, 0.0))
    # Above its mean a tail is largest with the fewest trials, below it with the most.
    above = x > success
    trials = np.where(above, alarms[0][:, None], alarms[1][:, None])
    root = np.sqrt(2 * trials * entropy)
    return np.asarray(ndtr(np.where(above, -root, root)))


def count_ranges(low: int, high: int) -> AnyArray:
    """Return where ranges of counts begin, in ratios of about `Tuning.count_ratio`.

    Examples
    --------
    >>> count_ranges(1000, 1010).tolist()
    [1000, 1004, 1008]
    """
    steps = int(np.ceil(np.log((high + 1) / low) / np.log(TUNING.count_ratio)))
    begins = low * TUNING.count_ratio ** np.arange(max(steps, 1))
    return np.unique(begins.astype(np.int64))


class ManyCounts:
    """Binomial counts between neighbouring chances, in ranges: bounds on the means of tails.

    Summation by parts: a mean is the first tail plus each rise times the chance to reach it. That
    chance grows with the chance of one trial, so rises are taken at the greater of two neighbours
    and falls at the lesser.

    Parameters
    ----------
    trials : int
    chances : ndarray of float
        Rising.
    offset : int, optional
        Added to the counts.

    Attributes
    ----------
    begins, ends : ndarray of int
        The first and the last count of each range, with the offset.
    """

    def __init__(self, trials: int, chances: FloatArray, offset: int = 0) -> None:
        low, high = windows(trials, chances)
        self.begins = count_ranges(offset + int(low[0]), offset + int(high[-1]))
        self.ends = np.append(self.begins[1:] - 1, offset + int(high[-1]))
        # Counts below the first range between two chances are taken to belong to it.
        first = np.searchsorted(self.begins, offset + low[:-1], side="right") - 1
        stop = np.searchsorted(self.begins, offset + high[1:], side="right")
        self._between = [
            slice(i, j - 1) for i, j in zip(first.tolist(), stop.tolist(), strict=True)
        ]
        self._reached = [
            tuple(at_least(self.begins[i + 1 : j] - offset, trials, chance) for chance in pair)
            for i, j, pair in zip(first, stop, pairwise(chances.tolist()), strict=True)
        ]

    def __len__(self) -> int:
        return len(self._between)

    def mean_bounds(self, tails: FloatArray) -> FloatArray:
        """Bound the means of tails for all chances between neighbours.

        Parameters
        ----------
        tails : ndarray of shape (n_ranges, n_success)
            Bounds within each range of counts.

        Returns
        -------
        ndarray of shape (n_chances - 1, n_success)
        """
        rises = np.diff(tails, axis=0)
        up, down = np.maximum(rises, 0.0), np.minimum(rises, 0.0)
        bounds = np.array(
            [
                tails[between.start] + most @ up[between] + least @ down[between]
                for between, (least, most) in zip(self._between, self._reached, strict=True)
            ]
        ).reshape(-1, tails.shape[1])
        return np.asarray(np.clip(bounds + TUNING.cut_off, 0.0, 1.0))
