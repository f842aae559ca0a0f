"""What deployed thresholds do in each subgroup of cases, and where the floors hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

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

Floor: TypeAlias = Literal["precision", "recall"]
FloorVerdict: TypeAlias = Literal["kept", "broken", "too few to say"]

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
        alarm in the subgroup leaves it open; never alarm keeps it.
    recall_floor : {"kept", "broken", "too few to say"} or None
        The same of a recall floor, where there is one; never alarm breaks it.

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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubgroupEvaluation(ReprMixin):
    """What a policy does in each subgroup of cases, its thresholds fixed beforehand.

    Of each measure the intervals of all subgroups hold together with the stated confidence: by
    Bonferroni, each alone has the level ``1 - (1 - confidence_level) / n_subgroups``. So do
    all that is said of the floors of precision and recall. The capacity is one for all cases, so
    that no subgroup keeps or breaks it alone.

    Attributes
    ----------
    names : tuple of (str, str)
        Column and subgroup.
    counts : tuple of ThresholdCounts
        Of each subgroup, at the deployed thresholds.
    thresholds : ndarray of shape (n_thresholds,)
    scenario : Scenario
    confidence_level : float
        Of all subgroups together.
    notes : tuple of str
        Which subgroups were pooled.

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
    ...     [kept.name for kept in subgroups.with_floor("kept")],
    ... )
    (2, 0.975, ['sex: f'])
    """

    names: tuple[tuple[str, str], ...]
    counts: tuple[ThresholdCounts, ...]
    thresholds: FloatArray
    scenario: Scenario
    confidence_level: float
    notes: tuple[str, ...] = ()

    @classmethod
    def from_cases(
        cls,
        subgroups: Subgroups,
        positive: BoolArray,
        scores: AnyArray,
        thresholds: FloatArray,
        all_cases: ThresholdCounts,
        scenario: Scenario,
        confidence_level: float,
        codes: AnyArray | None = None,
    ) -> SubgroupEvaluation:
        """Count the alarms of each subgroup at the thresholds of an evaluation of all cases.

        ``codes`` are the patients, where cases of one patient are not independent.

        Returns
        -------
        SubgroupEvaluation
        """
        if scenario.prevalence is not None:
            raise ArgumentError(
                "by",
                f" cannot be combined with a scenario's prevalence ({scenario.prevalence:g}): "
                "subgroups differ in theirs; accepted is a scenario without one",
            )
        cases = positive, scores, thresholds, all_cases, codes
        by_column = [_counts(part, *cases) for part in subgroups.partitions]
        names = tuple((part.column, name) for part in subgroups.partitions for name in part.names)
        counts = tuple(count for part in by_column for count in part)
        return cls(
            names=names,
            counts=counts,
            thresholds=thresholds,
            scenario=scenario,
            confidence_level=confidence_level,
            notes=subgroups.notes,
        )

    @property
    def n_subgroups(self) -> int:
        """How many subgroups there are, over all columns."""
        return len(self.names)

    @property
    def confidence_each(self) -> float:
        """Confidence of each subgroup's interval alone (Bonferroni)."""
        return 1.0 - (1.0 - self.confidence_level) / self.n_subgroups

    @cached_property
    def results(self) -> tuple[SubgroupResult, ...]:
        """What is known of each subgroup."""
        return tuple(map(self._result, self.names, self.counts))

    def __iter__(self) -> Iterator[SubgroupResult]:
        """Go through the subgroups."""
        return iter(self.results)

    def __len__(self) -> int:
        """How many subgroups there are."""
        return self.n_subgroups

    def __getitem__(self, name: tuple[str, str]) -> SubgroupResult:
        """Return one subgroup by its column and name."""
        if name not in self.names:
            listed = ", ".join(map(repr, self.names))
            raise KeyError(f"no subgroup {name!r}; the subgroups are {listed}")
        return self.results[self.names.index(name)]

    def with_floor(
        self, verdict: FloorVerdict, floor: Floor = "precision"
    ) -> tuple[SubgroupResult, ...]:
        """Return the subgroups of which this is known of the precision, or the recall floor."""
        name = "floor" if floor == "precision" else "recall_floor"
        return tuple(result for result in self.results if getattr(result, name) == verdict)

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
        n_floors = (self.scenario.min_precision > 0) + (self.scenario.min_recall is not None)
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

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each subgroup."""
        return make_frame(self.columns(), backend)

    def table(self) -> Table:
        """Return the subgroups as a table for people."""
        head = ("subgroup", "cases", "positives", "alarms", "precision", "recall")
        floor, recall = f"floor {self.scenario.min_precision:g}", self.scenario.min_recall
        floors = [floor] if recall is None else [floor, f"recall floor {recall:g}"]
        rows = [_cells(result) for result in self.results]
        return Table.from_rows([(*head, "cost of 1,000 cases", *floors), *rows])

    @property
    def words(self) -> tuple[str, ...]:
        """How sure the table is, what is known of the floor, and what was pooled."""
        together = (
            f"intervals of all {self.n_subgroups} subgroups together hold with confidence "
            f"{percent(self.confidence_level)} "
            f"(Bonferroni: {percent(self.confidence_each)} each)"
        )
        floors: dict[Floor, float] = {"precision": self.scenario.min_precision}
        if self.scenario.min_recall is not None:
            floors["recall"] = self.scenario.min_recall
        verdicts: tuple[FloorVerdict, ...] = ("broken", "too few to say")
        said = (self._floor_words(v, *floor) for floor in floors.items() for v in verdicts)
        return (together, *said, *self.notes)

    def _floor_words(self, verdict: FloorVerdict, limit: Floor, floor: float) -> str:
        named = ", ".join(one.name for one in self.with_floor(verdict, limit)) or "no subgroup"
        of = "alarms" if limit == "precision" else "positives"
        said = "broken in" if verdict == "broken" else f"open, with too few {of} to say, in"
        return f"{limit} floor {floor:g} {said}: {named}"

    def _parts(self) -> tuple[str | Table, ...]:
        return self.table(), *self.words


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
