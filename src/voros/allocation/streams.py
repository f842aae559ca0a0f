"""Read labels and scores of several streams: outcomes of the same cases, or groups of cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.core.arrays import LARGEST_COUNT, as_vector, check_same_length, is_missing, named_columns
from voros.core.cases import check_scores, read_labels
from voros.core.grouped_cases import group_codes
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods, read_periods
from voros.core.scenario import Scenario
from voros.core.worth import CaseValues
from voros.exceptions import ArgumentError
from voros.typing import AnyArray, BoolArray

Arrangement: TypeAlias = Literal["outcomes", "groups"]
"""Outcomes of the same cases, or disjoint groups."""

UNLABELLED = object()
"""Passed as labels where only scores are read."""


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamCases:
    """Scores of each stream, and labels where they are known.

    Attributes
    ----------
    scores : dict of str to ndarray
    positive : dict of str to ndarray of bool
        Empty where no labels were given.
    members : dict of str to ndarray of bool
        The cases that can raise an alarm of the stream: those of its group, or all.
    arrangement : str
    n_cases : int
    periods : Periods or None
        The period of each case, where each period has a capacity.
    patients : ndarray of int, or None
        The patient of each case, where some have several.
    values : dict of str to CaseValues
        The cost of an error on each case in each stream; empty where cases have no values.
    """

    scores: dict[str, AnyArray]
    positive: dict[str, BoolArray]
    members: dict[str, BoolArray]
    arrangement: Arrangement
    n_cases: int
    periods: Periods | None = None
    patients: AnyArray | None = None
    values: Mapping[str, CaseValues] = field(default_factory=dict)

    def points(self, name: str) -> OperatingPoints:
        """Return the operating points of a stream."""
        own = self.members[name]
        positive = self.positive[name][own]
        if positive.all() or not positive.any():
            held = "positive" if len(positive) and positive.all() else "negative"
            raise ValueError(f"stream {name!r} holds {held} cases only; both classes are needed")
        values = self.values[name].take(own) if self.values else None
        return OperatingPoints.from_cases(positive, self.scores[name][own], values=values)

    def alarms(self, name: str, threshold: float) -> BoolArray:
        """Mark the cases that raise an alarm of a stream."""
        return np.asarray(self.members[name] & (self.scores[name] >= threshold))

    def take(self, rows: AnyArray) -> StreamCases:
        """Return some of the cases."""
        scores, positive, members = (
            {name: column[rows] for name, column in part.items()}
            for part in (self.scores, self.positive, self.members)
        )
        periods, patients = self.periods, self.patients
        return replace(
            self,
            scores=scores,
            positive=positive,
            members=members,
            n_cases=len(rows),
            periods=None if periods is None else replace(periods, codes=periods.codes[rows]),
            patients=None if patients is None else patients[rows],
            values={name: values.take(rows) for name, values in self.values.items()},
        )

    def with_values(self, miss_value: Any, false_alarm_cost: Any) -> StreamCases:
        """Return the cases with the cost of an error on each, for all streams or by stream."""
        columns = {"miss_value": miss_value, "false_alarm_cost": false_alarm_cost}
        if miss_value is None and false_alarm_cost is None:
            return self
        by_name = {n: by_stream(column, list(self.scores), n) for n, column in columns.items()}
        values = {
            name: CaseValues.read(self.scores[name], *(by_name[column][name] for column in columns))
            for name in self.scores
        }
        return replace(self, values={n: v for n, v in values.items() if v is not None})

    def of_patients(self, groups: Any) -> StreamCases:
        """Return the cases with the patient of each; `patients` stays None if no one has two."""
        if groups is None:
            return self
        codes = group_codes(groups, next(iter(self.positive.values())))
        repeated = len(np.unique(codes)) < self.n_cases
        return replace(self, patients=codes if repeated else None)

    def in_periods(self, limit: Scenario, periods: Any, times: Any) -> StreamCases:
        """Return the cases with the period of each, where the shared capacity is per period."""
        first = next(iter(self.scores.values()))
        return replace(self, periods=read_periods(limit, first, periods, times))

    @property
    def n_periods(self) -> int | None:
        """Number of periods, where each period has a capacity."""
        return None if self.periods is None else self.periods.n_periods

    def raised(self, thresholds: Sequence[float]) -> AnyArray:
        """Count the alarms of each case."""
        pairs = zip(self.scores, thresholds, strict=True)
        raised = [self.alarms(name, threshold) for name, threshold in pairs]
        return np.asarray(np.sum(raised, axis=0))

    def period_alarms(self, thresholds: Sequence[float], *, once: bool) -> AnyArray:
        """Count the alarms of each period; with ``once`` a case counts at most once."""
        assert self.periods is not None, "the cases have periods"
        raised = self.raised(thresholds)
        counted = raised > 0 if once else raised
        codes, n_periods = self.periods.codes, self.periods.n_periods
        return np.bincount(codes, counted, n_periods).astype(np.int64)

    def reaching(self, name: str) -> AnyArray:
        """Return the scores of a stream, -inf where a case can raise no alarm of it."""
        return np.where(self.members[name], self.scores[name], -np.inf)


def read_streams(
    y_true: Any, scores: Any, *, by: Any = None, names: Sequence[str] | None = None
) -> StreamCases:
    """Read labels, or `UNLABELLED`, and scores; parameters as in `voros.allocate`.

    Examples
    --------
    >>> cases = read_streams([[1, 0], [0, 0], [1, 1]], [[0.9, 0.2], [0.3, 0.1], [0.4, 0.8]])
    >>> list(cases.scores), cases.points("1").tp.tolist()
    (['0', '1'], [0, 1, 1, 1])
    """
    if by is not None:
        _check_groups(y_true, scores)
        return _by_subgroup(y_true, scores, by, names)
    columns = _columns(scores, "scores", names)
    columns = {name: _settable(column, f"scores of {name!r}") for name, column in columns.items()}
    check_same_length(**{f"scores of {name!r}": column for name, column in columns.items()})
    n_cases = len(next(iter(columns.values())))
    labels = {} if y_true is UNLABELLED else _labels(y_true, list(columns))
    for name, column in labels.items():
        check_same_length(**{f"y_true of {name!r}": column, "scores": next(iter(columns.values()))})
    everybody = np.ones(n_cases, dtype=np.bool_)
    return StreamCases(
        scores=columns,
        positive=labels,
        members=dict.fromkeys(columns, everybody),
        arrangement="outcomes",
        n_cases=n_cases,
    )


def by_stream(value: Any, names: Sequence[str], argument: str) -> dict[str, Any]:
    """Return a value for each stream: one for all, or a mapping with exactly their names.

    Examples
    --------
    >>> by_stream(2.0, ["a", "b"], "weights")
    {'a': 2.0, 'b': 2.0}
    """
    if not isinstance(value, Mapping):
        return dict.fromkeys(names, value)
    by_name = {str(name): item for name, item in value.items()}
    if set(by_name) != set(names):
        raise ArgumentError(
            argument,
            f" is given for {', '.join(map(repr, by_name))}; accepted is one for all streams, or "
            f"one for each of {', '.join(map(repr, names))}",
        )
    return {name: by_name[name] for name in names}


def _check_groups(y_true: Any, scores: Any) -> None:
    for name, values in (("y_true", y_true), ("scores", scores)):
        if isinstance(values, Mapping):
            raise ArgumentError(
                "by", f" makes streams of one column of labels and scores, and {name} has several"
            )


def _by_subgroup(y_true: Any, scores: Any, by: Any, names: Sequence[str] | None) -> StreamCases:
    column, of = _settable(scores, "scores"), as_vector(by, "by")
    check_same_length(scores=column, by=of)
    if any(is_missing(name) for name in of.tolist()):
        raise ArgumentError("by", " is missing in some case; accepted is one for every case")
    group = list(map(str, of.tolist()))
    listed = sorted(set(group)) if names is None else list(names)
    unknown = sorted(set(group) - set(listed))
    if unknown:
        raise ArgumentError(
            "by", f" holds {unknown[0]!r}; accepted are {', '.join(map(repr, listed))}"
        )
    labels = {}
    if y_true is not UNLABELLED:
        positive = read_labels(y_true)
        check_same_length(y_true=positive, scores=column)
        labels = dict.fromkeys(listed, positive)
    members = {name: np.asarray(np.array(group) == name) for name in listed}
    return StreamCases(
        scores=dict.fromkeys(listed, column),
        positive=labels,
        members=members,
        arrangement="groups",
        n_cases=len(column),
    )


def _labels(y_true: Any, names: list[str]) -> dict[str, BoolArray]:
    columns = _columns(y_true, "y_true", names)
    return {name: read_labels(columns[name], name=f"y_true of {name!r}") for name in names}


def _columns(values: Any, argument: str, names: Sequence[str] | None) -> dict[str, AnyArray]:
    """Read a mapping, a data frame, a matrix, or scikit-learn's list of probabilities by name."""
    columns = _named(values, argument)
    if names is None:
        return columns
    if not isinstance(values, Mapping) and all(name.isdigit() for name in columns):
        if len(columns) != len(names):
            raise ArgumentError(
                argument, f" has {len(columns)} columns, and there are {len(names)} streams"
            )
        return dict(zip(names, columns.values(), strict=True))
    return by_stream(columns, names, argument)


