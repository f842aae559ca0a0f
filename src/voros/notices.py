"""What public functions warn of when a scenario leaves little to decide."""

from __future__ import annotations

from voros.core.decision import Decision, costs_doubt
from voros.core.limits import limits_message
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import CostRangeWarning, NeverAlarmWarning, warn_caller


def warn_about(decision: Decision) -> None:
    """Warn of costs beyond the precision floor's, and of limits that only never alarm meets."""
    warn_about_costs(decision.scenario, decision.points)
    warn_if_never_alarm(decision)


def warn_if_never_alarm(decision: Decision) -> None:
    """Warn when no threshold but never alarm is feasible, with what could be met."""
    if not decision.can_alarm:
        warn_caller(limits_message(decision), NeverAlarmWarning)


def warn_about_costs(scenario: Scenario, points: OperatingPoints) -> None:
    """Warn when the costs reach the point where never alarm is no longer the costliest choice."""
    doubt = costs_doubt(scenario, points)
    if doubt is not None:
        warn_caller(doubt, CostRangeWarning)
