"""Monotone maps from scores to whole numbers, so that ranges of scores can be counted by number.

The *key* of a score is a whole number; a *cell* of level n is the set of scores whose keys agree
but for the last n bits. Cells are ranges of scores, and each level nests in the next.

Keys are scores times a power of two, rounded down, after a few square roots where the scores crowd
towards zero. Multiplication and square root round correctly in every engine, so that all agree on a
cell, and each of them keeps the order. Where scores lie too unevenly for that, the key is made of
the float's bits (see `voros.engines.keys`), at more expense.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from voros.engines.keys import (
    HIGHEST_KEY,
    LOWEST_KEY,
    IntArray,
    cell_end,
    cell_start,
    from_key,
    to_key,
)
from voros.typing import BoolArray, FloatArray

BELOW, ABOVE, MISSING = -(2**63) + 2, 2**63 - 1, -(2**63) + 1
"""Cells of scores beyond a scale's ends, and of what is no score; no key is as large."""

SPAN_BITS = 52
"""Keys that a scale is made for are no larger than two to this power: floats hold them all."""

WIDEST = 1e200
"""Spans up to it, and down to its inverse, are scaled without leaving the range of a float."""

ROOTS = 0, 3, 6
"""Square roots in a row; six bring 1e-300 to 2e-5."""

TRIAL_CELLS = 4096
"""Cells by which scales are compared on a sample."""

CROWDED = 4.0
"""A scale with more square roots must leave this many times less open."""


@dataclass(frozen=True)
class Scale:
    """A map from scores to keys.

    Attributes
    ----------
    roots : int or None
        Square roots in a row before the difference; None for the bits of the float.
    exponent : int
        A key is the score, after the roots, times two to the exponent.
    lowest, highest : float
        Scores beyond them have a cell of their own each.

    Examples
    --------
    >>> Scale(0, 4).cells([0.0, 0.3, 0.5]).tolist()
    [0, 4, 8]
    """

    roots: int | None = None
    exponent: int = 0
    lowest: float = -np.inf
    highest: float = np.inf

    @property
    def clips(self) -> bool:
        """Whether scores can lie beyond the ends."""
        return self.lowest > -np.inf or self.highest < np.inf

    def cells(self, scores: Any, level: int = 0) -> IntArray:
        """Number of the cell each score is in, from level 0, the finest, up."""
        values = np.asarray(scores, dtype=np.float64)
        # NaN compares as false, and so takes the longer way.
        if not len(values) or (values.min() >= self.lowest and values.max() <= self.highest):
            return self.inside(values, level)
        inside = (values >= self.lowest) & (values <= self.highest)
        beyond = np.where(values < self.lowest, BELOW, MISSING)
        cells = np.where(values > self.highest, ABOVE, beyond)
        cells[inside] = self.inside(values[inside], level)
        return cells

    def inside(self, values: FloatArray, level: int) -> IntArray:
        """Number of the cell of each score, a new array, where none is beyond the ends."""
        if self.roots is None:
            return np.asarray(to_key(values) >> level)
        for _ in range(self.roots):
            values = np.sqrt(values)
        keys = values * self.factor(level)
        if self.lowest < 0:
            np.floor(keys, out=keys)
        return keys.astype(np.int64)

    def factor(self, level: int) -> float:
        """Cells of a level in a difference of one."""
        return 2.0 ** (self.exponent - level)

    def has_edges(self, level: int) -> bool:
        """Whether `edges` are known: where a product may round, a cell ends one float off."""
        return self.roots is None or (self.roots == 0 and self.exponent >= level)

    def edges(self, cells: IntArray, level: int) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest score that each cell can hold.

        Examples
        --------
        >>> low, high = Scale(0, 4).edges(np.array([4]), 1)
        >>> low.tolist(), high.tolist()
        ([0.5], [0.6249999999999999])
        """
        if self.roots is None:
            low, high = cell_start(cells, level), cell_end(cells, level)
        else:
            low = cells / self.factor(level)
            high = np.nextafter((cells + 1) / self.factor(level), -np.inf)
        return np.maximum(low, self.lowest), np.minimum(high, self.highest)


BITS = Scale()
"""The bits of the float: different scores never share a key."""


def scale_for(sample: FloatArray, positive: BoolArray, low: float, high: float) -> Scale:
    """Choose the cheapest scale by whose cells scores like a sample's are told apart well.

    Examples
    --------
    >>> ill = np.arange(999) % 3 == 0
    >>> [
    ...     scale_for(scores, ill, 0.0, 1.0).roots
    ...     for scores in (np.linspace(0, 1, 999), np.exp(np.linspace(-90, 0, 999)))
    ... ]
    [0, 6]
    """
    fitting = [*(_arithmetic(roots, low, high) for roots in ROOTS), _bits(low, high)]
    chosen, *others = [scale for scale in fitting if scale is not None]
    for other in others:
        if CROWDED * _left_open(other, sample, positive) < _left_open(chosen, sample, positive):
            chosen = other
    return chosen


def linear_scale(low: float, high: float) -> Scale | None:
    """Return equally wide cells for scores between two; None where a float has no span as wide."""
    return _arithmetic(0, low, high)


def _arithmetic(roots: int, low: float, high: float) -> Scale | None:
    """Keys for scores from low to high and as far again beyond them; None where none fit."""
    span = high / 2 - low / 2
    if not 1 / WIDEST < span < WIDEST or (roots and low < 0):
        return None
    if roots:
        root = high ** (0.5**roots)
        return Scale(roots, SPAN_BITS - exponent_of(root), 0.0, 4 * high)
    lowest, highest = low - 2 * span, high + 2 * span
    if low >= 0:
        lowest = max(lowest, 0.0)
    return Scale(0, SPAN_BITS - exponent_of(max(-lowest, highest)), lowest, highest)


def _bits(low: float, high: float) -> Scale:
    """Keys of floats from low to high and as many beyond either."""
    first, last = (int(key) for key in to_key([low, high]))
    ends = from_key(
        np.clip([2 * first - last, 2 * last - first], int(LOWEST_KEY), int(HIGHEST_KEY))
    )
    return replace(BITS, lowest=float(ends[0]), highest=float(ends[1]))


def exponent_of(number: float) -> int:
    """Least exponent of two whose power is not below a number."""
    return int(np.ceil(np.log2(number)))


def level_for(low: int, high: int, at_most: int) -> int:
    """Lowest level at which two keys, and all between them, are in so few cells."""
    return max((high - low).bit_length() - (at_most.bit_length() - 1), 0)


def _left_open(scale: Scale, sample: FloatArray, positive: BoolArray) -> float:
    """Pairs of a positive and a negative that share one of a few thousand cells."""
    keys = scale.cells(sample)
    keys >>= level_for(int(keys.min()), int(keys.max()), TRIAL_CELLS)
    home = keys - keys.min()
    cases = np.bincount(home)
    positives = np.bincount(home[positive], minlength=len(cases))
    # Of pure cells too the larger ones leave more open.
    return float(np.sum((positives + 0.5) * (cases - positives + 0.5), where=cases > 0))