def _settable(values: Any, name: str) -> AnyArray:
    """Check scores, and refuse whole numbers that are too large for thresholds."""
    scores = check_scores(values, name=name)
    ends = (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 0.0)
    if scores.dtype.kind in "iu" and max(map(abs, ends)) >= LARGEST_COUNT:
        raise ArgumentError(
            name,
            ": whole numbers of 2**53 or beyond are not distinct as float64 thresholds; rescale or "
            "rank them first",
        )
    return scores


def _named(values: Any, argument: str) -> dict[str, AnyArray]:
    items = named_columns(values, argument)
    if items is None:
        items = list(enumerate(_matrix(values, argument).T))
    if not items:
        raise ArgumentError(argument, " holds no stream; at least one is needed")
    return {str(name): as_vector(column, f"{argument} of {name!r}") for name, column in items}


def _matrix(values: Any, argument: str) -> AnyArray:
    if isinstance(values, list) and values and getattr(values[0], "ndim", 1) == 2:
        # What predict_proba returns for several labels: a pair of columns for each.
        return np.column_stack([np.asarray(pair)[:, -1] for pair in values])
    dense = values.toarray() if hasattr(values, "toarray") else values
    try:
        matrix = np.asarray(dense)
    except ValueError:
        raise ArgumentError(argument, " has rows of different lengths") from None
    if matrix.ndim != 2:
        raise ArgumentError(
            argument,
            f" has the shape {matrix.shape}; accepted are a matrix with a column for each stream, "
            "a mapping from stream to values, or a data frame; by= makes streams of one column",
        )
    return matrix
