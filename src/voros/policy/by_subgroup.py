"""What deployed thresholds do in each subgroup of cases, and where the floors hold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from voros.core.clusters import GroupedCounts
from voros.core.exact_intervals import (
    EvaluationIntervals,
    ThresholdCounts,
    recall_of,
)
from voros.core.scenario import Scenario
from voros.core.subgroups import Partition, Subgroups
from voros.exceptions import ArgumentError
from voros.io.frames import make_frame
from voros.text.numbers import count, percent, with_interval
from voros.text.table import ReprMixin, Table
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.policy.over_stays import StayEvaluation
    from voros.policy.policy_evaluation import PolicyEvaluation

Floor: TypeAlias = Literal["precision", "recall"]
FloorVerdict: TypeAlias = Literal["kept", "broken", "too few to say"]

PER_1000 = "cost of 1,000 cases, in misses"

ESTIMATED = ("precision", "recall", "alarms", "cost_per_1000")
"""What is estimated in each subgroup, with an interval."""


@dataclass(frozen=True, kw_only=True)
class SubgroupResult:
    """What the deployed thresholds do in one subgroup.

    Attributes
    ----------
    column, subgroup : str
    cases, positives : int
    alarms, precision, recall, cost_per_1000 : float
        Means over the costs, as in `PolicyEvaluation`; NaN where there is no alarm, or no positive.
    intervals : EvaluationIntervals
        Exact, at the confidence that the subgroups share.
    floor : {"kept", "broken", "too few to say"}
        Of the precision floor in the population of the subgroup: kept or broken where the interval
        lies above or below it at every, or at some, deployed threshold. A threshold that raised no
        alarm in the subgroup leaves it open; raising no alarm keeps it.
    recall_floor : {"kept", "broken", "too few to say"} or None
        The same of a recall floor, where there is one; raising no alarm breaks it.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.2)
    >>> y, scores, sex = [0, 1, 0, 1] * 20, [0.1, 0.9, 0.8, 0.7] * 20, ["f", "f", "m", "m"] * 20
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
    >>> women = policy.evaluate(y, scores, by={"sex": sex}).by_subgroup["sex", "f"]
    >>> women.name, women.cases, women.alarms, women.precision, women.floor
    ('sex: f', 40, 20.0, 1.0, 'kept')
    """

    column: str
    subgroup: str
    cases: int
    positives: int
    alarms: float
    precision: float
    recall: float
    cost_per_1000: float
    intervals: EvaluationIntervals
    floor: FloorVerdict
    recall_floor: FloorVerdict | None = None

    @property
    def name(self) -> str:
        """Column and subgroup."""
        return f"{self.column}: {self.subgroup}"

    def values(self) -> dict[str, Any]:
        """Return plain values, intervals as two columns each."""
        values = {
            name: getattr(self, name) for name in ("column", "subgroup", "cases", "positives")
        }
        for measure in ESTIMATED:
            low, high = getattr(self.intervals, measure)
            values |= {measure: getattr(self, measure)}
            values |= {f"{measure}_low": low, f"{measure}_high": high}
        recall = {} if self.recall_floor is None else {"recall_floor": self.recall_floor}
        return values | {"floor": self.floor} | recall


Result = TypeVar("Result", bound="SubgroupResult | StayEvaluation")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubgroupResults(ReprMixin, ABC, Generic[Result]):
    """Results of all subgroups, whose intervals and statements hold together.

    Attributes
    ----------
    names : tuple of (str, str)
        Column and subgroup.
    scenario : Scenario
    confidence_level : float
        Of all subgroups together.
    notes : tuple of str
        Which subgroups were pooled.
    """

    names: tuple[tuple[str, str], ...]
    scenario: Scenario
    confidence_level: float
    notes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def results(self) -> tuple[Result, ...]:
        """What is known of each subgroup."""

    @abstractmethod
    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each subgroup, column by column."""

    @abstractmethod
    def table(self) -> Table:
        """Return the subgroups as a table for people."""

    @property
    def n_subgroups(self) -> int:
        """How many subgroups there are, over all columns."""
        return len(self.names)

    @property
    def confidence_each(self) -> float:
        """Confidence of each subgroup's interval alone (Bonferroni)."""
        return 1.0 - (1.0 - self.confidence_level) / self.n_subgroups

    def __iter__(self) -> Iterator[Result]:
        """Go through the subgroups."""
        return iter(self.results)

    def __len__(self) -> int:
        """How many subgroups there are."""
        return self.n_subgroups

    def __getitem__(self, name: tuple[str, str]) -> Result:
        """Return one subgroup by its column and name."""
        if name not in self.names:
            listed = ", ".join(map(repr, self.names))
            raise KeyError(f"no subgroup {name!r}; the subgroups are {listed}")
        return self.results[self.names.index(name)]

    def with_floor(
        self, verdict: FloorVerdict, floor: Floor = "precision"
    ) -> tuple[tuple[str, str], ...]:
        """Return the subgroups of which this is known of the precision, or the recall floor."""
        attribute = "floor" if floor == "precision" else "recall_floor"
        pairs = zip(self.names, self.results, strict=True)
        return tuple(name for name, result in pairs if getattr(result, attribute) == verdict)

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each subgroup."""
        return make_frame(self.columns(), backend)

    @property
    def _floors(self) -> dict[Floor, float]:
        floors: dict[Floor, float] = {"precision": self.scenario.min_precision}
        recall = self.scenario.min_recall
        return floors if recall is None else floors | {"recall": recall}

    @property
    def _floor_titles(self) -> list[str]:
        titles = {"precision": "floor", "recall": "recall floor"}
        return [f"{titles[name]} {floor:g}" for name, floor in self._floors.items()]

    @property
    def words(self) -> tuple[str, ...]:
        """How sure the table is, what is known of the floors, and what was pooled."""
        together = (
            f"intervals of all {self.n_subgroups} subgroups together hold with confidence "
            f"{percent(self.confidence_level)} "
            f"(Bonferroni: {percent(self.confidence_each)} each)"
        )
        verdicts: tuple[FloorVerdict, ...] = ("broken", "too few to say")
        said = (self._floor_words(v, *floor) for floor in self._floors.items() for v in verdicts)
        return (together, *said, *self.notes)

    def _floor_words(self, verdict: FloorVerdict, limit: Floor, floor: float) -> str:
        named = ", ".join(map(": ".join, self.with_floor(verdict, limit))) or "no subgroup"
        of = "alarms" if limit == "precision" else "positives"
        said = "broken in" if verdict == "broken" else f"open, with too few {of} to say, in"
        return f"{limit} floor {floor:g} {said}: {named}"

    def _parts(self) -> tuple[str | Table, ...]:
        return self.table(), *self.words


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubgroupEvaluation(SubgroupResults[SubgroupResult]):
    """What a policy does in each subgroup of cases, its thresholds fixed beforehand.

    Of each measure the intervals of all subgroups hold together with the stated confidence: by
    Bonferroni, each alone has the level ``1 - (1 - confidence_level) / n_subgroups``. So do
    all that is said of the floors of precision and recall. The capacity is one for all cases, so
    that no subgroup keeps or breaks it alone.

    Attributes
    ----------
    names, scenario, confidence_level, notes
        As in `SubgroupResults`.
    counts : tuple of ThresholdCounts
        Of each subgroup, at the deployed thresholds.
    thresholds : ndarray of shape (n_thresholds,)

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.75, cost_ratio=0.2)
    >>> y, scores, sex = [0, 1, 0, 1] * 20, [0.1, 0.9, 0.8, 0.7] * 20, ["f", "f", "m", "m"] * 20
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
    >>> subgroups = policy.evaluate(y, scores, by={"sex": sex}).by_subgroup
    >>> (
    ...     len(subgroups),
    ...     subgroups.confidence_each,
    ...     subgroups.with_floor("kept"),
    ... )
    (2, 0.975, (('sex', 'f'),))
    """

    counts: tuple[ThresholdCounts, ...]
    thresholds: FloatArray

    @classmethod
    def from_cases(
        cls,
        subgroups: Subgroups,
        positive: BoolArray,
        scores: AnyArray,
        evaluation: PolicyEvaluation,
        codes: AnyArray | None = None,
    ) -> SubgroupEvaluation:
        """Count the alarms of each subgroup at the thresholds of an evaluation of all cases.

        ``codes`` are the patients, where cases of one patient are not independent.

        Returns
        -------
        SubgroupEvaluation
        """
        scenario = evaluation.scenario
        if scenario.prevalence is not None:
            raise ArgumentError(
                "by",
                f" cannot be combined with a scenario's prevalence ({scenario.prevalence:g}): "
                "subgroups differ in theirs; accepted is a scenario without one",
            )
        thresholds = np.array([choice.threshold for choice in evaluation.choices])
        cases = positive, scores, thresholds, evaluation.counts, codes
        by_column = [_counts(part, *cases) for part in subgroups.partitions]
        names = tuple((part.column, name) for part in subgroups.partitions for name in part.names)
        counts = tuple(count for part in by_column for count in part)
        return cls(
            names=names,
            counts=counts,
            thresholds=thresholds,
            scenario=scenario,
            confidence_level=evaluation.confidence_level,
            notes=subgroups.notes,
        )

    @cached_property
    def results(self) -> tuple[SubgroupResult, ...]:
        """What is known of each subgroup."""
        return tuple(map(self._result, self.names, self.counts))

    def _result(self, name: tuple[str, str], counts: ThresholdCounts) -> SubgroupResult:
        column, subgroup = name
        return SubgroupResult(
            column=column,
            subgroup=subgroup,
            cases=int(counts.n_cases),
            positives=int(counts.n_positive),
            alarms=float(counts.probability @ (counts.tp + counts.fp)),
            precision=counts.mean_precision,
            recall=float(counts.probability @ counts.tp / (counts.n_positive or np.nan)),
            cost_per_1000=counts.cost_per_1000,
            intervals=counts.intervals(self.confidence_each),
            floor=self._verdict(counts, "precision", self.scenario.min_precision),
            recall_floor=None
            if self.scenario.min_recall is None
            else self._verdict(counts, "recall", self.scenario.min_recall),
        )

    def _verdict(self, counts: ThresholdCounts, limit: Floor, floor: float) -> FloorVerdict:
        can_alarm = np.isfinite(self.thresholds)
        if floor <= 0:
            return "kept"
        if limit == "recall" and not can_alarm.all():
            return "broken"
        # A statement for each subgroup, threshold and floor: alpha is split over all of them.
        n_floors = sum(value > 0 for value in self._floors.values())
        n_said = n_floors * self.n_subgroups * max(int(can_alarm.sum()), 1)
        level = 1.0 - (1.0 - self.confidence_level) / n_said
        if limit == "precision":
            ends = counts.precision_limits(level)
        else:
            recall = counts.share(recall_of, level)
            ends = recall.low, recall.high
        low, high = (limits[can_alarm] for limits in ends)
        if (high < floor).any():
            return "broken"
        # Without an alarm, or a positive, the limits are 0 and 1.
        return "kept" if (low >= floor).all() else "too few to say"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each subgroup, column by column."""
        rows = [result.values() for result in self.results]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def table(self) -> Table:
        """Return the subgroups as a table for people."""
        head = ("subgroup", "cases", "positives", "alarms", "precision", "recall")
        rows = [_cells(result) for result in self.results]
        return Table.from_rows([(*head, PER_1000, *self._floor_titles), *rows])


