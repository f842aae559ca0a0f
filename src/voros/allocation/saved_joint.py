"""The JSON form of a joint policy, and whether its parts agree: counts, limits and costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voros.allocation.problem import OVERLAPS, JointChoice, JointPromise, SharedLimit, mean_ratio
from voros.allocation.streams import ARRANGEMENTS
from voros.core.exact_limits import as_fraction
from voros.core.scenario import Scenario
from voros.core.shared_capacity import Certificate
from voros.io.documents import Entry, read_document
from voros.io.writing import json_text, with_checksum
from voros.policy.saved_policy import AGREEMENT, saved_scenario
from voros.text.numbers import count

if TYPE_CHECKING:
    from voros.allocation.joint_policy import JointPolicy

JOINT_FORMAT = "voros joint policy"
JOINT_SCHEMA = 6
"""Raised whenever the fields of a file change."""

OF_VALUES = ("value_caught", "false_alarm_cost")
"""Sums that a choice has where cases have values."""

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
    document: dict[str, Any] = {"format": JOINT_FORMAT, "schema": JOINT_SCHEMA, "streams": streams}
    document |= {name: getattr(policy, name) for name in parts}
    if policy.values is None:
        fields = vars(policy.default).items()
        document["default"] = {name: value for name, value in fields if name not in OF_VALUES}
    else:
        document["values"] = policy.values
    return json_text(with_checksum(document))


def read_joint(source: str | Path, make: Callable[..., JointPolicy]) -> JointPolicy:
    """Read a policy from JSON text or a file.

    Raises
    ------
    DocumentError
        Naming the key that no saved policy could hold.
    """
    document = read_document(source, "saved joint policy")
    document.check_format(JOINT_FORMAT, JOINT_SCHEMA)
    entries = document.keys(*_KEYS, optional=("values",))
    streams = [_read_stream(stream) for stream in entries["streams"].items()]
    if not streams:
        entries["streams"].refuse("at least one stream")
    names, scenarios, weights, sizes = (tuple(column) for column in zip(*streams, strict=True))
    if len(set(names)) < len(names):
        entries["streams"].contradict("name a stream twice")
    policy = make(
        names=names,
        scenarios=scenarios,
        miss_weights=weights,
        sizes=sizes,
        limit=_read_limit(entries["limit"]),
        arrangement=entries["arrangement"].one_of(ARRANGEMENTS),
        overlap=entries["overlap"].one_of(OVERLAPS),
        n_cases=entries["n_cases"].number(0),
        default=_read_choice(entries["default"], len(names)),
        certificate=_read_certificate(entries["certificate"]),
        promise=entries["promise"].optional(_read_promise),
        values=_read_values(entries["values"], len(names)) if "values" in entries else None,
    )
    if (policy.values is None) != (policy.default.value_caught is None):
        entries["default"].contradict("must have values exactly where the policy has")
    for check in (_check_sizes, _check_streams, _check_capacity, _check_cost, _check_promise):
        check(entries, policy)
    document.check_unchanged()
    return policy


def _read_stream(entry: Entry) -> tuple[Any, ...]:
    fields = entry.keys("name", "scenario", "miss_weight", "n_positive", "n_negative")
    sizes = fields["n_positive"].number(0), fields["n_negative"].number(0)
    scenario = saved_scenario(fields["scenario"])
    return fields["name"].text(), scenario, fields["miss_weight"].number(0), sizes


def _read_values(entry: Entry, n_streams: int) -> tuple[tuple[float, float], ...]:
    rows = [tuple(row.numbers(0)) for row in entry.items()]
    if len(rows) != n_streams or any(len(row) != 2 or min(row) <= 0 for row in rows):
        entry.refuse(f"a pair of sums above 0 for each of {n_streams} streams")
    return tuple((row[0], row[1]) for row in rows)


def _read_limit(entry: Entry) -> SharedLimit:
    fields = entry.keys(*SharedLimit.__dataclass_fields__)
    per = fields["per"].optional(lambda field: field.text())
    exceed = fields["exceed"].optional(lambda field: field.number(0, 1))
    n_periods = fields["n_periods"].optional(lambda field: field.whole(1))
    if (per is None) != (n_periods is None):
        entry.contradict(f"has n_periods {n_periods!r}; per is {per!r}")
    limit: SharedLimit = entry.made(
        SharedLimit.from_arguments, fields["capacity"].number(0), per, exceed
    )
    return replace(limit, n_periods=n_periods)


def _read_choice(entry: Entry, n_streams: int) -> JointChoice:
    required = [name for name in JointChoice.__dataclass_fields__ if name not in OF_VALUES]
    fields = entry.keys(*required, optional=OF_VALUES)
    valued = {name: tuple(fields[name].numbers(0)) for name in OF_VALUES if name in fields}
    if valued and [len(column) for column in valued.values()] != [n_streams] * 2:
        entry.contradict(f"does not have values of {n_streams} streams")
    thresholds = tuple(float(item.number(finite=False)) for item in fields["thresholds"].items())
    tp, fp = (tuple(fields[name].numbers(0)) for name in ("tp", "fp"))
    if any(len(column) != n_streams for column in (thresholds, tp, fp)):
        entry.contradict(f"does not have {n_streams} thresholds and counts, one for each stream")
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
        **valued,
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


def _check_sizes(entries: Mapping[str, Entry], policy: JointPolicy) -> None:
    """Groups share the cases between them; of other streams each has all of them."""
    sizes = policy.sizes
    together = [sum(map(sum, sizes))] if policy.arrangement == "groups" else map(sum, sizes)
    for counted in together:
        if not math.isclose(counted, policy.n_cases, rel_tol=AGREEMENT):
            entries["n_cases"].contradict(f"is {policy.n_cases!r}; the streams have {counted!r}")
    for entry, (n_positive, n_negative) in zip(entries["streams"].items(), sizes, strict=True):
        if not (n_positive > 0 and n_negative > 0):
            entry.contradict(f"has {n_positive!r} positives and {n_negative!r} negatives")


def _check_streams(entries: Mapping[str, Entry], policy: JointPolicy) -> None:
    entry, choice = entries["default"], policy.default
    columns = (choice.thresholds, choice.tp, choice.fp, policy.sizes, policy.scenarios)
    for name, threshold, tp, fp, size, scenario in zip(policy.names, *columns, strict=True):
        if tp > size[0] * (1 + AGREEMENT) or fp > size[1] * (1 + AGREEMENT):
            entry.contradict(
                f"has tp {tp!r} and fp {fp!r} in {name!r}, of {size[0]!r}, {size[1]!r}"
            )
        if (threshold == math.inf) != (tp + fp == 0):
            entry.contradict(f"has {tp + fp!r} alarms in {name!r} at the threshold {threshold!r}")
        if not _within(scenario, tp, fp, sum(size)):
            entry.contradict(f"raises {tp + fp:g} alarms in {name!r}, beyond the stream's limits")


def _within(scenario: Scenario, tp: float, fp: float, n_cases: float) -> bool:
    floor = scenario.min_precision
    most = math.inf if scenario.per else scenario.max_alarms(n_cases, 0.0)
    precise = (1 - floor) * tp >= floor * fp * (1 - AGREEMENT)
    return precise and tp + fp <= most * (1 + AGREEMENT)


def _check_capacity(entries: Mapping[str, Entry], policy: JointPolicy) -> None:
    entry, choice, limit = entries["default"], policy.default, policy.limit
    alarms, once = sum(choice.alarms), policy.overlap == "once"
    used = choice.n_flagged_cases if once else alarms
    if used is None or (choice.n_flagged_cases is not None) != once:
        entry.contradict(
            f"has n_flagged_cases {choice.n_flagged_cases!r}; the overlap is {policy.overlap!r}"
        )
    if (choice.n_above is None) != (limit.n_periods is None):
        entry.contradict(f"has n_above {choice.n_above!r}, of {limit.n_periods!r} periods")
    most_above = limit.n_periods or 0
    if limit.exceed is not None and policy.promise is None:
        most_above = int(as_fraction(limit.exceed) * most_above)
    if (choice.n_above or 0) > most_above:
        entry.contradict(f"has n_above {choice.n_above}, beyond the {most_above} allowed")
    if used > policy.max_alarms * (1 + AGREEMENT):
        entry.contradict(f"uses {used:g} of a capacity of {count(policy.max_alarms)}")
    if used > alarms * (1 + AGREEMENT):
        entry.contradict(f"flags {used:g} cases with {alarms:g} alarms")


def _check_cost(entries: Mapping[str, Entry], policy: JointPolicy) -> None:
    default, certificate, cost = policy.default, policy.certificate, 0.0
    sums = default.tp, default.fp
    if default.value_caught is not None and default.false_alarm_cost is not None:
        sums = default.value_caught, default.false_alarm_cost
    columns = (policy.scenarios, policy.miss_weights, policy.costed, *sums)
    for scenario, weight, (n_positive, n_negative), tp, fp in zip(*columns, strict=True):
        ratio = entries["default"].made(mean_ratio, scenario.costs, n_negative / n_positive)
        cost += weight * (ratio * fp + n_positive - tp)
    if not math.isclose(default.cost, cost, rel_tol=1e-6, abs_tol=1e-9):
        entries["default"].contradict(f"has a cost of {default.cost!r}; its counts give {cost!r}")
    slack = certificate.resolution + AGREEMENT * max(abs(cost), 1.0)
    if certificate.relaxed_cost > default.cost + slack:
        entries["certificate"].contradict(
            f"bounds the cost from below by {certificate.relaxed_cost!r}; it is {default.cost!r}"
        )


def _check_promise(entries: Mapping[str, Entry], policy: JointPolicy) -> None:
    if policy.promise is None:
        return
    pairs = zip(policy.names, policy.default.thresholds, strict=True)
    never = tuple(name for name, threshold in pairs if threshold == math.inf)
    if policy.promise.uncertified != never:
        entries["promise"].contradict(
            f"has uncertified {list(policy.promise.uncertified)}; never alarm is in {list(never)}"
        )
    if (policy.promise.units == "periods") != (policy.limit.per is not None):
        entries["promise"].contradict(
            f"has units {policy.promise.units!r}; the limit's per is {policy.limit.per!r}"
        )
