"""The JSON form of a joint policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.allocation.problem import JointChoice, JointPromise, SharedLimit
from voros.core.shared_capacity import Certificate
from voros.io.documents import read_document
from voros.io.writing import json_text, with_checksum
from voros.policy.saved_policy import saved_scenario

if TYPE_CHECKING:
    from voros.allocation.joint_policy import JointPolicy

JOINT_FORMAT = "voros joint policy"
JOINT_SCHEMA = 7
"""Raised whenever the fields of a file change."""

PARTS = (
    *("limit", "arrangement", "overlap", "n_cases", "default", "certificate", "promise"),
    "values",
)
"""What a file holds besides the streams, by the names of the policy's attributes."""


def joint_text(policy: JointPolicy) -> str:
    """Return a policy as JSON text."""
    streams = [
        {
            "name": name,
            "scenario": scenario.fields(),
            "miss_weight": weight,
            "n_positive": sizes[0],
            "n_negative": sizes[1],
        }
        for name, scenario, weight, sizes in zip(
            policy.names, policy.scenarios, policy.miss_weights, policy.sizes, strict=True
        )
    ]
    document: dict[str, Any] = {"format": JOINT_FORMAT, "schema": JOINT_SCHEMA, "streams": streams}
    return json_text(with_checksum(document | {name: getattr(policy, name) for name in PARTS}))


def read_joint(source: str | Path, make: Callable[..., JointPolicy]) -> JointPolicy:
    """Read a policy from JSON text or a file.

    Raises
    ------
    DocumentError
        When it is not a saved joint policy, or was changed after it was saved.
    """
    fields = read_document(source, "saved joint policy").saved(JOINT_FORMAT, JOINT_SCHEMA)
    streams = [stream.named() for stream in fields["streams"].items()]
    plain = {name: fields[name].value for name in ("arrangement", "overlap", "n_cases")}
    values = fields["values"].value
    return make(
        **plain,
        names=tuple(stream["name"].value for stream in streams),
        scenarios=tuple(saved_scenario(stream["scenario"]) for stream in streams),
        miss_weights=tuple(stream["miss_weight"].value for stream in streams),
        sizes=tuple((s["n_positive"].value, s["n_negative"].value) for s in streams),
        limit=fields["limit"].record(SharedLimit),
        default=fields["default"].record(JointChoice),
        certificate=fields["certificate"].record(Certificate),
        promise=fields["promise"].optional(lambda promise: promise.record(JointPromise)),
        values=None if values is None else tuple((miss, alarm) for miss, alarm in values),
    )
