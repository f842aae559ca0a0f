"""Upper bounds on products of two smooth probabilities, over a whole grid.

A probability that depends on a share of alarms and on a precision lies, within a cell of a grid,
below the bilinear interpolation of its corners plus a bound on its second derivatives. The product
of two bilinear functions is a polynomial of degree two in either direction, and lies below the
largest of its Bernstein coefficients: products of corners, and means of such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from voros.guarantee.next_cases.tail_bounds import second_differences
from voros.guarantee.tuning import TUNING
from voros.typing import BoolArray, FloatArray

FEWEST_TRIALS = 9
"""From as many trials on the bound on a second derivative rises with them."""


@dataclass(frozen=True)
class GridBound:
    """Values of a probability on a grid, and how far it may lie above their interpolation.

    Attributes
    ----------
    values : ndarray of shape (n_shares, n_precisions)
    along_shares : ndarray of shape (n_shares - 1, n_precisions - 1)
        What to add between two shares, at any precision between two neighbours.
    along_precisions : ndarray of shape (n_precisions - 1,)
        What to add between two precisions.
    rises : bool
        Whether it rises with the precision; otherwise it falls.
    """

    values: FloatArray
    along_shares: FloatArray
    along_precisions: FloatArray
    rises: bool

    def highest(self) -> FloatArray:
        """Return bounds over each cell."""
        corners, more = self.corners()
        return np.asarray(corners.max(axis=(0, 1)) + more)

    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Return the corners of an upper bilinear bound, of shape (2, 2, ...), and what to add.

        Between two precisions the bound is the interpolation and what to add, or the larger of the
        two: whichever is lower.
        """
        pairs = np.stack([self.values[:, :-1], self.values[:, 1:]])
        larger = pairs[1] if self.rises else pairs[0]
        gap = np.abs(pairs[1] - pairs[0])
        gap = np.maximum(gap[:-1], gap[1:])
        line = self.along_precisions < gap / 2
        ends = np.stack([pairs[:, :-1], pairs[:, 1:]], axis=1)
        flat = np.stack([larger[:-1], larger[1:]])[None]
        added = self.along_shares + np.where(line, self.along_precisions, 0.0)
        return np.where(line, ends, flat), np.minimum(added + TUNING.cut_off, 1.0)


def largest_product(one: GridBound, other: GridBound) -> float:
    """Bound the product of two probabilities over the whole grid."""
    (a, more_a), (b, more_b) = one.corners(), other.corners()
    between = [a[i, j] * b[i, j] for i in (0, 1) for j in (0, 1)]
    between += [(a[i, 0] * b[i, 1] + a[i, 1] * b[i, 0]) / 2 for i in (0, 1)]
    between += [(a[0, j] * b[1, j] + a[1, j] * b[0, j]) / 2 for j in (0, 1)]
    between += [(a[0, 0] * b[1, 1] + a[1, 1] * b[0, 0] + a[0, 1] * b[1, 0] + a[1, 0] * b[0, 1]) / 4]
    highest_a, highest_b = a.max(axis=(0, 1)), b.max(axis=(0, 1))
    extra = more_a * highest_b + more_b * highest_a + more_a * more_b
    return float((np.maximum.reduce(between) + extra).max())


def chance_levels(least: float) -> FloatArray:
    """Return rising chances of a broken limit from ``least`` on, evenly apart as deviates."""
    return ndtr(np.arange(ndtri(least), TUNING.last_deviate, TUNING.deviate_step))


def largest_sum(passing: GridBound, breaking: GridBound, n_steps: int, ignored: float) -> float:
    """Bound the sum of (b_j - b_(j-1)) P(b_j) over rising chances b_1, ..., b_n of a broken limit.

    P(b) is the largest chance to pass where the chance to break is at least b. Differences up to
    ``ignored`` in either chance are not looked at, but added.
    """
    levels = np.append(0.0, chance_levels(ignored))
    order = np.argsort(breaking.values, axis=None)[::-1]
    broken = breaking.values.ravel()[order]
    passed = np.append(0.0, np.maximum.accumulate(passing.values.ravel()[order]))

    def passed_at(chance: FloatArray) -> FloatArray:
        """Largest chance to pass at a point of the grid that breaks at least so often."""
        return np.asarray(passed[np.searchsorted(-broken, -chance, side="right")])

    # Cells that do not exceed some point are bounded by that point.
    most_broken = breaking.highest()
    cells = (passing.highest() > passed_at(most_broken) + ignored) & (most_broken > ignored)
    pass_chance, break_chance = (_within_parts(chance, cells) for chance in (passing, breaking))
    highest = np.zeros(len(levels) + 1)
    np.maximum.at(highest, np.searchsorted(levels, break_chance), pass_chance)
    # Where the chance to break is above a level, up to the next one.
    highest = np.maximum.accumulate(highest[::-1])[::-1]
    ends = np.append(levels[1:], 1.0)
    above = np.maximum(highest[1:], passed_at(levels))
    return largest_path(ends, above, n_steps) + 2 * ignored


def largest_path(levels: FloatArray, highest: FloatArray, n_steps: int) -> float:
    """Return the largest sum of rises of the level, each times the highest chance there."""
    best = levels * highest
    for _ in range(n_steps - 1):
        further = best[:, None] + (levels - levels[:, None]) * highest
        best = np.maximum(best, np.where(levels > levels[:, None], further, 0.0).max(axis=0))
    return float(best.max())


def _within_parts(bound: GridBound, cells: BoolArray) -> FloatArray:
    """Bound a probability within parts of some cells: at the corners of a part it is largest."""
    corners, more = bound.corners()
    kept = corners[:, :, cells]
    # corners[i, j]: i along the precisions, j along the shares.
    n_precisions, n_shares = TUNING.cell_parts
    along = np.linspace(0.0, 1.0, n_shares + 1)[:, None]
    sides = kept[:, 0, None] + along * (kept[:, 1] - kept[:, 0])[:, None]
    sides = np.maximum(sides[:, :-1], sides[:, 1:])
    along = np.linspace(0.0, 1.0, n_precisions + 1)[:, None, None]
    nodes = sides[0] + along * (sides[1] - sides[0])
    highest = np.maximum(nodes[:-1], nodes[1:])
    return np.asarray(np.minimum(highest + more[cells], 1.0).ravel())


def bend(trials: FloatArray | int, chances: FloatArray) -> FloatArray:
    """Bound how far a polynomial in a chance lies above a line between two of them.

    Of the mean of a table within [0, 1] over a binomial count, and of a binomial tail: the second
    derivative is trials (trials - 1) times a sum that is at most half of the sum of all absolute
    second differences of binomial probabilities. With fewer trials it is smaller.
    """
    trials = np.maximum(trials, FEWEST_TRIALS)
    sums = second_differences(trials, chances)
    return np.asarray(np.diff(chances) ** 2 / 8 * trials * (trials - 1) * sums / 2)
