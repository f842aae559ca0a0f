"""The few questions that are put to an engine; every answer is an aggregate of bounded size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_FINITE, AnyArray
from voros.engines.backends import Adapter, LazyFrame
from voros.engines.bins import Bins
from voros.engines.plan import PassPlan, Wanted

POSITIVE, WEIGHT, MODEL, SCORE, CELL, NAMED = (
    f"_voros_{name}" for name in ("positive", "weight", "model", "score", "cell", "named")
)
"""Columns of the queries; the prefix keeps them apart from the user's own."""


@dataclass
class Usage:
    """What it took to count.

    Attributes
    ----------
    engine : str
    rows : int
        In the frame.
    passes : int
        Times each model's column was read.
    rows_counted : int
        Rows that were grouped, over all passes: those that could matter.
    bytes_received : int
        Size of all aggregates that reached this process.

    Examples
    --------
    >>> import polars as pl, voros
    >>> frame = pl.LazyFrame({"ill": [True, False, True, False], "risk": [0.9, 0.8, 0.7, 0.1]})
    >>> points = voros.engines.count_frame(frame, label="ill", scores=["risk"])["risk"]
    >>> points.usage.engine, points.usage.rows, points.usage.passes, points.usage.rows_scanned
    ('polars', 4, 2, 8)
    """

    engine: str = ""
    rows: int = 0
    passes: int = 0
    rows_counted: int = 0
    bytes_received: int = 0

    @property
    def rows_scanned(self) -> int:
        """Rows read over all passes."""
        return self.rows * self.passes


@dataclass(frozen=True, eq=False)
class LazyCases:
    """Labelled scores in a lazy frame: who is positive, one column per model, weights or none."""

    frame: LazyFrame
    models: Mapping[str, str]
    weighted: bool
    adapter: Adapter
    usage: Usage = field(default_factory=Usage)

    def collect(self, answer: LazyFrame) -> dict[str, AnyArray]:
        """Run a query and return its columns."""
        table = self.adapter.collect(answer)
        columns = {name: table.get_column(name).to_numpy() for name in table.columns}
        self.usage.bytes_received += sum(column.nbytes for column in columns.values())
        return columns

    def head(self, rows: int) -> LazyCases:
        """The first rows only, wherever the engine finds them: for guesses, not for numbers."""
        return replace(self, frame=self.frame.head(rows), usage=Usage())

    def capped(self) -> LazyCases:
        """The same cases with scores of +inf at the highest finite float.

        A threshold of +inf means never alarm, so no alarm can be at +inf.
        """
        highest = nw.col(*self.models.values()).clip(upper_bound=LARGEST_FINITE)
        return replace(self, frame=self.frame.with_columns(highest))

    def count(self, plan: PassPlan) -> dict[str, Bins]:
        """Count the wanted rows of every model by cells, in one query.

        Each model is grouped on its own: an engine reads few columns faster than it turns columns
        into rows.
        """
        grouped = []
        for name, want in plan.wanted.items():
            rows = with_shares(self._wanted_rows(name, want), self.weighted)
            rows = self.adapter.with_cell(rows, SCORE, CELL, want.level)
            grouped.append(rows.group_by(CELL).agg(*_counts(self.weighted)))
        if len(grouped) > 1:
            models = [nw.lit(self.models[name]).alias(MODEL) for name in plan.wanted]
            named = zip(grouped, models, strict=True)
            grouped = [nw.concat([part.with_columns(model) for part, model in named])]
        answer = self.collect(grouped[0])
        counted = {name: self._bins(answer, name, want) for name, want in plan.wanted.items()}
        self.usage.passes += 1
        self.usage.rows_counted += sum(int(bins.rows.sum()) for bins in counted.values())
        return counted

    def _wanted_rows(self, name: str, want: Wanted) -> LazyFrame:
        kept = [POSITIVE, WEIGHT] if self.weighted else [POSITIVE]
        rows = self.frame.select(*kept, nw.col(self.models[name]).alias(SCORE))
        # First the outer range, in plain comparisons that an engine can push into its scan.
        if want.low > -np.inf or want.high < np.inf:
            rows = rows.filter(_between(want.low, want.high))
        if not (want.cells or want.ranges):
            return rows
        named = {level: f"{NAMED}_{level}" for level in want.cells}
        for level, cells in want.cells.items():
            rows = self.adapter.with_cell(rows, SCORE, named[level], level)
            rows = self.adapter.with_membership(rows, named[level], cells.tolist())
        ranges = [_between(low, high) for low, high in want.ranges]
        return rows.filter(_any([*map(nw.col, named.values()), *ranges]))

    def _bins(self, answer: Mapping[str, AnyArray], name: str, want: Wanted) -> Bins:
        mine = np.ones(len(answer[CELL]), dtype=np.bool_)
        if MODEL in answer:
            mine = answer[MODEL] == self.models[name]
        order = np.flatnonzero(mine)[np.argsort(-answer["least"][mine])]
        kind = np.float64 if self.weighted else np.int64
        rows = answer["rows"][order].astype(np.int64)
        positive = answer["positive"][order].astype(kind)
        negative = answer["negative"][order].astype(kind) if self.weighted else rows - positive
        return Bins(
            answer["least"][order],
            answer["greatest"][order],
            np.full(len(order), want.level),
            rows,
            positive,
            negative,
        )


def with_shares(frame: LazyFrame, weighted: bool) -> LazyFrame:
    """Add what each row adds to its class: its weight, or one case.

    As floats, whose sums are exact up to 2**53 cases and of one type in every engine.
    """
    positive = nw.col(POSITIVE)
    if not weighted:
        return frame.with_columns(positive.cast(nw.Float64).alias("positive"))
    weight, nothing = nw.col(WEIGHT), nw.lit(0.0)
    return frame.with_columns(
        nw.when(positive).then(weight).otherwise(nothing).alias("positive"),
        nw.when(~positive).then(weight).otherwise(nothing).alias("negative"),
    )


def class_sums(weighted: bool) -> list[nw.Expr]:
    """Cases of each class, or the sums of their weights; the negatives may follow from rows."""
    return [nw.col(name).sum() for name in ("positive", "negative")[: 1 + weighted]]


def _counts(weighted: bool) -> list[nw.Expr]:
    score = nw.col(SCORE)
    extremes = [score.min().alias("least"), score.max().alias("greatest")]
    return [nw.len().alias("rows"), *extremes, *class_sums(weighted)]


def _any(conditions: Sequence[nw.Expr]) -> nw.Expr:
    # In halves, so that many conditions do not nest deeply.
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    return _any(conditions[:middle]) | _any(conditions[middle:])


def _between(low: float, high: float) -> nw.Expr:
    score = nw.col(SCORE)
    if high == np.inf:
        return score >= low
    return score <= high if low == -np.inf else (score >= low) & (score <= high)
