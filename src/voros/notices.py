"""What public functions warn of when a scenario leaves little to decide."""

from __future__ import annotations

from voros.core.decision import Decision, cost_range_note
from voros.core.limits import limits_message
from voros.exceptions import CostRangeWarning, NeverAlarmWarning, warn_caller


def warn_about(decision: Decision) -> None:
    """Warn of costs beyond the precision floor's, and of limits that only never alarm meets."""
    warn_about_costs(decision)
    warn_if_never_alarm(decision)


def warn_if_never_alarm(decision: Decision) -> None:
    """Warn when no threshold but never alarm is feasible, with what could be met."""
    if not decision.can_alarm:
        warn_caller(limits_message(decision), NeverAlarmWarning)


def warn_about_costs(decision: Decision) -> None:
    """Warn when the costs are so high that raising no alarm scores above 0."""
    note = cost_range_note(decision)
    if note is not None:
        warn_caller(note, CostRangeWarning)
