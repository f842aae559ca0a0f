"""Rows that may still matter, held in this process once they are few, and counted there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from voros.engines.batches import Columns, are_named, blocks, count_batches, joined
from voros.engines.bins import Bins
from voros.engines.plan import PassPlan, Wanted
from voros.typing import AnyArray, BoolArray, FloatArray

CELLS_PER_ROW = 4
"""Cells of a table, for each row, beyond which it is faster to sort the rows."""


def read_rows(batches: Iterable[Columns], want: Wanted, at_most: int) -> Columns | None:
    """Collect the wanted rows of batches, and perhaps a few others; None where they are more."""
    kept: list[Columns] = []
    for block in blocks(batches):
        if want.named is None:
            # Copies: a batch is the engine's own.
            kept.append([column.copy() for column in block])
        else:
            index = np.flatnonzero(are_named(block[0], want.scale, want.named))
            kept.append([column.take(index) for column in block])
        at_most -= len(kept[-1][0])
        if at_most < 0:
            return None
    return joined(kept or [[np.zeros(0), np.zeros(0, dtype=np.bool_)]])


@dataclass(frozen=True, eq=False)
class HeldRows:
    """All rows of some bins.

    Attributes
    ----------
    rows : mapping of str to columns
        Scores, labels and weights or none, by model.
    parents : mapping of str to Bins
        The bins whose rows these are.
    """

    rows: Mapping[str, Columns]
    parents: Mapping[str, Bins]

    def covered(self, name: str, bins: Bins) -> BoolArray:
        """Whether all rows of a bin are held."""
        if name not in self.parents:
            return np.zeros(len(bins), dtype=np.bool_)
        return self.parents[name].hold(bins)

    def count(self, plan: PassPlan) -> dict[str, Bins]:
        """Count wanted rows as an engine does."""
        return {name: _counted(self.rows[name], want) for name, want in plan.wanted.items()}


def _counted(columns: Columns, want: Wanted) -> Bins:
    inside = _in_range(columns[0], want)
    columns = [column[inside] for column in columns]
    weighted = len(columns) > 2
    if want.n_cells <= CELLS_PER_ROW * len(columns[0]):
        return Bins.of(count_batches([columns], want, weighted), weighted)
    return Bins.of(_sorted(columns, want), weighted)


def _in_range(scores: FloatArray, want: Wanted) -> BoolArray:
    inside = (scores >= want.low) & (scores <= want.high)
    if want.ranges:
        inside &= np.logical_or.reduce([(scores >= a) & (scores <= b) for a, b in want.ranges])
    if want.named is not None:
        inside[inside] = are_named(scores[inside], want.scale, want.named)
    return inside


def _sorted(columns: Columns, want: Wanted) -> dict[str, AnyArray]:
    """Count by sorting, for cells that are many."""
    scores, positive, *weights = columns
    cells = want.scale.cells(scores, want.level)
    order = np.argsort(cells)
    starts = np.flatnonzero(np.diff(cells[order], prepend=cells[order][:1] - 1))
    found = {
        "rows": np.diff(np.append(starts, len(order))),
        "least": np.minimum.reduceat(scores[order], starts),
        "greatest": np.maximum.reduceat(scores[order], starts),
    }
    share = weights[0] if weights else np.ones(len(scores), dtype=np.int64)
    for name, of_class in (("positive", positive), ("negative", ~positive)):
        found[name] = np.add.reduceat(np.where(of_class, share, 0)[order], starts)
    return found
