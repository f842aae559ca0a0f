"""The queries that an engine runs; every answer has a bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.engines.backends import Adapter, LazyFrame
from voros.engines.bins import Bins, Columns
from voros.engines.plan import RowQuery
from voros.typing import AnyArray

POSITIVE, WEIGHT, SCORE, BUCKET, INSIDE, LABELLED, KNOWN = (
    f"_voros_{name}"
    for name in ("positive", "weight", "score", "bucket", "inside", "labelled", "known")
)
"""Columns of the queries; the prefix keeps them apart from the user's own."""


@dataclass
class Usage:
    """The passes, rows and bytes that a count took.

    Attributes
    ----------
    engine : str
    rows : int
        Rows of the frame.
    passes : int
        Number of times that each model's column was read.
    rows_counted : int
        Rows that were grouped or fetched, summed over all passes.
    bytes_received : int
        Size of all answers.

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
    """Checked cases in a lazy frame.

    Attributes
    ----------
    frame : LazyFrame
        Who is positive, a column of scores for each model, and weights if there are any.
    models : mapping of str to str
        Columns of scores by model.
    weighted : bool
    adapter : Adapter
    usage : Usage
    """

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

    def capped(self) -> LazyCases:
        """Lower scores of +inf to the highest finite float: a threshold of +inf means no alarm."""
        highest = nw.col(*self.models.values()).clip(upper_bound=LARGEST_FINITE)
        return replace(self, frame=self.frame.with_columns(highest))

    def sample(self, name: str, n_rows: int) -> Columns:
        """Return scores, labels and weights of the first rows that the engine finds."""
        first = self.frame.select(*self._columns(name)).head(n_rows)
        return self._rows(replace(self, usage=Usage()).collect(first))

    def count(self, name: str, query: RowQuery) -> Bins:
        """Count the rows of a query by buckets."""
        rows = with_shares(self._rows_of(name, query), self.weighted)
        rows = self.adapter.with_bucket(rows, SCORE, BUCKET, query.scale, query.level)
        answer = self.collect(rows.group_by(BUCKET).agg(*_counts(self.weighted)))
        bins = Bins.from_columns(answer, self.weighted)
        self.usage.passes += 1
        self.usage.rows_counted += int(bins.rows.sum())
        return bins

    def rows(self, name: str, query: RowQuery, at_most: int) -> Columns | None:
        """Fetch the rows of a query, and perhaps a few others; None if there are more."""
        self.usage.passes += 1
        rows = self._rows_of(name, query).select(*self._row_columns)
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

    def _rows_of(self, name: str, query: RowQuery) -> LazyFrame:
        rows = self.frame.select(*self._columns(name))
        # An engine can push plain comparisons with the outer range into its scan.
        if query.low > -np.inf or query.high < np.inf:
            rows = rows.filter(_between(query.low, query.high))
        if query.inside is None:
            return rows
        rows = self.adapter.with_bucket(rows, SCORE, INSIDE, query.scale, query.inside.level)
        return self.adapter.with_membership(rows, INSIDE, query.inside).filter(nw.col(INSIDE))


def with_shares(frame: LazyFrame, weighted: bool) -> LazyFrame:
    """Add columns of each row's weight, or 1, in its class.

    They hold floats, whose sums are exact up to 2**53 cases and have one type in every engine.
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
    """Sum the cases of each class, or their weights; without weights the positives suffice."""
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
