"""Results as plain values, and strict JSON of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from voros.deployment import PolicyEvaluation
from voros.scenario import Scenario


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


def account_values(tested: PolicyEvaluation) -> dict[str, Any]:
    """Return a policy's account on test cases as plain values."""
    return {
        "expected_cost": tested.expected_cost,
        "mean_precision": tested.mean_precision,
        "mean_alarms": tested.mean_alarms,
        "max_alarms": tested.max_alarms,
        "satisfied": tested.satisfied,
        "violations": [asdict(violation) for violation in tested.violations],
        "choices": [asdict(choice) for choice in tested.choices],
    }


def json_text(document: Mapping[str, Any]) -> str:
    """Write strict JSON: what has no value is null, and an infinity is text.

    Examples
    --------
    >>> print(json_text({"threshold": math.inf, "precision": math.nan}), end="")
    {
      "threshold": "inf",
      "precision": null
    }
    """
    return json.dumps(_plain(document), indent=2, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
