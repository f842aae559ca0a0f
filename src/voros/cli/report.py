"""``voros report``: a document for the record, and JSON beside it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from voros.cli.loading import count_points, load
from voros.cli.options import (
    ChoiceOptions,
    Force,
    GroupOptions,
    InputOptions,
    LimitOptions,
    ResamplingOptions,
    TestFile,
    bundled,
    output_to,
)
from voros.cli.select import load_test
from voros.cli.terminal import say, show_progress
from voros.core.scenario import Scenario
from voros.io import Predictions, check_writable
from voros.present.report import DataSummary, ModelInterval, Report, report_paths, write_report
from voros.selection import rank_deployable

ARGUMENTS = "voros.arguments"
"""Where the words of the command line are kept, for the record."""


@bundled
def report(
    context: typer.Context,
    columns: InputOptions,
    limits: LimitOptions,
    choice: ChoiceOptions,
    groups: GroupOptions,
    resampling: ResamplingOptions,
    output: Annotated[
        Path,
        output_to("The .html to write; JSON goes beside it."),
    ],
    test: TestFile = None,
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "A classifier chosen",
    force: Force = False,
) -> None:
    """Write a report on the choice of a model and its thresholds, as HTML with JSON beside it."""
    scenario, how = limits.read(), choice.read()
    if groups.by and test is None:
        raise ValueError("--by reports on test cases; name them with --test FILE")
    check_writable(report_paths(output), force=force)
    validation = load(columns, group=resampling.group, aside=groups.columns)
    points = count_points(validation)
    with show_progress("choosing"):
        selection = rank_deployable(points, scenario, **how)
    policy = selection.policy()
    later = tested = None
    if test is not None:
        winner = selection.winner
        later = load_test(test, columns, validation.label, winner, groups=groups)
        scores, weights, by = later.of(winner), later.weights, groups.read(later)
        tested = policy.evaluate(later.labels, scores, sample_weight=weights, by_cost=True, by=by)
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
    with show_progress("drawing and writing"):
        document, values = write_report(content, output, force=force)
    say(f"wrote {document} and {values}")


def resample(
    predictions: Predictions, scenario: Scenario, options: ResamplingOptions
) -> tuple[dict[str, ModelInterval], str | None]:
    """Resample the cases, the same for all models.

    Returns
    -------
    intervals : dict of str to ModelInterval
    verdict : str or None
        Which differences are more than chance; None for one model alone.
    """
    from voros.inference import bootstrap, compare

    arguments, scores = options.arguments(predictions), dict(predictions.scores)
    with show_progress("resampling") as progress:
        arguments["progress"] = progress
        if len(scores) == 1:
            found = bootstrap(predictions.labels, scores, scenario, **arguments)
            shares, verdict = dict.fromkeys(found, 1.0), None
        else:
            comparison = compare(predictions.labels, scores, scenario, **arguments)
            found, shares = comparison.models, comparison.shares_won
            verdict = comparison.verdict
    intervals = {
        model: ModelInterval(result.estimate, result.low, result.high, shares[model])
        for model, result in found.items()
    }
    return intervals, verdict
