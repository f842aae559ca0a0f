"""Enumerate all choices with a small deficit: the exact search for a shared capacity.

`voros.core.shared_capacity` defines the deficit and proves the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voros.core.counting import adds_recall
from voros.typing import AnyArray, FloatArray

DEFICIT_ROUNDING = 1e-13
"""Deficits are computed with an error below this share of the largest savings."""

FIRST_DEPTH = 1 / 256
"""First limit of the deficit, as a share of that of the first known choice."""

DEEPER = 4.0
"""Factor by which the limit of the deficit increases."""

FEW_PAIRS = 100_000
"""Up to this number, pairs of partial choices and options are listed; more use a table."""

MOST_PAIRS = 100_000_000
"""Largest number of pairs, or of entries of a table, that fits into memory."""

NO_CHOICE = np.iinfo(np.int64).min // 2
"""Entry of a table for a number of alarms that no choice has."""


@dataclass(frozen=True, eq=False)
class Options:
    """The options of one stream, by rising alarms and savings, starting with no alarm.

    Attributes
    ----------
    alarms : ndarray
    saved : ndarray of int
        Savings of each option, in whole units.
    rows : ndarray of int
        The operating point of each option.
    """

    alarms: AnyArray
    saved: AnyArray
    rows: AnyArray


@dataclass(frozen=True)
class Found:
    """The best choice, the Lagrangian bound, and the number of partial choices."""

    positions: tuple[int, ...]
    bound: float
    n_states: int


@dataclass(frozen=True, eq=False)
class _States:
    """Alarms and savings of partial choices; both rise."""

    alarms: AnyArray
    saved: AnyArray


@dataclass(frozen=True, eq=False, kw_only=True)
class _Problem:
    """Options of all streams, and the distance of each below its supporting line."""

    options: Sequence[Options]
    price: float
    max_alarms: float
    base: tuple[int, ...]
    below: list[FloatArray]
    margin: float

    @classmethod
    def at(cls, options: Sequence[Options], price: float, max_alarms: float) -> _Problem:
        """Find the supporting lines of slope ``price``."""
        margin = DEFICIT_ROUNDING * max(1.0, sum(float(option.saved[-1]) for option in options))
        base, below = [], []
        for option in options:
            height = option.saved - price * option.alarms
            # Of the options on the line, the one with fewest alarms.
            base.append(int(np.argmax(height >= height.max() - margin)))
            # Differences of whole numbers are exact; the numbers themselves may exceed a float.
            less = (option.saved[base[-1]] - option.saved).astype(np.float64)
            fewer = option.alarms[base[-1]] - option.alarms
            below.append(np.maximum(less - price * fewer, 0.0))
        return cls(
            options=options,
            price=price,
            max_alarms=max_alarms,
            base=tuple(base),
            below=below,
            margin=margin,
        )

    def total(self, column: str, positions: Sequence[int]) -> float:
        """Add up alarms or savings of a choice in the first streams."""
        columns = (getattr(option, column) for option in self.options)
        total: float = sum(c[i].item() for c, i in zip(columns, positions, strict=False))
        return total

    @property
    def bound(self) -> float:
        """Upper bound of the savings."""
        left = self.max_alarms - self.total("alarms", self.base)
        return self.total("saved", self.base) + self.price * left

    def deficit(self, saved: float) -> float:
        """Return the difference between the bound and the savings of a choice."""
        left = self.max_alarms - self.total("alarms", self.base)
        return self.total("saved", self.base) - saved + self.price * left

    def below_base(self, states: _States, n_streams: int) -> FloatArray:
        """Return the total distance of partial choices below the supporting lines."""
        base = self.base[:n_streams]
        less = (self.total("saved", base) - states.saved).astype(np.float64)
        return less - self.price * (self.total("alarms", base) - states.alarms)


def best_choice(options: Sequence[Options], price: float, max_alarms: float) -> Found:
    """Find the options, one for each stream, with the largest total savings and fewest alarms.

    Examples
    --------
    >>> first = Options(np.array([0, 5, 12]), np.array([0, 39, 54]), np.arange(3))
    >>> second = Options(np.array([0, 10, 18]), np.array([0, 45, 81]), np.arange(3))
    >>> best_choice([first, second], 4.5, 16).positions
    (1, 1)
    """
    problem = _Problem.at(options, price, max_alarms)
    known = problem.base
    if problem.total("alarms", known) > max_alarms:
        known = (0,) * len(options)
    if price == 0 and known == problem.base:
        return Found(known, problem.bound, len(options))
    return _deepen(problem, problem.deficit(problem.total("saved", known)))


def _deepen(problem: _Problem, enough: float) -> Found:
    """Enumerate choices up to increasing deficits, until one includes the best choice."""
    depth, n_states = enough * FIRST_DEPTH, 0
    while True:
        levels = _enumerate(problem, depth + problem.margin)
        n_states += sum(len(level.alarms) for level in levels)
        if len(levels[-1].alarms):
            enough = min(enough, problem.deficit(levels[-1].saved[-1].item()))
            if enough <= depth:
                return Found(_positions(problem, levels), problem.bound, n_states)
        depth = min(DEEPER * depth, enough) if depth > 0 else enough


def _enumerate(problem: _Problem, depth: float) -> list[_States]:
    """Choose stream by stream, and stop when no choice is within the deficit."""
    states = _States(problem.options[0].alarms[:1] * 0, np.zeros(1, dtype=np.int64))
    levels = [states]
    near = [_near(problem, stream, depth) for stream in range(len(problem.options))]
    for n_before in range(len(near)):
        low, high = _window(problem, near[n_before + 1 :], depth)
        states = _extended(states, near[n_before], low, high)
        kept = problem.below_base(states, n_before + 1) <= depth
        states = _States(states.alarms[kept], states.saved[kept])
        levels.append(states)
        if not kept.any():
            break
    return levels


def _near(problem: _Problem, stream: int, depth: float) -> Options:
    """Return the options of a stream that are within the deficit."""
    option, kept = problem.options[stream], np.flatnonzero(problem.below[stream] <= depth)
    return Options(option.alarms[kept], option.saved[kept], kept)


def _window(problem: _Problem, rest: list[Options], depth: float) -> tuple[float, float]:
    """Return the range of alarms of a partial choice, given the alarms of the other streams."""
    least, most = (float(sum(option.alarms[i].item() for option in rest)) for i in (0, -1))
    unused = depth / problem.price if problem.price > 0 else np.inf
    return problem.max_alarms - unused - most, problem.max_alarms - least


def _extended(states: _States, option: Options, low: float, high: float) -> _States:
    """Combine choices with options; keep undominated sums within [low, high]."""
    integral = states.alarms.dtype.kind in "iu" and option.alarms.dtype.kind in "iu"
    n_pairs = len(states.alarms) * len(option.alarms)
    if integral and n_pairs > FEW_PAIRS:
        return _from_table(states, option, low, high)
    _check_size(n_pairs)
    alarms = np.add.outer(states.alarms, option.alarms).ravel()
    saved = np.add.outer(states.saved, option.saved).ravel()
    inside = (alarms >= low) & (alarms <= high)
    return _undominated(alarms[inside], saved[inside])


def _from_table(states: _States, option: Options, low: float, high: float) -> _States:
    """Combine by a table of the largest savings for every number of alarms."""
    start, end = int(states.alarms[0]), int(states.alarms[-1])
    first = int(option.alarms[0])
    width = end - start + 1
    _check_size(width + int(option.alarms[-1]) - first)
    before = np.full(width, NO_CHOICE)
    before[states.alarms - start] = states.saved
    table = np.full(width + int(option.alarms[-1]) - first, NO_CHOICE)
    sums = np.empty_like(before)
    for shift, saved in zip((option.alarms - first).tolist(), option.saved.tolist(), strict=True):
        np.add(before, saved, out=sums)
        part = table[shift : shift + width]
        np.maximum(part, sums, out=part)
    offset = start + first
    skipped = max(int(np.ceil(max(low, offset))) - offset, 0)
    stop = max(int(np.floor(min(high, offset + len(table)))) - offset + 1, skipped)
    filled = np.flatnonzero(table[skipped:stop] > NO_CHOICE // 2) + skipped
    return _undominated(filled + offset, table[filled])


def _undominated(alarms: AnyArray, saved: AnyArray) -> _States:
    """Keep the choices that save more than all others with at most their alarms, by alarms."""
    order = np.lexsort((-saved, alarms))
    order = order[adds_recall(saved[order])] if len(order) else order
    return _States(alarms[order], saved[order])


def _check_size(n_pairs: int) -> None:
    if n_pairs > MOST_PAIRS:
        raise ValueError(
            f"sharing the capacity exactly takes {n_pairs:,} combinations of thresholds at once; "
            f"accepted are {MOST_PAIRS:,}; use fewer distinct scores"
        )


def _positions(problem: _Problem, levels: list[_States]) -> tuple[int, ...]:
    """Find the options of the best choice, from the last stream back."""
    alarms, saved = (column[-1] for column in (levels[-1].alarms, levels[-1].saved))
    positions = []
    for option, before in zip(reversed(problem.options), reversed(levels[:-1]), strict=True):
        row = np.searchsorted(before.saved, saved - option.saved) % len(before.saved)
        reached = (before.saved[row] + option.saved == saved) & (
            before.alarms[row] + option.alarms == alarms
        )
        chosen = int(np.argmax(reached))
        positions.append(chosen)
        alarms, saved = before.alarms[row[chosen]], before.saved[row[chosen]]
    return tuple(reversed(positions))
