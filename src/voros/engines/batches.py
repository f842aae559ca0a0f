"""Rows counted in this process, batch by batch: faster than to group by a key never seen before.

A few hundred thousand cells are a table that stays in a cache, and a row's place in it is computed,
not looked for. Once the rows that matter are few, they are held, and counted without the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from voros.engines.keys import IntArray
from voros.engines.plan import Named, Wanted
from voros.engines.scales import ABOVE, BELOW, MISSING, Scale
from voros.typing import AnyArray, BoolArray, FloatArray

LARGEST_TABLE = 2**21
"""Cells of a table; more are grouped by the engine."""

BLOCK = 2**16
"""Rows counted at once, so that what is computed of them stays in a cache."""

SMALL_COUNTS = 2**30
"""Rows up to which counts are kept in 32 bits, of which a cache holds twice as many."""

EDGES = np.array([BELOW, ABOVE, MISSING])
"""Cells that a table has beside those in range."""

Columns = Sequence[AnyArray]
"""Scores, labels and, where there are any, weights."""


class IncompleteRowsError(Exception):
    """A count met rows without a label or score; which, a count of the totals says."""


class CellTable:
    """Counts and extreme scores of every cell that a pass wants."""

    def __init__(self, want: Wanted, weighted: bool) -> None:
        self.want, self.weighted = want, weighted
        self.size = want.n_cells
        slots = self.size + len(EDGES)
        # Of all rows, and of the positive ones.
        self.recent, self.n_recent = np.zeros((2, slots), dtype=np.int32), 0
        self.earlier: AnyArray = np.zeros((2, 1), dtype=np.int64)
        self.sums = np.zeros((2, slots if weighted else 0))
        self.ends = np.inf, -np.inf
        extremes = 0 if want.by_edges else slots
        self.least, self.greatest = np.full(extremes, np.inf), np.full(extremes, -np.inf)
        if want.named is not None:
            self.home = np.cumsum(want.named.wanted) - 1

    def add(
        self, scores: FloatArray, positive: BoolArray, weights: FloatArray | None = None
    ) -> None:
        """Count a batch of rows."""
        if self.want.named is not None:
            kept = are_named(scores, self.want.scale, self.want.named)
            scores, positive = scores[kept], positive[kept]
            weights = None if weights is None else weights[kept]
        if len(scores) == 0:
            return
        ends = float(scores.min()), float(scores.max())
        slots = self._slots(scores, ends)
        self.ends = min(self.ends[0], ends[0]), max(self.ends[1], ends[1])
        if not self.want.by_edges:
            np.minimum.at(self.least, slots, scores)
            np.maximum.at(self.greatest, slots, scores)
        if weights is not None:
            for sums, of_class in zip(self.sums, (positive, ~positive), strict=True):
                np.add.at(sums, slots, np.where(of_class, weights, 0.0))
        self._count(slots, slots[np.flatnonzero(positive)])

    def _count(self, slots: IntArray, of_positives: IntArray) -> None:
        self.n_recent += len(slots)
        if self.n_recent > SMALL_COUNTS:
            self.earlier, self.n_recent = self.earlier + self.recent, len(slots)
            self.recent[:] = 0
        for counts, places in zip(self.recent, (slots, of_positives), strict=True):
            np.add.at(counts, places, np.int32(1))

    def _slots(self, scores: FloatArray, ends: tuple[float, float]) -> IntArray:
        """Places in the table; a new array."""
        want, named = self.want, self.want.named
        if self._fits(ends):
            cells = want.scale.inside(scores, want.level)
            if want.first:
                cells -= want.first
            return cells
        cells = want.scale.cells(scores, want.level)
        if named is not None:
            finer = named.level - want.level
            parents = cells >> finer
            start = self.home[parents - named.first] << finer
            return np.asarray(start + cells - (parents << finer))
        inside = (cells >= want.first) & (cells <= want.last)
        edge = np.select([cells == BELOW, cells == ABOVE], [0, 1], 2)
        return np.where(inside, np.where(inside, cells, 0) - want.first, self.size + edge)

    def _fits(self, ends: tuple[float, float]) -> bool:
        """Whether scores between two fall into the table; NaN compares as false."""
        want = self.want
        if want.named is not None:
            return False
        if not (ends[0] >= want.scale.lowest and ends[1] <= want.scale.highest):
            return False
        low, high = want.scale.inside(np.array(ends), want.level)
        return bool(low >= want.first and high <= want.last)

    def answer(self) -> dict[str, AnyArray]:
        """Return the cells that hold rows, with the columns that a query for them has."""
        rows, positive = self.earlier + self.recent
        held = np.flatnonzero(rows)
        cells = self._numbers(held)
        columns = {
            "_voros_cell": cells,
            "rows": rows[held],
            **self._extremes(held, cells),
            "positive": positive[held],
        }
        if self.weighted:
            columns |= dict(zip(("positive", "negative"), self.sums[:, held], strict=True))
        return columns

    def _extremes(self, held: IntArray, cells: IntArray) -> dict[str, AnyArray]:
        if not self.want.by_edges:
            return {"least": self.least[held], "greatest": self.greatest[held]}
        scale, (low, high) = self.want.scale, self.ends
        least, greatest = scale.edges(cells, self.want.level)
        with np.errstate(over="ignore"):
            below, above = np.nextafter([scale.lowest, scale.highest], [-np.inf, np.inf])
        for cell, ends in ((BELOW, (low, below)), (ABOVE, (above, high)), (MISSING, (np.nan,) * 2)):
            least[cells == cell], greatest[cells == cell] = ends
        least, greatest = np.maximum(least, low), np.minimum(greatest, high)
        occurs = (least == low) | (least == greatest)
        return {"least": least, "greatest": greatest, "occurs": occurs}

    def _numbers(self, slots: IntArray) -> IntArray:
        named = self.want.named
        cells = slots + self.want.first
        if named is not None:
            finer = named.level - self.want.level
            parent = named.cells[np.minimum(slots >> finer, len(named.cells) - 1)]
            cells = (parent << finer) + (slots & ((1 << finer) - 1))
        edges = slots >= self.size
        cells[edges] = EDGES[slots[edges] - self.size]
        return cells


def are_named(scores: FloatArray, scale: Scale, named: Named) -> BoolArray:
    """Whether each score is in one of the cells that are named."""
    place = scale.cells(scores, named.level) - named.first
    size = len(named.wanted)
    if len(place) and (place.min() < 0 or place.max() >= size):
        place = np.where((place >= 0) & (place < size), place, size)
        return np.asarray(np.append(named.wanted, False)[place])
    return np.asarray(named.wanted[place])


def count_batches(batches: Iterable[Columns], want: Wanted, weighted: bool) -> dict[str, AnyArray]:
    """Count scores, labels and weights that come batch by batch."""
    table = CellTable(want, weighted)
    for block in blocks(batches):
        table.add(*block)
    return table.answer()


def blocks(batches: Iterable[Columns]) -> Iterator[Columns]:
    """Cut batches into pieces that a cache holds.

    Raises
    ------
    IncompleteRowsError
        Where a label is missing.
    """
    for batch in _gathered(batches):
        # Labels of which some are missing are an array of objects.
        if batch[1].dtype != np.bool_:
            raise IncompleteRowsError
        for start in range(0, len(batch[0]), BLOCK):
            yield [column[start : start + BLOCK] for column in batch]


def _gathered(batches: Iterable[Columns]) -> Iterator[Columns]:
    """Put small batches together: each takes as many calls as a large one."""
    few: list[Columns] = []
    for batch in batches:
        if not few and len(batch[0]) > BLOCK // 2:
            yield batch
            continue
        few.append(batch)
        if sum(len(part[0]) for part in few) > BLOCK // 2:
            yield joined(few)
            few = []
    if few:
        yield joined(few)


def joined(parts: Sequence[Columns]) -> Columns:
    """Return batches as one."""
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
