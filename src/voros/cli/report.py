"""``voros report``: a document for the record, and JSON beside it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from voros.cli.loading import count_points, load, periods_of
from voros.cli.options import (
    FalseAlarmCost,
    Force,
    GroupOptions,
    InputOptions,
    LimitOptions,
    PeriodOptions,
    ResamplingOptions,
    TestFile,
    bundled,
    output_to,
    read_price,
)
from voros.cli.select import ChoiceOptions, Tested, load_test
from voros.cli.terminal import ARGUMENTS, say, show_progress
from voros.core.periods import Periods
from voros.core.scenario import Scenario
from voros.io import Predictions, check_writable
from voros.present.report import DataSummary, ModelInterval, Report, report_paths, write_report
from voros.selection import rank_deployable


@bundled
def report(
    context: typer.Context,
    columns: InputOptions,
    limits: LimitOptions,
    choice: ChoiceOptions,
    groups: GroupOptions,
    when: PeriodOptions,
    resampling: ResamplingOptions,
    output: Annotated[
        Path,
        output_to("The .html to write; JSON goes beside it."),
    ],
    test: TestFile = None,
    title: Annotated[str, typer.Option(help="Heading of the report.")] = "A classifier chosen",
    false_alarm_cost: FalseAlarmCost = None,
    force: Force = False,
) -> None:
    """Write a report on the choice of a model and its thresholds, as HTML with JSON beside it."""
    scenario, how = limits.read(by_period=True), choice.read()
    when.check(scenario)
    _check_intervals(scenario, resampling)
    if groups.by and test is None:
        raise ValueError("--by reports on test cases; name them with --test FILE")
    price = read_price(false_alarm_cost)
    if price is not None and test is None:
        raise ValueError("--false-alarm-cost prices test cases; name them with --test FILE")
    check_writable(report_paths(output), force=force)
    validation = load(columns, group=resampling.group, aside=groups.columns, when=when)
    periods = periods_of(validation, scenario, when)
    points = count_points(validation, periods)
    with show_progress("choosing"):
        selection = rank_deployable(points, scenario, **how)
    policy = selection.policy()
    later = tested = default = None
    if test is not None:
        later = load_test(test, columns, validation.label, selection.winner, when, groups=groups)
        by_period = periods_of(later, scenario, when)
        found = Tested.of(policy, later, by_period, groups.read(later))
        tested, default = found.by_cost, found.default
    intervals, verdict = resample(validation, scenario, resampling, periods)
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
        tested_default=default,
        false_alarm_cost=price,
    )
    with show_progress("drawing and writing"):
        document, values = write_report(content, output, force=force)
    say(f"wrote {document} and {values}")


def _check_intervals(scenario: Scenario, options: ResamplingOptions) -> None:
    """Refuse, before anything is read, what has no intervals."""
    if scenario.per is not None and options.group is not None:
        raise ValueError(
            f"--group and a capacity per {scenario.per} exclude one another: periods are resampled"
        )


def resample(
    predictions: Predictions,
    scenario: Scenario,
    options: ResamplingOptions,
    periods: Periods | None = None,
) -> tuple[dict[str, ModelInterval], str | None]:
    """Resample the cases, or whole periods, the same for all models.

    Returns
    -------
    intervals : dict of str to ModelInterval
    verdict : str or None
        Which differences are more than chance; None for one model alone.
    """
    from voros.inference import bootstrap, compare

    arguments, scores = options.arguments(predictions), dict(predictions.scores)
    if periods is not None:
        arguments["periods"] = periods
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
