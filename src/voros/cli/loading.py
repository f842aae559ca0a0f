"""From a command's options to labels, scores and operating points.

A file is read into memory, or counted by an engine where that was asked for or memory would not
hold it. A document of counts, of one or more sites, is read as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from voros.cli.options import InputOptions, PeriodOptions, Worth, option, refuse
from voros.cli.terminal import say, show_progress, tracked
from voros.core.cases import LabelledCases
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods
from voros.core.scenario import Scenario
from voros.core.worth import CaseValues
from voros.exceptions import PredictionFileError
from voros.io import Predictions, open_source, read_predictions
from voros.io.columns import ColumnNames, Roles, assign_roles
from voros.io.memory import fits_in_memory, installed_engine
from voros.io.predictions import typed_label
from voros.io.source import PEEKED_ROWS, Source
from voros.io.tables import is_numeric, most_rows, peek
from voros.models import warn_of_amounts

if TYPE_CHECKING:
    from voros.blending import Blend
    from voros.sites import SiteCounts

Engine = Annotated[
    str | None,
    option(
        "Count Parquet with duckdb, polars or spark (CSV with the first two): a file, a folder, or "
        "a pattern such as 'day-*.parquet'. "
        "Without it, an engine is used for whatever is not a single file or exceeds memory.",
        metavar="NAME",
    ),
]

BLEND = "blend"
"""The name of a blend among the models."""

COUNTED = ("parquet", "csv")
"""Formats that engines count."""

NO_PERIODS = "--engine cannot count by period; leave it out, and name one file"


@dataclass(frozen=True, eq=False)
class LazyTable:
    """Parquet that an engine counts where it lies.

    Attributes
    ----------
    name : str
    engine : str
    frame : object
        The engine's own lazy frame.
    sample : pyarrow.Table
        Its first rows, which show the columns.
    """

    name: str
    engine: str
    frame: Any
    sample: Any

    def without(self, columns: Sequence[str]) -> LazyTable:
        """Return the table with some columns that are no model's."""
        there = [name for name in columns if name in self.sample.column_names]
        return replace(self, sample=self.sample.drop_columns(there))


@dataclass(frozen=True, eq=False)
class Opened:
    """What a command was given: cases in a file, Parquet for an engine, or counts."""

    name: str
    source: Source | None = None
    lazy: LazyTable | None = None
    counts: SiteCounts | None = None


def open_input(columns: InputOptions, engine: str | None, *, by_period: bool = False) -> Opened:
    """Open a file of cases or of counts, or Parquet for the engine asked for or needed.

    Where the capacity is one ``by_period``, cases are needed in memory, and only there.
    """
    dataset = is_dataset(columns.file)
    _refuse(by_period and (dataset or engine is not None), NO_PERIODS)
    if dataset:
        _check_engine_options(columns)
        return _open_dataset(str(columns.file), engine, _needed(columns))
    source = open_source(columns.file)
    if source.format == "document":
        _refuse(by_period, f"{source.name} holds counts, which have no periods")
        _refuse(engine is not None, f"--engine reads a Parquet file, and {source.name} is not one")
        return Opened(source.name, source, counts=_read_counts(source, columns))
    counting = None if by_period else _engine_needed(source, columns, engine)
    if counting is None:
        return Opened(source.name, source)
    from voros.engines import open_files

    frame = open_files(source.name, counting, _needed(columns))
    return Opened(source.name, source, LazyTable(source.name, counting, frame, peek(source)))


def is_dataset(file: Path) -> bool:
    """Whether a path names a folder or a pattern, which engines open.

    Examples
    --------
    >>> is_dataset(Path("day-*.parquet")), is_dataset(Path("cases.parquet"))
    (True, False)
    """
    text = str(file)
    pattern = any(mark in text for mark in "*?[") and not file.exists()
    return pattern or file.is_dir()


def _needed(columns: InputOptions) -> list[str]:
    """Return the columns that were named; none where some are left to be found among all."""
    if columns.label is None or not columns.score:
        return []
    named = [columns.label, *columns.score, columns.weight, columns.case]
    return [name for name in named if name is not None]


