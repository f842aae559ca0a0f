"""Limits that deployed thresholds break on new data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.policy.by_period import PeriodEvaluation
from voros.text.numbers import count, count_within, interval, percent, short, typed, typed_percent
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.core.hull import Choice


Limit: TypeAlias = Literal["precision", "recall", "capacity"]


ALL_COSTS = 1 - 1e-12
"""A share of the cost distribution above this is all of it, but for rounding."""


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
        Of the cost distribution, on which the limit is broken.
    where : tuple of Choice
        The thresholds that break it, and the cost ratios at which they are deployed.
    measure : str
        What `worst` and `bound` measure, where the capacity is one per period: mean alarms per
        period, or the share of periods above.

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
        """Say what is broken and by how much; at which costs, unless at all of them."""
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


def find_violations(
    cases: OperatingPoints,
    scenario: Scenario,
    max_alarms: float,
    choices: tuple[Choice, ...],
    probability: FloatArray,
    by_period: PeriodEvaluation | None,
) -> tuple[Violation, ...]:
    """Return the limits that some deployed threshold breaks."""

    def broken(
        limit: Limit, marks: BoolArray, values: AnyArray, bound: float, measure: str = ""
    ) -> tuple[Violation, ...]:
        if not marks.any():
            return ()
        worst = (np.max if limit == "capacity" else np.min)(values[marks]).item()
        where = tuple(choices[i] for i in np.flatnonzero(marks))
        share = float(probability[marks].sum())
        return (
            Violation(
                limit=limit,
                bound=bound,
                worst=worst,
                missed_by=abs(worst - bound),
                probability=share,
                where=where,
                measure=measure,
            ),
        )

    floor, least = scenario.min_precision, scenario.min_recall
    floors = broken("precision", ~cases.precise_enough(floor), cases.precision, floor)
    if least is not None and cases.n_positive:
        floors += broken("recall", ~cases.recalls_enough(least), cases.tpr, least)
    if by_period is not None:
        by_limit = [
            broken("capacity", r.broken, r.values, r.bound, r.measure) for r in by_period.rules
        ]
        return *floors, *(violation for violations in by_limit for violation in violations)
    beyond = ~cases.within_capacity(max_alarms)
    return *floors, *broken("capacity", beyond, cases.counted_alarms, max_alarms)
