"""Warnings of public functions about the limits and costs of a scenario."""

from __future__ import annotations

from voros.core.decision import Decision, cost_range_note
from voros.core.limits import limits_message
from voros.exceptions import (
    CostRangeWarning,
    FewAlarmsWarning,
    NeverAlarmWarning,
    warn_caller,
)
from voros.text.numbers import count

THOUSANDS, MOST_PERCENT, FEW = 2000, 100, 0.005
"""With the first number of cases or more, a capacity may be meant as a percentage if it is at most
the second number and at most the third share of the cases."""


def warn_about(decision: Decision) -> None:
    """Warn of costs above the odds of the precision floor, and of limits that no alarm meets."""
    warn_about_costs(decision)
    warn_if_never_alarm(decision)


def warn_if_never_alarm(decision: Decision) -> None:
    """Warn when no threshold that raises an alarm is feasible, and say what could be met."""
    if not decision.can_alarm:
        warn_caller(limits_message(decision), NeverAlarmWarning)


def warn_about_costs(decision: Decision) -> None:
    """Warn of costs at which raising no alarm scores above 0, and of a capacity of few alarms."""
    note = cost_range_note(decision)
    if note is not None:
        warn_caller(note, CostRangeWarning)
    warn_of_few_alarms(decision)


def warn_of_few_alarms(decision: Decision) -> None:
    """Warn of a capacity of few alarms in thousands of cases, which may be a percentage."""
    scenario, n_cases = decision.scenario, decision.points.n_cases
    if scenario.per is None and scenario.capacity_is_count:
        capacity = int(scenario.capacity)
        if n_cases >= THOUSANDS and 1 < capacity <= min(MOST_PERCENT, FEW * n_cases):
            warn_caller(
                f"capacity={capacity} is a whole number: {capacity} alarms in {count(n_cases)} "
                f"cases. For {capacity} % of the cases write {capacity / 100:g}",
                FewAlarmsWarning,
            )
