"""Limits that deployed thresholds break on new data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.text.numbers import count, count_within, interval, percent, short, typed, typed_percent
from voros.text.table import ReprMixin, Table
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.core.hull import Choice
    from voros.guarantee import Guarantee
    from voros.policy.by_period import PeriodEvaluation
    from voros.policy.by_subgroup import SubgroupEvaluation

Limit: TypeAlias = Literal["precision", "recall", "capacity"]

ALL_COSTS = 1 - 1e-12
"""A larger share of the cost distribution is all of it; the rest is rounding."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A limit that some deployed threshold breaks.

    Attributes
    ----------
    limit : {"precision", "recall", "capacity"}
    bound : float
        The floor, or the capacity as a number of alarms on the new cases.
    worst : float
        The lowest precision or recall, or the most alarms, of any deployed threshold.
    missed_by : float
        Distance from `worst` to `bound`, above 0.
    probability : float
        Share of the cost distribution at which the limit is broken.
    where : tuple of Choice
        The thresholds that break it, and the cost ratios at which they are deployed.
    measure : str
        What `worst` and `bound` measure, where the capacity is one per period: mean alarms per
        period, or the share of periods above the capacity.

    Examples
    --------
    >>> import voros
    >>> scenario = voros.Scenario(min_precision=0.6, capacity=0.5, cost_ratio=0.2)
    >>> policy = voros.ThresholdPolicy.from_validation([0, 1, 0, 1], [0.1, 0.9, 0.6, 0.7], scenario)
    >>> tested = policy.evaluate([0, 1, 0, 1, 0], [0.1, 0.9, 0.8, 0.5, 0.3])
    >>> print(tested.violations[0])
    precision: 0.5, at least 0.6 required
    """

    limit: Limit
    bound: float
    worst: float
    missed_by: float
    probability: float
    where: tuple[Choice, ...]
    measure: str = ""

    def __str__(self) -> str:
        """Say which limit is broken, by how much and, unless at all costs, at which."""
        if self.limit != "capacity":
            worst = short(self.worst, self.bound)
            said = f"{self.limit}: {worst}, at least {typed(self.bound)} required"
        elif self.measure:
            shares = self.measure.startswith("of ")
            worst = (percent if shares else short)(self.worst, self.bound)
            most = (typed_percent if shares else typed)(self.bound)
            said = f"capacity: {worst} {self.measure}, at most {most} allowed"
        else:
            most = count_within(self.bound, self.worst)
            said = f"capacity: {count(self.worst, self.bound)} alarms, at most {most} allowed"
        if not self.where or self.probability > ALL_COSTS:
            return said
        spans = ", ".join(interval(c.cost_ratio_low, c.cost_ratio_high) for c in self.where)
        share = percent(self.probability)
        return f"{said} (at cost ratios {spans}, {share} of the cost distribution)"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CheckedEvaluation(ReprMixin):
    """An evaluation that says which limits are broken."""

    violations: tuple[Violation, ...]
    scenario: Scenario
    guarantee: Guarantee | None
    confidence_level: float
    by_subgroup: SubgroupEvaluation | None = None

    @property
    def satisfied(self) -> bool:
        """Whether every deployed threshold keeps the limits."""
        return not self.violations

    def _in_words(self, title: str, table: Table, notes: list[str]) -> list[str | Table]:
        kept = f"limits kept on these cases: {'yes' if self.satisfied else 'no'}"
        promised = [] if self.guarantee is None else [f"guarantee: {self.guarantee.words}"]
        subgroups = () if self.by_subgroup is None else self.by_subgroup._parts()
        return [title, table, kept, *map(str, self.violations), *notes, *promised, *subgroups]


@dataclass(frozen=True, eq=False)
class CheckedLimit:
    """A limit at each deployed threshold: what it measures, its bound, and where it is broken."""

    limit: Limit
    values: AnyArray
    bound: float
    broken: BoolArray
    measure: str = ""


def find_violations(
    cases: OperatingPoints,
    scenario: Scenario,
    max_alarms: float,
    choices: tuple[Choice, ...],
    probability: FloatArray,
    by_period: PeriodEvaluation | None,
) -> tuple[Violation, ...]:
    """Return the limits that some deployed threshold breaks."""
    floor, recall = scenario.min_precision, scenario.min_recall
    limits = [CheckedLimit("precision", cases.precision, floor, ~cases.precise_enough(floor))]
    if recall is not None and cases.n_positive:
        limits.append(CheckedLimit("recall", cases.tpr, recall, ~cases.recalls_enough(recall)))
    if by_period is not None:
        limits += by_period.limits
    else:
        beyond = ~cases.within_capacity(max_alarms)
        limits.append(CheckedLimit("capacity", cases.counted_alarms, max_alarms, beyond))
    return tuple(_violation(one, choices, probability) for one in limits if one.broken.any())


def _violation(
    checked: CheckedLimit, choices: tuple[Choice, ...], probability: FloatArray
) -> Violation:
    worst = np.max if checked.limit == "capacity" else np.min
    value = worst(checked.values[checked.broken]).item()
    return Violation(
        limit=checked.limit,
        bound=checked.bound,
        worst=value,
        missed_by=abs(value - checked.bound),
        probability=float(probability[checked.broken].sum()),
        where=tuple(choices[i] for i in np.flatnonzero(checked.broken)),
        measure=checked.measure,
    )
