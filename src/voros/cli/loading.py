"""From a command's options to labels, scores and operating points.

Cases are read into memory, or counted by an engine if an option says so or they exceed memory. A
document holds counts of one or more sites.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from voros.cli.options import CaseOptions, InputOptions, WorthOptions, option, refuse
from voros.cli.terminal import say, show_progress, tracked
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods
from voros.core.scenario import Scenario
from voros.exceptions import PredictionFileError
from voros.io import Predictions, open_source, read_predictions
from voros.io.columns import Roles, assign_roles
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
        "Count Parquet with duckdb, polars or spark (CSV with the first two). By default an engine "
        "counts folders, patterns such as 'day-*.parquet', and files that exceed memory.",
        metavar="NAME",
    ),
]

BLEND = "blend"
"""The name of a blend among the models."""

COUNTED = ("parquet", "csv")
"""Formats that engines count."""

IN_MEMORY = ("model", "drop_missing")
"""Options that no engine has."""

NOT_FOR_ENGINES = "is for single files that fit into memory, not for engines"


@dataclass(frozen=True, eq=False, kw_only=True)
class Opened:
    """The input of a command: a file of cases, rows for an engine, or counts of sites.

    Attributes
    ----------
    name : str
    source : Source or None
        The file of cases to read into memory.
    engine : str
        The engine that counts the rows; empty if cases are read into memory.
    frame : object
        The engine's own lazy frame.
    sample : pyarrow.Table
        Its first rows, which show the columns.
    counts : SiteCounts or None
    """

    name: str
    source: Source | None = None
    engine: str = ""
    frame: Any = None
    sample: Any = None
    counts: SiteCounts | None = None

    def count(
        self, columns: InputOptions, scenarios: Sequence[Scenario], aside: Sequence[str] = ()
    ) -> dict[str, OperatingPoints]:
        """Count every model as finely as the scenarios need; without any, at every score."""
        from voros.engines import count_frame

        roles = assign_roles(self.sample, columns.names(aside=aside), self.name)
        for note in roles.notes:
            say(note, "note")
        with _engine_errors(f"{self.engine} cannot count {self.name}", foreign_only=True):
            if scenarios:
                self._announce_cost()
            with show_progress(f"counting {self.name} with {self.engine}"):
                counted = count_frame(
                    self.frame,
                    label=str(roles.label),
                    scores=roles.scores,
                    weight=roles.weight,
                    pos_label=_positive_label(self.sample, columns, roles),
                    scenarios=scenarios,
                )
        return dict(counted)

    def _announce_cost(self) -> None:
        """Announce the expected cost of counting many rows."""
        from voros.engines.files import TEXT_SUFFIXES
        from voros.engines.search import expected_cost

        # Counting the rows of text would take a pass over the file.
        cost = None if self.name.lower().endswith(TEXT_SUFFIXES) else expected_cost(self.frame)
        if cost is not None:
            say(cost, "note")


def open_input(
    columns: InputOptions, engine: str | None, scenario: Scenario | None = None
) -> Opened:
    """Open a file of cases or of counts, or rows for an engine.

    A capacity per period needs cases in memory.
    """
    if isinstance(columns, CaseOptions) and scenario is not None:
        columns.check_periods(scenario)
    if scenario is not None and scenario.per is not None:
        if engine is not None or is_dataset(columns.file):
            raise ValueError("--engine cannot count by period; leave it out, and name one file")
        source = open_source(columns.file)
        return Opened(name=source.name, source=source)
    if engine is not None or is_dataset(columns.file):
        refuse(columns.given(*IN_MEMORY), NOT_FOR_ENGINES)
        return _open_rows(columns, engine or installed_engine(f"counting {columns.file}"))
    source = open_source(columns.file)
    if source.format == "document":
        return Opened(name=source.name, counts=_read_counts(source, columns))
    if _is_too_large(source, columns):
        engine = installed_engine(f"counting {source.name}, which is too large for memory,")
        say(f"{source.name} is too large for memory; counting it with {engine}", "note")
        return _open_rows(columns, engine)
    return Opened(name=source.name, source=source)


def is_dataset(file: Path) -> bool:
    """Whether a path names a folder or a pattern, which engines open.

    Examples
    --------
    >>> is_dataset(Path("day-*.parquet")), is_dataset(Path("cases.parquet"))
    (True, False)
    """
    pattern = any(mark in str(file) for mark in "*?[") and not file.exists()
    return pattern or file.is_dir()


def _needed(columns: InputOptions) -> list[str]:
    """Return the columns that the options name; none if others are guessed from the file."""
    if columns.label is None or not columns.score:
        return []
    named = [columns.label, *columns.score, columns.weight, columns.case]
    return [name for name in named if name is not None]


def _open_rows(columns: InputOptions, engine: str) -> Opened:
    """Open a file, a folder or a pattern for an engine."""
    from voros.engines import check_engine, first_rows, open_files

    check_engine(engine)
    path = str(columns.file)
    with (
        show_progress(f"opening {path} with {engine}"),
        _engine_errors(f"{engine} cannot open {path}"),
    ):
        frame = open_files(path, engine, _needed(columns))
        sample = first_rows(frame, PEEKED_ROWS)
    return Opened(name=path, engine=engine, frame=frame, sample=sample)


@contextmanager
def _engine_errors(what: str, *, foreign_only: bool = False) -> Iterator[None]:
    """Turn errors of an engine into one line; with ``foreign_only`` those of voros and Python pass.

    While rows are counted, errors of voros already say what is wrong with the data.
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
    scenario: Scenario | None = None,
    *,
    source: Source | None = None,
    group: str | None = None,
    by: Sequence[str] | None = None,
    aside: Sequence[str] | None = None,
    labelled: bool = True,
    both_classes: bool = True,
    worth: WorthOptions | None = None,
    blend: Blend | None = None,
) -> Predictions:
    """Read a file of predictions, opened already or not; notes say what was guessed.

    A scenario with a capacity per period needs the period of each case. A blend is one more model,
    computed from its parts.
    """
    others: dict[str, Any] = {"group": group, "by": by or (), "aside": aside or ()}
    if blend is not None and columns.score == [BLEND]:
        others["scores"] = list(blend.weights)
    if scenario is not None and isinstance(columns, CaseOptions):
        columns.check_periods(scenario)
        others |= {"time": columns.time, "period": columns.period}
    cost = None
    if worth is not None and worth.given:
        cost, others["miss_value"] = worth.cost, worth.miss_value
    if isinstance(cost, str):
        others["false_alarm_cost"] = cost
    with show_progress(f"reading {columns.file if source is None else source.name}"):
        predictions = read_predictions(
            columns.file if source is None else source,
            **vars(columns.names(**others)),
            **columns.given("pos_label", "drop_missing"),
            labelled=labelled,
            both_classes=both_classes,
        )
    for note in predictions.notes:
        say(note, "note")
    if predictions.weights is not None:
        warn_of_amounts(predictions.weights)
    if blend is not None:
        blended = {**predictions.scores, BLEND: blend.score(dict(predictions.scores))}
        predictions = replace(predictions, scores=blended)
    if isinstance(cost, float):
        predictions = replace(predictions, false_alarm_cost=cost)
    return _in_periods(predictions, columns, scenario)


