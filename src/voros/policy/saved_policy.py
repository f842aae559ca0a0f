"""Reads a saved threshold policy: versioned, every number exactly as it was.

A policy that is read is the one that was saved: a file whose values are not those of its checksum
is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from voros.alarms.rule import AlarmRule
from voros.core.costs import CostDistribution, Over, Samples, Uniform, from_scipy, scipy_family
from voros.core.hull import Choice
from voros.core.scenario import SCENARIO_PARTS, Scenario
from voros.io.documents import Entry, read_document
from voros.policy.confidence_curve import ConfidenceStep
from voros.policy.origin import Origin, PolicyValues

POLICY_FORMAT = "voros threshold policy"
POLICY_SCHEMA = 7
"""Raised whenever the fields of a file change."""


def parse_policy(source: str | Path) -> dict[str, Any]:
    """Read JSON text or a file into the arguments of `ThresholdPolicy`.

    Raises
    ------
    DocumentError
        When it is not a saved policy, or was changed after it was saved.
    """
    return policy_arguments(read_document(source, "saved policy"))


def policy_arguments(document: Entry) -> dict[str, Any]:
    """Return the arguments of `ThresholdPolicy` that a document holds, alone or within another."""
    from voros.guarantee import Guarantee

    fields = document.saved(POLICY_FORMAT, POLICY_SCHEMA)
    kinds: dict[str, Callable[..., Any]] = {
        "guarantee": Guarantee,
        "origin": Origin,
        "rule": AlarmRule,
        "values": PolicyValues,
    }
    plain = {name: fields[name].value for name in ("strategy", "model", "n_models", "pos_label")}
    records = {
        name: None if fields[name].value is None else fields[name].record(kind)
        for name, kind in kinds.items()
        if name in fields
    }
    return {
        **plain,
        **records,
        **fields["validation"].value,
        "scenario": saved_scenario(fields["scenario"]),
        "choices": tuple(entry.record(Choice) for entry in fields["choices"].items()),
        "default": fields["default"].record(Choice),
        "curve": tuple(entry.record(ConfidenceStep) for entry in fields["curve"].items()),
    }


def saved_scenario(entry: Entry) -> Scenario:
    """Read a scenario that `Scenario.fields` gave."""
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
