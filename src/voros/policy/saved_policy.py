"""Read a saved threshold policy: versioned, with every number exactly as it was.

A file whose values do not match its checksum is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from voros.alarms.rule import AlarmRule
from voros.core.costs import CostDistribution, Over, Samples, Uniform, from_scipy, scipy_family
from voros.core.hull import Choice
from voros.core.scenario import SCENARIO_PARTS, Scenario
from voros.io.documents import Entry
from voros.policy.confidence_curve import ConfidenceStep
from voros.policy.origin import Origin, PolicyValues

POLICY_FORMAT = "voros threshold policy"
POLICY_SCHEMA = 8
"""Increases whenever the fields of a file change."""

HEADER = ("format", "schema", "checksum")
"""Keys of a file that are not arguments of `ThresholdPolicy`."""


def policy_arguments(document: Entry) -> dict[str, Any]:
    """Return the arguments of `ThresholdPolicy` that a document, or part of one, holds.

    Raises
    ------
    DocumentError
        If it is not a saved policy, or was changed after it was saved.
    """
    from voros.guarantee import Guarantee

    fields = document.saved(POLICY_FORMAT, POLICY_SCHEMA)
    records: dict[str, Callable[..., Any]] = {
        "default": Choice,
        "guarantee": Guarantee,
        "origin": Origin,
        "rule": AlarmRule,
        "values": PolicyValues,
    }
    lists = {"choices": Choice, "curve": ConfidenceStep}
    arguments = {name: entry.value for name, entry in fields.items() if name not in HEADER}
    for name, kind in records.items():
        if arguments[name] is not None:
            arguments[name] = fields[name].record(kind)
    for name, kind in lists.items():
        arguments[name] = tuple(entry.record(kind) for entry in fields[name].items())
    return arguments | {"scenario": saved_scenario(fields["scenario"])}


def saved_scenario(entry: Entry) -> Scenario:
    """Read a scenario from what `Scenario.fields` returned."""
    parts = {name: part.value for name, part in entry.keys(*SCENARIO_PARTS).items()}
    parts["cost_ratio"] = entry.made(_read_costs, **parts["cost_ratio"])
    return entry.made(Scenario, **parts)


def _read_costs(kind: str, over: Over, **fields: Any) -> CostDistribution:
    if kind == "uniform":
        return Uniform(**fields, over=over)
    if kind == "samples":
        return Samples(np.array(fields["values"]), np.array(fields["weights"]), over=over)
    family = scipy_family(fields["family"])
    if family is None:
        raise ValueError(f"scipy.stats has no continuous distribution {fields['family']!r}")
    return from_scipy(family(*fields["args"], **fields["keywords"]), over=over)
