"""Labels, scores and weights of a lazy frame, checked in a first pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_COUNT, LARGEST_FINITE, SHOWN_VALUES
from voros.core.cases import check_labels
from voros.engines.backends import LazyFrame, as_lazy, column_of, engine_of
from voros.engines.queries import (
    POSITIVE,
    SCORE,
    WEIGHT,
    ModelRows,
    Usage,
    class_sums,
    how_many,
    run,
    with_shares,
)
from voros.typing import AnyArray

LABEL = "_voros_label"

LABEL_ROWS = 10_000
"""First rows that show the names of the labels; all rows are checked against them."""


@dataclass(frozen=True)
class Totals:
    """Totals of the first pass.

    Attributes
    ----------
    rows : int
    positive, negative : int or float
        Cases of each class, or the sum of their weights.
    one_case : float
        The smallest weight; 1 without weights.
    ranges : dict of str to (float, float)
        Lowest and highest score of each model.
    """

    rows: int
    positive: float
    negative: float
    one_case: float
    ranges: dict[str, tuple[float, float]]


def read_rows(
    frame: Any, label: str, scores: Sequence[str], weight: str | None, pos_label: Any
) -> tuple[dict[str, ModelRows], Totals]:
    """Check a frame and count its classes in a pass, or in two with weights.

    Rows without label or score are refused.

    Returns
    -------
    dict of str to ModelRows
        By column of scores.
    Totals
    """
    lazy = as_lazy(frame)
    _check_columns(lazy, label, scores, weight)
    models = {name: f"_voros_m{position}" for position, name in enumerate(scores)}
    weights = {} if weight is None else {WEIGHT: weight}
    columns = {LABEL: label} | weights | {short: name for name, short in models.items()}
    lazy = lazy.select(*(column_of(lazy, name).alias(new) for new, name in columns.items()))
    schema = lazy.collect_schema()
    if weight is not None:
        lazy = _with_positive_weights(lazy, weight)
    positive = _positive(schema[LABEL], _classes(lazy, label, pos_label)).alias(POSITIVE)
    lazy = lazy.with_columns(positive, nw.col(*models.values(), *weights).cast(nw.Float64))
    usage = Usage(engine_of(lazy), passes=1 if weight is None else 2)
    totals = _totals(lazy, label, models, weight is not None, usage)
    _check_exact_integers(totals, [m for m, short in models.items() if schema[short].is_integer()])
    rows = {
        name: ModelRows(
            frame=lazy.select(_score(short, totals.ranges[name][1]), POSITIVE, *weights),
            weighted=weight is not None,
            usage=replace(usage),
        )
        for name, short in models.items()
    }
    return rows, totals


def _score(short: str, high: float) -> nw.Expr:
    """Return scores; +inf, which means no alarm, becomes the highest finite float."""
    score = nw.col(short).alias(SCORE)
    return score.clip(upper_bound=LARGEST_FINITE) if np.isposinf(high) else score


def _check_exact_integers(totals: Totals, integer_models: Sequence[str]) -> None:
    """Refuse whole numbers that may be equal as floats; in memory they are compared exactly."""
    for name in integer_models:
        if max(map(abs, totals.ranges[name])) >= LARGEST_COUNT:
            raise ValueError(
                f"score column {name!r} holds whole numbers of 2**53 or beyond, which engines "
                "compare as float64, where neighbours are equal; rescale them first"
            )


def _check_columns(lazy: LazyFrame, label: str, scores: Sequence[str], weight: str | None) -> None:
    schema = lazy.collect_schema()
    wanted = {"label": label} | {f"score[{i}]": name for i, name in enumerate(scores)}
    wanted |= {} if weight is None else {"weight": weight}
    for argument, name in wanted.items():
        if name not in schema:
            raise ValueError(f"{argument}={name!r} is not a column; there are {list(schema)}")
        if argument == "label" and schema[name].is_nested():
            raise ValueError(
                f"label={name!r} must hold numbers, text or booleans; its type is {schema[name]}"
            )
        if argument != "label" and not (schema[name].is_numeric() or schema[name] == nw.Boolean):
            raise ValueError(f"{argument}={name!r} must hold numbers; its type is {schema[name]}")
    if len(set(scores)) < len(scores) or not scores:
        raise ValueError(f"score={list(scores)!r}; accepted are one or more distinct columns")


def _with_positive_weights(lazy: LazyFrame, weight: str) -> LazyFrame:
    column = nw.col(WEIGHT).cast(nw.Float64)
    good = how_many(column.is_finite() & (column >= 0)).alias("good")
    counts = run(lazy.select(nw.len().alias("rows"), good, column.max().alias("highest")))
    rows, highest = int(counts["rows"][0]), counts["highest"].astype(np.float64)[0]
    # An engine may look for NaN in the statistics of a file, which leave it out.
    bad = max(rows - int(counts["good"][0]), int(rows > 0 and not np.isfinite(highest)))
    if bad:
        raise ValueError(
            f"weight={weight!r} must be finite and not negative; {bad} of {rows} rows are not"
        )
    return lazy.filter(column > 0)


def _classes(lazy: LazyFrame, label: str, pos_label: Any) -> tuple[Any, Any]:
    """Return the positive and the negative label, from the first rows or, if necessary, all."""
    if lazy.collect_schema()[LABEL] == nw.Boolean:
        distinct = np.array([False, True])
    else:
        distinct = _distinct(lazy.head(LABEL_ROWS))
        if len(distinct) < 2:
            distinct = _distinct(lazy)
    positive = check_labels(distinct, pos_label, name=f"label column {label!r}")
    return distinct[positive].tolist()[0], distinct[~positive].tolist()[0]


def _distinct(lazy: LazyFrame) -> AnyArray:
    return run(lazy.select(LABEL).drop_nulls().unique().head(SHOWN_VALUES + 1))[LABEL]


def _positive(kind: Any, classes: tuple[Any, Any]) -> nw.Expr:
    """Return who is positive; null where the label is missing or a third one."""
    label, (positive, negative) = nw.col(LABEL), classes
    if kind == nw.Boolean:
        return label if positive else ~label
    is_negative = nw.when(label == negative).then(nw.lit(False))
    return nw.when(label == positive).then(nw.lit(True)).otherwise(is_negative)


def _totals(
    lazy: LazyFrame, label: str, models: Mapping[str, str], weighted: bool, usage: Usage
) -> Totals:
    aggregates = _aggregates(models, weighted)
    answer = run(with_shares(lazy, weighted).select(*aggregates), usage)
    sums = {name: column[0] for name, column in answer.items()}
    rows = usage.rows = int(sums["rows"])
    if rows == 0:
        raise ValueError("frame is empty; at least one case of each class is needed")
    if int(sums["known"]) < rows:
        raise ValueError(_why_unknown(lazy, label, rows, int(sums["known"])))
    positive = float(sums["positive"]) if weighted else int(sums["positive"])
    negative = float(sums["negative"]) if weighted else rows - positive
    _check_both_classes(label, positive, negative)
    for name, short in models.items():
        # The sum of finite scores is finite, unless it is beyond the floats. Statistics of a file
        # leave NaN out; no engine takes a sum from them.
        if int(sums[f"{short}_count"]) < rows or not np.isfinite(float(sums[f"{short}_sum"])):
            usage.passes += 1
            _check_present(lazy, rows, name, short)
    ranges = {
        name: (float(sums[f"{short}_low"]), float(sums[f"{short}_high"]))
        for name, short in models.items()
    }
    return Totals(rows, positive, negative, float(sums.get("one_case", 1.0)), ranges)


def _aggregates(models: Mapping[str, str], weighted: bool) -> list[nw.Expr]:
    aggregates = [nw.len().alias("rows"), nw.col(POSITIVE).count().alias("known")]
    aggregates += class_sums(weighted)
    if weighted:
        aggregates.append(nw.col(WEIGHT).min().alias("one_case"))
    for short in models.values():
        score = nw.col(short)
        aggregates += [score.min().alias(f"{short}_low"), score.max().alias(f"{short}_high")]
        aggregates += [score.count().alias(f"{short}_count"), score.sum().alias(f"{short}_sum")]
    return aggregates


def _check_both_classes(label: str, positive: float, negative: float) -> None:
    if positive == 0 or negative == 0:
        held = "positive" if negative == 0 else "negative"
        raise ValueError(
            f"label column {label!r} holds {held} cases only; both classes are needed to draw a "
            "ROC curve"
        )


def _why_unknown(lazy: LazyFrame, label: str, rows: int, known: int) -> str:
    missing = int(run(lazy.select(how_many(nw.col(LABEL).is_null())))[LABEL][0])
    if missing:
        return (
            f"label column {label!r} is missing in {missing} of {rows} rows; drop or impute those "
            "first"
        )
    return (
        f"label column {label!r} holds a third label, or NaN, in {rows - known} of {rows} rows; "
        "two labels are accepted"
    )


def _check_present(lazy: LazyFrame, rows: int, name: str, short: str) -> None:
    score = nw.col(short)
    # DuckDB answers `isnan` from the statistics of a file.
    present = score.is_finite() | (score == np.inf) | (score == -np.inf)
    bad = rows - int(run(lazy.select(how_many(present)))[short][0])
    if bad:
        raise ValueError(
            f"score column {name!r} is missing or NaN in {bad} of {rows} rows; drop or impute "
            "those first"
        )
