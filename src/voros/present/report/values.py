"""Results as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from voros.core.scenario import Scenario
from voros.policy.deployment import PolicyEvaluation


def scenario_values(scenario: Scenario) -> dict[str, Any]:
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


def evaluation_values(tested: PolicyEvaluation) -> dict[str, Any]:
    """Return what a policy did on test cases as plain values."""
    found = tested.intervals
    return {
        "deployed": tested.deployed,
        "expected_cost": tested.expected_cost,
        "cost_per_1000": tested.cost_per_1000,
        "mean_precision": tested.mean_precision,
        "mean_recall": tested.mean_recall,
        "mean_alarms": tested.mean_alarms,
        "max_alarms": tested.max_alarms,
        "intervals": None if found is None else asdict(found),
        "satisfied": tested.satisfied,
        "violations": [asdict(violation) for violation in tested.violations],
        "choices": [asdict(choice) for choice in tested.choices],
    }
