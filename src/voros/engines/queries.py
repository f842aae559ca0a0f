"""The queries that an engine runs; every answer has a bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import narwhals.stable.v2 as nw
import numpy as np

from voros.engines.backends import LazyFrame, collect, where_listed
from voros.engines.bins import Bins, Columns
from voros.engines.plan import RowQuery
from voros.typing import AnyArray

POSITIVE, WEIGHT, SCORE, BUCKET, INSIDE = (
    f"_voros_{name}" for name in ("positive", "weight", "score", "bucket", "inside")
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
class ModelRows:
    """Checked rows of one model in an engine.

    Attributes
    ----------
    frame : LazyFrame
        Scores, who is positive, and weights if there are any.
    weighted : bool
    usage : Usage
    """

    frame: LazyFrame
    weighted: bool
    usage: Usage

    def sample(self, n_rows: int) -> Columns:
        """Return scores, labels and weights of the first rows that the engine finds."""
        return self._fetched(run(self.frame.head(n_rows)))

    def count(self, query: RowQuery) -> Bins:
        """Count the rows of a query by buckets."""
        rows = with_shares(self._rows_of(query), self.weighted)
        rows = query.scale.with_buckets(rows, SCORE, BUCKET, query.level)
        answer = run(rows.group_by(BUCKET).agg(*_counts(self.weighted)), self.usage)
        bins = Bins.from_columns(answer, self.weighted)
        self.usage.passes += 1
        self.usage.rows_counted += int(bins.rows.sum())
        return bins

    def fetch(self, query: RowQuery, at_most: int) -> Columns | None:
        """Fetch the rows of a query, and perhaps a few others; None if there are more."""
        self.usage.passes += 1
        rows = self._rows_of(query).select(*self._columns)
        columns = self._fetched(run(rows.head(at_most + 1), self.usage))
        if len(columns[0]) > at_most:
            return None
        self.usage.rows_counted += len(columns[0])
        return columns

    def _fetched(self, answer: Mapping[str, AnyArray]) -> Columns:
        kinds = (np.float64, np.bool_, np.float64)
        return [answer[name].astype(kind) for name, kind in zip(self._columns, kinds, strict=False)]

    @property
    def _columns(self) -> list[str]:
        return [SCORE, POSITIVE, *([WEIGHT] if self.weighted else [])]

    def _rows_of(self, query: RowQuery) -> LazyFrame:
        rows = self.frame
        # An engine can push plain comparisons with the outer range into its scan.
        if query.low > -np.inf:
            rows = rows.filter(nw.col(SCORE) >= query.low)
        if query.high < np.inf:
            rows = rows.filter(nw.col(SCORE) <= query.high)
        if query.inside is None:
            return rows
        rows = query.scale.with_buckets(rows, SCORE, INSIDE, query.inside_level)
        return where_listed(rows, INSIDE, query.inside)


def run(query: LazyFrame, usage: Usage | None = None) -> dict[str, AnyArray]:
    """Run a query, and return the columns of its answer."""
    table = collect(query)
    columns = {name: table.get_column(name).to_numpy() for name in table.columns}
    if usage is not None:
        usage.bytes_received += sum(column.nbytes for column in columns.values())
    return columns


def how_many(condition: nw.Expr) -> nw.Expr:
    """Count the rows where a condition holds, as a float, which is exact below 2**53."""
    return condition.cast(nw.Float64).sum()


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
