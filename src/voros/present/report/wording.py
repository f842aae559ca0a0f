"""Limits, policies and evaluations in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from voros.core.scenario import PATIENT_DAY
from voros.text.numbers import (
    count_within,
    percent,
    short,
    threshold_text,
    typed,
)

if TYPE_CHECKING:
    from voros.policy import PolicyEvaluation, StayEvaluation, ThresholdPolicy


def policy_in_words(policy: ThresholdPolicy) -> str:
    """Say which thresholds a policy deploys."""
    write = threshold_text
    used = [c for c, p in zip(policy.choices, policy.probabilities, strict=True) if p > 0]
    thresholds = [choice.threshold for choice in used]
    if min(thresholds) == max(thresholds) == policy.default.threshold:
        return f"alarm at a score of at least {write(thresholds[0])}, whatever the costs"
    return (
        f"alarm at a score of at least {write(min(thresholds))} to {write(max(thresholds))}, lower "
        f"where a miss is worth more; {write(policy.default.threshold)} where the costs are not "
        "known"
    )


def limits_verdict(tested: PolicyEvaluation | StayEvaluation) -> str:
    """Say whether a policy kept its limits on test cases, and whether these are enough to tell.

    Limits are kept where no interval of precision, recall or alarms reaches across them, and met
    where they hold on the cases but may not in the population.
    """
    if not tested.satisfied:
        return "limits broken"
    reaching = _reaching(tested)
    if reaching is None:
        return "limits met on these cases"
    if not reaching:
        return "limits kept"
    return (
        "limits met on these cases, which are too few to tell: at "
        f"{percent(tested.confidence_level)} confidence {' and '.join(reaching)}"
    )


def _reaching(tested: Any) -> list[str] | None:
    """Name the limits that an interval reaches across; None where there is no interval."""
    scenario, intervals = tested.scenario, tested.intervals
    over_stays = isinstance(intervals, dict)
    by_admission = over_stays and scenario.per not in (None, PATIENT_DAY)
    if intervals is None or scenario.exceed is not None or by_admission:
        return None
    ends = intervals if over_stays else vars(intervals)
    limits = [
        ("precision", ends["precision"][0], "below", scenario.min_precision),
        ("recall", ends["recall"][0], "below", scenario.min_recall or 0.0),
    ]
    if scenario.per == PATIENT_DAY:
        most = ends["alarms_per_patient_day"][1]
        limits.append(("alarms per patient-day", most, "above", scenario.capacity))
    reaching = [
        f"{measure} may be {short(end, limit)}, {side} {typed(limit)}"
        for measure, end, side, limit in limits
        if (end < limit if side == "below" else end > limit)
    ]
    if not over_stays and ends["alarms"][1] > tested.max_alarms:
        most_alarms, allowed = math.ceil(ends["alarms"][1]), count_within(tested.max_alarms)
        reaching.append(f"there may be {most_alarms:,} alarms, above {allowed}")
    return reaching
