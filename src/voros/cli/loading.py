"""From a command's options to labels, scores and operating points.

A file is read into memory, or counted by an engine where that was asked for or memory would not
hold it. A document of counts, of one or more sites, is read as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from voros.cli.options import InputOptions, PeriodOptions
from voros.cli.terminal import say, show_progress, tracked
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods
from voros.core.scenario import Scenario
from voros.exceptions import PredictionFileError
from voros.io import Predictions, read_predictions
from voros.io.columns import ColumnNames, Roles, assign_roles, is_numeric
from voros.io.memory import engine_for
from voros.io.predictions import typed_label
from voros.io.tables import Source, peek
from voros.sites import SiteCounts, is_site_counts

if TYPE_CHECKING:
    from voros.engines import BinnedCounts

Engine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Let duckdb, polars, dask or spark count a Parquet file where it lies. Without it, "
        "a file too large for memory is given to one that is installed.",
    ),
]


def load(
    columns: InputOptions,
    *,
    source: Source | None = None,
    group: str | None = None,
    when: PeriodOptions | None = None,
    by: Sequence[str] = (),
    aside: Sequence[str] = (),
    both_classes: bool = True,
) -> Predictions:
    """Read a file of predictions, opened already or not, saying what was guessed."""
    with show_progress(f"reading {columns.file if source is None else source.name}"):
        predictions = read_predictions(
            columns.file if source is None else source,
            label=columns.label,
            scores=columns.score or (),
            model=columns.model,
            case=columns.case,
            weight=columns.weight,
            group=group,
            time=None if when is None else when.time,
            period=None if when is None else when.period,
            by=by,
            aside=aside,
            pos_label=columns.pos_label,
            both_classes=both_classes,
            drop_missing=columns.drop_missing,
            file_format=columns.file_format,
        )
    for note in predictions.notes:
        say(note, "note")
    return predictions


def periods_of(cases: Predictions, per: str, when: PeriodOptions) -> Periods:
    """Return the period of each case, saying how they were counted."""
    if when.time is not None:
        periods = Periods.from_times(cases.times, per, time_zone=when.time_zone)
    else:
        periods = Periods.from_column(cases.periods)
    say(periods.note, "note")
    return periods


def read_counts(source: Source, columns: InputOptions) -> SiteCounts | None:
    """Read a document of counts; None where the file holds cases."""
    if not is_site_counts(source.head):
        return None
    _check_counts_options(columns)
    counts = SiteCounts.from_json(_readable(source))
    return counts.of_models(columns.score) if columns.score else counts


def _readable(source: Source) -> str | Path:
    """Return the file's path, which messages name; or the text, where it was piped or packed."""
    if source.path is not None and source.content is None and not source.zipped:
        return source.path
    with source.open() as stream:
        return str(stream.read().decode("utf-8", errors="replace"))


def _check_counts_options(columns: InputOptions) -> None:
    """Raise where an option would say what the document has said already."""
    for option, given in {
        "--label": columns.label,
        "--model": columns.model,
        "--id": columns.case,
        "--weight": columns.weight,
        "--pos-label": columns.pos_label,
        "--drop-missing": columns.drop_missing,
        "--format": columns.file_format,
    }.items():
        _refuse(bool(given), f"{option} is for files of cases; {columns.file} holds counts")


def count_points(
    predictions: Predictions, periods: Periods | None = None
) -> dict[str, OperatingPoints]:
    """Count alarms at every threshold of every model."""
    points = {}
    for model, scores in tracked(predictions.scores.items(), "counting alarms"):
        points[model] = OperatingPoints.from_scores(
            predictions.positive,
            scores,
            sample_weight=predictions.weights,
            groups=predictions.groups,
            periods=periods,
        )
    return points


def engine_needed(source: Source, columns: InputOptions, asked: str | None) -> str | None:
    """Name the engine asked for, or the one that the size of the file calls for.

    None where the cases are to be read into memory.
    """
    if source.path is None or source.content is not None or is_site_counts(source.head):
        _refuse(asked is not None, f"--engine reads a Parquet file, and {source.name} is none")
        return None
    if asked is not None:
        _check_countable(source, columns)
        return asked
    if source.format != "parquet" or columns.model or columns.drop_missing:
        return None
    needed = engine_for(source.path, len(_roles(source, columns).columns))
    if needed is not None:
        say(f"{source.name} is too large for memory; counting it with {needed}", "note")
    return needed


def refuse_counts(source: Source, engine: str | None, counts: SiteCounts | None = None) -> None:
    """Refuse what counts scores alone, where the capacity is one per period."""
    _refuse(engine is not None, "--engine counts scores and no periods; leave it out")
    _refuse(counts is not None, f"{source.name} holds counts, and the period of no case")


def count_by_engine(
    source: Source, columns: InputOptions, scenario: Scenario, engine: str
) -> dict[str, OperatingPoints]:
    """Count every model of a Parquet file, as finely as the scenario needs."""
    from voros.engines import count_frame, open_parquet

    roles = _roles(source, columns)
    for note in roles.notes:
        say(note, "note")
    for doubt in roles.doubts:
        say(doubt, "warning")
    with show_progress(f"counting {source.name} with {engine}"):
        counted = count_frame(
            open_parquet(source.name, engine),
            label=str(roles.label),
            scores=roles.scores,
            weight=roles.weight,
            pos_label=_positive_label(source, columns, roles),
            scenarios=[scenario],
        )
    return dict(counted)


def count_summaries(
    source: Source, columns: InputOptions, engine: str, bits: int
) -> tuple[dict[str, BinnedCounts], str, str | None]:
    """Count every model of a Parquet file by fixed ranges; with the columns of label and weight."""
    from voros.engines import BinnedCounts, open_parquet

    roles = _roles(source, columns)
    for note in roles.notes:
        say(note, "note")
    label, frame = str(roles.label), open_parquet(source.name, engine)
    pos_label = _positive_label(source, columns, roles)
    counted = {
        score: BinnedCounts.from_frame(
            frame, label=label, score=score, weight=roles.weight, pos_label=pos_label, bits=bits
        )
        for score in roles.scores
    }
    return counted, label, roles.weight


def _roles(source: Source, columns: InputOptions) -> Roles:
    names = ColumnNames(
        columns.label, columns.score or (), columns.model, columns.case, columns.weight
    )
    return assign_roles(peek(source), names, source.name)


def _positive_label(source: Source, columns: InputOptions, roles: Roles) -> object:
    label = str(roles.label)
    if columns.pos_label is None or not is_numeric(peek(source).column(label).type):
        return columns.pos_label
    return typed_label(columns.pos_label, f"column {label!r}")


def _check_countable(source: Source, columns: InputOptions) -> None:
    _refuse(
        source.format != "parquet", f"--engine counts Parquet; {source.name} is {source.format}"
    )
    _refuse(bool(columns.model), "--engine takes a column per model, and --model names a long file")
    _refuse(columns.drop_missing, "--engine refuses missing values; --drop-missing is not for it")


def _refuse(refused: bool, reason: str) -> None:
    if refused:
        raise PredictionFileError(reason)
