"""``voros monitor``: feed cases and labels to the file of a monitor, and print its status."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import voros
from voros.cli import LIMITS_NOT_MET, options
from voros.cli.loading import load
from voros.cli.streams import StreamColumns, Streams, has_outcomes
from voros.cli.terminal import (
    Sheet,
    check_output,
    check_page_name,
    deliver,
    say,
    show,
    show_progress,
)
from voros.exceptions import ArgumentError, PredictionFileError
from voros.io import open_source
from voros.io.columns import ColumnNames, check_names
from voros.io.predictions import typed_label
from voros.io.scenario_text import read_number
from voros.io.tables import peek, read_columns
from voros.text.numbers import counted

if TYPE_CHECKING:  # loaded by the command that monitors, not by all of them
    from voros.allocation.joint_policy import AnyPolicy
    from voros.monitoring import Monitor

_made = partial(options.shown_in, "When the file is created")


SETTINGS = ("window", "alpha", "run_length", "cost_ratio", "max_cost", "score_unit")
"""Options that the file keeps."""


@dataclass(frozen=True, kw_only=True)
class FeedOptions:
    """Files of cases and labels, and their columns."""

    cases: Path | None = options.option("New cases to decide on.", metavar="FILE")
    labels: Path | None = options.option("New or corrected labels.", metavar="FILE")
    withdraw: Path | None = options.option("Cases to withdraw.", metavar="FILE")
    case: str = options.column("Identifies a case, or a stay, in all files.", "--id", default="id")
    time: str = options.column("The time of a case, or of a row of a stay.", default="time")
    score: str | None = options.column("The scores, if not named as the policy's model.")
    streams: StreamColumns = None
    by: str | None = options.column("The subgroup of a case, where each has its own threshold.")
    group: str | None = options.column("The patient of a case.")
    period: str | None = options.column("The period of a case; by default its day.")
    label: str = options.column("The true labels.", default="label")
    label_time: str | None = options.column(
        "The time of a label, or of an event; by default the latest time that STATE knows."
    )
    now: str | None = options.in_columns(
        "The current time, if later than all times in the files.", metavar="TIME"
    )
    confirm_times: bool = options.in_columns(
        "Accept times more than a year from all others.", "--confirm-times", default=False
    )

    def columns_of(self, policy: AnyPolicy) -> dict[str, tuple[str, str]]:
        """Return the columns of labels and scores of each outcome; a single outcome has no name."""
        if has_outcomes(policy):
            options.refuse({"score": self.score}, "is for policies of one outcome; see --streams")
            streams = Streams.of_policy(policy, self.streams)
            return {name: (str(label), score) for name, (label, score) in streams.columns.items()}
        options.refuse({"streams": self.streams}, "is for joint policies of several outcomes")
        return {"": (self.label, self.score or getattr(policy, "model", None) or "")}

    def scores_of(self, policy: AnyPolicy) -> dict[str, str]:
        """Return the column of the scores of each outcome."""
        scores = {outcome: score for outcome, (_, score) in self.columns_of(policy).items()}
        if "" in scores.values():
            raise PredictionFileError("the policy names no model; name the scores with --score")
        return scores


@dataclass(frozen=True, kw_only=True)
class MakeOptions:
    """Settings of a new monitor."""

    policy: Path | None = _made(
        "A policy saved by voros select, allocate or worklist.",
        "--policy",
        metavar="POLICY",
    )
    window: float | None = _made("Days until an alarm counts; 30 unless given.", metavar="DAYS")
    alpha: float | None = _made("Chance of ever calling a kept limit broken; 0.05 unless given.")
    run_length: float | None = _made(
        "Alarms until the detector fires by chance; 10,000 unless given."
    )
    cost_ratio: str | None = _made(
        "Cost of a false alarm against a miss, if known.", metavar="RATIO"
    )
    max_cost: float | None = _made("Budget: cost per case, in misses.")
    score_unit: str | None = _made("Compare scores by week, month, ...", metavar="UNIT")
    validation: Path | None = _made(
        "Labelled cases on which risks are calibrated; also with --adopt.", metavar="FILE"
    )

    def open(self, path: Path, feed: FeedOptions) -> Monitor:
        """Open the file, or create it from a policy."""
        if self.policy is None:
            if not path.exists():
                raise FileNotFoundError(f"{path} does not exist; create it with --policy POLICY")
            return voros.Monitor.open(path)
        if path.exists() and path.stat().st_size:
            raise ValueError(
                f"{path} exists already and keeps its policy and settings; leave out --policy, or "
                "deploy another policy with --adopt"
            )
        from voros.allocation.joint_policy import load_policy

        stated = {name: getattr(self, name) for name in SETTINGS}
        settings = {name: value for name, value in stated.items() if value is not None}
        if self.cost_ratio is not None:
            settings["cost_ratio"] = read_number(self.cost_ratio, "cost_ratio")
        policy = load_policy(self.policy)
        cases = _read_validation(self.validation, feed, policy)
        return voros.Monitor(policy, path, validation=cases, **settings)


@options.bundled_with(
    requires={
        "policy": SETTINGS,
        "policy|adopt": ["validation"],
        "cases": ["by", "period"],
        "labels": ["label_time"],
        "cases|validation": ["score", "group"],
        "cases|labels": ["streams"],
    },
    excludes={"policy": ["adopt"]},
)
def monitor(
    file: Annotated[Path, typer.Argument(metavar="STATE", help="The file of the monitor.")],
    settings: MakeOptions,
    feed: FeedOptions,
    show_options: options.OutputOptions,
    output: Path | None = options.output_to("Where to write the page: .html."),
    renew: Path | None = options.option(
        "Write a policy that recent labelled cases suggest.", metavar="POLICY"
    ),
    adopt: Path | None = options.option("Deploy this policy from now on.", metavar="POLICY"),
    check: options.Check = False,
) -> None:
    """Watch a deployed policy: cases as they come, labels when they come.

    The first call creates STATE from a policy. Every call adds new cases and labels, each once, and
    prints whether the limits are kept.
    """
    if output is not None:
        check_page_name(output)
    check_output(output, show_options, file, renew)
    check_output(renew, show_options, file)
    from voros.allocation.joint_policy import load_policy

    with _whole_or_nothing(file), settings.open(file, feed) as watched:
        with show_progress(f"feeding {file}"):
            _feed(watched, feed)
        if renew is not None:
            renewal = watched.renew()
            say(renewal.words.replace("monitor.adopt(renewal.policy)", f"--adopt {renew}"))
            deliver(renewal.policy.to_json(), renew, show_options)
        if adopt is not None:
            policy = load_policy(adopt)
            watched.adopt(policy, validation=_read_validation(settings.validation, feed, policy))
            say(f"{adopt} is deployed from now on, and the evidence starts again")
        status = watched.status()
        if output is not None:
            watched.report(output, force=show_options.force)
            say(f"wrote {output}")
    rows = [watch.document() for watch in status.watches]
    show(Sheet(rows=rows, document=status.document(), text=str(status)), show_options)
    if check and status.broken:
        raise typer.Exit(LIMITS_NOT_MET)


@contextmanager
def _whole_or_nothing(file: Path) -> Iterator[None]:
    """Remove the file if this call created it and fails."""
    existed = file.exists()
    try:
        yield
    except BaseException:
        if not existed and file.exists():
            file.unlink()
        raise


def _feed(watched: Monitor, feed: FeedOptions) -> None:
    if feed.withdraw is not None:
        ids = _read(feed.withdraw, ColumnNames(case=feed.case))[feed.case]
        watched.withdraw(ids)
        say(f"{feed.withdraw}: {counted(len(ids), 'case')} withdrawn")
    if feed.cases is not None:
        _feed_cases(watched, feed, feed.cases)
    if feed.now is not None:
        watched.advance(feed.now, confirm_times=feed.confirm_times)
    if feed.labels is not None:
        _feed_labels(watched, feed, feed.labels)


def _feed_cases(watched: Monitor, feed: FeedOptions, file: Path) -> None:
    scores = feed.scores_of(watched.policy)
    names = ColumnNames(
        case=feed.case,
        time=feed.time,
        group=feed.group,
        period=feed.period,
        by=() if feed.by is None else (feed.by,),
        scores=list(dict.fromkeys(scores.values())),
    )
    table = _read(file, names)
    by_outcome = {key: np.array(table[name], dtype=float) for key, name in scores.items()}
    update = watched.update(
        by_outcome.get("", by_outcome),
        cases=table[feed.case],
        times=table[feed.time],
        groups=None if feed.group is None else table[feed.group],
        periods=None if feed.period is None else table[feed.period],
        by=None if feed.by is None else table[feed.by],
        confirm_times=feed.confirm_times,
    )
    again = f", {update.repeated:,} known before" if update.repeated else ""
    # Of a policy over stays the file has a row for each time.
    new = counted(
        update.new, "new case" if getattr(watched.policy, "rule", None) is None else "new row"
    )
    say(f"{file}: {new}{again}; {counted(update.n_alarms, 'alarm')}")


def _feed_labels(watched: Monitor, feed: FeedOptions, file: Path) -> None:
    """Feed the labels of each outcome."""
    columns = feed.columns_of(watched.policy)
    labels = tuple(label for label, _ in columns.values())
    table = _read(file, ColumnNames(case=feed.case, time=feed.label_time, by=labels), labels)
    stated = getattr(watched.policy, "pos_label", None)
    for outcome, (column, _) in columns.items():
        values, which = table[column], outcome and f" of {outcome!r}"
        rows = [row for row, value in enumerate(values) if value is not None]
        if left := len(values) - len(rows):
            say(f"{file}: {counted(left, 'row')} without a label{which} yet", "note")
        if not rows:
            continue
        known, positive = _labels([values[row] for row in rows], stated, column)
        times = feed.label_time and [table[feed.label_time][row] for row in rows]
        with _errors_of_labels():
            new = watched.label(
                {outcome: known} if outcome else known,
                cases=[table[feed.case][row] for row in rows],
                times=times,
                pos_label=positive,
                confirm_times=feed.confirm_times,
            )
        said = f"{counted(new, 'label')}{which} new or corrected, {len(rows) - new:,} known before"
        say(f"{file}: {said}")


@contextmanager
def _errors_of_labels() -> Iterator[None]:
    """Name the options of labels in errors, where arguments have the names of those of cases."""
    try:
        yield
    except ArgumentError as error:
        argument, *rest = error.args[0].parts
        option = {"times": "label_time", "cases": "labels"}.get(argument, argument)
        raise ArgumentError(option, *rest) from None


def _read_validation(
    file: Path | None, feed: FeedOptions, policy: AnyPolicy
) -> tuple[Any, ...] | None:
    """Read labels and scores of cases, and their patients where a column is named."""
    if file is None:
        return None
    if has_outcomes(policy):
        raise ValueError("--validation is of one outcome; this policy has several")
    (score,) = feed.scores_of(policy).values()
    stated = getattr(policy, "pos_label", None)
    columns = options.InputOptions(file=file, label=feed.label, score=[score], pos_label=stated)
    cases = load(columns, group=feed.group)
    # The monitor compares labels with the policy's own.
    labels = cases.labels if stated is None else np.where(cases.labels, stated, f"not {stated}")
    groups = () if cases.groups is None else (cases.groups,)
    return (labels, cases.scores_of(score), *groups)


def _read(file: Path, names: ColumnNames, labels: Collection[str] = ()) -> dict[str, list[Any]]:
    """Read columns: scores as numbers, labels as they are, with gaps, and all others as text."""
    source = open_source(file)
    check_names(peek(source), names, source.name)
    columns, scores = names.columns, names.numeric
    texts = [name for name in columns if name not in (*scores, *labels)]
    table = read_columns(source, columns, scores, texts)
    values_by_name = {name: table.column(name).to_pylist() for name in columns}
    for name, values in values_by_name.items():
        if name not in labels and None in values:
            row = values.index(None) + 1
            raise PredictionFileError(f"{source.name}: column {name!r} has no value in row {row}")
    return values_by_name


def _labels(values: list[Any], wanted: Any, column: str) -> tuple[Any, Any]:
    """Return labels, as floats if all are numbers, and the positive one."""
    if all(isinstance(value, bool | int | float) for value in values):
        return np.array(values, dtype=float), typed_label(wanted, f"column {column!r}")
    return np.array(list(map(str, values)), dtype=object), wanted