def _counts(
    part: Partition,
    positive: BoolArray,
    scores: AnyArray,
    thresholds: FloatArray,
    all_cases: ThresholdCounts,
    codes: AnyArray | None,
) -> list[ThresholdCounts]:
    grouped = GroupedCounts.from_cases(part.codes, positive, scores, thresholds)
    counts = []
    for i in range(len(part.names)):
        here, patients = part.codes == i, None
        if codes is not None:
            own = np.unique(codes[here], return_inverse=True)[1]
            patients = GroupedCounts.from_cases(own, positive[here], scores[here], thresholds)
        here_counts = replace(
            all_cases,
            tp=grouped.tp[i],
            fp=grouped.fp[i],
            n_positive=int(grouped.n_positive[i, 0]),
            n_negative=int(grouped.n_negative[i, 0]),
            prevalence=None,
            grouped=patients,
        )
        counts.append(here_counts)
    return counts


def _cells(result: SubgroupResult) -> tuple[str, ...]:
    intervals = result.intervals
    return (
        result.name,
        f"{result.cases:,}",
        f"{result.positives:,}",
        f"{count(result.alarms)} ({percent(result.alarms / result.cases)})",
        with_interval(result.precision, *intervals.precision),
        with_interval(result.recall, *intervals.recall),
        with_interval(result.cost_per_1000, *intervals.cost_per_1000),
        result.floor,
        *([] if result.recall_floor is None else [result.recall_floor]),
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StaySubgroups(SubgroupResults["StayEvaluation"]):
    """What a policy does over the stays of each subgroup, threshold and rule fixed.

    Of each figure the intervals of all subgroups hold together with the stated confidence, by
    Bonferroni, and so does what is said of the floors. The capacity is one for all stays.

    Attributes
    ----------
    names, scenario, confidence_level, notes
        As in `SubgroupResults`.
    evaluations : tuple of StayEvaluation

    Examples
    --------
    >>> import voros
    >>> ward = {"stay": [1, 1, 2, 3], "time": [0, 5, 0, 0], "score": [0.2, 0.9, 0.4, 0.6]}
    >>> ward["events"], sex = ([1], [8]), {"sex": ["f", "f", "m", "m"]}
    >>> rule = voros.AlarmRule(snooze="4h", horizon="6h")
    >>> points = voros.alarm_points(**ward, rule=rule)
    >>> policy = voros.ThresholdPolicy.from_points(points, voros.Scenario(0.5, cost_ratio=0.1))
    >>> result = policy.evaluate_stays(**ward, by=sex).by_subgroup
    >>> result.names, result["sex", "other"].n_stays, result["sex", "other"].floor
    ((('sex', 'other'),), 3, 'too few to say')
    """

    evaluations: tuple[StayEvaluation, ...]

    @property
    def results(self) -> tuple[StayEvaluation, ...]:
        """What is known of each subgroup."""
        return self.evaluations

    @property
    def confidence_each(self) -> float:
        """Confidence of each subgroup's interval alone (Bonferroni)."""
        return self.evaluations[0].confidence_level

    def values(self) -> list[dict[str, Any]]:
        """Return the figures of each subgroup as plain values; the limits are for all stays."""
        rows = []
        for (column, subgroup), result in zip(self.names, self.results, strict=True):
            row = {"column": column, "subgroup": subgroup} | result.values()
            del row["satisfied"], row["violations"]
            recall = {"recall_floor": result.recall_floor} if "recall" in self._floors else {}
            rows.append(row | {"floor": result.floor} | recall)
        return rows

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each subgroup, column by column."""
        rows = self.values()
        plain = [name for name, value in rows[0].items() if np.isscalar(value)]
        return {name: [row[name] for row in rows] for name in plain}

    def table(self) -> Table:
        """Return the subgroups as a table for people."""
        head = ("subgroup", "stays", "events", "precision", "recall of events")
        rows: list[tuple[str, ...]] = [(*head, "alarms per patient-day", *self._floor_titles)]
        for name, result in zip(self.names, self.results, strict=True):
            figures = map(result.with_interval, ("precision", "recall", "alarms_per_patient_day"))
            sizes = f"{result.n_stays:,}", f"{result.n_events:,}"
            verdicts = (result.floor, result.recall_floor or "")[: len(self._floors)]
            rows.append((": ".join(name), *sizes, *figures, *verdicts))
        return Table.from_rows(rows)
