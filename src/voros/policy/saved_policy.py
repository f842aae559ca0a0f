"""Reads a saved threshold policy: versioned, strict, every number exactly as it was.

A file is checked key by key, then against itself, then by its checksum: a policy that is read is
the one that was saved. Against itself means that the thresholds are chosen again from the counts in
the file, by its costs and limits, and everything that follows must be what the file says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from voros.alarms.rule import AlarmRule
from voros.core.costs import (
    COST_UNITS,
    CostDistribution,
    Samples,
    Uniform,
    from_samples,
    from_scipy,
    scipy_family,
)
from voros.core.decision import Decision
from voros.core.hull import Choice
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import SCENARIO_PARTS, Scenario
from voros.core.worth import THRESHOLDS_ON
from voros.io.documents import Entry, read_document
from voros.policy.allowed import choose, limits_under
from voros.policy.confidence_curve import ConfidenceStep
from voros.policy.origin import POLICY_STRATEGIES, Origin, PolicyValues
from voros.typing import FloatArray

POLICY_FORMAT = "voros threshold policy"
POLICY_SCHEMA = 7
"""Raised whenever the fields of a file change."""

POLICY_KEYS = (
    *("format", "schema", "model", "strategy", "scenario", "guarantee", "n_models", "pos_label"),
    *("origin", "validation", "default", "choices", "curve", "rule", "checksum"),
)
"""What a file holds, as `ThresholdPolicy.fields` gives it."""

AGREEMENT = 1e-9
"""Relative difference below which two numbers of a file are the same one."""

SWITCH_AGREEMENT = 1e-6
"""The same where thresholds are chosen again: quotients of differences are rounded more."""

WEIGHT_SUM = 1e-9
"""How far the probabilities of sampled costs may be from adding up to 1."""


def parse_policy(source: str | Path) -> dict[str, Any]:
    """Read JSON text or a file into the arguments of `ThresholdPolicy`.

    Raises
    ------
    DocumentError
        Naming the key that no saved policy could hold.
    """
    return policy_arguments(read_document(source, "saved policy"))


def policy_arguments(document: Entry) -> dict[str, Any]:
    """Return the arguments of `ThresholdPolicy` that a document holds, alone or within another."""
    document.check_format(POLICY_FORMAT, POLICY_SCHEMA)
    entries = document.keys(*POLICY_KEYS, optional=("values",))
    arguments = _read_sizes(entries["validation"]) | {
        "scenario": saved_scenario(entries["scenario"]),
        "strategy": entries["strategy"].one_of(POLICY_STRATEGIES),
        "choices": tuple(read_choice(row) for row in entries["choices"].items()),
        "default": read_choice(entries["default"]),
        "guarantee": entries["guarantee"].optional(_read_guarantee),
        "model": entries["model"].optional(Entry.text),
        "n_models": entries["n_models"].whole(1),
        "pos_label": entries["pos_label"].optional(_read_label),
        "origin": entries["origin"].optional(_read_origin),
        "curve": tuple(_read_step(row) for row in entries["curve"].items()),
        "rule": entries["rule"].optional(_read_rule),
    }
    if "values" in entries:
        arguments["values"] = _read_values(entries["values"])
    _check_sizes(entries, arguments)
    _check_chosen_again(entries, arguments)
    document.check_unchanged()
    return arguments


def _check_sizes(entries: Mapping[str, Entry], arguments: Mapping[str, Any]) -> None:
    """Compare the validation cases with the prevalence and with the origin."""
    scenario, origin = arguments["scenario"], arguments["origin"]
    sizes = arguments["n_positive"], arguments["n_negative"]
    if arguments["rule"] is None:
        share = sizes[0] / sum(sizes)
        if scenario.prevalence is None:
            if origin and not all(map(_same, (origin.n_positive, origin.n_negative), sizes)):
                entries["origin"].contradict(
                    f"has other cases of each class than validation {sizes}"
                )
        elif not _same(share, scenario.prevalence):
            entries["validation"].contradict(
                f"has a prevalence of {share:g}; the scenario {scenario.prevalence:g}"
            )


def _check_chosen_again(entries: Mapping[str, Entry], arguments: Mapping[str, Any]) -> None:
    """Choose from the counts in the file, and compare with what it says was chosen."""
    scenario, origin = arguments["scenario"], arguments["origin"]
    sizes = arguments["n_positive"], arguments["n_negative"]
    n_periods = None
    if scenario.per is not None:
        name = "n_periods" if scenario.per_period else "patient_days"
        n_periods = getattr(origin, name, None)
        if n_periods is None:
            entries["scenario"].contradict(
                f"has a capacity per {scenario.per}; the origin says no {name}"
            )
    values, rows = arguments.get("values"), _rows_of(entries["choices"], arguments)
    points = entries["choices"].made(OperatingPoints.with_never_alarm, *rows[:, :3].T, *sizes, 0.0)
    if values is not None:
        totals = values.miss_value, values.false_alarm_cost
        caught, false_alarms = rows[:, 3:].T
        worth = OperatingPoints.with_never_alarm(rows[:, 0], caught, false_alarms, *totals)
        points = replace(points, worth=worth)
    if points.tp[-1] > sizes[0] * (1 + AGREEMENT) or points.fp[-1] > sizes[1] * (1 + AGREEMENT):
        entries["choices"].contradict(f"hold more alarms than the cases of each class, {sizes}")
    # Over stays a higher threshold may raise more of the alarms that count.
    if arguments["rule"] is None and not (points.thresholds[1:] < points.thresholds[:-1]).all():
        entries["choices"].contradict("do not raise the threshold wherever they lower the alarms")
    limits = limits_under(arguments["guarantee"], scenario)
    most = entries["scenario"].made(limits.max_alarms, points.n_cases, 0.0, n_periods)
    feasible = points.within_limits(limits, most)
    # With a recall floor never alarm is deployed where nothing else is allowed.
    feasible[0] = limits.min_recall is None or len(points) == 1
    if not feasible[1:].all():
        entries["choices"].contradict("hold a threshold beyond the limits of the scenario")
    decision = Decision(points=points, scenario=scenario, feasible=feasible, max_alarms=most)
    # Absurd costs overflow; what comes of it agrees with no choice.
    with np.errstate(all="ignore"):
        choices, default = entries["scenario"].made(choose, decision, arguments["strategy"])
    if len(choices) != len(arguments["choices"]):
        entries["choices"].contradict(
            f"hold {len(arguments['choices'])} intervals of the cost ratio; their counts give "
            f"{len(choices)}"
        )
    for entry, choice in zip(entries["choices"].items(), choices, strict=True):
        check_choice(entry, choice)
    check_choice(entries["default"], default)


def _rows_of(entry: Entry, arguments: Mapping[str, Any]) -> FloatArray:
    """Threshold, counts and values of the choices that alarm, by rising alarms."""
    choices: tuple[Choice, ...] = arguments["choices"]
    valued = arguments.get("values") is not None
    if any((choice.value_caught is not None) != valued for choice in choices):
        entry.contradict("must have values exactly where the policy has")
    rows = sorted(
        {
            (c.tp + c.fp, c.threshold, c.tp, c.fp, c.value_caught, c.false_alarm_cost)
            for c in choices
        }
    )
    return np.array([row[1:] for row in rows if row[0] > 0], dtype=np.float64).reshape(-1, 5)


def check_choice(entry: Entry, expected: Choice) -> None:
    """Raise, naming the key, unless a saved choice is the expected one."""
    stated = read_choice(entry).fields()
    for name, computed in expected.fields().items():
        value = stated[name]
        if not _same(value, computed, SWITCH_AGREEMENT):
            entry.contradict(f"has {name} {value!r}; the counts and costs give {computed!r}")


def _same(one: float, other: float, agreement: float = AGREEMENT) -> bool:
    return math.isclose(one, other, rel_tol=agreement, abs_tol=0.0) or (
        one != one and other != other
    )


def _read_label(entry: Entry) -> Any:
    if isinstance(entry.value, bool):
        return entry.value
    return entry.text() if isinstance(entry.value, str) else entry.number()


def _read_origin(entry: Entry) -> Origin:
    fields = entry.keys(*Origin.__dataclass_fields__)
    counts = ("n_groups", "n_periods", "n_development", "n_planned", "n_stays")
    origin = Origin(
        n_positive=fields["n_positive"].number(0),
        n_negative=fields["n_negative"].number(0),
        period_correlation=fields["period_correlation"].optional(lambda r: r.number(-1, 1)),
        version=fields["version"].text(),
        patient_days=fields["patient_days"].optional(lambda days: days.number(0)),
        **{name: fields[name].optional(lambda entry: entry.whole(1)) for name in counts},
    )
    n_cases = origin.n_positive + origin.n_negative
    if origin.n_groups is not None and origin.n_groups > n_cases:
        entry.contradict(f"has n_groups {origin.n_groups}, of {n_cases:g} cases")
    if origin.period_correlation is not None and origin.n_periods is None:
        entry.contradict("has a period_correlation and no n_periods")
    if (origin.n_development is None) != (origin.n_planned is None):
        entry.contradict("must have both n_development and n_planned, or neither")
    return origin


def _read_rule(entry: Entry) -> AlarmRule:
    arguments = {name: field.text() for name, field in entry.named().items()}
    return entry.made(AlarmRule, **arguments)


def _read_values(entry: Entry) -> PolicyValues:
    fields = entry.keys(*PolicyValues.__dataclass_fields__)
    sums = {name: fields[name].number(0) for name in ("miss_value", "false_alarm_cost")}
    for name, value in sums.items():
        if not value > 0:
            fields[name].refuse("a sum of values above 0")
    threshold_on: Any = fields["threshold_on"].one_of(THRESHOLDS_ON)
    return PolicyValues(**sums, threshold_on=threshold_on)


def _read_sizes(entry: Entry) -> dict[str, Any]:
    sizes = entry.keys("n_positive", "n_negative")
    for size in sizes.values():
        if not size.number(0) > 0:
            size.refuse("a number of cases above 0")
    return {name: size.value for name, size in sizes.items()}


def saved_scenario(entry: Entry) -> Scenario:
    """Read a scenario that `Scenario.fields` gave."""
    limits = entry.keys(*SCENARIO_PARTS)
    return entry.made(
        Scenario,
        limits["min_precision"].number(0, 1),
        limits["capacity"].number(0),
        _read_costs(limits["cost_ratio"]),
        limits["prevalence"].optional(lambda share: share.number(0, 1)),
        per=limits["per"].optional(Entry.text),
        exceed=limits["exceed"].optional(lambda share: share.number(0, 1)),
        min_recall=limits["min_recall"].optional(lambda share: share.number(0, 1)),
    )


def read_choice(entry: Entry) -> Choice:
    """Read a threshold and what it did on the validation data."""
    optional = ("value_caught", "false_alarm_cost")
    required = [name for name in Choice.__dataclass_fields__ if name not in optional]
    fields = entry.keys(*required, optional=optional)
    valued = [name for name in optional if name in fields]
    if len(valued) == 1:
        entry.contradict(f"has {valued[0]} alone")
    counts = {name: fields[name].number(0) for name in ("tp", "fp", "alarms", *valued)}
    return Choice(
        cost_ratio_low=fields["cost_ratio_low"].number(0),
        cost_ratio_high=fields["cost_ratio_high"].number(0, finite=False),
        threshold=float(fields["threshold"].number(finite=False)),
        precision=fields["precision"].number(0, 1, finite=False, or_nan=True),
        recall=fields["recall"].number(0, 1),
        **counts,
    )


def _read_step(entry: Entry) -> ConfidenceStep:
    fields = entry.keys(*ConfidenceStep.__dataclass_fields__)
    return ConfidenceStep(
        confidence=fields["confidence"].optional(lambda share: share.number(0, 1)),
        model=fields["model"].optional(Entry.text),
        threshold=float(fields["threshold"].number(finite=False)),
        alarms=fields["alarms"].number(0),
        tp=fields["tp"].number(0),
        recall=fields["recall"].number(0, 1),
        expected_cost=fields["expected_cost"].number(0),
    )


def _read_guarantee(entry: Entry) -> Any:
    from voros.guarantee import Guarantee

    fields = entry.keys(*Guarantee.__dataclass_fields__)
    return entry.made(Guarantee, **{name: field.value for name, field in fields.items()})


def _read_costs(entry: Entry) -> CostDistribution:
    if not isinstance(entry.value, dict):
        entry.refuse("an object")
    kind = Entry(entry.value.get("kind"), f"{entry.path}.kind", entry.origin).one_of(tuple(_COSTS))
    keys, parse = _COSTS[kind]
    fields = entry.keys("kind", "over", *keys)
    fields["over"].one_of(COST_UNITS)
    return parse(entry, fields)


def _read_uniform(entry: Entry, fields: Mapping[str, Entry]) -> CostDistribution:
    low, high, over = fields["low"].number(), fields["high"].number(), fields["over"].value
    entry.made(from_samples, [low, high], over=over)
    if not low < high:
        fields["low"].refuse(f"a number below {entry.path}.high, {high!r}")
    return Uniform(low, high, over=over)


def _read_samples(entry: Entry, fields: Mapping[str, Entry]) -> CostDistribution:
    values, weights = np.array(fields["values"].numbers()), np.array(fields["weights"].numbers(0))
    # Only to check them: weights summed again would not be those saved to the last bit.
    entry.made(from_samples, values, weights, over=fields["over"].value)
    if np.any(np.diff(values) < 0):
        fields["values"].contradict("fall; costs are saved from the lowest up")
    if abs(weights.sum() - 1.0) > WEIGHT_SUM:
        fields["weights"].contradict(f"add up to {weights.sum():g}, not to 1")
    return Samples(values, weights, over=fields["over"].value)


def _read_density(entry: Entry, fields: Mapping[str, Entry]) -> CostDistribution:
    family = scipy_family(fields["family"].text())
    if family is None:
        fields["family"].refuse("the name of a continuous distribution in scipy.stats")
    keywords = {name: value.number() for name, value in fields["keywords"].named().items()}
    frozen = entry.made(family, *fields["args"].numbers(), **keywords)
    return entry.made(from_scipy, frozen, over=fields["over"].value)


_COSTS = {
    "uniform": (("low", "high"), _read_uniform),
    "samples": (("values", "weights"), _read_samples),
    "scipy": (("family", "args", "keywords"), _read_density),
}
"""Keys of each kind of costs, and how they are read."""
