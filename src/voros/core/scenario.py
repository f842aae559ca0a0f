"""Scenarios: the limits and costs of a deployment, checked."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np

from voros.core.arguments import OPEN_INTERVAL, check_number, check_type
from voros.core.calendar import Calendar
from voros.core.costs import CostDistribution, CostLike, as_costs
from voros.core.exact_limits import as_fraction
from voros.exceptions import (
    Argument,
    ArgumentError,
    FewAlarmsWarning,
    InfeasibleError,
    InvertedCostsWarning,
    Message,
    warn_caller,
)
from voros.text.numbers import typed, typed_percent
from voros.text.table import html_pairs

SCENARIO_PARTS = (
    *("min_precision", "min_recall", "capacity", "cost_ratio", "prevalence", "per", "exceed"),
)
"""The arguments of a scenario, in the order in which they are shown."""

SMALLEST_PREVALENCE = 1e-100
"""With a smaller one, the product of negatives per positive and a cost overflows."""

LARGEST_RATE = 86_400.0
"""Alarms per patient-day: one each second."""

PATIENT_DAY = "patient-day"
"""The value of ``per`` for a rate of alarms over stays; see `voros.alarm_points`."""


@dataclass(frozen=True)
class Scenario:
    """Limits and costs for a classifier.

    Parameters
    ----------
    min_precision : float in [0, 1], default 0.0
        At least this share of the alarms must be correct.
    capacity : float in (0, 1] or int, default 1.0
        Maximum number of alarms: a float is a share of the cases, an int a number of cases; with a
        `Guarantee` that has a horizon, an int is the number in each horizon.
    cost_ratio : float, pair of floats, or distribution from `voros.costs`
        C_FP / C_FN: known, uniform between two values, or any distribution.
    prevalence : float in (0, 1), optional
        Share of positives where the classifier will be deployed, if it differs from that of the
        data. The classes are then reweighted to it for precision and capacity.
    per : str, optional
        The unit of a capacity per period, which is a whole number: 20 alarms per "day", "week" or
        "shift". Functions then need the period of each case, as ``times`` (where `per` is "hour",
        "shift", "day", "week", "month" or "year") or as ``periods``, a column with any grouping of
        the cases. Shifts begin at 07:00, 15:00 and 23:00, or at the times in `per`, as in
        "shift 06:00,18:00". "patient-day" is for alarms over stays (`alarm_points`): the capacity
        is then a mean rate, and any number above 0.
    exceed : float in [0, 1), optional
        With `per`: the largest share of the periods that may have more alarms than the capacity; 0
        allows none. The mean over the periods must be within the capacity too. By default only the
        mean is limited.
    min_recall : float in [0, 1], optional
        At least this share of the positives must raise an alarm, so raising no alarm does not meet
        the limits. 0 and None are no floor.

    Attributes
    ----------
    costs : CostDistribution
        The distribution of the cost ratio.
    capacity_is_count : bool
        Whether the capacity is a number of alarms rather than a share or a rate.

    Warns
    -----
    InvertedCostsWarning
        When false alarms cost more than misses: with ``cost_ratio=(5, 20)`` a false alarm is worth
        5 to 20 misses. Where a miss is worth 5 to 20 false alarms, write
        ``voros.costs.miss_costs(5, 20)``.
    FewAlarmsWarning
        When the capacity is the whole number 1, which is one alarm; 1.0 is no limit.

    Examples
    --------
    >>> Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(1 / 9, 1 / 6))
    Scenario(min_precision=0.15, capacity=0.5, cost_ratio=uniform(0.111, 0.167))
    >>> Scenario(capacity=20, cost_ratio=0.1, per="day", exceed=0.05)
    Scenario(min_precision=0.0, capacity=20, cost_ratio=known(0.1), per='day', exceed=0.05)
    >>> Scenario(0.1, capacity=0.1, cost_ratio=0.05, per="patient-day").rule
    'per patient-day, on average'
    >>> Scenario(min_recall=0.9, cost_ratio=0.1)
    Scenario(min_precision=0.0, min_recall=0.9, capacity=1.0, cost_ratio=known(0.1))
    """

    min_precision: float = 0.0
    capacity: float = 1.0
    cost_ratio: CostLike = None  # type: ignore[assignment]
    prevalence: float | None = None
    _: KW_ONLY
    per: str | None = None
    exceed: float | None = None
    min_recall: float | None = None
    costs: CostDistribution = field(init=False, repr=False, compare=False)
    capacity_is_count: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check every argument, read the cost ratio, and warn of values that are likely slips."""
        self._read()
        advice = self.costs.inversion
        if advice is not None:
            warn_caller(advice, InvertedCostsWarning)
        if self.capacity_is_count and self.capacity == 1 and self.per is None:
            warn_caller(
                Message(
                    Argument("capacity"),
                    "=1 is a whole number: one alarm. For no limit write 1.0, a share of the cases",
                ),
                FewAlarmsWarning,
            )

    def _read(self) -> None:
        if self.cost_ratio is None:
            raise TypeError(
                "cost_ratio is required: C_FP / C_FN as a number, a pair (low, high), or a "
                "distribution from voros.costs"
            )
        prevalence = self.prevalence
        if prevalence is not None:
            accepted = f"a number strictly between 0 and 1, and at least {SMALLEST_PREVALENCE:g}"
            ends = SMALLEST_PREVALENCE, OPEN_INTERVAL[1]
            prevalence = check_number(prevalence, "prevalence", accepted, *ends)
        recall = None if self.min_recall is None else check_number(self.min_recall, "min_recall")
        costs = as_costs(self.cost_ratio)
        # Numbers become Python's own, which numpy's would not print as.
        vars(self).update(
            min_precision=check_number(self.min_precision, "min_precision"),
            min_recall=recall or None,
            prevalence=prevalence,
            cost_ratio=costs,
            costs=costs,
            **self._read_capacity(),
        )
        vars(self)["capacity_is_count"] = isinstance(self.capacity, int)

    def _read_capacity(self) -> dict[str, Any]:
        """Check capacity, period and ``exceed``."""
        if self.per is None:
            if self.exceed is not None:
                needs = f"={self.exceed!r} requires a capacity per period, such as "
                raise ArgumentError("exceed", needs, Argument("per='day'", "capacity", "20/day"))
            _check_capacity(self.capacity)
            number = int if isinstance(self.capacity, Integral) else float
            return {"capacity": number(self.capacity)}
        if not isinstance(self.per, str) or not self.per.strip():
            raise ArgumentError(
                "per", f"={self.per!r}; accepted is the name of a period, such as 'day'"
            )
        return self._read_rate() if self.per == PATIENT_DAY else self._read_period(self.per)

    def _read_rate(self) -> dict[str, Any]:
        accepted = "a number of alarms per patient-day above 0"
        rate = check_number(self.capacity, "capacity", accepted, OPEN_INTERVAL[0], LARGEST_RATE)
        if self.exceed is not None:
            raise ArgumentError(
                "exceed",
                f"={self.exceed!r} cannot be combined with ",
                Argument(f"per={PATIENT_DAY!r}", "capacity", f"{rate:g}/{PATIENT_DAY}"),
                ": the capacity is a mean rate over all stays",
            )
        return {"capacity": rate}

    def _read_period(self, per: str) -> dict[str, Any]:
        _check_capacity(self.capacity)
        calendar, exceed = Calendar.from_name(per), self.exceed
        per = per if calendar is None else calendar.name
        if not isinstance(self.capacity, Integral):
            raise ArgumentError(
                "capacity",
                f"={self.capacity!r} per {per!r}; accepted is a whole number of alarms in each "
                "period",
            )
        if exceed is not None:
            accepted = "a share of the periods from 0 (never) to below 1, or None for the mean"
            exceed = check_number(exceed, "exceed", accepted, 0.0, OPEN_INTERVAL[1])
        return {"per": per, "exceed": exceed, "capacity": int(self.capacity)}

    def max_alarms(
        self, n_cases: int | float, one_case: float = 1.0, n_periods: float | None = None
    ) -> float:
        """Return the capacity as a number of alarms on ``n_cases`` over all ``n_periods``.

        The periods of a rate per patient-day are the patient-days.

        Raises
        ------
        ArgumentError
            When the capacity is per period and the number of periods is not known.
        InfeasibleError
            When it is below ``one_case``, so that no alarm is possible.
        """
        if self.per is not None:
            if n_periods is None:
                raise ArgumentError("per", f"={self.per!r} {self.needed_for_periods}")
            alarms: float = float(as_fraction(self.capacity) * as_fraction(n_periods))
            alarms = min(alarms, n_cases) if self.per_period else alarms
        elif self.capacity_is_count:
            alarms = min(int(self.capacity), n_cases)
        elif isinstance(n_cases, Integral):
            share = as_fraction(self.capacity)
            # Whole numbers are rounded by the division only.
            alarms = share.numerator * int(n_cases) / share.denominator
        else:
            alarms = self.capacity * n_cases
        if alarms < one_case:
            of, units = n_cases, "cases"
            if self.per == PATIENT_DAY:
                of, units = n_periods or 1, "patient-days"
            raise InfeasibleError(
                Message(
                    Argument("capacity"),
                    f"={self.capacity!r} of {of:,.6g} {units} is {typed(alarms)} alarms: fewer "
                    "than one case, so no alarm is possible. The smallest capacity that "
                    f"admits one is {typed(one_case / of)} of the {units}",
                )
            )
        return float(alarms)

    @property
    def per_period(self) -> bool:
        """Whether there is one capacity for each of several periods."""
        return self.per is not None and self.per != PATIENT_DAY

    @property
    def needed_for_periods(self) -> str:
        """The input that a capacity per period or per patient-day needs, in words."""
        if self.per_period:
            return (
                "needs the period of each case, as times or periods; functions without these "
                "arguments do not support it"
            )
        return "is a rate over stays; it needs the points of voros.alarm_points"

    @property
    def floor(self) -> Fraction:
        """The precision floor as a fraction that counts are compared with: 0.15 is 3/20."""
        return as_fraction(self.min_precision)

    @property
    def limit_names(self) -> tuple[str, ...]:
        """The limits that may bind or be broken; recall is one only where it has a floor."""
        recall = () if self.min_recall is None else ("recall",)
        return "precision", *recall, "capacity"

    @property
    def recall_floor(self) -> Fraction:
        """The recall floor as a fraction that counts are compared with; 0 where there is none."""
        return as_fraction(self.min_recall or 0.0)

    def refuse_recall_floor(self, what: str) -> None:
        """Raise where there is a recall floor, which ``what``, a plural, does not keep."""
        if self.min_recall is not None:
            raise ArgumentError(
                "min_recall", f"={self.min_recall!r}: {what} do not support a recall floor"
            )

    def without_limits(self) -> Scenario:
        """Return the scenario with no limit on precision, recall or alarms."""
        return self.without_capacity().changed(min_precision=0.0, min_recall=None)

    def without_capacity(self) -> Scenario:
        """Return the scenario without its capacity."""
        return self.changed(capacity=1.0, per=None, exceed=None)

    def changed(self, **parts: Any) -> Scenario:
        """Return the scenario with some parts replaced and checked, without new warnings."""
        scenario = object.__new__(Scenario)
        vars(scenario).update(vars(self) | parts)
        scenario._read()
        return scenario

    def fields(self) -> dict[str, Any]:
        """Return the content of a saved file as plain values."""
        plain = {name: getattr(self, name) for name in SCENARIO_PARTS}
        return plain | {"cost_ratio": self.costs.fields()}

    def summary(self) -> tuple[tuple[str, str], ...]:
        """Return the limits and costs as pairs of name and text.

        Examples
        --------
        >>> for name, text in Scenario(0.15, 500, cost_ratio=0.1).summary():
        ...     print(f"{name}: {text}")
        precision: at least 0.15
        capacity: at most 500 alarms
        costs: a miss costs 10 times a false alarm
        prevalence: that of the data
        """
        alarms = f"{typed_percent(self.capacity)} of the cases"
        if self.capacity_is_count or self.per is not None:
            alarms = f"{self.capacity:,} alarms {self.rule}".rstrip()
        prevalence = "that of the data" if self.prevalence is None else f"{self.prevalence:g}"
        recall = () if self.min_recall is None else (("recall", f"at least {self.min_recall:g}"),)
        return (
            ("precision", f"at least {self.min_precision:g}" if self.min_precision else "any"),
            *recall,
            ("capacity", f"at most {alarms}" if self.has_capacity else "no limit"),
            ("costs", self.costs.words),
            ("prevalence", prevalence),
        )

    @property
    def has_capacity(self) -> bool:
        """Whether fewer alarms are allowed than there are cases."""
        return self.capacity_is_count or self.per is not None or self.capacity < 1

    @property
    def rule(self) -> str:
        """The rule of a capacity per period, in words; empty without one.

        Examples
        --------
        >>> Scenario(capacity=20, cost_ratio=0.1, per="day", exceed=0.05).rule
        'per day, on average and in all but 5 % of the periods'
        """
        if self.per is None:
            return ""
        if self.exceed is None:
            return f"per {self.per}, on average"
        if self.exceed == 0:
            return f"per {self.per}, in every one"
        return (
            f"per {self.per}, on average and in all but {typed_percent(self.exceed)} of the periods"
        )

    def _repr_html_(self) -> str:
        return html_pairs(self.summary())

    def __repr__(self) -> str:
        """Show the arguments, without those that are None."""
        parts = {name: getattr(self, name) for name in SCENARIO_PARTS}
        shown = (f"{name}={value!r}" for name, value in parts.items() if value is not None)
        return f"Scenario({', '.join(shown)})"


def check_scenario(scenario: object) -> Scenario:
    """Return a scenario, or raise for anything else.

    Examples
    --------
    >>> check_scenario({"min_precision": 0.5})
    Traceback (most recent call last):
    TypeError: scenario is a dict; accepted is a voros.Scenario, such as ...
    """
    example = "voros.Scenario(min_precision=0.15, capacity=0.5, cost_ratio=(1 / 9, 1 / 6))"
    return check_type(scenario, "scenario", Scenario, f"a voros.Scenario, such as {example}")


def _check_capacity(capacity: Any) -> None:
    accepted = "a float within (0, 1], a share of the cases, or an int above 0, a number of cases"
    number = isinstance(capacity, Real) and not isinstance(capacity, (bool, np.bool_))
    if number and capacity > 0 and (capacity <= 1 or isinstance(capacity, Integral)):
        return
    whole = number and 1 < capacity < math.inf and capacity == int(capacity)
    hint = f" (for {capacity} cases write {int(capacity)})" if whole else ""
    raise ArgumentError("capacity", f"={capacity!r}; accepted is {accepted}{hint}")
