"""The few questions that are put to an engine; every answer is an aggregate of bounded size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.engines.backends import Adapter, LazyFrame
from voros.engines.bins import Bins
from voros.engines.plan import Wanted
from voros.typing import AnyArray

POSITIVE, WEIGHT, SCORE, BUCKET, NAMED, LABELLED, KNOWN = (
    f"_voros_{name}"
    for name in ("positive", "weight", "score", "bucket", "named", "labelled", "known")
)
"""Columns of the queries; the prefix keeps them apart from the user's own."""

Columns: TypeAlias = Sequence[AnyArray]
"""Scores, labels and, where there are any, weights of some rows."""


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
    >>> usage = points.covers.usage
    >>> usage.engine, usage.rows, usage.passes
    ('polars', 4, 1)
    """

    engine: str = ""
    rows: int = 0
    passes: int = 0
    rows_counted: int = 0
    bytes_received: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class LazyCases:
    """Labelled scores in a lazy frame: who is positive, one column per model, weights or none."""

    frame: LazyFrame
    models: Mapping[str, str]
    weighted: bool
    adapter: Adapter
    label: str = ""
    integer_models: Sequence[str] = ()
    """Models whose scores are whole numbers."""

    usage: Usage = field(default_factory=Usage)

    def collect(self, answer: LazyFrame) -> dict[str, AnyArray]:
        """Run a query and return its columns."""
        table = self.adapter.collect(answer)
        columns = {name: table.get_column(name).to_numpy() for name in table.columns}
        self.usage.bytes_received += sum(column.nbytes for column in columns.values())
        return columns

    def capped(self) -> LazyCases:
        """The same cases with scores of +inf at the highest finite float.

        A threshold of +inf means no alarm, so no alarm can be at +inf.
        """
        highest = nw.col(*self.models.values()).clip(upper_bound=LARGEST_FINITE)
        return replace(self, frame=self.frame.with_columns(highest))

    def sample(self, name: str, n_rows: int) -> Columns:
        """Scores, labels and weights of the first rows, wherever the engine finds them."""
        first = self.frame.select(*self._columns(name)).head(n_rows)
        return self._rows(replace(self, usage=Usage()).collect(first))

    def count(self, name: str, want: Wanted) -> Bins:
        """Count the wanted rows of a model by buckets."""
        rows = with_shares(self._wanted_rows(name, want), self.weighted)
        rows = self.adapter.with_bucket(rows, SCORE, BUCKET, want.scale, want.level)
        answer = self.collect(rows.group_by(BUCKET).agg(*_counts(self.weighted)))
        bins = Bins.from_columns(answer, self.weighted)
        self.usage.passes += 1
        self.usage.rows_counted += int(bins.rows.sum())
        return bins

    def rows(self, name: str, want: Wanted, at_most: int) -> Columns | None:
        """Read the wanted rows of a model, and perhaps a few others; None where they are more."""
        self.usage.passes += 1
        rows = self._wanted_rows(name, want).select(*self._row_columns)
        columns = self._rows(self.collect(rows.head(at_most + 1)))
        if len(columns[0]) > at_most:
            return None
        self.usage.rows_counted += len(columns[0])
        return columns

    def _rows(self, answer: Mapping[str, AnyArray]) -> Columns:
        kinds = (np.float64, np.bool_, np.float64)
        names = self._row_columns
        return [answer[name].astype(kind) for name, kind in zip(names, kinds, strict=False)]

    @property
    def _row_columns(self) -> list[str]:
        return [SCORE, POSITIVE, *([WEIGHT] if self.weighted else [])]

    def _columns(self, name: str) -> list[nw.Expr]:
        score, *others = self._row_columns
        return [nw.col(self.models[name]).alias(score), *map(nw.col, others)]

    def _wanted_rows(self, name: str, want: Wanted) -> LazyFrame:
        rows = self.frame.select(*self._columns(name))
        # First the outer range, in plain comparisons that an engine can push into its scan.
        if want.low > -np.inf or want.high < np.inf:
            rows = rows.filter(_between(want.low, want.high))
        return rows if want.named is None else self._in_named_buckets(rows, want)

    def _in_named_buckets(self, rows: LazyFrame, want: Wanted) -> LazyFrame:
        assert want.named is not None
        rows = self.adapter.with_bucket(rows, SCORE, NAMED, want.scale, want.named.level)
        return self.adapter.with_membership(rows, NAMED, want.named).filter(nw.col(NAMED))


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


def _between(low: float, high: float) -> nw.Expr:
    score = nw.col(SCORE)
    if high == np.inf:
        return score >= low
    return score <= high if low == -np.inf else (score >= low) & (score <= high)
