"""Operating points of alarms over stays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from voros.alarms.rule import MICROSECONDS, AlarmRule
from voros.alarms.stays import NO_EVENT, CountedRows, Stays
from voros.alarms.sweep import AlarmCounts, ScoredRows, StayChanges, StayCurve
from voros.core.alignment import check_aligned
from voros.core.arguments import check_type
from voros.core.arrays import as_vector, check_same_length, named_columns
from voros.core.grouped_cases import group_codes, missing_values
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import PATIENT_DAY, Scenario
from voros.core.subgroups import UNNAMED, Subgroups
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class StayRows:
    """The scored rows of stays behind operating points.

    Attributes
    ----------
    scored : ScoredRows
    unit : ndarray of int, shape (n_stays,)
        The patient of each stay, from 0.
    weights : tuple of two floats
        How many stays each stay with an event stands for, and each without one.
    drawn : ndarray of int, shape (n_stays,), or None
        How often each stay is there, in a resample of the patients.
    changes : StayChanges or None
        What each stay adds at each threshold, where it is known already; the highest thresholds
        may suffice.

    Examples
    --------
    >>> points = alarm_points(
    ...     stay=[1, 1, 2],
    ...     time=[0, 5, 0],
    ...     score=[0.2, 0.9, 0.4],
    ...     events=([1], [8]),
    ...     rule=AlarmRule(snooze=2, horizon=6),
    ... )
    >>> points.stays.n_stays, points.stays.n_events, points.stays.lead_times(0.5).tolist()
    (2, 1, [3.0])
    """

    scored: ScoredRows
    unit: AnyArray
    weights: tuple[float, float] = (1, 1)
    drawn: AnyArray | None = None
    changes: StayChanges | None = None

    @property
    def rows(self) -> CountedRows:
        """The rows that count."""
        return self.scored.rows

    @property
    def rule(self) -> AlarmRule:
        """When an alarm sounds, and which events it catches."""
        return self.rows.rule

    @property
    def n_stays(self) -> int:
        """Stays that have a row."""
        return self.rows.stays.n_stays

    @property
    def n_units(self) -> int:
        """Patients, who are independent of each other."""
        return int(self.unit.max()) + 1

    @property
    def n_events(self) -> int:
        """Events that count, caught or not."""
        if self.drawn is None:
            return self.rows.n_events
        return int(self.drawn[self.rows.event_stay].sum())

    @property
    def n_events_without_row(self) -> int:
        """Events that no scored row can catch; they count as missed."""
        return self.scored.n_without_row

    @property
    def n_events_without_stay(self) -> int:
        """Events of stays that have no row; they are left out."""
        return self.rows.stays.n_other_events

    @cached_property
    def curve(self) -> StayCurve:
        """Alarms at every threshold."""
        changes = self.changes or StayChanges.from_rows(self.scored)
        return changes.curve(self.drawn)

    @property
    def slots(self) -> AnyArray:
        """Alarms of each stay if every row sounded one."""
        return self.scored.slots

    @property
    def one_stay(self) -> float:
        """How many stays one of them stands for at least; a resample may leave out any."""
        return float(min(self.weights)) if self.drawn is None else 0.0

    @property
    def patient_days(self) -> float:
        """Days at which an alarm may sound, of all stays."""
        return float(self._weighted(self.rows.days))

    def _weighted(self, per_stay: AnyArray) -> Any:
        has_event = self.rows.has_event
        if self.drawn is not None:
            per_stay = per_stay * self.drawn
        parts = per_stay[has_event].sum(), per_stay[~has_event].sum()
        return (self.weights[0] * parts[0] + self.weights[1] * parts[1]).item()

    @property
    def words(self) -> str:
        """How many stays, events and days."""
        events = "1 event" if self.n_events == 1 else f"{self.n_events:,} events"
        return f"{self.n_stays:,} stays, {events}, {self.patient_days:,.6g} patient-days"

    def points(self) -> OperatingPoints:
        """Return the counts at every threshold, ordered by alarms."""
        tp, fp, counted = (
            np.append(0, self.weights[0] * one + self.weights[1] * other)
            for one, other in zip(self.curve.with_event, self.curve.without_event, strict=True)
        )
        thresholds = np.append(np.inf, self.curve.thresholds)
        # Of equal counts the last one is chosen: the one with fewest alarms of any kind.
        order = np.lexsort((thresholds, -counted, tp, tp + fp))
        order = np.append(0, order[(tp + fp)[order] > 0])
        tp, fp, counted = tp[order], fp[order], counted[order]
        n_slots = self._weighted(self.slots)
        if n_slots == 0:
            raise ValueError("no row of any stay counts; all of them follow an event")
        return OperatingPoints(
            thresholds[order],
            tp,
            fp,
            self.weights[0] * self.n_events,
            n_slots,
            one_case=self.one_stay,
            stays=self,
            capacity_alarms=None if np.array_equal(counted, tp + fp) else counted,
        )

    def at_prevalence(self, prevalence: float) -> StayRows:
        """Reweight the stays so that this share of them has an event."""
        present = np.ones(self.n_stays) if self.drawn is None else self.drawn
        n_stays, n_with = float(present.sum()), float(present[self.rows.has_event].sum())
        if n_with in (0, n_stays):
            which = "none" if n_with == 0 else "each"
            raise ArgumentError("prevalence", f"={prevalence!r}: {which} of the stays has an event")
        weights = prevalence * n_stays / n_with
        others = (1 - prevalence) * n_stays / (n_stays - n_with)
        return replace(self, weights=(weights, others))

    def max_alarms(self, scenario: Scenario, no_limit: float) -> float:
        """Return the capacity of a scenario as a number of alarms."""
        if scenario.per == PATIENT_DAY:
            return scenario.max_alarms(0, self.one_stay, self.patient_days)
        if scenario.per is not None:
            raise ArgumentError(
                "per", f"={scenario.per!r}; accepted for alarms over stays is {PATIENT_DAY!r}"
            )
        if not scenario.capacity_is_count and scenario.capacity < 1:
            raise ArgumentError(
                "capacity",
                f"={scenario.capacity!r} is a share of cases, which stays do not have; accepted "
                f"are a whole number of alarms, or a rate with per={PATIENT_DAY!r}",
            )
        return float(scenario.capacity) if scenario.capacity_is_count else float(no_limit)

    def within_reach(self, points: OperatingPoints, scenario: Scenario) -> OperatingPoints:
        """Return the points with enough negatives for all false alarms within the limits.

        Then the score is the same whatever their number is.
        """
        if self.n_events == 0:
            raise ValueError("the stays hold no event that counts; at least one is needed")
        floor = scenario.min_precision
        reach = points.n_positive * (1 - floor) / floor if floor > 0 else np.inf
        most = self.max_alarms(scenario, np.inf)
        needed = min(reach, most)
        if np.isinf(needed) or needed <= points.n_negative:
            return points
        return replace(points, n_negative=needed)

    def counts(self, thresholds: FloatArray) -> AlarmCounts:
        """Count alarms of each patient at each threshold: arrays (n_units, n_thresholds)."""
        shape = self.n_units, len(thresholds)
        stay = np.repeat(np.arange(self.n_stays), len(thresholds))
        counts = self.scored.count(stay, np.tile(thresholds, self.n_stays))
        cell = self.unit[stay] * len(thresholds) + np.tile(np.arange(shape[1]), self.n_stays)
        size = shape[0] * shape[1]
        sums = (np.bincount(cell, count, minlength=size).reshape(shape) for count in counts)
        return AlarmCounts(*(np.rint(count).astype(np.int64) for count in sums))

    def only(self, kept: BoolArray) -> StayRows:
        """Return some of the stays."""
        scores = np.full(len(self.rows.stays.times), np.nan)
        scores[self.rows.rows[self.scored.kept]] = self.scored.scores
        rows = CountedRows.from_stays(self.rows.stays.only(kept), self.rule)
        scored = ScoredRows.from_scores(rows, scores[kept[self.rows.stays.stay]])
        return StayRows(scored=scored, unit=np.unique(self.unit[kept], return_inverse=True)[1])

    def in_resample(self, times: AnyArray, changes: StayChanges) -> StayRows:
        """Return the stays with each patient there a number of times."""
        return replace(self, drawn=times[self.unit], changes=changes)

    def by_unit(self, per_stay: AnyArray) -> FloatArray:
        """Add up a number of each stay by patient."""
        sums = np.zeros(self.n_units)
        np.add.at(sums, self.unit, per_stay)
        return sums

    def lead_times(self, threshold: float) -> FloatArray:
        """Return the hours from the first useful alarm to each event that is caught."""
        sounded = self.scored.alarm_rows(threshold)
        event, first = np.unique(self.scored.event[sounded], return_index=True)
        caught = event != NO_EVENT
        times = self.rows.times[self.scored.kept][sounded[first[caught]]]
        return np.asarray((self.rows.event_times[event[caught]] - times) / MICROSECONDS["h"])

    def first_alarms(self, threshold: float) -> tuple[BoolArray, BoolArray]:
        """Return which stays alarm at all, and in which of them the first alarm is useful."""
        sounded = self.scored.alarm_rows(threshold)
        stay, first = np.unique(self.scored.stay[sounded], return_index=True)
        alarmed, useful = (np.zeros(self.n_stays, dtype=np.bool_) for _ in range(2))
        alarmed[stay] = True
        useful[stay] = self.scored.event[sounded[first]] != NO_EVENT
        return alarmed, useful


def alarm_points(
    rows: Any = None,
    *,
    stay: Any,
    time: Any,
    score: Any,
    events: Any,
    rule: AlarmRule,
    groups: Any = None,
) -> OperatingPoints | dict[str, OperatingPoints]:
    """Count the alarms of scores over stays, and the events they catch, at every threshold.

    The points go wherever operating points do. A true positive is an event that is caught, a false
    positive a false alarm; the positives are the events. Neither precision floor nor capacity need
    a number of negatives; where one is needed it is that of the alarms if every row sounded one.

    Parameters
    ----------
    rows : data frame or mapping of columns, optional
        Scored rows, of which the other arguments name columns. Without it they are arrays.
    stay : str or array-like of shape (n_rows,)
        Whose row it is.
    time : str or array-like of shape (n_rows,)
        Datetimes, or numbers of hours. Rows may be in any order; of several rows of a stay at one
        time the highest score counts.
    score : str, list of str, array-like, mapping of str to array-like, or data frame
        Of one model, or of several by name. A row whose score is missing cannot sound an alarm.
    events : data frame, mapping or pair of array-likes
        Stay and time of each event, in columns named as those of the rows, or as a pair. Events
        without a time are left out: a stay may be listed to say that it has none.
    rule : AlarmRule
        When an alarm sounds, and which events it catches.
    groups : str or array-like of shape (n_rows,), optional
        The patient of each row, where one has several stays. A guarantee takes patients as
        independent, and without it stays.

    Returns
    -------
    OperatingPoints, or dict of them by model where models have names

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
    OperatingPoints(6 thresholds of 2 stays, 1 event, 1.20833 patient-days)
    >>> points.thresholds[:2].tolist(), points.tp[:2].tolist(), points.fp[:2].tolist()
    ([inf, 0.9], [0, 1], [0, 0])
    """
    check_type(rule, "rule", AlarmRule, "a voros.AlarmRule(snooze=..., horizon=...)")
    check_aligned(stay=stay, time=time, score=score, groups=groups)
    stays = read_stays(rows, stay, time, events)
    unit = _units(stays, None if groups is None else column_of(rows, groups, "groups"))
    counted = CountedRows.from_stays(stays, rule)

    def points_of(column: Any, name: str) -> OperatingPoints:
        scored = ScoredRows.from_scores(counted, stays.highest(column, name))
        return StayRows(scored=scored, unit=unit).points()

    columns = _models(rows, score)
    if columns is None:
        return points_of(column_of(rows, score, "score"), "score")
    return {name: points_of(column, f"score of {name!r}") for name, column in columns.items()}


def read_stays(rows: Any, stay: Any, time: Any, events: Any) -> Stays:
    """Read rows and events as `alarm_points` takes them."""
    columns = column_of(rows, stay, "stay"), column_of(rows, time, "time")
    return Stays.from_columns(*columns, _events(events, stay, time))


def _models(rows: Any, score: Any) -> dict[str, Any] | None:
    """Return the scores of several models by name; None where there is one without a name."""
    if rows is not None and isinstance(score, (list, tuple)):
        return {name: column_of(rows, name, "score") for name in score}
    if isinstance(score, str):
        return None
    columns = named_columns(score, "score")
    return None if columns is None else {str(name): column for name, column in columns}


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
        codes = group_codes(values, np.zeros(len(values), dtype=np.bool_), "by")
        stays.of_each_stay(codes, "by", "subgroup")
        of_stays[name] = values[first_input]
    return Subgroups.from_columns(of_stays)


def _units(stays: Stays, groups: Any) -> AnyArray:
    """Return the patient of each stay; a stay belongs to one."""
    if groups is None:
        return np.arange(stays.n_stays)
    names = as_vector(groups, "groups")
    codes = group_codes(names, np.zeros(len(stays.order), dtype=np.bool_))
    return stays.of_each_stay(codes, "groups", "patient")
