"""From a command's options to labels, scores and operating points.

A file is read into memory, or counted by an engine where that was asked for or memory would not
hold it.
"""

from __future__ import annotations

from typing import Annotated

import typer

from voros.cli.options import InputOptions
from voros.cli.terminal import say, show_progress, tracked
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import PredictionFileError
from voros.io import Predictions, read_predictions
from voros.io.columns import ColumnNames, Roles, assign_roles, is_numeric
from voros.io.memory import engine_for
from voros.io.predictions import typed_label
from voros.io.tables import Source, peek

Engine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Let duckdb, polars, dask or spark count a Parquet file where it lies. Without it, "
        "a file too large for memory is given to one that is installed.",
    ),
]


def load(
    columns: InputOptions, *, source: Source | None = None, group: str | None = None
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
            pos_label=columns.pos_label,
            drop_missing=columns.drop_missing,
            file_format=columns.file_format,
        )
    for note in predictions.notes:
        say(note, "note")
    return predictions


def count_points(predictions: Predictions) -> dict[str, OperatingPoints]:
    """Count alarms at every threshold of every model."""
    points = {}
    for model, scores in tracked(predictions.scores.items(), "counting alarms"):
        points[model] = OperatingPoints.from_scores(
            predictions.positive,
            scores,
            sample_weight=predictions.weights,
            groups=predictions.groups,
        )
    return points


def engine_needed(source: Source, columns: InputOptions, asked: str | None) -> str | None:
    """Name the engine asked for, or the one that the size of the file calls for.

    None where the cases are to be read into memory.
    """
    if source.path is None or source.content is not None:
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
