"""What deployed thresholds do in each subgroup of cases, and where the floors hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from voros.core.clusters import GroupedCounts
from voros.core.exact_intervals import EvaluationIntervals, ThresholdCounts, recall_of
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
UNKEPT: tuple[FloorVerdict, FloorVerdict] = ("broken", "too few to say")

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

    TITLES: ClassVar = ("cases", "positives", "alarms", "precision", "recall", PER_1000)

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

    @classmethod
    def from_counts(
        cls,
        name: tuple[str, str],
        counts: ThresholdCounts,
        thresholds: FloatArray,
        scenario: Scenario,
        confidence_level: float,
    ) -> SubgroupResult:
        """Return what is known of a subgroup; all statements on it hold together."""
        floors = floors_of(scenario)
        can_alarm = np.isfinite(thresholds)
        n_said = sum(floor > 0 for floor in floors.values()) * int(can_alarm.sum())
        level = 1.0 - (1.0 - confidence_level) / max(n_said, 1)
        verdicts = {
            limit: _verdict(counts, can_alarm, limit, floor, level)
            for limit, floor in floors.items()
        }
        return cls(
            column=name[0],
            subgroup=name[1],
            cases=int(counts.n_cases),
            positives=int(counts.n_positive),
            alarms=float(counts.probability @ (counts.tp + counts.fp)),
            precision=counts.mean_precision,
            recall=float(counts.probability @ counts.tp / (counts.n_positive or np.nan)),
            cost_per_1000=counts.cost_per_1000,
            intervals=counts.intervals(confidence_level),
            floor=verdicts["precision"],
            recall_floor=verdicts.get("recall"),
        )

    @property
    def name(self) -> str:
        """Column and subgroup."""
        return f"{self.column}: {self.subgroup}"

    def values(self) -> dict[str, Any]:
        """Return plain values, intervals as two columns each."""
        values: dict[str, Any] = {"cases": self.cases, "positives": self.positives}
        for measure in ESTIMATED:
            low, high = getattr(self.intervals, measure)
            values |= {measure: getattr(self, measure)}
            values |= {f"{measure}_low": low, f"{measure}_high": high}
        return values

    def cells(self) -> tuple[str, ...]:
        """Return the sizes and the estimates as cells of a table."""
        intervals = self.intervals
        return (
            f"{self.cases:,}",
            f"{self.positives:,}",
            f"{count(self.alarms)} ({percent(self.alarms / self.cases)})",
            with_interval(self.precision, *intervals.precision),
            with_interval(self.recall, *intervals.recall),
            with_interval(self.cost_per_1000, *intervals.cost_per_1000),
        )


def floors_of(scenario: Scenario) -> dict[Floor, float]:
    """Return the floors that every subgroup is held to."""
    floors: dict[Floor, float] = {"precision": scenario.min_precision}
    recall = scenario.min_recall
    return floors if recall is None else floors | {"recall": recall}


def _verdict(
    counts: ThresholdCounts, can_alarm: BoolArray, limit: Floor, floor: float, level: float
) -> FloorVerdict:
    if floor <= 0:
        return "kept"
    if limit == "recall" and not can_alarm.all():
        return "broken"
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubgroupEvaluation(ReprMixin):
    """What a policy does in each subgroup of cases or of stays, its thresholds fixed beforehand.

    Of each measure the intervals of all subgroups hold together with the stated confidence
    (Bonferroni), and so does all that is said of the floors. The capacity is one for all cases:
    no subgroup keeps or breaks it alone.

    Attributes
    ----------
    names : tuple of (str, str)
        Column and subgroup.
    results : tuple of SubgroupResult or StayEvaluation
        What is known of each subgroup.
    scenario : Scenario
    confidence_level : float
        Of all subgroups together.
    confidence_each : float
        Of each subgroup's intervals alone.
    notes : tuple of str
        Which subgroups were pooled.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.75, cost_ratio=0.2)
    >>> y, scores, sex = [0, 1, 0, 1] * 20, [0.1, 0.9, 0.8, 0.7] * 20, ["f", "f", "m", "m"] * 20
    >>> policy = voros.ThresholdPolicy.from_validation(y, scores, scenario)
    >>> subgroups = policy.evaluate(y, scores, by={"sex": sex}).by_subgroup
    >>> len(subgroups), subgroups.confidence_each, subgroups.with_floor("kept")
    (2, 0.975, (('sex', 'f'),))

    Stays, of which few are pooled:

    >>> ward = {"stay": [1, 1, 2, 3], "time": [0, 5, 0, 0], "score": [0.2, 0.9, 0.4, 0.6]}
    >>> ward["events"], sex = ([1], [8]), {"sex": ["f", "f", "m", "m"]}
    >>> rule = voros.AlarmRule(snooze="4h", horizon="6h")
    >>> points = voros.alarm_points(**ward, rule=rule)
    >>> policy = voros.ThresholdPolicy.from_points(points, voros.Scenario(0.5, cost_ratio=0.1))
    >>> result = policy.evaluate_stays(**ward, by=sex).by_subgroup
    >>> result.names, result["sex", "other"].n_stays, result["sex", "other"].floor
    ((('sex', 'other'),), 3, 'too few to say')
    """

    names: tuple[tuple[str, str], ...]
    results: tuple[SubgroupResult | StayEvaluation, ...]
    scenario: Scenario
    confidence_level: float
    confidence_each: float
    notes: tuple[str, ...] = ()

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
        scenario, level = evaluation.scenario, evaluation.confidence_level
        if scenario.prevalence is not None:
            raise ArgumentError(
                "by",
                f" cannot be combined with a scenario's prevalence ({scenario.prevalence:g}): "
                "subgroups differ in theirs; accepted is a scenario without one",
            )
        thresholds = np.array([choice.threshold for choice in evaluation.choices])
        cases = positive, scores, thresholds, evaluation.counts, codes
        counts = [one for part in subgroups.partitions for one in _counts(part, *cases)]
        confidence_each = 1.0 - (1.0 - level) / subgroups.n_subgroups
        results = tuple(
            SubgroupResult.from_counts(name, one, thresholds, scenario, confidence_each)
            for name, one in zip(subgroups.names, counts, strict=True)
        )
        return cls(
            names=subgroups.names,
            results=results,
            scenario=scenario,
            confidence_level=level,
            confidence_each=confidence_each,
            notes=subgroups.notes,
        )

    def __iter__(self) -> Iterator[Any]:
        """Go through the results of the subgroups."""
        return iter(self.results)

    def __len__(self) -> int:
        """How many subgroups there are."""
        return len(self.names)

    def __getitem__(self, name: tuple[str, str]) -> Any:
        """Return the result of one subgroup by its column and name."""
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

    def values(self) -> list[dict[str, Any]]:
        """Return the figures of each subgroup as plain values; the limits are for all cases."""
        rows = []
        for (column, subgroup), result in zip(self.names, self.results, strict=True):
            row = {"column": column, "subgroup": subgroup} | result.values()
            row = {name: row[name] for name in row if name not in ("satisfied", "violations")}
            recall = {} if result.recall_floor is None else {"recall_floor": result.recall_floor}
            rows.append(row | {"floor": result.floor} | recall)
        return rows

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each subgroup."""
        rows = self.values()
        plain = [name for name, value in rows[0].items() if np.isscalar(value)]
        return make_frame({name: [row[name] for row in rows] for name in plain}, backend)

    def table(self) -> Table:
        """Return the subgroups as a table for people."""
        floors = floors_of(self.scenario)
        titles = {"precision": "floor", "recall": "recall floor"}
        kept = [f"{titles[limit]} {floor:g}" for limit, floor in floors.items()]
        rows: list[tuple[str, ...]] = [("subgroup", *self.results[0].TITLES, *kept)]
        for name, result in zip(self.names, self.results, strict=True):
            verdicts = (result.floor, result.recall_floor or "")[: len(floors)]
            rows.append((": ".join(name), *result.cells(), *verdicts))
        return Table.from_rows(rows)

    @property
    def words(self) -> tuple[str, ...]:
        """How sure the table is, what is known of the floors, and what was pooled."""
        together = (
            f"intervals of all {len(self)} subgroups together hold with confidence "
            f"{percent(self.confidence_level)} "
            f"(Bonferroni: {percent(self.confidence_each)} each)"
        )
        said = []
        for limit, floor in floors_of(self.scenario).items():
            few = "alarms" if limit == "precision" else "positives"
            broken, unclear = (
                ", ".join(map(": ".join, self.with_floor(verdict, limit))) or "no subgroup"
                for verdict in UNKEPT
            )
            said.append(f"{limit} floor {floor:g} broken in: {broken}")
            said.append(f"{limit} floor {floor:g} open, with too few {few} to say, in: {unclear}")
        return (together, *said, *self.notes)

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
