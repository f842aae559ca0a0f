"""``voros worklist``: the highest scores of each day, beside the threshold policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from voros.cli.loading import load, periods_of, single_model
from voros.cli.options import (
    InputOptions,
    LimitOptions,
    OutputOptions,
    PeriodOptions,
    TestFile,
    bundled,
    option,
    output_to,
)
from voros.cli.terminal import Sheet, check_output, deliver_cases, say, show, show_progress
from voros.io import append_column, open_source, read_predictions
from voros.present.report.content import scenario_values
from voros.present.report.wording import exact

if TYPE_CHECKING:
    from voros.policy.worklists import Worklist, WorklistEvaluation


@bundled
def list_cases(
    columns: InputOptions,
    limits: LimitOptions,
    when: PeriodOptions,
    show_options: OutputOptions,
    test: TestFile = None,
    today: Annotated[
        Path | None, option("New cases, of whole periods, to write the list of.", metavar="FILE")
    ] = None,
    output: Annotated[
        Path | None,
        output_to(
            "With --today: where to write its cases and whether each is listed: .csv, .tsv, "
            ".parquet, .arrow or .jsonl."
        ),
    ] = None,
) -> None:
    """List the k highest scores of each period, as in --capacity 20/day, above a threshold.

    The threshold is chosen on the cases in FILE. A table compares the list with the threshold
    policy under the same limits.
    """
    scenario = limits.read(by_period=True)
    _check(scenario.per, today, output)
    when.check(scenario)
    check_output(output, show_options)
    cases = load(columns, when=when)
    if cases.weights is not None:
        raise ValueError("a list holds cases, and --weight makes each row several; leave it out")
    model = single_model(cases.models, "a list is of")
    with show_progress("choosing"):
        from voros.policy import worklist

        periods = periods_of(cases, scenario, when)
        ranked_list = worklist(cases.positive, cases.scores_of(model), scenario, periods=periods)
    shown = {"validation": ranked_list.validation}
    if test is not None:
        named = replace(columns, file=test, label=cases.label, score=[model])
        later = load(named, when=when, both_classes=False)
        periods = periods_of(later, scenario, when)
        shown["test"] = ranked_list.evaluate(
            later.positive, later.scores_of(model), periods=periods
        )
    if today is not None and output is not None:
        _write_list(ranked_list, today, model, when, output, show_options)
    sheet = _sheet(ranked_list, shown, cases.source, model)
    show(sheet, show_options, output=output)


def _check(per: str | None, today: Path | None, output: Path | None) -> None:
    if per is None:
        raise ValueError("a worklist is one of each period; give --capacity as 20/day")
    if (today is None) != (output is None):
        missing = "--today FILE" if today is None else "-o FILE"
        raise ValueError(f"a list needs cases and somewhere to write them; {missing} is missing")


def _write_list(
    rule: Worklist,
    today: Path,
    model: str,
    when: PeriodOptions,
    output: Path,
    options: OutputOptions,
) -> None:
    source = open_source(today)
    cases = read_predictions(
        source,
        scores=[model],
        labelled=False,
        time=when.time,
        period=when.period,
        both_classes=False,
    )
    listed = rule.predict(cases.scores_of(model), periods=periods_of(cases, rule.scenario, when))
    table = append_column(source, "listed", listed.astype(np.int8), cases.kept)
    deliver_cases(table, output, options)
    say(f"{int(listed.sum()):,} of {len(listed):,} cases are listed")


def _sheet(rule: Worklist, shown: dict[str, WorklistEvaluation], source: str, model: str) -> Sheet:
    rows = [{"cases": part} | row for part, evaluation in shown.items() for row in evaluation.rows]
    columns = {"cases": [row["cases"] for row in rows]} | {
        title or "deployed": [
            cell for evaluation in shown.values() for cell in evaluation.cells[title]
        ]
        for title in rule.validation.cells
    }
    k, per = rule.scenario.capacity, rule.scenario.per
    return Sheet(
        title=f"the {k:,} highest of {model!r} in each {per}, from {exact(rule.threshold)} on",
        columns=columns,
        rows=lambda: rows,
        document=lambda: {
            "file": source,
            "model": model,
            "scenario": scenario_values(rule.scenario),
            "threshold": rule.threshold,
            "policy_threshold": rule.policy.threshold(),
            "score": rule.score,
            "lists": {
                part: {"full": evaluation.n_full, "periods": evaluation.n_periods}
                for part, evaluation in shown.items()
            },
            "compared": rows,
        },
        notes=[f"{part}: {evaluation.note}" for part, evaluation in shown.items()],
    )
