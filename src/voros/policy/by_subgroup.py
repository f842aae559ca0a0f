"""Evaluate deployed thresholds in each subgroup of cases, and judge the floors there."""

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
ATTRIBUTES: dict[Floor, str] = {"precision": "floor", "recall": "recall_floor"}
"""Where a result keeps its verdict on a floor."""

UNKEPT: tuple[FloorVerdict, FloorVerdict] = ("broken", "too few to say")
PER_1000 = "cost of 1,000 cases, in misses"

ESTIMATED = ("precision", "recall", "alarms", "cost_per_1000")
"""Estimates of a subgroup that have an interval."""


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
        Whether the subgroup's population keeps the precision floor: kept where the interval lies
        above it at every deployed threshold, broken where it lies below it at some. A threshold
        without an alarm in the subgroup leaves this open; a policy that raises none keeps it.
    recall_floor : {"kept", "broken", "too few to say"} or None
        The same for a recall floor, where there is one; raising no alarm breaks it.

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
        """Return the results of a subgroup; all statements on it hold together."""
        can_alarm, recall_floor = np.isfinite(thresholds), scenario.min_recall
        n_verdicts = len(floors_of(scenario)) * int(can_alarm.sum())
        level = 1.0 - (1.0 - confidence_level) / max(n_verdicts, 1)
        low, high = counts.precision_limits(level)
        floor = floor_verdict(low[can_alarm], high[can_alarm], scenario.min_precision)
        recall_verdict: FloorVerdict | None = None
        if recall_floor is not None:
            recall = counts.share(recall_of, level)
            all_alarm = bool(can_alarm.all())
            recall_verdict = (
                floor_verdict(recall.low, recall.high, recall_floor) if all_alarm else "broken"
            )
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
            floor=floor,
            recall_floor=recall_verdict,
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
    floors["recall"] = scenario.min_recall or 0.0
    return {name: floor for name, floor in floors.items() if floor > 0}


def floor_verdict(low: FloatArray | float, high: FloatArray | float, floor: float) -> FloorVerdict:
    """Compare a floor with the limits of a share, of one threshold or several.

    Without an alarm, or without a positive, the limits are 0 and 1.

    Examples
    --------
    >>> floor_verdict(0.4, 0.6, 0.3), floor_verdict(0.4, 0.6, 0.5), floor_verdict(0.4, 0.6, 0.7)
    ('kept', 'too few to say', 'broken')
    """
    if floor <= 0:
        return "kept"
    if np.any(np.less(high, floor)):
        return "broken"
    return "kept" if np.all(np.greater_equal(low, floor)) else "too few to say"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubgroupEvaluation(ReprMixin):
    """What a policy does in each subgroup of cases or of stays, its thresholds fixed beforehand.

    The intervals of one measure hold in all subgroups together with the stated confidence
    (Bonferroni), and so do all verdicts on the floors. There is one capacity for all cases: no
    subgroup keeps or breaks it alone.

    Attributes
    ----------
    names : tuple of (str, str)
        Column and subgroup.
    results : tuple of SubgroupResult or StayEvaluation
        One for each subgroup.
    scenario : Scenario
    confidence_level : float
        Of all subgroups together.
    confidence_each : float
        Of the intervals of one subgroup alone.
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

    Subgroups of few stays are pooled:

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

        ``codes`` are the patients, where they have several cases.

        Returns
        -------
        SubgroupEvaluation
        """
        scenario, level = evaluation.scenario, evaluation.confidence_level
        if scenario.prevalence is not None:
            raise ArgumentError(
                "by",
                f" cannot be combined with a scenario's prevalence ({scenario.prevalence:g}): "
                "prevalences of subgroups differ; accepted is a scenario without one",
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
        """Iterate over the results of the subgroups."""
        return iter(self.results)

    def __len__(self) -> int:
        """Return the number of subgroups."""
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
        """Return the subgroups with this verdict on the precision floor, or the recall floor."""
        pairs = zip(self.names, self.results, strict=True)
        return tuple(name for name, one in pairs if getattr(one, ATTRIBUTES[floor]) == verdict)

    def values(self) -> list[dict[str, Any]]:
        """Return the figures of each subgroup as plain values; the limits are for all cases."""
        rows = []
        for (column, subgroup), result in zip(self.names, self.results, strict=True):
            row = {"column": column, "subgroup": subgroup, **result.values(), "floor": result.floor}
            if result.recall_floor is not None:
                row["recall_floor"] = result.recall_floor
            rows.append({k: v for k, v in row.items() if k not in ("satisfied", "violations")})
        return rows

    def frame(self, backend: str | None = None) -> Any:
        """Return a data frame with a row for each subgroup."""
        rows = self.values()
        plain = [name for name, value in rows[0].items() if np.isscalar(value)]
        return make_frame({name: [row[name] for row in rows] for name in plain}, backend)

    def table(self) -> Table:
        """Return a table with a row for each subgroup."""
        floors = floors_of(self.scenario)
        titles = [f"{name} floor {floor:g}" for name, floor in floors.items()]
        rows: list[tuple[str, ...]] = [("subgroup", *self.results[0].TITLES, *titles)]
        for name, result in zip(self.names, self.results, strict=True):
            verdicts = (str(getattr(result, ATTRIBUTES[floor])) for floor in floors)
            rows.append((": ".join(name), *result.cells(), *verdicts))
        return Table.from_rows(rows)

    @property
    def words(self) -> tuple[str, ...]:
        """The confidence of the table, the verdicts on the floors, and what was pooled."""
        together = (
            f"intervals of all {len(self)} subgroups together hold with confidence "
            f"{percent(self.confidence_level)} "
            f"(Bonferroni: {percent(self.confidence_each)} each)"
        )
        floors = floors_of(self.scenario).items()
        verdicts = (words for limit, floor in floors for words in self._verdicts(limit, floor))
        return (together, *verdicts, *self.notes)

    def _verdicts(self, limit: Floor, floor: float) -> tuple[str, str]:
        few = "alarms" if limit == "precision" else "positives"
        broken, unclear = (
            ", ".join(map(": ".join, self.with_floor(verdict, limit))) or "no subgroup"
            for verdict in UNKEPT
        )
        return (
            f"{limit} floor {floor:g} broken in: {broken}",
            f"{limit} floor {floor:g} open, with too few {few} to say, in: {unclear}",
        )

    def _parts(self) -> tuple[str | Table, ...]:
        return self.table(), *self.words


def _counts(
    part: Partition,
    positive: BoolArray,
    scores: AnyArray,
    thresholds: FloatArray,
    all_cases: ThresholdCounts,
    codes: AnyArray | None,
) -> Iterator[ThresholdCounts]:
    """Yield the counts of each subgroup of a partition."""
    grouped = GroupedCounts.from_cases(part.codes, positive, scores, thresholds)
    for i in range(len(part.names)):
        here, patients = part.codes == i, None
        if codes is not None:
            own = np.unique(codes[here], return_inverse=True)[1]
            patients = GroupedCounts.from_cases(own, positive[here], scores[here], thresholds)
        yield replace(
            all_cases,
            tp=grouped.tp[i],
            fp=grouped.fp[i],
            n_positive=int(grouped.n_positive[i, 0]),
            n_negative=int(grouped.n_negative[i, 0]),
            prevalence=None,
            grouped=patients,
        )
