"""What public functions warn of when a scenario leaves little to decide."""

from __future__ import annotations

import numpy as np

from voros.core.decision import Decision
from voros.core.limits import limits_message
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.exceptions import CostRangeWarning, NeverAlarmWarning, warn_caller

NEGLIGIBLE_PROBABILITY = 1e-9
"""Mass in an endless tail of the costs that is not worth a warning."""


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
    turning = scenario.costliest_ratio
    if scenario.min_precision in (0, 1):
        return
    _, high = scenario.costs.ratio_range(points.negatives_per_positive)
    if high < turning:
        return
    share = scenario.costs.probability_at_least(turning, points.negatives_per_positive)
    if np.isinf(high) and share < NEGLIGIBLE_PROBABILITY:
        return
    warn_caller(
        f"the cost ratio reaches {high:.4g}, and at a precision floor of "
        f"{scenario.min_precision:g} never alarm is the costliest choice only below {turning:.4g}; "
        f"on the {share:.3g} of the cost distribution beyond it never alarm scores above 0",
        CostRangeWarning,
    )
