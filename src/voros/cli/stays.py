"""Alarms over stays: their options, and the operating points that follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from voros.alarms import AlarmRule, alarm_points
from voros.cli.options import CaseOptions, Rules, shown_in
from voros.cli.terminal import say, show_progress
from voros.core.operating_points import OperatingPoints
from voros.io import open_source
from voros.io.columns import ColumnNames
from voros.io.rows import Rows, read_events, read_stay_rows
from voros.io.source import Source

if TYPE_CHECKING:
    from voros.policy import StayEvaluation, ThresholdPolicy


def in_stays(help_text: str, metavar: str) -> Any:
    """Declare an option under the heading of alarms over stays."""
    return shown_in("Alarms over stays", help_text, metavar=metavar)


RuleHorizon = Annotated[
    str | None,
    in_stays("The longest time before an event at which an alarm catches it: 12h.", "DURATION"),
]

TestEvents = Annotated[
    Path | None,
    in_stays("Events of the --test stays, if not in --events.", "FILE"),
]

NOT_WITH_STAYS = ("label", "model", "case", "weight", "pos_label", "period", "time_zone", "block")
"""Options of cases, which alarms over stays exclude."""

RULE_FIELDS = ("snooze", "lead", "reset", "repeats", "unfinished")
"""Options of the rule; the horizon is one of cases as well."""


@dataclass(frozen=True)
class StayColumns:
    """Which rows belong together, and where the events are."""

    requires: ClassVar[Rules] = {"stay": ["events"]}

    stay: str | None = in_stays(
        "The stay of each row, to count alarms over stays; requires --time.", "COLUMN"
    )
    events: Path | None = in_stays(
        "The stay and time of each event, in columns named as in FILE.", "FILE"
    )

    @property
    def given(self) -> bool:
        """Whether alarms are over stays."""
        return self.stay is not None


@dataclass(frozen=True)
class StayOptions(StayColumns):
    """Stays, and the rule by which an alarm sounds and catches an event."""

    requires: ClassVar[Rules] = {"stay": ["events", *RULE_FIELDS]}

    snooze: str | None = in_stays(
        "How long an alarm silences the alarms after it: 12h, 30min.", "DURATION"
    )
    lead: str | None = in_stays(
        "The shortest time before an event at which an alarm catches it; 0h by default.", "DURATION"
    )
    reset: str | None = in_stays(
        "How long after an event rows are ignored; by default until the end of the stay.",
        "DURATION",
    )
    repeats: str | None = in_stays(
        "How further alarms before a caught event count: false_alarm (default), capacity_only or "
        "ignored.",
        "NAME",
    )
    unfinished: str | None = in_stays(
        "How alarms within the horizon of the end of a stay without an event count: false_alarm "
        "(default) or capacity_only.",
        "NAME",
    )

    def rule(self, horizon: str | None) -> AlarmRule:
        """Return the rule of the options."""
        if self.events is None:
            raise ValueError("--stay requires --events FILE, with the stay and time of each event")
        for name, value in {"snooze": self.snooze, "horizon": horizon}.items():
            if value is None:
                raise ValueError(f"--stay requires --{name}, such as --{name} 12h")
        fields: Any = {name: getattr(self, name) for name in RULE_FIELDS}
        typed = {name: value for name, value in fields.items() if value is not None}
        return AlarmRule(horizon=horizon, **typed)

    def open(
        self,
        columns: CaseOptions,
        choice: Any,
        group: str | None,
        aside: Sequence[str] | None,
    ) -> StayInput:
        """Return the rows of the file; ``choice`` has the horizon."""
        return StayInput(
            columns=columns,
            stays=self,
            rule=self.rule(choice.horizon),
            group=group,
            aside=aside or (),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class StayInput:
    """Rows of stays in a file, their events, and the rule that counts alarms over them.

    ``by`` are columns of subgroups, and ``aside`` columns that are no model's scores.
    """

    columns: CaseOptions
    stays: StayColumns
    rule: AlarmRule
    group: str | None = None
    by: Sequence[str] = ()
    aside: Sequence[str] = ()

    def with_file(
        self,
        file: Path,
        scores: Iterable[str],
        events: Path | None = None,
        by: Sequence[str] | None = None,
    ) -> StayInput:
        """Return another file with the same columns, its events in the same file or another.

        Raises
        ------
        ValueError
            Where stays of one name are in both files, and their events in one.
        """
        columns = replace(self.columns, file=file, score=list(scores))
        other = replace(self, columns=columns, by=by or (), aside=())
        if events is not None:
            return replace(other, stays=replace(self.stays, events=events))
        column = self._names["stay"]
        both = _names_in(self.rows.table, column) & _names_in(other.rows.table, column)
        if both:
            raise ValueError(
                f"the stay {min(both)!r} is in {self.name} and in {other.name}, and --events "
                "does not say whose event it is; give each stay a name of its own, or name the "
                "events of --test with --test-events"
            )
        return other

    @cached_property
    def source(self) -> Source:
        """The file, opened once: a pipe cannot be read twice."""
        return open_source(self.columns.file)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.source.name

    @cached_property
    def _names(self) -> dict[str, str]:
        """The columns of stay and time."""
        if self.stays.stay is None or self.columns.time is None:
            raise ValueError("--stay requires --time, the column of times")
        return {"stay": self.stays.stay, "time": self.columns.time}

    @cached_property
    def rows(self) -> Rows:
        """The rows, read once; notes say what was guessed."""
        with show_progress(f"reading {self.columns.file}"):
            names = self.columns.names(
                **self._names, group=self.group, by=self.by, aside=self.aside
            )
            rows = read_stay_rows(self.source, names, drop_missing=self.columns.drop_missing)
        for note in rows.notes:
            say(note, "note")
        return rows

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `voros.alarm_points`, but scores and rule."""
        file = self.stays.events
        names = ColumnNames(**self._names)
        events = None if file is None else read_events(open_source(file), self.rows, names)
        return {"rows": self.rows.table, "events": events, "groups": self.group, **self._names}

    def points(self) -> dict[str, OperatingPoints]:
        """Count alarms at every threshold of every model."""
        arguments = self.arguments()
        with show_progress("counting alarms"):
            points = alarm_points(**arguments, score=list(self.rows.scores), rule=self.rule)
        assert isinstance(points, dict)
        return points

    def evaluate(self, policy: ThresholdPolicy, cost_ratio: float | None = None) -> StayEvaluation:
        """Evaluate a policy on the rows of its model."""
        (model,) = self.rows.scores
        by = list(self.by) or None
        return policy.evaluate_stays(**self.arguments(), score=model, by=by, cost_ratio=cost_ratio)


def _names_in(table: Any, column: str) -> set[str]:
    return set(map(str, table.column(column).unique().to_pylist()))