def _open_dataset(path: str, wanted: str | None, needed: Sequence[str]) -> Opened:
    from voros.engines import check_engine, first_rows, open_files

    engine = wanted or installed_engine(f"counting {path}")
    check_engine(engine)
    with (
        show_progress(f"opening {path} with {engine}"),
        _engine_errors(f"{engine} cannot open {path}"),
    ):
        frame = open_files(path, engine, needed)
        sample = first_rows(frame, PEEKED_ROWS)
    return Opened(path, lazy=LazyTable(path, engine, frame, sample))


@contextmanager
def _engine_errors(what: str, *, foreign_only: bool = False) -> Iterator[None]:
    """Say in one line what an engine could not do; each has errors of its own.

    For a folder without files or a broken file. Once rows are counted, Python's
    errors and ours say themselves what is wrong with the data, or are faults.
    """
    try:
        yield
    except Exception as error:
        ours = type(error).__module__.partition(".")[0] in ("builtins", "voros")
        if ours and foreign_only:
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise PredictionFileError(f"{what}: {reason}") from error


def load(
    columns: InputOptions,
    *,
    source: Source | None = None,
    group: str | None = None,
    when: PeriodOptions | None = None,
    by: Sequence[str] = (),
    aside: Sequence[str] = (),
    labelled: bool = True,
    both_classes: bool = True,
    worth: Worth | None = None,
    blend: Blend | None = None,
) -> Predictions:
    """Read a file of predictions, opened already or not, saying what was guessed.

    A blend is one more model; where it alone is asked for, its parts are read.
    """
    scores = columns.score or ()
    if blend is not None and columns.score == [BLEND]:
        scores = list(blend.weights)
    with show_progress(f"reading {columns.file if source is None else source.name}"):
        predictions = read_predictions(
            columns.file if source is None else source,
            label=columns.label,
            scores=scores,
            model=columns.model,
            case=columns.case,
            weight=columns.weight,
            group=group,
            time=None if when is None else when.time,
            period=None if when is None else when.period,
            by=by,
            aside=aside,
            pos_label=columns.pos_label,
            labelled=labelled,
            both_classes=both_classes,
            drop_missing=columns.drop_missing,
            **({} if worth is None else worth.columns),
        )
    for note in predictions.notes:
        say(note, "note")
    if predictions.weights is not None:
        warn_of_amounts(predictions.weights)
    if blend is not None:
        blended = {**predictions.scores, BLEND: blend.score(dict(predictions.scores))}
        predictions = replace(predictions, scores=blended)
    return predictions if worth is None else worth.of_cases(predictions)


def single_model(models: Collection[str], what: str) -> str:
    """Return the one model that a command is for, or refuse several."""
    if len(models) > 1:
        listed = ", ".join(map(repr, models))
        raise ValueError(f"{what} one model; choose one of {listed} with --score")
    return next(iter(models))


def periods_of(cases: Predictions, scenario: Scenario, when: PeriodOptions) -> Periods | None:
    """Return the period of each case, saying how they were counted; None where none is needed."""
    if scenario.per is None:
        return None
    if when.time is not None:
        periods = Periods.from_times(cases.times, scenario.per, time_zone=when.time_zone)
    else:
        periods = Periods.from_column(cases.periods)
    say(periods.note, "note")
    return periods


def _read_counts(source: Source, columns: InputOptions) -> SiteCounts:
    """Read a document of counts."""
    from voros.sites import SiteCounts

    cases_only = ("label", "model", "case", "weight", "pos_label", "drop_missing")
    refuse(columns.given(*cases_only), f"is for files of cases; {columns.file} holds counts")
    counts = SiteCounts.from_json(_readable(source))
    return counts.of_models(columns.score) if columns.score else counts


def _readable(source: Source) -> str | Path:
    """Return the file's path, which messages name; or the text, where it was piped or packed."""
    if source.path is not None and source.content is None and not source.zipped:
        return source.path
    with source.open() as stream:
        return str(stream.read().decode("utf-8", errors="replace"))


