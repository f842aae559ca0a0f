"""Upper bounds on means of binomial tails, valid between the points where they are computed.

For a table h(count, precision) and a count that is binomial(trials, chance), the mean of h is a
polynomial in the chance. Between two chances it differs from a straight line by at most an eighth
of their squared distance times the largest second derivative, and that derivative is
trials (trials - 1) times the sum of h against second differences of binomial probabilities. A
second difference takes no notice of anything linear in the count, and the absolute ones sum to at
most 4 / (e trials chance (1 - chance)). So a line between two computed means, raised by what the
table deviates from linear, is an upper bound. The proof is in the documentation (guarantees.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, gammaln

from voros.core.arrays import AnyArray, FloatArray
from voros.guarantee.tuning import TUNING

IMPOSSIBLE = -1e4
"""Stands for the logarithm of 0: its exponential is 0."""


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
        before, after = self.values[:-1, None], self.values[1:, None]
        return np.asarray((1 - along) * before + along * after + self.slack[:, None])

    def within_parts(self) -> FloatArray:
        """Bounds over each part; shape ((n_chances - 1) * TUNING.parts, n_precisions)."""
        begin = self.lines()
        last = (self.values[1:] + self.slack)[:, None]
        highest = np.maximum(begin, np.concatenate([begin[:, 1:], last], axis=1))
        return np.asarray(
            np.minimum(highest.reshape(-1, self.values.shape[1]) + TUNING.cut_off, 1.0)
        )


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
        self._low, self._rows = first, self._first_row()[None]

    @property
    def last(self) -> int:
        """The last number of trials with which anything suffices."""
        return self.first + len(self.needed) - 1

    def rows(self, low: int, high: int) -> FloatArray:
        """Return the rows from ``low`` to ``high``; ``low`` never falls from call to call."""
        reach = min(high, self.last)
        while self._low + len(self._rows) <= reach:
            self._extend(min(self.last, self._low + len(self._rows) + TUNING.block - 1))
        self._rows, self._low = self._rows[low - self._low :], low
        found = self._rows[: max(high - low + 1, 0)]
        empty = np.zeros((high - low + 1 - len(found), len(self.success)))
        return np.concatenate([found, empty]) if len(empty) else found

    def _first_row(self) -> FloatArray:
        needed = int(self.needed[0])
        if needed <= 0 or needed > self.first:
            return np.full(len(self.success), float(needed <= 0))
        return np.asarray(bdtrc(needed - 1.0, self.first, self.success))

    def _extend(self, to: int) -> None:
        """Add rows: one more trial helps where the needed stay, and harms where they rise."""
        known = self._low + len(self._rows) - 1
        trials = np.arange(known, to)
        needed = self.needed[trials - self.first]
        rises = np.diff(self.needed[known - self.first : to + 1 - self.first])[:, None] > 0
        mass = _mass(trials, np.where(rises[:, 0], needed, needed - 1), self.success)
        change = np.where(rises, (self.success - 1) * mass, self.success * mass)
        added = np.clip(self._rows[-1] + np.cumsum(change, axis=0), 0.0, 1.0)
        self._rows = np.concatenate([self._rows, added])


def _mass(trials: AnyArray, count: AnyArray, success: FloatArray) -> FloatArray:
    """Binomial probabilities of a count in each number of trials, for each chance of success."""
    inside = np.clip(count, 0, trials)
    ways = gammaln(trials + 1.0) - gammaln(inside + 1.0) - gammaln(trials - inside + 1.0)
    # A logarithm that is finite: none of what is impossible is no harm, one of it is.
    with np.errstate(divide="ignore"):
        logs = np.maximum([np.log(success), np.log1p(-success)], IMPOSSIBLE)
    log_mass = np.stack([inside, trials - inside], axis=1) @ logs + ways[:, None]
    mass = np.exp(log_mass, out=log_mass)
    mass[count != inside] = 0.0
    return np.asarray(mass)


def window(trials: int, chance: float) -> tuple[int, int]:
    """Return the least and greatest count that need be looked at."""
    spread = TUNING.spread * (np.sqrt(trials * chance * (1 - chance)) + 1)
    middle = trials * chance
    return max(0, int(middle - spread)), min(trials, int(middle + spread) + 1)


def rising_chances(low: float, high: float, trials: int) -> FloatArray:
    """Return chances from ``low`` to ``high``, closer together where counts vary little.

    Examples
    --------
    >>> rising_chances(0.1, 0.2, 10).round(3).tolist()
    [0.1, 0.124, 0.15, 0.178, 0.2]
    """
    found = [low]
    while found[-1] < high:
        variance = trials * found[-1] * (1 - found[-1])
        step = (
            TUNING.step * np.sqrt(variance) * max(1.0, variance / TUNING.near) ** TUNING.near_power
        )
        found.append(min(found[-1] + max(step, TUNING.least_step) / trials, high))
    return np.array(found if len(found) > 1 else [low, high])


def parts_between(values: FloatArray) -> FloatArray:
    """Return where each part between neighbours begins, and the end of the last."""
    steps = np.diff(values)[:, None] * np.arange(TUNING.parts) / TUNING.parts
    return np.append((values[:-1, None] + steps).ravel(), values[-1])


def means(table: TailTable, offset: int, trials: int, chances: FloatArray) -> Means:
    """Mean rows of a table, for ``offset`` plus a binomial count, at rising chances."""
    windows = [window(trials, float(chance)) for chance in chances]
    values, ranges = np.zeros((2, len(chances), len(table.success)))
    for first in range(0, len(chances), TUNING.together):
        together = range(first, min(first + TUNING.together, len(chances)))
        low, high = windows[first][0], windows[min(first + TUNING.together, len(chances) - 1)][1]
        rows = table.rows(offset + low, offset + high)
        ranges[first : first + TUNING.together] = _range_about_a_line(rows)
        for i in together:
            count = np.arange(windows[i][0], windows[i][1] + 1)
            mass = _binomial(trials, float(chances[i]), count)
            values[i] = mass @ rows[count[0] - low : count[-1] + 1 - low]
    return Means(values, _slack(trials, chances)[:, None] * ranges[:-1])


def _binomial(trials: int, chance: float, count: AnyArray) -> FloatArray:
    if chance in (0, 1):
        return np.asarray(count == trials * chance, dtype=np.float64)
    ways = gammaln(trials + 1.0) - gammaln(count + 1.0) - gammaln(trials - count + 1.0)
    log_mass = ways + count * np.log(chance) + (trials - count) * np.log1p(-chance)
    return np.asarray(np.exp(log_mass))


def _range_about_a_line(rows: FloatArray) -> FloatArray:
    """How far apart the largest and smallest deviation from a line through each column are."""
    half = len(rows) // 2
    rise = (rows[-half:].mean(axis=0) - rows[:half].mean(axis=0)) / (len(rows) - half)
    about = rows - rise * np.arange(len(rows))[:, None]
    return np.asarray(np.minimum(np.ptp(about, axis=0), np.ptp(rows, axis=0)))


def _slack(trials: int, chances: FloatArray) -> FloatArray:
    """Return an eighth of squared steps times the sum of absolute second differences, halved."""
    spread = chances * (1 - chances)
    variance = max(trials - 3, 0) * np.minimum(spread[1:], spread[:-1])
    with np.errstate(divide="ignore"):
        differences = np.minimum(4.0, 4 / (math.e * variance))
    return np.asarray((trials * np.diff(chances)) ** 2 / 8 * differences / 2)
