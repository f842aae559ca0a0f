"""Operating points of alarms over stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from voros.alarms.batches import as_lazy, count_batches, whole_stays
from voros.alarms.rule import AlarmRule
from voros.alarms.stay_rows import StayRows
from voros.alarms.stays import CountedRows, Stays
from voros.alarms.sweep import ScoredRows
from voros.core.alignment import check_aligned
from voros.core.arguments import check_type
from voros.core.arrays import as_vector, check_same_length, named_columns
from voros.core.grouped_cases import group_codes, missing_values
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.core.subgroups import UNNAMED, Subgroups
from voros.exceptions import (
    Argument,
    ArgumentError,
    Message,
    UnmatchedEventsWarning,
    warn_caller,
)
from voros.typing import AnyArray, BoolArray


def alarm_points(
    rows: Any = None,
    *,
    stay: Any,
    time: Any,
    score: Any,
    events: Any,
    rule: AlarmRule | Mapping[str, AlarmRule],
    groups: Any = None,
    scenario: Scenario | None = None,
) -> OperatingPoints | dict[str, OperatingPoints]:
    """Count the alarms of scores over stays, and the events they catch, at every threshold.

    The points are accepted wherever operating points are. The positives are the events: a true
    positive is an event that is caught, a false positive a false alarm. A precision floor and a
    capacity need no number of negatives; where one is needed, it is the number of alarms if every
    row sounded one.

    Parameters
    ----------
    rows : data frame or mapping of columns, optional
        Scored rows, of which the other arguments name columns. Without it they are arrays. A lazy
        frame, such as `voros.engines.open_files` opens, is read in batches of whole stays.
    stay : str or array-like of shape (n_rows,)
        The stay of each row.
    time : str or array-like of shape (n_rows,)
        Datetimes, or numbers of hours. Rows may be in any order; of several rows of a stay at one
        time the highest score counts.
    score : str, list of str, array-like, mapping of str to array-like, or data frame
        Of one model, or of several by name. A row whose score is missing cannot sound an alarm.
    events : data frame, mapping or pair of array-likes
        Stay and time of each event, in columns named as those of the rows, or as a pair. Entries
        without a time are left out: they may list stays that have no event. Events of stays without
        a row are left out too, because the events of a whole hospital often come with the rows of a
        test split; ``points.stays.n_events_elsewhere`` counts them.
    rule : AlarmRule, or mapping of str to AlarmRule
        When an alarm sounds, and which events it catches. Several rules compete as models do:
        `voros.select_model` chooses among them, and its guarantee holds for the one that wins.
    groups : str or array-like of shape (n_rows,), optional
        The patient of each row, where patients have several stays. A guarantee takes patients as
        independent; without groups, it takes stays as independent.
    scenario : Scenario, optional
        Needed for a lazy frame, of which only the thresholds that can be within these limits are
        counted. No rows are kept, so it has no guarantee and no intervals.

    Returns
    -------
    OperatingPoints, or dict of them by model or rule where these have names
        Of several models and rules the names are those of both, as in "boosting, 6h".

    Warns
    -----
    UnmatchedEventsWarning
        When no event belongs to a stay of the rows, mostly because names are written differently.

    Examples
    --------
    Stay 1 has an event at hour 10; the alarm at hour 6 catches it:

    >>> import voros
    >>> hours = {"stay": [1, 1, 1, 2, 2], "hour": [0, 6, 9, 0, 8]}
    >>> hours["risk"] = [0.1, 0.7, 0.9, 0.3, 0.8]
    >>> points = voros.alarm_points(
    ...     hours,
    ...     stay="stay",
    ...     time="hour",
    ...     score="risk",
    ...     events={"stay": [1], "hour": [10]},
    ...     rule=voros.AlarmRule(snooze="6h", horizon="6h"),
    ... )
    >>> points
    OperatingPoints(6 thresholds of 2 stays, 1 event, 1.21 patient-days)
    >>> points.thresholds[:2].tolist(), points.tp[:2].tolist(), points.fp[:2].tolist()
    ([inf, 0.9], [0, 1], [0, 0])
    """
    check_aligned(stay=stay, time=time, score=score, groups=groups)
    columns = StayColumns(
        stay=stay, time=time, score=score, events=events, rules=_check_rules(rule), groups=groups
    )
    lazy = as_lazy(rows)
    if lazy is None:
        if scenario is not None:
            raise ArgumentError(
                "scenario", " is accepted with a lazy frame; of rows in memory all are counted"
            )
        by_name = {name: stays.points() for name, stays in columns.read(rows).items()}
    else:
        columns.check_lazy()
        needed = [stay, time, *([score] if isinstance(score, str) else score)]
        batches = partial(whole_stays, lazy, needed)
        by_name = count_batches(lambda: map(columns.read, batches()), check_scenario(scenario))
    columns.warn_if_elsewhere(next(iter(by_name.values())), rows if lazy is None else lazy)
    return by_name[ONLY] if list(by_name) == [ONLY] else by_name


ONLY = ""
"""The name of a model and of a rule that have none."""


@dataclass(frozen=True, kw_only=True)
class StayColumns:
    """The arguments of `alarm_points` about rows, and the rules by name."""

    stay: Any
    time: Any
    score: Any
    events: Any
    rules: Mapping[str, AlarmRule]
    groups: Any = None

    def read(self, rows: Any) -> dict[str, StayRows]:
        """Return the stays of each model under each rule."""
        stays = read_stays(rows, self.stay, self.time, self.events)
        groups = None if self.groups is None else column_of(rows, self.groups, "groups")
        unit, columns = _units(stays, groups), models_of(rows, self.score)
        scores = {model: stays.highest(c, score_name(model)) for model, c in columns.items()}
        by_name = {}
        for rule_name, rule in self.rules.items():
            counted = CountedRows.from_stays(stays, rule)
            for model, column in scores.items():
                scored = ScoredRows.from_scores(counted, column)
                name = ", ".join(part for part in (model, rule_name) if part != ONLY)
                by_name[name] = StayRows.from_scored(scored, unit)
        return by_name

    def warn_if_elsewhere(self, points: OperatingPoints, rows: Any) -> None:
        """Warn when there are events, but none belongs to a stay of the rows."""
        stays = points.stays
        if stays is None or stays.n_events or not stays.n_events_elsewhere:
            return
        if (lazy := as_lazy(rows)) is not None:
            rows = lazy.select(self.stay).head(1).collect().to_native()
        names = _events(self.events, self.stay, self.time)[0], column_of(rows, self.stay, "stay")
        event, row = (as_vector(column, "stay")[:1].tolist()[0] for column in names)
        warn_caller(
            Message(
                Argument("events"),
                f": none of {stays.n_events_elsewhere:,} belongs to a stay of the rows; the first "
                f"event is of stay {event!r}, the first row of {row!r}. Write the names of stays "
                "the same way in both",
            ),
            UnmatchedEventsWarning,
        )

    def check_lazy(self) -> None:
        """Raise where columns of a lazy frame are not given by name, or groups are given."""
        named = isinstance(self.score, (str, list, tuple))
        if not (isinstance(self.stay, str) and isinstance(self.time, str) and named):
            raise ArgumentError("stay", ", time and score of a lazy frame are names of columns")
        if self.groups is not None:
            raise ArgumentError(
                "groups", " are accepted with rows in memory; a lazy frame is only counted"
            )


def _check_rules(rule: Any) -> Mapping[str, AlarmRule]:
    rules = rule if isinstance(rule, Mapping) else {ONLY: rule}
    for one in rules.values():
        check_type(one, "rule", AlarmRule, "a voros.AlarmRule(snooze=..., horizon=...)")
    if not rules:
        raise ArgumentError("rule", " is empty; accepted is at least one voros.AlarmRule")
    return rules


def read_stays(rows: Any, stay: Any, time: Any, events: Any) -> Stays:
    """Read rows and events as `alarm_points` takes them."""
    columns = column_of(rows, stay, "stay"), column_of(rows, time, "time")
    return Stays.from_columns(*columns, _events(events, stay, time))


def models_of(rows: Any, score: Any) -> dict[str, Any]:
    """Return the scores of each model by name; a model without a name is `ONLY`."""
    if rows is not None and isinstance(score, (list, tuple)):
        return {name: column_of(rows, name, "score") for name in score}
    columns = None if isinstance(score, str) else named_columns(score, "score")
    if columns is None:
        return {ONLY: column_of(rows, score, "score")}
    return {str(name): column for name, column in columns}


def score_name(model: str) -> str:
    """Return how errors name the scores of a model."""
    return f"score of {model!r}" if model else "score"


def column_of(rows: Any, column: Any, name: str) -> Any:
    """Return a column by its name, or an array as it was given."""
    if rows is None:
        if isinstance(column, str):
            raise ArgumentError(name, f"={column!r} names a column; give the rows first")
        return column
    columns = dict(named_columns(rows, "rows") or ())
    if not isinstance(column, str) or column not in columns:
        accepted = ", ".join(map(repr, columns)) or "none: rows is not a data frame"
        raise ArgumentError(name, f"={column!r:.60} is not a column; accepted are {accepted}")
    return columns[column]


def _events(events: Any, stay: Any, time: Any) -> tuple[Any, Any]:
    """Return stay and time of each event that has a time."""
    if isinstance(events, (tuple, list)) and len(events) == 2:
        names, times = events
    else:
        keys = [key if isinstance(key, str) else None for key in (stay, time)]
        names = column_of(events, keys[0] or "stay", "events")
        times = column_of(events, keys[1] or "time", "events")
    missing = missing_values(as_vector(times, "events"))
    check_same_length(**{"stays of events": as_vector(names, "events"), "times of events": missing})
    if not missing.any():
        return names, times
    return as_vector(names, "events")[~missing], _without(times, missing)


def _without(times: Any, missing: BoolArray) -> Any:
    """Leave out missing times; columns of data frames keep their time zone."""
    import narwhals.stable.v2 as nw

    column = nw.from_native(times, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        return column.filter((~missing).tolist()).to_native()
    return [value for value, left in zip(times, missing.tolist(), strict=True) if not left]


def stay_subgroups(rows: Any, by: Any, stays: Stays) -> Subgroups:
    """Return the subgroup of each stay, from columns of the rows or one value for each row."""
    named = isinstance(by, str) or (rows is not None and isinstance(by, (list, tuple)))
    names = [by] if isinstance(by, str) else by
    columns = {name: column_of(rows, name, "by") for name in names} if named else by
    listed = named_columns(columns, "by")
    of_rows = {UNNAMED: columns} if listed is None else {str(name): c for name, c in listed}
    first_input = np.empty(stays.n_stays, dtype=np.intp)
    first_input[stays.stay_of_inputs[::-1]] = np.arange(len(stays.order))[::-1]
    of_stays = {}
    for name, column in of_rows.items():
        values = as_vector(column, "by")
        codes = group_codes(values, values, "by")
        stays.of_each_stay(codes, "by", "subgroup")
        of_stays[name] = values[first_input]
    return Subgroups.from_columns(of_stays)


def _units(stays: Stays, groups: Any) -> AnyArray:
    """Return the patient of each stay; a stay belongs to one."""
    if groups is None:
        return np.arange(stays.n_stays)
    names = as_vector(groups, "groups")
    codes = group_codes(names, names)
    return stays.of_each_stay(codes, "groups", "patient")