def count_points(
    predictions: Predictions, periods: Periods | None = None
) -> dict[str, OperatingPoints]:
    """Count alarms at every threshold of every model."""
    scores_by_model, weights = predictions.scores, predictions.weights
    how: Any = {"groups": predictions.groups, "periods": periods}
    cases = LabelledCases(predictions.labels)  # checked when they were read
    if weights is not None:
        any_scores = next(iter(scores_by_model.values()))
        cases = LabelledCases.read(cases.positive, any_scores, sample_weight=weights)
    if predictions.miss_value is not None:
        values = predictions.miss_value, predictions.false_alarm_cost
        how["values"] = CaseValues.read(predictions.labels, *values, weights)
    points = {}
    for model, scores in tracked(scores_by_model.items(), "counting alarms"):
        checked = cases.positive, cases.check_scores(scores), cases.weights
        points[model] = OperatingPoints.from_cases(*checked, **how)
    return points


def _engine_needed(source: Source, columns: InputOptions, wanted: str | None) -> str | None:
    """Name the engine asked for, or the one that the size of the file calls for.

    None where the cases are to be read into memory.
    """
    if source.path is None or source.content is not None:
        _refuse(wanted is not None, f"--engine reads a Parquet file, and {source.name} is not one")
        return None
    if wanted is not None:
        wrong = f"--engine counts Parquet and CSV; {source.name} is {source.format}"
        _refuse(source.format not in COUNTED, wrong)
        _check_engine_options(columns)
        return wanted
    if source.format not in COUNTED or columns.model or columns.drop_missing:
        return None
    first_rows, n_rows = peek(source), most_rows(source)
    if fits_in_memory(n_rows, first_rows.num_columns):
        return None
    if fits_in_memory(n_rows, len(_roles(first_rows, columns, source.name).columns)):
        return None
    engine = installed_engine(f"counting {source.name}, which is too large for memory,")
    say(f"{source.name} is too large for memory; counting it with {engine}", "note")
    return engine


def count_by_engine(
    table: LazyTable, columns: InputOptions, scenarios: Sequence[Scenario]
) -> dict[str, OperatingPoints]:
    """Count every model as finely as the scenarios need; without any, at every distinct score."""
    from voros.engines import count_frame

    roles = _announced_roles(table, columns)
    if scenarios:
        _announce_cost(table)
    with show_progress(f"counting {table.name} with {table.engine}"), _counting(table):
        counted = count_frame(
            table.frame,
            label=str(roles.label),
            scores=roles.scores,
            weight=roles.weight,
            pos_label=_positive_label(table.sample, columns, roles),
            scenarios=scenarios,
        )
    return dict(counted)


def _announce_cost(table: LazyTable) -> None:
    """Say before it begins what counting a great many rows takes."""
    from voros.engines.backends import row_count
    from voros.engines.files import TEXT_SUFFIXES
    from voros.engines.search import expected_cost

    if table.name.lower().endswith(TEXT_SUFFIXES):
        return  # To count its rows would take as long as a pass.
    with _counting(table):
        expected = expected_cost(row_count(table.frame))
    if expected is not None:
        say(expected, "note")


def _counting(table: LazyTable) -> AbstractContextManager[None]:
    return _engine_errors(f"{table.engine} cannot count {table.name}", foreign_only=True)


def _announced_roles(table: LazyTable, columns: InputOptions) -> Roles:
    roles = _roles(table.sample, columns, table.name)
    for note in roles.notes:
        say(note, "note")
    return roles


def _roles(sample: Any, columns: InputOptions, name: str) -> Roles:
    names = ColumnNames(
        label=columns.label,
        scores=columns.score or (),
        model=columns.model,
        case=columns.case,
        weight=columns.weight,
    )
    return assign_roles(sample, names, name)


def _positive_label(sample: Any, columns: InputOptions, roles: Roles) -> object:
    label = str(roles.label)
    if columns.pos_label is None or not is_numeric(sample.column(label).type):
        return columns.pos_label
    return typed_label(columns.pos_label, f"column {label!r}")


def _check_engine_options(columns: InputOptions) -> None:
    _refuse(bool(columns.model), "--engine and --model are mutually exclusive")
    refuse(
        columns.given("drop_missing"), "is for single files that fit into memory, not for engines"
    )


def _refuse(refused: bool, reason: str) -> None:
    if refused:
        raise PredictionFileError(reason)
