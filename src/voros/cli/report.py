"""``voros report``: an HTML document for the record, and the same values as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from voros.cli import options
from voros.cli.loading import count_points, load, load_test
from voros.cli.select import ChoiceOptions
from voros.cli.stays import NOT_WITH_STAYS, StayInput, StayOptions, TestEvents
from voros.cli.terminal import ARGUMENTS, say, show_progress
from voros.core.subgroups import Subgroups
from voros.io import check_writable
from voros.present.report.data import ReportCases, ReportStays
from voros.present.report.layout import report_paths, save_report
from voros.present.report.making import compose_report
from voros.selection.ranking import rank_deployable


@options.bundled_with(
    without=("weight",),
    requires={"test": ["by", "false_alarm_cost", "test_events"], "stay": ["test_events"]},
    excludes={"stay": [*NOT_WITH_STAYS, "false_alarm_cost"]},
)
def report(
    context: typer.Context,
    columns: options.CaseOptions,
    limits: options.LimitOptions,
    choice: ChoiceOptions,
    stays: StayOptions,
    resampling: options.ResamplingOptions,
    output: Annotated[
        Path, options.output_to("The .html file to write; the .json file is beside it.")
    ],
    test: options.TestFile = None,
    by: options.By = None,
    test_events: TestEvents = None,
    title: str = options.option(
        "Heading of the report.", default="Choice of a model and its thresholds"
    ),
    false_alarm_cost: options.FalseAlarmCost = None,
    force: options.Force = False,
) -> None:
    """Write a report on the choice of a model and its thresholds, as HTML with JSON beside it."""
    scenario, how = limits.read(), choice.read(over_stays=stays.given)
    price = options.read_price(false_alarm_cost)
    check_writable(report_paths(output), force=force)
    validation: ReportCases | ReportStays
    later: ReportCases | ReportStays | None = None
    if stays.given:
        rows = stays.open(columns, choice, resampling.group, by)
        validation = _report_stays(rows)
        points = validation.points_by_model
    else:
        cases = load(columns, scenario, group=resampling.group, aside=by)
        validation = ReportCases(cases, cases.periods)
        points = count_points(cases)
    with show_progress("choosing"):
        selection = rank_deployable(points, scenario, **how)
    if test is not None and stays.given:
        later = _report_stays(rows.with_file(test, [selection.winner], test_events, by))
    elif test is not None:
        whose: Any = {"group": resampling.group, "by": by}
        named = replace(columns, label=cases.label)
        tested = load_test(test, named, selection.winner, scenario, **whose)
        subgroups = Subgroups.from_columns(tested.by) if by else None
        later = ReportCases(tested, tested.periods, subgroups)
    files = columns.file, test, output, limits.scenarios, stays.events, test_events
    with show_progress("resampling") as progress:
        content = compose_report(
            validation,
            points,
            selection,
            later,
            **resampling.draws,
            title=title,
            command=_command(context, files),
            false_alarm_cost=price,
            progress=progress,
        )
    with show_progress("drawing and writing"):
        document, values = save_report(content, output, force=force)
    say(f"wrote {document} and {values}")


def _report_stays(rows: StayInput) -> ReportStays:
    table = rows.rows.table
    by = {name: table.column(name) for name in rows.by} or None
    return ReportStays(rows.points(), str(rows.columns.file), rows.rows.notes, by)


def _command(context: typer.Context, files: Iterable[Path | None]) -> str:
    """Return the command as it was typed, with folders removed from file names."""
    words = list(context.meta[ARGUMENTS])
    for file in filter(None, files):
        if file.name != str(file):
            words = [word.replace(str(file), file.name) for word in words]
    return shlex.join(["voros", *words])