def load_test(
    file: Path,
    columns: InputOptions,
    model: str,
    scenario: Scenario | None = None,
    *,
    blend: Blend | None = None,
    **how: Any,
) -> Predictions:
    """Read a model's scores on test cases, from columns named as in the validation file."""
    scores = columns.score if columns.model else [model]
    of_model = blend if model == BLEND else None
    return load(replace(columns, file=file, score=scores), scenario, blend=of_model, **how)


def _in_periods(
    cases: Predictions, columns: InputOptions, scenario: Scenario | None
) -> Predictions:
    """Return cases with the period of each, if the scenario needs it; a note says how many."""
    if scenario is None or scenario.per is None or not isinstance(columns, CaseOptions):
        return cases
    if columns.time is not None:
        periods = Periods.from_times(cases.times, scenario.per, time_zone=columns.time_zone)
    else:
        periods = Periods.from_column(cases.periods)
    say(periods.note, "note")
    return replace(cases, periods=periods)


def single_model(models: Collection[str], what: str) -> str:
    """Return the only model; refuse several."""
    if len(models) > 1:
        listed = ", ".join(map(repr, models))
        raise ValueError(f"{what} one model; choose one of {listed} with --score")
    return next(iter(models))


def _read_counts(source: Source, columns: InputOptions) -> SiteCounts:
    """Read a document of counts."""
    from voros.sites import SiteCounts

    counts = SiteCounts.from_json(_readable(source))
    cases_only = ("label", "model", "case", "weight", "pos_label", "drop_missing")
    refuse(columns.given(*cases_only), f"is for files of cases; {columns.file} holds counts")
    return counts.of_models(columns.score) if columns.score else counts


def _readable(source: Source) -> str | Path:
    """Return the file's path, which messages name; the text of a pipe or a gzipped file."""
    if source.path is not None and source.content is None and not source.zipped:
        return source.path
    with source.open() as stream:
        return str(stream.read().decode("utf-8", errors="replace"))


def count_points(cases: Predictions) -> dict[str, OperatingPoints]:
    """Count alarms at every threshold of every model."""
    return {
        model: OperatingPoints.from_scores(cases.labels, scores, **cases.per_case)
        for model, scores in tracked(cases.scores.items(), "counting alarms")
    }


def _is_too_large(source: Source, columns: InputOptions) -> bool:
    """Whether a file that engines count exceeds memory."""
    in_place = source.path is not None and source.content is None
    if not in_place or source.format not in COUNTED or any(columns.given(*IN_MEMORY).values()):
        return False
    needed = assign_roles(peek(source), columns.names(), source.name).columns
    return not fits_in_memory(most_rows(source), len(needed))


def _positive_label(sample: Any, columns: InputOptions, roles: Roles) -> object:
    label = str(roles.label)
    if columns.pos_label is None or not is_numeric(sample.column(label).type):
        return columns.pos_label
    return typed_label(columns.pos_label, f"column {label!r}")
