"""Whether the parts of a saved joint policy agree: counts, limits, costs and the capacity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from voros.allocation.choices import JointChoice
from voros.allocation.problem import mean_ratio
from voros.core.scenario import Scenario
from voros.io.documents import Entry
from voros.policy.saved_policy import AGREEMENT


def check_joint(entries: Mapping[str, Entry], arguments: Mapping[str, Any]) -> None:
    """Raise, naming the key, unless a joint policy agrees with itself.

    Parameters
    ----------
    entries : mapping of str to Entry
        Of the document, for messages.
    arguments : mapping
        Of `JointPolicy`, each of the right type.
    """
    _check_sizes(entries, arguments)
    pieces: Sequence[JointChoice] = arguments["pieces"]
    rows = [(entries["default"], arguments["default"])]
    rows += list(zip(entries["pieces"].items(), pieces, strict=True))
    for entry, choice in rows:
        _check_streams(entry, choice, arguments)
        _check_capacity(entry, choice, arguments)
    _check_quantiles(entries, arguments["default"], pieces)
    _check_cost(entries, arguments)


def _check_sizes(entries: Mapping[str, Entry], arguments: Mapping[str, Any]) -> None:
    """Groups share the cases between them; of other streams each has all of them."""
    n_cases, sizes = arguments["n_cases"], arguments["sizes"]
    together = [sum(map(sum, sizes))] if arguments["arrangement"] == "groups" else map(sum, sizes)
    for counted in together:
        if not math.isclose(counted, n_cases, rel_tol=AGREEMENT):
            entries["n_cases"].contradict(f"is {n_cases!r}; the streams have {counted!r}")
    for entry, (n_positive, n_negative) in zip(entries["streams"].items(), sizes, strict=True):
        if not (n_positive > 0 and n_negative > 0):
            entry.contradict(f"has {n_positive!r} positives and {n_negative!r} negatives")


def _check_streams(entry: Entry, choice: JointChoice, arguments: Mapping[str, Any]) -> None:
    columns = (choice.thresholds, choice.tp, choice.fp, arguments["sizes"], arguments["scenarios"])
    names = arguments["names"]
    for name, threshold, tp, fp, size, scenario in zip(names, *columns, strict=True):
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


def _check_capacity(entry: Entry, choice: JointChoice, arguments: Mapping[str, Any]) -> None:
    limit, once = arguments["limit"], arguments["overlap"] == "once"
    alarms = sum(choice.tp) + sum(choice.fp)
    used = choice.n_flagged_cases if once else alarms
    if used is None or (choice.n_flagged_cases is not None) != once:
        entry.contradict(
            f"has n_flagged_cases {choice.n_flagged_cases!r}; "
            f"the overlap is {arguments['overlap']!r}"
        )
    if limit.exceed is not None and choice.n_above is None:
        entry.contradict(f"has no n_above; the limit's exceed is {limit.exceed!r}")
    if choice.n_above is not None and not choice.n_above <= (limit.n_periods or 0):
        entry.contradict(f"has n_above {choice.n_above}, of {limit.n_periods!r} periods")
    most = limit.max_alarms(arguments["n_cases"])
    if limit.exceed is None and used > most * (1 + AGREEMENT):
        entry.contradict(f"uses {used:g} of a capacity of {most:g}")
    if used > alarms * (1 + AGREEMENT):
        entry.contradict(f"flags {used:g} cases with {alarms:g} alarms")


def _check_quantiles(
    entries: Mapping[str, Entry], default: JointChoice, pieces: Sequence[JointChoice]
) -> None:
    if (default.quantile_low, default.quantile_high) != (0.0, 1.0):
        entries["default"].contradict("must be for the quantiles from 0 to 1")
    lows, highs = ([getattr(p, f"quantile_{end}") for p in pieces] for end in ("low", "high"))
    if pieces and ([0.0, *highs] != [*lows, 1.0] or sorted(highs) != highs):
        entries["pieces"].contradict("must cover the quantiles from 0 to 1, each once")


def _check_cost(entries: Mapping[str, Entry], arguments: Mapping[str, Any]) -> None:
    default, certificate = arguments["default"], arguments["certificate"]
    columns = (arguments["scenarios"], arguments["miss_weights"], arguments["sizes"])
    cost = 0.0
    for scenario, weight, (n_positive, n_negative), tp, fp in zip(
        *columns, default.tp, default.fp, strict=True
    ):
        ratio = entries["default"].made(mean_ratio, scenario.costs, n_negative / n_positive)
        cost += weight * (ratio * fp + n_positive - tp)
    if not math.isclose(default.cost, cost, rel_tol=1e-6, abs_tol=1e-9):
        entries["default"].contradict(f"has a cost of {default.cost!r}; its counts give {cost!r}")
    slack = certificate.resolution + AGREEMENT * max(abs(cost), 1.0)
    if certificate.relaxed_cost > default.cost + slack:
        entries["certificate"].contradict(
            f"bounds the cost from below by {certificate.relaxed_cost!r}; it is {default.cost!r}"
        )
