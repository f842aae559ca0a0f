"""The few questions that are put to an engine; every answer is an aggregate of bounded size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_FINITE, AnyArray
from voros.engines.adapter import Adapter, Levels
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
        Times the whole frame was read.
    rows_counted : int
        Rows that were grouped, over all passes: those that could matter.
    bytes_received : int
        Size of all aggregates that reached this process.
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

    frame: nw.LazyFrame[Any]
    models: Mapping[str, str]
    weighted: bool
    adapter: Adapter
    usage: Usage = field(default_factory=Usage)

    def collect(self, answer: nw.LazyFrame[Any]) -> dict[str, AnyArray]:
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
        """Count the wanted rows of every model by cells, in one pass."""
        names = list(plan.wanted)
        rows = self._wanted_rows(plan)
        shares = with_shares(rows, self.weighted)
        rows = self.adapter.with_cell(shares, SCORE, CELL, self._levels(plan))
        keys = [CELL] if len(names) == 1 else [MODEL, CELL]
        answer = self.collect(rows.group_by(*keys).agg(*_counts(self.weighted)))
        counted = {name: self._bins(answer, name, plan.wanted[name].level) for name in names}
        self.usage.passes += 1
        self.usage.rows_counted += sum(int(bins.rows.sum()) for bins in counted.values())
        return counted

    def _levels(self, plan: PassPlan) -> int | Levels:
        levels = {self.models[name]: want.level for name, want in plan.wanted.items()}
        if len(set(levels.values())) == 1:
            return next(iter(levels.values()))
        return Levels(MODEL, levels)

    def _wanted_rows(self, plan: PassPlan) -> nw.LazyFrame[Any]:
        rows = _one_row_per_score(self, list(plan.wanted))
        # First the outer range, in plain comparisons that an engine can push into its scan.
        if any(want.low > -np.inf or want.high < np.inf for want in plan.wanted.values()):
            outer = {name: _between(w.low, w.high) for name, w in plan.wanted.items()}
            rows = rows.filter(self._of_models(outer))
        if not any(want.apart for want in plan.wanted.values()):
            return rows
        inner = {}
        for name, want in plan.wanted.items():
            named = {level: f"{NAMED}_{self.models[name]}_{level}" for level in want.cells}
            for level, cells in want.cells.items():
                rows = self.adapter.with_cell(rows, SCORE, named[level], level)
                rows = self.adapter.with_membership(rows, named[level], cells.tolist())
            inner[name] = _inner(want, list(named.values()))
        return rows.filter(self._of_models(inner))

    def _of_models(self, conditions: Mapping[str, nw.Expr]) -> nw.Expr:
        if len(conditions) == 1:
            return next(iter(conditions.values()))
        return _any(
            [(nw.col(MODEL) == self.models[name]) & each for name, each in conditions.items()]
        )

    def _bins(self, answer: Mapping[str, AnyArray], name: str, level: int) -> Bins:
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
            np.full(len(order), level),
            rows,
            positive,
            negative,
        )


def with_shares(frame: nw.LazyFrame[Any], weighted: bool) -> nw.LazyFrame[Any]:
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


def _one_row_per_score(cases: LazyCases, names: Sequence[str]) -> nw.LazyFrame[Any]:
    kept = [POSITIVE, WEIGHT] if cases.weighted else [POSITIVE]
    columns = [cases.models[name] for name in names]
    if len(columns) == 1:
        return cases.frame.select(*kept, nw.col(columns[0]).alias(SCORE))
    wide = cases.frame.select(*kept, *columns)
    return cases.adapter.unpivot(wide, columns, kept, MODEL, SCORE)


def _any(conditions: Sequence[nw.Expr]) -> nw.Expr:
    # In halves, so that many conditions do not nest deeply.
    if len(conditions) > 2:
        middle = len(conditions) // 2
        return _any(conditions[:middle]) | _any(conditions[middle:])
    return reduce(or_, conditions)


def _inner(want: Wanted, named: Sequence[str]) -> nw.Expr:
    if not want.apart:
        return _between(want.low, want.high)
    ranges = [_between(low, high) for low, high in want.ranges]
    return _any([*map(nw.col, named), *ranges])


def _between(low: float, high: float) -> nw.Expr:
    score = nw.col(SCORE)
    if high == np.inf:
        return score >= low
    return score <= high if low == -np.inf else (score >= low) & (score <= high)
