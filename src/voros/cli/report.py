"""``voros report``: a document for the record, and JSON beside it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from voros.cli.bundles import bundled
from voros.cli.failures import say
from voros.cli.loading import count_points, load
from voros.cli.options import (
    ChoiceOptions,
    ColumnOptions,
    Force,
    LimitOptions,
    PredictionFile,
    TestFile,
)
from voros.cli.patience import patience
from voros.cli.resampling import ResamplingOptions, resample
from voros.cli.select import load_test, rank
from voros.io import check_writable
from voros.present.report import DataSummary, Report, write_report
from voros.present.report.writing import report_paths

ARGUMENTS = "voros.arguments"
"""Where the words of the command line are kept, for the record."""


@bundled
def report(
    context: typer.Context,
    file: PredictionFile,
    columns: ColumnOptions,
    limits: LimitOptions,
    choice: ChoiceOptions,
    resampling: ResamplingOptions,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The .html to write; JSON goes beside it."
        ),
    ],
    test: TestFile = None,
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "A classifier chosen",
    force: Force = False,
) -> None:
    """Write a report on the choice of a model and its thresholds, as HTML with JSON beside it."""
    scenario, how = limits.read(), choice.read()
    check_writable(report_paths(output), force=force)
    validation = load(file, columns, group=resampling.group)
    points = count_points(validation)
    with patience("choosing"):
        selection = rank(points, scenario, how)
    policy = selection.policy()
    later = None if test is None else load_test(test, columns, validation, selection.winner)
    tested = None
    if later is not None:
        scores = later.of(selection.winner)
        tested = policy.evaluate(later.labels, scores, sample_weight=later.weights, by_cost=True)
    intervals, verdict = resample(validation, scenario, resampling)
    content = Report(
        title=title,
        command=shlex.join(["voros", *context.meta[ARGUMENTS]]),
        validation=DataSummary.of(validation),
        points=points,
        selection=selection,
        policy=policy,
        intervals=intervals,
        confidence=resampling.level,
        resamples=resampling.resamples,
        verdict=verdict,
        test=None if later is None else DataSummary.of(later),
        tested=tested,
    )
    with patience("drawing and writing"):
        document, values = write_report(content, output, force=force)
    say(f"wrote {document} and {values}")
