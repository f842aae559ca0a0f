"""The JSON form of a joint policy.

Whoever changes a value is told so by the checksum; a value of the wrong kind is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.allocation.problem import OVERLAPS, JointChoice, JointPromise, SharedLimit
from voros.allocation.streams import ARRANGEMENTS
from voros.core.shared_capacity import Certificate
from voros.io.documents import Entry, read_document
from voros.io.writing import json_text, with_checksum
from voros.policy.saved_policy import saved_scenario

if TYPE_CHECKING:
    from voros.allocation.joint_policy import JointPolicy

JOINT_FORMAT = "voros joint policy"
JOINT_SCHEMA = 6
"""Raised whenever the fields of a file change."""

_KEYS = (
    *("format", "schema", "streams", "limit", "arrangement", "overlap"),
    *("n_cases", "default", "certificate", "promise", "checksum"),
)


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
    parts = ("limit", "arrangement", "overlap", "n_cases", "default", "certificate", "promise")
    head = {"format": JOINT_FORMAT, "schema": JOINT_SCHEMA, "streams": streams}
    return json_text(with_checksum(head | {name: getattr(policy, name) for name in parts}))


def read_joint(source: str | Path, make: Callable[..., JointPolicy]) -> JointPolicy:
    """Read a policy from JSON text or a file.

    Raises
    ------
    DocumentError
        Naming the key that no saved policy could hold.
    """
    document = read_document(source, "saved joint policy")
    document.check_format(JOINT_FORMAT, JOINT_SCHEMA)
    entries = document.keys(*_KEYS)
    streams = [_read_stream(stream) for stream in entries["streams"].items()]
    if not streams:
        entries["streams"].refuse("at least one stream")
    names, scenarios, weights, sizes = (tuple(column) for column in zip(*streams, strict=True))
    policy = make(
        names=names,
        scenarios=scenarios,
        miss_weights=weights,
        sizes=sizes,
        limit=_read_limit(entries["limit"]),
        arrangement=entries["arrangement"].one_of(ARRANGEMENTS),
        overlap=entries["overlap"].one_of(OVERLAPS),
        n_cases=entries["n_cases"].number(0),
        default=_read_choice(entries["default"]),
        certificate=_read_certificate(entries["certificate"]),
        promise=entries["promise"].optional(_read_promise),
    )
    document.check_unchanged()
    return policy


def _read_stream(entry: Entry) -> tuple[Any, ...]:
    fields = entry.keys("name", "scenario", "miss_weight", "n_positive", "n_negative")
    sizes = fields["n_positive"].number(0), fields["n_negative"].number(0)
    scenario = saved_scenario(fields["scenario"])
    return fields["name"].text(), scenario, fields["miss_weight"].number(0), sizes


def _read_limit(entry: Entry) -> SharedLimit:
    fields = entry.keys(*SharedLimit.__dataclass_fields__)
    per = fields["per"].optional(lambda field: field.text())
    exceed = fields["exceed"].optional(lambda field: field.number(0, 1))
    n_periods = fields["n_periods"].optional(lambda field: field.whole(1))
    limit: SharedLimit = entry.made(
        SharedLimit.from_arguments, fields["capacity"].number(0), per, exceed
    )
    return replace(limit, n_periods=n_periods)


def _read_choice(entry: Entry) -> JointChoice:
    fields = entry.keys(*JointChoice.__dataclass_fields__)
    thresholds = tuple(float(item.number(finite=False)) for item in fields["thresholds"].items())
    tp, fp = (tuple(fields[name].numbers(0)) for name in ("tp", "fp"))
    above, visits = (
        fields[name].optional(lambda field: field.whole())
        for name in ("n_above", "n_flagged_cases")
    )
    return JointChoice(
        thresholds=thresholds,
        tp=tp,
        fp=fp,
        cost=fields["cost"].number(),
        n_above=above,
        n_flagged_cases=visits,
    )


def _read_certificate(entry: Entry) -> Certificate:
    fields = entry.keys(*Certificate.__dataclass_fields__)
    states = fields.pop("n_states").whole()
    price = fields.pop("shadow_price").optional(lambda field: field.number())
    numbers = {name: field.number() for name, field in fields.items()}
    return Certificate(n_states=states, shadow_price=price, **numbers)


def _read_promise(entry: Entry) -> JointPromise:
    fields = entry.keys(*JointPromise.__dataclass_fields__)
    names = tuple(name.text() for name in fields["uncertified"].items())
    return JointPromise(
        confidence=fields["confidence"].number(0, 1),
        n_tested=fields["n_tested"].whole(),
        uncertified=names,
        units=fields["units"].one_of(("cases", "patients", "periods")),
        horizon=fields["horizon"].optional(lambda field: field.whole()),
        block=fields["block"].whole(1),
    )
