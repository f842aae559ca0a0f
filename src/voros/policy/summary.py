"""A threshold policy as text and, for notebooks, as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voros.core.hull import Choice
from voros.core.scenario import PATIENT_DAY
from voros.text.numbers import count, interval, short, threshold_text
from voros.text.table import Table, html_pairs

if TYPE_CHECKING:
    from voros.policy.cost_thresholds import CostThresholds
    from voros.policy.origin import PolicyValues


def policy_html(policy: CostThresholds) -> str:
    """Return limits, guarantee and thresholds as HTML."""
    return html_pairs(_metadata(policy)) + Table.from_rows(_thresholds(policy)).html()


def policy_text(policy: CostThresholds) -> str:
    """Return limits, guarantee and thresholds as lines of text."""
    lines = (f"{name}: {text}" for name, text in _metadata(policy))
    return "\n".join((*lines, Table.from_rows(_thresholds(policy)).text()))


def _metadata(policy: CostThresholds) -> list[tuple[str, str]]:
    scenario, cases = policy.scenario, policy.n_positive + policy.n_negative
    if policy.rule is None or policy.origin is None:
        n_periods: float | None = None if policy.origin is None else policy.origin.n_periods
        all_cases = f"{count(cases)} cases"
    else:
        n_periods = policy.origin.patient_days or 0.0
        all_cases = f"{policy.origin.n_stays:,} stays over {count(n_periods)} patient-days"
    most = scenario.max_alarms(cases, one_case=0.0, n_periods=n_periods)
    rule = f" ({scenario.capacity:,} {scenario.rule})" if scenario.per else ""
    alarms = f"{count(np.floor(most))} of {all_cases}{rule}"
    if policy.rule is not None and scenario.per not in (None, PATIENT_DAY):
        # The periods are those of admission, which the policy does not count.
        alarms = f"{scenario.capacity:,} {scenario.rule}"
    shared = f", its error split over {policy.n_models} models" if policy.n_models > 1 else ""
    if policy.origin is not None and policy.origin.plan:
        shared += f", {policy.origin.plan}"
    return [
        ("policy for", "one model" if policy.model is None else policy.model),
        ("strategy", policy.strategy),
        *([] if policy.rule is None else [("rule", repr(policy.rule))]),
        ("costs", repr(scenario.costs)),
        *([] if policy.values is None else [("values", _values(policy.values))]),
        ("precision", f"at least {scenario.min_precision:g}"),
        *([("recall", f"at least {scenario.min_recall:g}")] if scenario.min_recall else []),
        ("alarms", f"at most {alarms}"),
        ("guarantee", "none" if policy.guarantee is None else f"{policy.guarantee!r}{shared}"),
        ("validated on", f"{all_cases}, {count(policy.n_positive)} positive"),
    ]


def _values(values: PolicyValues) -> str:
    times = " times miss value" if values.threshold_on == "value" else ""
    return (
        f"positives are worth {short(values.miss_value)}, false alarms on all negatives would cost "
        f"{short(values.false_alarm_cost)} times the cost ratio; threshold on the score{times}"
    )


def _thresholds(policy: CostThresholds) -> list[tuple[str, ...]]:
    """The default threshold, and those for the scenario's costs."""
    low, high = policy.scenario.costs.ratio_range(policy.odds)
    used = [c for c, p in zip(policy.choices, policy.probabilities, strict=True) if p > 0]
    rows: list[tuple[str, ...]] = [("cost ratio", "threshold", "alarms", "precision", "recall")]
    rows.append(("default", *_cells(policy.default)))
    for choice in used if len(used) > 1 else ():
        start, end = max(choice.cost_ratio_low, low), min(choice.cost_ratio_high, high)
        rows.append((interval(start, end), *_cells(choice)))
    return rows


def _cells(choice: Choice) -> tuple[str, str, str, str]:
    threshold = "never alarm" if choice.never_alarm else threshold_text(choice.threshold)
    precision = "" if choice.never_alarm else short(choice.precision)
    return threshold, count(choice.alarms), precision, short(choice.recall)
