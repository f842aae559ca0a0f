"""Limits, policies and evaluations in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voros.text.numbers import (
    count,
    count_within,
    percent,
    short,
    threshold_text,
    typed,
    with_interval,
)

if TYPE_CHECKING:
    from voros.core.calibration import Estimate
    from voros.policy import PolicyEvaluation, ThresholdPolicy

SHOWN_CASES = 1000
"""People imagine a number of cases better than a rate; of a thousand it can be whole."""


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


def limits_verdict(tested: PolicyEvaluation) -> str:
    """Say whether a policy kept its limits on test cases, and whether these are enough to tell.

    Kept are limits that no interval of precision, recall or alarms reaches across; those that hold
    on the cases, and may not in the population they come from, are met.
    """
    return verdict_in_words(tested.satisfied, _reaching(tested), tested.confidence_level)


def verdict_in_words(satisfied: bool, reaching: list[str] | None, confidence_level: float) -> str:
    """Say whether limits are kept, from those that an interval reaches across."""
    if not satisfied:
        return "limits broken"
    if reaching is None:
        return "limits met on these cases"
    if not reaching:
        return "limits kept"
    return (
        f"limits met on these cases, which are too few to tell: at {percent(confidence_level)} "
        f"confidence {' and '.join(reaching)}"
    )


def _reaching(tested: PolicyEvaluation) -> list[str] | None:
    """Name the limits that an interval reaches across; None where there is no interval."""
    scenario, intervals = tested.scenario, tested.intervals
    if intervals is None or scenario.exceed is not None:
        return None
    low, most = intervals.precision[0], intervals.alarms[1]
    reaching = []
    if low < scenario.min_precision:
        reaching.append(may_be("precision", low, "below", scenario.min_precision))
    if scenario.min_recall is not None and intervals.recall[0] < scenario.min_recall:
        reaching.append(may_be("recall", intervals.recall[0], "below", scenario.min_recall))
    if most > tested.max_alarms:
        reaching.append(
            f"there may be {math.ceil(most):,} alarms, above {count_within(tested.max_alarms)}"
        )
    return reaching


def may_be(measure: str, end: float, side: str, limit: float) -> str:
    """Say that an interval reaches across a limit."""
    return f"{measure} may be {short(end, limit)}, {side} {typed(limit)}"


def evaluation_in_words(tested: PolicyEvaluation, price: float | None = None) -> tuple[str, ...]:
    """Say what a policy did on test cases: a line, its price, and one for each broken limit."""
    most = math.floor(tested.max_alarms) if tested.counts.whole else tested.max_alarms
    summary = (
        f"{limits_verdict(tested)}; expected cost {short(tested.expected_cost)}, mean precision "
        f"{short(tested.mean_precision)}, mean alarms {count(tested.mean_alarms)} of at most "
        f"{count(most)}"
    )
    if tested.by_period is not None:
        by_period = tested.by_period
        share = float(tested.probabilities @ by_period.n_above) / by_period.n_periods
        summary += (
            f" in all, more than {typed(tested.scenario.capacity)} in {percent(share)} of "
            f"{by_period.n_periods:,} periods ({by_period.note})"
        )
    money = () if price is None else (repr(tested.in_money(price)),)
    return (summary, *money, *map(str, tested.violations))


def consequences_in_words(evaluation: PolicyEvaluation, which: str) -> str:
    """Say what one threshold means for a thousand of the cases it was evaluated on."""
    choice, cases = evaluation.choices[0], evaluation.n_positive + evaluation.n_negative
    alarms, correct, missed = (
        _whole(SHOWN_CASES * number / cases)
        for number in (choice.alarms, choice.tp, evaluation.n_positive - choice.tp)
    )
    return (
        f"Of {SHOWN_CASES:,} {which} cases {alarms} raise an alarm, {correct} of them correctly, "
        f"and {missed} are missed."
    )


def _whole(cases: float) -> str:
    return count(round(cases)) if cases >= 1 else short(cases)


def between(estimate: Estimate | None) -> str:
    """Write a number with its interval.

    Examples
    --------
    >>> from voros.core.calibration import Estimate
    >>> between(Estimate(0.5, 0.25, 0.75)), between(None)
    ('0.500 (0.250 to 0.750)', '-')
    """
    return "-" if estimate is None else with_interval(estimate.value, estimate.low, estimate.high)
