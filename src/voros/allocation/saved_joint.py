"""The JSON form of a joint policy: versioned, strict, every number read back exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.allocation.choices import OVERLAPS, JointChoice, JointPromise
from voros.allocation.limit import SharedLimit
from voros.allocation.streams import ARRANGEMENTS
from voros.core.shared_capacity import Certificate
from voros.io.documents import Entry, read_document
from voros.io.writing import json_text, with_checksum
from voros.policy.saved_policy import saved_scenario

if TYPE_CHECKING:
    from voros.allocation.joint_policy import JointPolicy

JOINT_FORMAT = "voros joint policy"
JOINT_SCHEMA = 3
"""Raised whenever the fields of a file change."""

_KEYS = (
    *("format", "schema", "streams", "limit", "arrangement", "overlap"),
    *("n_cases", "default", "pieces", "certificate", "promise", "checksum"),
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
    plain = ("limit", "arrangement", "overlap", "n_cases")
    parts = ("default", "pieces", "certificate", "promise")
    fields = {name: getattr(policy, name) for name in (*plain, *parts)}
    head = {"format": JOINT_FORMAT, "schema": JOINT_SCHEMA, "streams": streams}
    return json_text(with_checksum(head | fields))


def parse_joint(source: str | Path) -> dict[str, Any]:
    """Read JSON text or a file into the arguments of `JointPolicy`.

    Raises
    ------
    DocumentError
        Naming the key that no saved policy could hold.
    """
    document = read_document(source, "saved joint policy")
    document.check_format(JOINT_FORMAT, JOINT_SCHEMA)
    entries = document.keys(*_KEYS)
    streams = [_read_stream(each) for each in entries["streams"].items()]
    if not streams:
        entries["streams"].refuse("at least one stream")
    names, scenarios, weights, sizes = (tuple(column) for column in zip(*streams, strict=True))
    if len(set(names)) < len(names):
        entries["streams"].contradict("name a stream twice")
    arguments = {
        "names": names,
        "scenarios": scenarios,
        "miss_weights": weights,
        "sizes": sizes,
        "limit": _read_limit(entries["limit"]),
        "arrangement": entries["arrangement"].one_of(ARRANGEMENTS),
        "overlap": entries["overlap"].one_of(OVERLAPS),
        "n_cases": entries["n_cases"].number(0),
        "default": _read_choice(entries["default"], len(names)),
        "pieces": tuple(_read_choice(each, len(names)) for each in entries["pieces"].items()),
        "certificate": _read_certificate(entries["certificate"]),
        "promise": entries["promise"].optional(_read_promise),
    }
    document.check_unchanged()
    return arguments


def _read_stream(entry: Entry) -> tuple[Any, ...]:
    fields = entry.keys("name", "scenario", "miss_weight", "n_positive", "n_negative")
    sizes = fields["n_positive"].number(0), fields["n_negative"].number(0)
    scenario = saved_scenario(fields["scenario"])
    return fields["name"].text(), scenario, fields["miss_weight"].number(0), sizes


def _read_limit(entry: Entry) -> SharedLimit:
    fields = entry.keys(*SharedLimit.__dataclass_fields__)
    per = fields["per"].optional(lambda field: field.text())
    exceed = fields["exceed"].optional(lambda field: field.number(0, 1))
    n_periods = fields["n_periods"].optional(lambda field: field.number(0))
    stated = None if per is not None else n_periods
    made: SharedLimit = entry.made(
        SharedLimit.of, fields["capacity"].number(0), per, exceed, stated
    )
    return replace(made, n_periods=n_periods)


def _read_choice(entry: Entry, n_streams: int) -> JointChoice:
    fields = entry.keys(*JointChoice.__dataclass_fields__)
    thresholds = [float(each.number(finite=False)) for each in fields["thresholds"].items()]
    columns = {"thresholds": tuple(thresholds)}
    columns |= {name: tuple(fields[name].numbers(0)) for name in ("tp", "fp")}
    if any(len(column) != n_streams for column in columns.values()):
        entry.contradict(f"does not have {n_streams} thresholds and counts, one for each stream")
    low, high = (fields[f"quantile_{end}"].number(0, 1) for end in ("low", "high"))
    above, visits = (
        fields[name].optional(lambda field: field.whole()) for name in ("n_above", "n_visits")
    )
    at, tp, fp = columns["thresholds"], columns["tp"], columns["fp"]
    return JointChoice(low, high, at, tp, fp, fields["cost"].number(), above, visits)


def _read_certificate(entry: Entry) -> Certificate:
    fields = entry.keys(*Certificate.__dataclass_fields__)
    states = fields.pop("n_states").whole()
    price = fields.pop("shadow_price").optional(lambda field: field.number())
    numbers = {name: field.number() for name, field in fields.items()}
    return Certificate(n_states=states, shadow_price=price, **numbers)


def _read_promise(entry: Entry) -> JointPromise:
    fields = entry.keys(*JointPromise.__dataclass_fields__)
    names = tuple(each.text() for each in fields["uncertified"].items())
    return JointPromise(
        confidence=fields["confidence"].number(0, 1),
        n_tested=fields["n_tested"].whole(),
        uncertified=names,
        units=fields["units"].one_of(("cases", "patients", "periods")),
        horizon=fields["horizon"].optional(lambda field: field.whole()),
        block=fields["block"].whole(1),
    )
