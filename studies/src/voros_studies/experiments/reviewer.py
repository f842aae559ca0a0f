"""Tables that reviewers of clinical papers ask for: flow, table 1, performance, all candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from voros.core.decision import solve
from voros.typing import AnyArray, BoolArray, FloatArray
from voros_studies.experiments.cases import LabelledCases, Split, StudyContext
from voros_studies.experiments.measured import name_with_unit
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.risk_quality import risk_quality
from voros_studies.experiments.study import STUDY_CONFIDENCE, Scored
from voros_studies.flow import FlowStep
from voros_studies.tables import Column, Table, Value

PART_TITLES = {"train": "training", "valid": "validation", "test": "test"}


@dataclass(frozen=True, eq=False)
class StudyParts:
    """The cases, their split, and the models' scores of validation and test cases."""

    cases: LabelledCases
    split: Split
    context: StudyContext
    valid: Scored
    test: Scored


def reviewer_tables(result: StudyResult, parts: StudyParts) -> tuple[Table, ...]:
    """Return all tables for reviewers, those of many rows last."""
    return (
        flow_table(study_flow(parts), result.title),
        *([table_one(parts, result.title)] if parts.context.characteristics else []),
        performance_table(result, parts.test),
        candidates_table(result, parts),
    )


def flow_table(steps: Sequence[FlowStep], title: str) -> Table:
    """Return the flow as a table, a row for each step."""
    columns = (
        Column("step"),
        Column("n", "kept", decimals=0),
        Column("left out", "left_out", decimals=0),
        Column("why", "reason"),
    )
    rows = tuple((s.what, float(s.kept), float(s.left_out), s.reason) for s in steps)
    return Table(columns, rows, f"{title}: flow of cases", "flow")


def study_flow(parts: StudyParts) -> tuple[FlowStep, ...]:
    """Return the flow of the data, down to the three parts."""
    cases, split = parts.cases, parts.split.parts
    first = parts.context.flow or (FlowStep("cases", len(cases)),)
    used = sum(map(len, split.values()))
    if used < len(cases):
        left = len(cases) - used
        first = (*first, FlowStep("in the split", used, left, "of patients of other parts"))
    ends = [
        FlowStep(
            f"{PART_TITLES[part]}, {int(cases.y[rows].sum()):,} with the outcome",
            len(rows),
            is_part=True,
        )
        for part, rows in split.items()
    ]
    return (*first, *ends)


def table_one(parts: StudyParts, title: str) -> Table:
    """Describe all cases, then by part and outcome: median and quartiles, or number and share."""
    columns = [Column("characteristic"), Column("overall")]
    masks: list[tuple[AnyArray, BoolArray]] = []
    for part, rows in parts.split.parts.items():
        for outcome, word in ((True, "with"), (False, "without")):
            group = f"{PART_TITLES[part]} set"
            columns.append(Column(f"{word} outcome", f"{part}_{word}", group))
            masks.append((rows, parts.cases.y[rows] == outcome))
        columns.append(Column("missing", f"{part}_missing", f"{PART_TITLES[part]} set"))
    rows_ = [_described("n", lambda x: f"{len(x):,}", parts.cases.y, masks)]
    for name, values in parts.context.characteristics.items():
        rows_ += _characteristic(name_with_unit(name), values, masks)
    return Table(tuple(columns), tuple(rows_), f"{title}: characteristics (table 1)", "table_1")


def _characteristic(
    name: str, values: AnyArray, masks: Sequence[tuple[AnyArray, BoolArray]]
) -> Iterator[tuple[Value, ...]]:
    if values.dtype.kind in "UO":
        for word in sorted({str(word) for word in values} - {""}):
            yield _described(f"{name}: {word}", lambda x, w=word: _share(x == w), values, masks)
    elif values.dtype.kind == "b":
        yield _described(name, _share, values, masks)
    else:
        yield _described(f"{name}, median (quartiles)", _quartiles, values, masks)


def _described(
    name: str, describe: Any, values: AnyArray, masks: Sequence[tuple[AnyArray, BoolArray]]
) -> tuple[Value, ...]:
    everybody = np.concatenate([rows for rows, _ in masks[::2]])
    row: list[Value] = [name, describe(values[everybody])]
    for number, (rows, mask) in enumerate(masks):
        row.append(describe(values[rows][mask]))
        if number % 2:
            row.append(f"{_missing(values[rows]).mean():.1%}")
    return tuple(row)


def _missing(values: AnyArray) -> BoolArray:
    return np.asarray(values == "" if values.dtype.kind in "UO" else np.isnan(values))


def _share(held: BoolArray) -> str:
    return f"{int(held.sum()):,} ({held.mean():.1%})" if len(held) else "0"


def _quartiles(values: FloatArray) -> str:
    known = values[~np.isnan(values)]
    if not len(known):
        return "none"
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
    return f"{middle:.4g} ({low:.4g}-{high:.4g})"


def performance_table(result: StudyResult, test: Scored) -> Table:
    """Return AUROC, AUPRC and Brier score of the selected models on the test set."""
    measures = {"auroc": "AUROC", "auprc": "AUPRC", "brier": "Brier score"}
    columns = [Column("model")]
    for name, title in measures.items():
        group = f"{title}: {STUDY_CONFIDENCE:.0%} interval by patient"
        columns.append(Column(title, name, group))
        columns += [Column(end, f"{name}_{end}", group) for end in ("low", "high")]
    columns += [Column("mean risk", "mean_risk"), Column("observed", "prevalence")]
    rows: list[tuple[Value, ...]] = []
    for model in dict.fromkeys(one.model for one in result.deployed):
        quality = risk_quality(test.y_true, test.scores[model], test.patient)
        rated = [(getattr(quality, name), *ends) for name, ends in quality.intervals.items()]
        risks = quality.mean_risk, quality.prevalence
        rows.append((result.label(model), *chain.from_iterable(rated), *risks))
    return Table(
        tuple(columns), tuple(rows), f"{result.title}: risks on the test set", "performance"
    )


def candidates_table(result: StudyResult, parts: StudyParts) -> Table:
    """Return every candidate's scores on validation and test, and the outcome of its fit."""
    columns = [Column("model"), Column("seconds", decimals=1), Column("converged")]
    for number in result.scenarios:
        group = f"validation, scenario {number}"
        columns += [
            Column("partial VOROS", f"partial_voros_{number}", group, decimals=4),
            Column("VOROS", f"voros_{number}", group, decimals=4),
        ]
    columns += [
        Column(title, f"{part}_{title.lower()}", f"{PART_TITLES[part]} set", decimals=4)
        for part in ("valid", "test")
        for title in ("AUROC", "AUPRC", "Brier")
    ]
    rows = tuple(_candidate(result, parts, model) for model in parts.valid.scores)
    return Table(tuple(columns), rows, f"{result.title}: all candidates", "candidates")


def _candidate(result: StudyResult, parts: StudyParts, model: str) -> tuple[Value, ...]:
    record = result.records[model]
    row: list[Value] = [result.label(model), record["seconds"]]
    row.append("yes" if record["converged"] else "no")
    for scenario in result.scenarios.values():
        points = parts.valid.points[model]
        row += [solve(points, s).partial_voros for s in (scenario, scenario.without_limits())]
    for part in (parts.valid, parts.test):
        quality = risk_quality(part.y_true, part.scores[model], n_resamples=1)
        row += [quality.auroc, quality.auprc, quality.brier]
    return tuple(row)
