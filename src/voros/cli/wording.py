"""Limits and costs in words for people, and as plain values for programs."""

from __future__ import annotations

import math
from typing import Any

from voros.roc import OperatingPoints
from voros.scenario import Scenario


def limits_in_words(scenario: Scenario, points: OperatingPoints) -> str:
    """Say which limits and costs a result rests on."""
    cases = points.at_prevalence(scenario.prevalence)
    low, high = scenario.costs.ratio_range(cases.negatives_per_positive)
    fewest, most_worth = _inverse(high), _inverse(low)
    worth = f"{fewest:.4g}" if low == high else f"{fewest:.4g} to {most_worth:.4g}"
    most = cases.max_alarms(scenario)
    if isinstance(cases.n_cases, int):
        most = math.floor(most)
    return (
        f"{cases.n_cases:,.6g} cases, {cases.prevalence:.3%} positive; precision at least "
        f"{scenario.min_precision:g}, at most {most:,.6g} alarms; a miss is "
        f"worth {worth} false alarms ({scenario.costs!r})"
    )


def scenario_fields(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as plain values."""
    low, high = scenario.costs.support
    return {
        "min_precision": scenario.min_precision,
        "capacity": scenario.capacity,
        "capacity_unit": "cases" if scenario.capacity_is_count else "share",
        "costs": repr(scenario.costs),
        "cost_unit": scenario.costs.over,
        "cost_low": low,
        "cost_high": high,
        "prevalence": scenario.prevalence,
    }


def _inverse(ratio: float) -> float:
    return 1.0 / ratio if ratio > 0 else math.inf
