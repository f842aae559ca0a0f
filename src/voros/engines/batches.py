"""Cells counted in this process, batch by batch: faster than to group by a key never seen before.

A few thousand cells are a table that stays in a fast cache, and a row's place in it is computed,
not looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from voros.core.arrays import AnyArray, BoolArray, FloatArray
from voros.engines.keys import IntArray
from voros.engines.plan import Wanted
from voros.engines.scales import ABOVE, BELOW, MISSING

LARGEST_TABLE = 2**20
"""Cells of a table; more are grouped by the engine."""

BLOCK = 2**14
"""Rows counted at once, so that what is computed of them stays in a fast cache."""

EDGES = np.array([BELOW, ABOVE, MISSING])
"""Cells that a table has beside those in range."""


class CellTable:
    """Counts and extreme scores of every cell that a pass wants."""

    def __init__(self, want: Wanted, weighted: bool) -> None:
        self.want, self.weighted = want, weighted
        self.size = want.n_cells
        slots = self.size + len(EDGES)
        self.rows = np.zeros(2 * slots, dtype=np.int64)
        self.sums = np.zeros((2, slots))
        self.least, self.greatest = np.full(slots, np.inf), np.full(slots, -np.inf)
        if want.named is not None:
            self.home = np.cumsum(want.named.wanted) - 1

    def add(
        self, scores: FloatArray, positive: BoolArray, weights: FloatArray | None = None
    ) -> None:
        """Count a batch of rows."""
        cells = self.want.scale.cells(scores, self.want.level)
        if self.want.named is not None:
            kept = self._are_named(cells)
            cells, scores, positive = cells[kept], scores[kept], positive[kept]
            weights = None if weights is None else weights[kept]
        slots = self._slots(cells)
        np.add.at(self.rows, 2 * slots + positive, 1)
        # NaN marks rows that will be refused, and is no fault of the arithmetic.
        with np.errstate(invalid="ignore"):
            np.minimum.at(self.least, slots, scores)
            np.maximum.at(self.greatest, slots, scores)
        if weights is not None:
            for sums, of_class in zip(self.sums, (positive, ~positive), strict=True):
                np.add.at(sums, slots, np.where(of_class, weights, 0.0))

    def _are_named(self, cells: IntArray) -> BoolArray:
        named = self.want.named
        assert named is not None
        place = (cells >> (named.level - self.want.level)) - named.first
        if not _all_within(place, len(named.wanted)):
            place = np.where((place >= 0) & (place < len(named.wanted)), place, -1)
            return np.asarray(np.append(named.wanted, False)[place])
        return np.asarray(named.wanted[place])

    def _slots(self, cells: IntArray) -> IntArray:
        named, level = self.want.named, self.want.level
        if named is not None:
            finer = named.level - level
            parents = cells >> finer
            start = self.home[parents - named.first] << finer
            return np.asarray(start + cells - (parents << finer))
        if len(cells) and cells.min() >= self.want.first and cells.max() <= self.want.last:
            return cells - self.want.first
        inside = (cells >= self.want.first) & (cells <= self.want.last)
        edge = np.select([cells == BELOW, cells == ABOVE], [0, 1], 2)
        return np.where(inside, np.where(inside, cells, 0) - self.want.first, self.size + edge)

    def answer(self) -> dict[str, AnyArray]:
        """Return the cells that hold rows, with the columns that a query for them has."""
        by_class = self.rows.reshape(-1, 2)
        rows = by_class.sum(axis=1)
        held = np.flatnonzero(rows)
        columns = {
            "_voros_cell": self._numbers(held),
            "rows": rows[held],
            "least": self.least[held],
            "greatest": self.greatest[held],
            "positive": by_class[held, 1],
        }
        if self.weighted:
            columns |= dict(zip(("positive", "negative"), self.sums[:, held], strict=True))
        return columns

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


def _all_within(places: IntArray, size: int) -> bool:
    return len(places) > 0 and places.min() >= 0 and places.max() < size


def count_batches(
    batches: Iterable[Sequence[AnyArray]],
    want: Wanted,
    weighted: bool,
) -> dict[str, AnyArray]:
    """Count scores, labels and weights that come batch by batch."""
    table = CellTable(want, weighted)
    for batch in batches:
        for start in range(0, len(batch[0]), BLOCK):
            table.add(*(column[start : start + BLOCK] for column in batch))
    return table.answer()
