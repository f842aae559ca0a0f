"""Limits that deployed thresholds break on new data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.policy.by_period import PeriodEvaluation
from voros.typing import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    from voros.core.hull import Choice


Limit: TypeAlias = Literal["precision", "capacity"]


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A limit that some deployed threshold breaks.

    Attributes
    ----------
    limit : {"precision", "capacity"}
    bound : float
        The precision floor, or the capacity as a number of alarms on the new cases.
    worst : float
        The lowest precision, or the most alarms, of any deployed threshold.
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
    precision 0.5 is 0.1 below 0.6, at cost ratios 0.2 to 0.2 (probability 1)
    """

    limit: Limit
    bound: float
    worst: float
    missed_by: float
    probability: float
    where: tuple[Choice, ...]
    measure: str = ""

    def __str__(self) -> str:
        """Say it in a sentence."""
        side = "below" if self.limit == "precision" else "above"
        spans = ", ".join(f"{c.cost_ratio_low:.4g} to {c.cost_ratio_high:.4g}" for c in self.where)
        worst = f"{self.worst:.4g} {self.measure}".strip()
        where = f", at cost ratios {spans} (probability {self.probability:.3g})" if spans else ""
        return f"{self.limit} {worst} is {self.missed_by:.4g} {side} {self.bound:.6g}{where}"


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
        worst = (np.min if limit == "precision" else np.max)(values[marks]).item()
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

    floor = scenario.min_precision
    imprecise = broken("precision", ~cases.precise_enough(floor), cases.precision, floor)
    if by_period is not None:
        by_limit = [
            broken("capacity", r.broken, r.values, r.bound, r.measure) for r in by_period.rules
        ]
        return *imprecise, *(violation for violations in by_limit for violation in violations)
    beyond = ~cases.within_capacity(max_alarms)
    return *imprecise, *broken("capacity", beyond, cases.counted_alarms, max_alarms)
