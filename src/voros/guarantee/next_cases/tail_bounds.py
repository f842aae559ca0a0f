"""Upper bounds on means of binomial tails, valid between the points where they are computed.

For a table h(count, precision) and a count that is binomial(trials, chance), the mean of h is a
polynomial in the chance. Between two chances it differs from a straight line by at most an eighth
of their squared distance times the largest second derivative, and that derivative is
trials (trials - 1) times the sum of h against second differences of binomial probabilities. A
second difference takes no notice of anything linear in the count, and the absolute ones sum to at
most 4 / (e trials chance (1 - chance)); far from the mean they sum to at most four times the
probability to be there. So a line between two computed means, raised by what the table deviates
from linear, is an upper bound. The proof is in the documentation (guarantees.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainc, gammaln

from voros.guarantee.binomial_tests import at_least
from voros.guarantee.tuning import TUNING
from voros.typing import AnyArray, FloatArray

IMPOSSIBLE = -1e4
"""Stands for the logarithm of 0: its exponential is 0."""

LEAST_LOG, LEAST = -300.0, 1e-120
"""Smaller probabilities are raised to this: numbers that are hardly above 0 are slow to compute."""


@dataclass(frozen=True)
class Means:
    """Means at some chances, and how far a line between two neighbours may fall short.

    Attributes
    ----------
    values : ndarray of shape (n_chances, n_precisions)
    slack : ndarray of shape (n_chances - 1, n_precisions)
    """

    values: FloatArray
    slack: FloatArray

    def lines(self) -> FloatArray:
        """Bounds where each part begins; shape (n_chances - 1, TUNING.parts, n_precisions)."""
        along = (np.arange(TUNING.parts) / TUNING.parts)[:, None]
        lines = along * np.diff(self.values, axis=0)[:, None]
        lines += (self.values[:-1] + self.slack)[:, None]
        return np.asarray(lines)

    def within_parts(self) -> FloatArray:
        """Bounds over each part; shape ((n_chances - 1) * TUNING.parts, n_precisions)."""
        begin = self.lines()
        last = (self.values[1:] + self.slack)[:, None]
        highest = np.maximum(begin, np.concatenate([begin[:, 1:], last], axis=1))
        highest += TUNING.cut_off
        np.minimum(highest, 1.0, out=highest)
        return np.asarray(highest.reshape(-1, self.values.shape[1]))


class TailTable:
    """Probabilities of at least ``needed[i]`` successes in ``first + i`` trials.

    One row for each number of trials, one column for each chance of success. Rows are computed in
    blocks from the one before, by one probability each, and forgotten when they are passed.

    Parameters
    ----------
    first : int
    needed : ndarray of int
        Rises by 0 or 1. Beyond its end nothing suffices.
    success : ndarray of float
        Chances of success.

    Examples
    --------
    >>> table = TailTable(1, np.array([1, 1, 2]), np.array([0.5]))
    >>> table.rows(1, 4).ravel().tolist()
    [0.5, 0.75, 0.5, 0.0]
    """

    def __init__(self, first: int, needed: AnyArray, success: FloatArray) -> None:
        self.first, self.needed, self.success = first, needed, success
        enough = int(needed[0])
        row = np.ones_like(success) if enough < 1 else np.zeros_like(success)
        if 1 <= enough <= first:
            row = betainc(enough, first - enough + 1.0, success)
        self._low, self._rows = first, row[None]

    @property
    def last(self) -> int:
        """The last number of trials with which anything suffices."""
        return self.first + len(self.needed) - 1

    def keep(self, n_columns: int) -> None:
        """Forget all columns but the first."""
        if n_columns < len(self.success):
            self.success, self._rows = self.success[:n_columns], self._rows[:, :n_columns]

    def rows(self, low: int, high: int) -> FloatArray:
        """Return the rows from ``low`` to ``high``; ``low`` never falls from call to call."""
        reach = min(high, self.last)
        while self._low + len(self._rows) <= reach:
            self._extend(min(self.last, self._low + len(self._rows) + TUNING.block - 1))
        self._rows, self._low = self._rows[low - self._low :], low
        kept = self._rows[: max(high - low + 1, 0)]
        empty = np.zeros((high - low + 1 - len(kept), len(self.success)))
        return np.concatenate([kept, empty]) if len(empty) else kept

    def _extend(self, to: int) -> None:
        """Add rows: one more trial helps where the needed stay, and harms where they rise."""
        known = self._low + len(self._rows) - 1
        change = _changes(np.arange(known, to), self.needed[known - self.first :], self.success)
        change[0] += self._rows[-1]
        added = np.cumsum(change, axis=0, out=change)
        self._rows = np.concatenate([self._rows, np.clip(added, LEAST, 1.0, out=added)])


def _changes(trials: AnyArray, needed: AnyArray, success: FloatArray) -> FloatArray:
    """Return what one trial more adds to the chance of enough successes, for each chance of one.

    If N stay needed, N - 1 of *a* successes and one more help: C(a, N - 1) s^N (1 - s)^(a + 1 - N).
    If N become N + 1, exactly N of *a* and then none harm: C(a, N) s^N (1 - s)^(a + 1 - N).
    """
    rises, needed = np.diff(needed[: len(trials) + 1]), needed[: len(trials)]
    count = needed - 1 + rises
    inside = np.clip(count, 0, trials)
    ways = gammaln(trials + 1.0) - gammaln(inside + 1.0) - gammaln(trials - inside + 1.0)
    sign = np.where(count == inside, 1.0 - 2.0 * rises, 0.0)
    # Entries with sign 0 are not used, but must be finite.
    powers = np.clip([needed, trials + 1 - needed], 0, None)
    change = powers.T @ finite_logs(success) + ways[:, None]
    np.exp(np.maximum(change, LEAST_LOG, out=change), out=change)
    change *= sign[:, None]
    return np.asarray(change)


def finite_logs(chance: FloatArray) -> FloatArray:
    """Logarithms of chances and of their complements, finite: nothing to the power 0 is 1."""
    with np.errstate(divide="ignore"):
        return np.maximum([np.log(chance), np.log1p(-chance)], IMPOSSIBLE)


def windows(
    trials: int, chances: FloatArray, spread: float = TUNING.spread
) -> tuple[AnyArray, AnyArray]:
    """Return the least and the greatest counts that need be looked at.

    Examples
    --------
    >>> [ends.tolist() for ends in windows(1000, np.array([0.0, 0.5]))]
    [[0, 382], [8, 618]]
    """
    middle = trials * chances
    away = spread * (np.sqrt(middle * (1 - chances)) + 1)
    low = np.maximum(0, (middle - away).astype(np.int64))
    return low, np.minimum(trials, (middle + away).astype(np.int64) + 1)


def _firsts(n_points: int) -> AnyArray:
    """Return where groups of neighbouring points begin: small ones first, where counts are few."""
    first = np.arange(0, min(n_points, TUNING.first_points), TUNING.together_first)
    return np.append(first, np.arange(TUNING.first_points, n_points, TUNING.together))


class BinomialCounts:
    """Binomial counts at rising chances: their probabilities, ready for any table.

    Parameters
    ----------
    trials : int
    chances : ndarray of float
        Rising.

    Examples
    --------
    The mean of a table of the probability of any success in none, one or two trials:

    >>> counts = BinomialCounts(2, np.array([0.0, 0.5, 1.0]))
    >>> table = TailTable(0, np.array([1, 1, 1]), np.array([0.5]))
    >>> counts.means(table).values.ravel().round(4).tolist()
    [0.0, 0.4375, 0.75]
    """

    def __init__(self, trials: int, chances: FloatArray) -> None:
        self.trials, self.chances = trials, chances
        self._firsts = _firsts(len(chances))
        self._windows = [self._ends(spread) for spread in (*TUNING.shells, TUNING.spread)]
        counts = np.arange(self._windows[-1][1][-1] + 1.0)
        self._ways = gammaln(trials + 1.0) - gammaln(counts + 1) - gammaln(trials - counts + 1)
        self._bends = self._bend_factors()

    def _ends(self, spread: float) -> tuple[AnyArray, AnyArray]:
        """Return the least and the greatest count of each group of neighbouring chances."""
        low, high = windows(self.trials, self.chances, spread)
        return low[self._firsts], high[np.append(self._firsts[1:], len(self.chances) - 1)]

    def _bend_factors(self) -> FloatArray:
        """Return what a mean may bend with ranges of a table, between neighbouring chances.

        The first column is of the inner window: half the sum of absolute second differences. The
        others are of the windows about it: four times the probability to lie outside the one
        within.
        """
        steps = (self.trials * np.diff(self.chances)) ** 2 / 8
        group = np.searchsorted(self._firsts, np.arange(len(steps)), side="right") - 1
        factors = [second_differences(self.trials, self.chances) / 2]
        for low, high in self._windows[:-1]:
            below = 1 - at_least(low[group], self.trials - 2, self.chances[:-1])
            above = at_least(high[group] - 1, self.trials - 2, self.chances[1:])
            factors.append(4 * (below + above))
        return np.asarray(steps[:, None] * np.stack(factors, axis=1))

    @cached_property
    def _groups(self) -> list[tuple[slice, int, FloatArray]]:
        """Neighbouring chances, the least count of theirs, and the probabilities from there on."""
        ends = np.append(self._firsts[1:], len(self.chances))
        groups = []
        for first, end, low, high in zip(self._firsts, ends, *self._windows[-1], strict=True):
            mass = self._mass(self.chances[first:end], int(low), int(high))
            groups.append((slice(int(first), int(end)), int(low), mass))
        return groups

    def _mass(self, chances: FloatArray, low: int, high: int) -> FloatArray:
        counts = np.arange(low, high + 1)
        powers = np.stack([counts, self.trials - counts], axis=1)
        log_mass = finite_logs(chances).T @ powers.T + self._ways[low : high + 1]
        mass = np.exp(np.maximum(log_mass, LEAST_LOG))
        # Large logarithms differ by large rounding errors, which are the same for all counts.
        return np.asarray(mass / mass.sum(axis=1, keepdims=True))

    def means(self, table: TailTable, offset: int = 0, columns: AnyArray | None = None) -> Means:
        """Mean rows of a table, for ``offset`` plus a count, at each chance.

        Parameters
        ----------
        table : TailTable
            It is used up: it forgets the rows and columns that are passed.
        offset : int
        columns : ndarray of int, optional
            How many of the first columns matter from each chance on; it does not rise. All
            others are 1.
        """
        values = np.ones((len(self.chances), len(table.success)))
        slack = np.zeros((len(self.chances) - 1, len(table.success)))
        for i, (group, low, mass) in enumerate(self._groups):
            if columns is not None:
                table.keep(int(columns[group.start]))
            rows = table.rows(offset + low, offset + low + mass.shape[1] - 1)
            values[group, : rows.shape[1]] = _product(mass, rows)
            inner = [(int(ends[0][i]) - low, int(ends[1][i]) - low) for ends in self._windows[:-1]]
            slack[group, : rows.shape[1]] = self._bends[group] @ _ranges_about_a_line(rows, inner)
        return Means(values, slack)


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Matrix product in pieces so small that it is not divided between threads, which wait."""
    size = max(1, TUNING.product_size // (len(left) * right.shape[1]))
    first, *others = (slice(i, i + size) for i in range(0, len(right), size))
    product = left[:, first] @ right[first]
    for piece in others:
        product += left[:, piece] @ right[piece]
    return np.asarray(product)


def _ranges_about_a_line(rows: FloatArray, inner: list[tuple[int, int]]) -> FloatArray:
    """Bound the range of deviations from a line in each column, over nested windows of rows.

    Rows are taken together in bands; from one to the next the line rises by `rise`.

    Parameters
    ----------
    rows : ndarray
    inner : list of (first row, last row)
        Windows inside; the line is that of the first.
    """
    size = max(1, len(rows) // TUNING.bands)
    high, low = _bands(rows, size) if size > 1 else (rows, rows)
    spans = [*(slice(first // size, last // size + 1) for first, last in inner), slice(None)]
    core = high[spans[0]]
    half = max(len(core) // 2, 1)
    share = 1 / (half * max(len(core) - half, 1))
    rise = share * (core[-half:].sum(axis=0) - core[:half].sum(axis=0))
    line = rise * np.arange(len(high))[:, None]
    above, under = high - line, low - line
    about = [above[span].max(axis=0) - under[span].min(axis=0) for span in spans]
    return np.asarray(np.asarray(about) + (size - 1) / size * np.abs(rise))


def _bands(rows: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest and the smallest of every few rows; the last bands may overlap."""
    n_full = len(rows) // size * size
    bands = rows[:n_full].reshape(-1, size, rows.shape[1])
    ends = rows[n_full:] if n_full < len(rows) else rows[-1:]
    high, low = bands.max(axis=1), bands.min(axis=1)
    return np.vstack([high, ends.max(axis=0)]), np.vstack([low, ends.min(axis=0)])


def second_differences(trials: FloatArray | int, chances: FloatArray) -> FloatArray:
    """Bound the sum of absolute second differences of probabilities between chances."""
    spread = chances * (1 - chances)
    variance = np.maximum(trials - 3, 0) * np.minimum(spread[1:], spread[:-1])
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(4.0, 4 / (math.e * variance)))
