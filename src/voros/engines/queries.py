"""The few questions that are put to an engine; every answer is an aggregate of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_FINITE
from voros.engines.backends import Adapter, LazyFrame
from voros.engines.batches import LARGEST_TABLE, Columns, IncompleteRowsError, count_batches
from voros.engines.bins import Bins
from voros.engines.held import read_rows
from voros.engines.plan import PassPlan, Wanted
from voros.engines.scales import BITS, MISSING
from voros.typing import AnyArray

POSITIVE, WEIGHT, MODEL, SCORE, CELL, NAMED, VALID, LABELLED, KNOWN = (
    f"_voros_{name}"
    for name in (
        *("positive", "weight", "model", "score", "cell"),
        *("named", "valid", "labelled", "known"),
    )
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
    >>> usage = points.covers.usage
    >>> usage.engine, usage.rows, usage.passes, usage.rows_scanned
    ('polars', 4, 1, 4)
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
    label: str = ""
    whole: Sequence[str] = ()
    """Models whose scores are whole numbers."""

    usage: Usage = field(default_factory=Usage)

    def collect(self, answer: LazyFrame) -> dict[str, AnyArray]:
        """Run a query and return its columns."""
        table = self.adapter.collect(answer)
        return self._received({name: table.get_column(name).to_numpy() for name in table.columns})

    def pilot(self, rows: int) -> dict[str, AnyArray]:
        """Labels, scores and weights of the first rows, wherever the engine finds them."""
        columns = [POSITIVE, *self.models.values(), *([WEIGHT] if self.weighted else [])]
        return replace(self, usage=Usage()).collect(self.frame.select(*columns).head(rows))

    def capped(self) -> LazyCases:
        """The same cases with scores of +inf at the highest finite float.

        A threshold of +inf means never alarm, so no alarm can be at +inf.
        """
        highest = nw.col(*self.models.values()).clip(upper_bound=LARGEST_FINITE)
        return replace(self, frame=self.frame.with_columns(highest))

    def count(self, plan: PassPlan, *, checked: bool = False) -> dict[str, Bins]:
        """Count the wanted rows of every model by cells, in one query or batch by batch.

        Raises
        ------
        IncompleteRowsError
            If `checked`, where a row has neither label, or no score.
        """
        answers = self._count_batches(plan.wanted)
        rest = {name: want for name, want in plan.wanted.items() if name not in answers}
        if rest:
            answers |= self._count_query(rest, checked)
        self.usage.passes += 1
        for answer in answers.values() if checked else ():
            if np.any(answer[CELL] == MISSING) or np.isnan(answer["greatest"]).any():
                raise IncompleteRowsError
        counted = {name: Bins.of(answers[name], self.weighted) for name in plan.wanted}
        for name, bins in counted.items():
            self._check_split(bins, plan.wanted[name])
            self.usage.rows_counted += int(bins.rows.sum())
        return counted

    def _count_batches(self, wanted: Mapping[str, Wanted]) -> dict[str, Mapping[str, AnyArray]]:
        counted: dict[str, Mapping[str, AnyArray]] = {}
        for name, want in wanted.items():
            if self.adapter.batches is None or want.n_cells > LARGEST_TABLE:
                continue
            with self._batches(name, want) as batches:
                answer = count_batches(batches, want, self.weighted)
            counted[name] = self._received(answer)
        return counted

    @contextmanager
    def _batches(self, name: str, want: Wanted) -> Iterator[Iterator[Columns]]:
        """Wanted rows batch by batch; without a label where it is neither of the two."""
        assert self.adapter.batches is not None
        frame = self.frame
        if KNOWN in frame.collect_schema():
            positive = nw.when(nw.col(KNOWN)).then(nw.col(POSITIVE))
            frame = frame.with_columns(positive.alias(POSITIVE))
        rows = replace(self, frame=frame)._wanted_rows(name, want, checked=False)
        batches = self.adapter.batches(rows, self._row_columns)
        # Where a batch is refused, the engine must not be left in the middle of its answer.
        with closing(batches):
            yield batches

    def hold(self, wanted: Mapping[str, Wanted], at_most: int) -> dict[str, Columns] | None:
        """Read the wanted rows of every model in a pass; None where a model has more than that."""
        held: dict[str, Columns] = {}
        self.usage.passes += 1
        for name, want in wanted.items():
            columns = self._rows(name, want, at_most)
            if columns is None:
                return None
            held[name] = columns
            self.usage.rows_counted += len(columns[0])
            self.usage.bytes_received += sum(column.nbytes for column in columns)
        return held

    def _rows(self, name: str, want: Wanted, at_most: int) -> Columns | None:
        if self.adapter.batches is not None:
            with self._batches(name, want) as batches:
                return read_rows(batches, want, at_most)
        rows = self._wanted_rows(name, want, checked=False)
        if want.named is not None:
            rows = self._in_named_cells(rows, want)
        table = self.adapter.collect(rows.select(*self._row_columns).head(at_most + 1))
        if len(table) > at_most:
            return None
        return [table.get_column(column).to_numpy() for column in self._row_columns]

    @property
    def _row_columns(self) -> list[str]:
        return [SCORE, POSITIVE, *([WEIGHT] if self.weighted else [])]

    def _received(self, columns: dict[str, AnyArray]) -> dict[str, AnyArray]:
        self.usage.bytes_received += sum(column.nbytes for column in columns.values())
        return columns

    def _count_query(
        self, wanted: Mapping[str, Wanted], checked: bool
    ) -> dict[str, Mapping[str, AnyArray]]:
        """Ask for all models at once, each grouped on its own.

        An engine reads few columns faster than it turns columns into rows.
        """
        grouped = []
        for name, want in wanted.items():
            rows = self._wanted_rows(name, want, checked)
            if want.named is not None:
                rows = self._in_named_cells(rows, want)
            rows = with_shares(rows, self.weighted, self.adapter)
            rows = self.adapter.with_cell(rows, SCORE, CELL, want.scale, want.level)
            if checked:
                cell = nw.when(nw.col(VALID)).then(nw.col(CELL)).otherwise(nw.lit(MISSING))
                rows = rows.with_columns(cell.alias(CELL))
            model = nw.lit(self.models[name]).alias(MODEL)
            grouped.append(rows.group_by(CELL).agg(*_counts(self.weighted)).with_columns(model))
        answer = self.collect(nw.concat(grouped) if len(grouped) > 1 else grouped[0])
        return {
            name: {
                key: column[answer[MODEL] == self.models[name]] for key, column in answer.items()
            }
            for name in wanted
        }

    def _wanted_rows(self, name: str, want: Wanted, checked: bool) -> LazyFrame:
        kept = [POSITIVE, WEIGHT] if self.weighted else [POSITIVE]
        score = nw.col(self.models[name])
        valid = [self._valid(score).alias(VALID)] if checked else []
        rows = self.frame.select(*kept, score.alias(SCORE), *valid)
        # First the outer range, in plain comparisons that an engine can push into its scan.
        if want.low > -np.inf or want.high < np.inf:
            rows = rows.filter(_between(want.low, want.high))
        if want.ranges:
            rows = rows.filter(_any([_between(low, high) for low, high in want.ranges]))
        return rows

    def _valid(self, score: nw.Expr) -> nw.Expr:
        """Whether a row has one of the two labels, and a score."""
        valid = ~(nw.col(POSITIVE).is_null() | score.is_null() | score.is_nan())
        return valid & nw.col(KNOWN) if KNOWN in self.frame.collect_schema() else valid

    def _in_named_cells(self, rows: LazyFrame, want: Wanted) -> LazyFrame:
        assert want.named is not None
        rows = self.adapter.with_cell(rows, SCORE, NAMED, want.scale, want.named.level)
        return self.adapter.with_membership(rows, NAMED, want.named).filter(nw.col(NAMED))

    def _check_split(self, bins: Bins, want: Wanted) -> None:
        """Raise where a cell of one float holds two: to split it again would never end."""
        if want.scale is not BITS or want.level > 0 or bins.single.all():
            return
        place = np.argmin(bins.single)
        raise ValueError(
            f"engine={self.usage.engine!r} says that equal scores lie between "
            f"{bins.least[place]:.17g} and {bins.greatest[place]:.17g}; its database does not keep "
            "to the rules of floats there"
        )


def with_shares(frame: LazyFrame, weighted: bool, adapter: Adapter) -> LazyFrame:
    """Add what each row adds to its class: its weight, or one case.

    As floats, whose sums are exact up to 2**53 cases and of one type in every engine.
    """
    positive = nw.col(POSITIVE)
    if not weighted:
        return frame.with_columns(adapter.as_number(positive).alias("positive"))
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
