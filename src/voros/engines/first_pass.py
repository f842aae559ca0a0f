"""Labels, scores and weights of a lazy frame, checked in a first pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from voros.core.arrays import LARGEST_COUNT, SHOWN_VALUES
from voros.core.cases import check_labels
from voros.engines.backends import LazyFrame, adapter_of, as_lazy
from voros.engines.queries import (
    KNOWN,
    LABELLED,
    POSITIVE,
    WEIGHT,
    LazyCases,
    Usage,
    class_sums,
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


def read_cases(
    frame: Any, label: str, scores: Sequence[str], weight: str | None, pos_label: Any
) -> tuple[LazyCases, Totals]:
    """Check a frame and count its classes in a pass, or in two with weights.

    Rows without label or score are refused.
    """
    lazy = as_lazy(frame)
    _check_columns(lazy, label, scores, weight)
    adapter = adapter_of(lazy)
    models = {name: f"_voros_m{position}" for position, name in enumerate(scores)}
    columns = {LABEL: label} | {short: name for name, short in models.items()}
    lazy = adapter.pick(lazy, columns if weight is None else columns | {WEIGHT: weight})
    integer_models = [
        name for name, short in models.items() if lazy.collect_schema()[short].is_integer()
    ]
    if weight is not None:
        lazy = _with_positive_weights(lazy, weight)
    classes = _classes(lazy, label, pos_label)
    numbers = [*models.values(), *([] if weight is None else [WEIGHT])]
    cases = LazyCases(
        frame=lazy.select(*_label_columns(lazy, classes), nw.col(*numbers).cast(nw.Float64)),
        models=models,
        weighted=weight is not None,
        adapter=adapter,
        usage=Usage(adapter.name, passes=1 if weight is None else 2),
    )
    totals = _totals(cases, label)
    cases.usage.rows = totals.rows
    _check_exact_integers(totals, integer_models)
    infinite = any(np.isposinf(high) for _, high in totals.ranges.values())
    return (cases.capped() if infinite else cases), totals


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
    good = (column.is_finite() & (column >= 0)).fill_null(False)
    adapter = adapter_of(lazy)
    aggregates = nw.len().alias("rows"), adapter.how_many(good).alias("good")
    counts = adapter.collect(lazy.select(*aggregates, column.max().alias("highest")))
    rows, kept = (int(counts.item(0, name)) for name in ("rows", "good"))
    # An engine may look for NaN in the statistics of a file, which leave it out.
    highest = counts.item(0, "highest")
    bad = max(rows - kept, int(highest is not None and not np.isfinite(float(highest))))
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
    some = lazy.select(LABEL).drop_nulls().unique().head(SHOWN_VALUES + 1)
    values: AnyArray = adapter_of(lazy).collect(some).get_column(LABEL).to_numpy()
    return values


def _label_columns(lazy: LazyFrame, classes: tuple[Any, Any]) -> list[nw.Expr]:
    column = nw.col(LABEL)
    if lazy.collect_schema()[LABEL] == nw.Boolean:
        plain = column if classes[0] else ~column
        return [plain.alias(POSITIVE)]
    positive = column == classes[0]
    known = positive | (column == classes[1])
    return [
        positive.alias(POSITIVE),
        (~column.is_null()).alias(LABELLED),
        known.fill_null(False).alias(KNOWN),
    ]


def _totals(cases: LazyCases, label: str) -> Totals:
    how_many = cases.adapter.how_many
    frame, aggregates = cases.frame, [nw.len().alias("rows")]
    if cases.weighted:
        frame = with_shares(frame, cases.weighted)
        aggregates += [*class_sums(cases.weighted), nw.col(WEIGHT).min().alias("one_case")]
    else:
        aggregates.append(how_many(nw.col(POSITIVE)).alias("positive"))
    if KNOWN in frame.collect_schema():
        aggregates.append(how_many(nw.col(LABELLED)).alias("labelled"))
        aggregates.append(how_many(nw.col(KNOWN)).alias("known"))
    else:
        aggregates.append(nw.col(POSITIVE).count().alias("labelled"))
    for short in cases.models.values():
        score = nw.col(short)
        aggregates.append(cases.adapter.how_many_missing(score).alias(f"{short}_missing"))
        aggregates += [score.min().alias(f"{short}_low"), score.max().alias(f"{short}_high")]
    sums = {name: column[0] for name, column in cases.collect(frame.select(*aggregates)).items()}
    rows = int(sums["rows"])
    _check_labelled(sums, rows, label)
    for name, short in cases.models.items():
        _check_present(sums, rows, name, short)
    return _as_totals(sums, rows, cases)


def _as_totals(aggregates: Mapping[str, Any], rows: int, cases: LazyCases) -> Totals:
    ranges = {
        name: (float(aggregates[f"{short}_low"]), float(aggregates[f"{short}_high"]))
        for name, short in cases.models.items()
    }
    if cases.weighted:
        sums = float(aggregates["positive"]), float(aggregates["negative"])
        return Totals(rows, *sums, float(aggregates["one_case"]), ranges)
    positive = int(aggregates["positive"])
    return Totals(rows, positive, rows - positive, 1.0, ranges)


def _check_labelled(sums: Mapping[str, Any], rows: int, label: str) -> None:
    if rows == 0:
        raise ValueError("frame is empty; at least one case of each class is needed")
    missing = rows - int(sums["labelled"])
    if missing:
        raise ValueError(
            f"label column {label!r} is missing in {missing} of {rows} rows; drop or impute those "
            "first"
        )
    other = rows - int(sums.get("known", rows))
    if other:
        raise ValueError(
            f"label column {label!r} holds a third label, or NaN, in {other} of {rows} rows; two "
            "labels are accepted"
        )
    negative = sums.get("negative", rows - sums["positive"])
    if sums["positive"] == 0 or negative == 0:
        held = "positive" if negative == 0 else "negative"
        raise ValueError(
            f"label column {label!r} holds {held} cases only; both classes are needed to draw a "
            "ROC curve"
        )


def _check_present(sums: Mapping[str, Any], rows: int, name: str, short: str) -> None:
    bad = int(sums[f"{short}_missing"])
    if bad:
        raise ValueError(
            f"score column {name!r} is missing or NaN in {bad} of {rows} rows; drop or impute "
            "those first"
        )
    # Checked twice, because an engine may count NaN from the statistics of a file.
    if any(np.isnan(float(sums[f"{short}_{end}"])) for end in ("low", "high")):
        raise ValueError(f"score column {name!r} holds NaN; drop or impute those rows first")
