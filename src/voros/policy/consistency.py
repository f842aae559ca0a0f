"""Whether the parts of a saved policy agree: counts, rates, thresholds, costs and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from voros.core.costs import CostDistribution
from voros.core.hull import Choice
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.core.volume import mean_t
from voros.io.documents import Entry
from voros.policy.origin import Origin, limits_under

AGREEMENT = 1e-9
"""Relative difference below which two numbers of a file are the same one."""

SWITCH_AGREEMENT = 1e-6
"""The same for cost ratios at a switch: quotients of differences, which rounding moves further."""


def check_consistent(entries: Mapping[str, Entry], arguments: Mapping[str, Any]) -> None:
    """Raise, naming the key, unless a policy agrees with itself.

    Parameters
    ----------
    entries : mapping of str to Entry
        Of the document, for messages.
    arguments : mapping
        Of `ThresholdPolicy`, each of the right type.
    """
    sizes = arguments["n_positive"], arguments["n_negative"]
    scenario: Scenario = arguments["scenario"]
    limits = limits_under(arguments["guarantee"], scenario)
    rows = entries["choices"].items()
    choices: tuple[Choice, ...] = arguments["choices"]
    share = sizes[0] / sum(sizes)
    # Of stays the prevalence is the share with an event, and the negatives are not counted.
    of_cases = arguments["rule"] is None
    shifted = of_cases and scenario.prevalence is not None
    if shifted and not _same(share, scenario.prevalence or 0.0):
        entries["validation"].contradict(
            f"has a prevalence of {share:g}; the scenario {scenario.prevalence:g}"
        )
    n_periods = _periods(entries["scenario"], scenario, arguments["origin"])
    if arguments["origin"] is not None:
        _check_origin(entries["origin"], arguments["origin"], arguments)
    everything = [*zip(rows, choices, strict=True), (entries["default"], arguments["default"])]
    for entry, choice in everything:
        check_counts(entry, choice, *sizes)
        _check_limits(entry, choice, limits, *sizes, n_periods)
    _check_intervals(entries["choices"], rows, choices)
    for entry, (one, other) in zip(rows[1:], pairwise(choices), strict=True):
        _check_order(entry, one, other, of_cases)
    _check_default(entries["default"], arguments["default"], choices)
    if arguments["strategy"] in ("partial_voros", "voros"):
        odds = float(sizes[1] / sizes[0])
        _check_best(entries["default"], arguments["default"], choices, scenario.costs, odds)
    elif len(choices) > 1:
        entries["choices"].contradict(f"hold {len(choices)} thresholds; the strategy has one")


def _same(one: float, other: float, agreement: float = AGREEMENT) -> bool:
    return math.isclose(one, other, rel_tol=agreement, abs_tol=0.0)


def _periods(entry: Entry, scenario: Scenario, origin: Origin | None) -> float | None:
    name = "n_periods" if scenario.per_period else "patient_days"
    n_periods: float | None = None if origin is None else getattr(origin, name)
    if scenario.per is not None and n_periods is None:
        entry.contradict(f"has a capacity per {scenario.per}; the origin says no {name}")
    return n_periods


def _check_origin(entry: Entry, origin: Origin, arguments: Mapping[str, Any]) -> None:
    """Compare what is said of the validation cases with their counts and with the guarantee."""
    observed = origin.n_positive, origin.n_negative
    counted = arguments["n_positive"], arguments["n_negative"]
    same_cases = arguments["scenario"].prevalence is None and arguments["rule"] is None
    if same_cases and not all(map(_same, observed, counted)):
        entry.contradict(f"has {observed} cases of each class; the validation {counted}")
    if origin.n_groups is not None and origin.n_groups > sum(observed):
        entry.contradict(f"has n_groups {origin.n_groups}, of {sum(observed):g} cases")
    if origin.period_correlation is not None and origin.n_periods is None:
        entry.contradict("has a period_correlation and no n_periods")
    if (origin.n_development is None) != (origin.n_planned is None):
        entry.contradict("must have both n_development and n_planned, or neither")


def check_counts(entry: Entry, choice: Choice, n_positive: float, n_negative: float) -> None:
    """Raise unless the counts of a choice are possible and give its rates."""
    for name, count, most in (("tp", choice.tp, n_positive), ("fp", choice.fp, n_negative)):
        if count > most * (1 + AGREEMENT):
            entry.contradict(f"has {name} {count!r} of {most!r} cases")
    total = choice.tp + choice.fp
    if not _same(choice.alarms, total):
        entry.contradict(f"has {choice.alarms!r} alarms; tp and fp add up to {total!r}")
    if (choice.threshold == math.inf) != (choice.alarms == 0):
        entry.contradict(f"has {choice.alarms!r} alarms at the threshold {choice.threshold!r}")
    precision = choice.tp / choice.alarms if choice.alarms else math.nan
    for name, stated, counted in (
        ("precision", choice.precision, precision),
        ("recall", choice.recall, choice.tp / n_positive),
    ):
        if not (_same(stated, counted) or (math.isnan(stated) and math.isnan(counted))):
            entry.contradict(f"has {name} {stated!r}; its counts give {counted!r}")


def _check_limits(
    entry: Entry,
    choice: Choice,
    scenario: Scenario,
    n_positive: float,
    n_negative: float,
    n_periods: float | None,
) -> None:
    if choice.never_alarm:
        return
    counts = np.array([choice.threshold]), np.array([choice.tp]), np.array([choice.fp])
    points = OperatingPoints(*counts, n_positive, n_negative, one_case=0.0)
    most = entry.made(scenario.max_alarms, points.n_cases, 0.0, n_periods)
    if not points.within_limits(scenario.min_precision, most).all():
        entry.contradict(
            f"raises {choice.alarms:g} alarms at a precision of {choice.precision:g}, beyond the "
            "limits of its scenario"
        )


def _check_intervals(entry: Entry, rows: Sequence[Entry], choices: Sequence[Choice]) -> None:
    lows = [choice.cost_ratio_low for choice in choices]
    highs = [choice.cost_ratio_high for choice in choices]
    if [0.0, *highs] != [*lows, math.inf]:
        entry.contradict("must cover the cost ratios from 0 to infinity, each once")
    for row, choice in zip(rows, choices, strict=True):
        if not choice.cost_ratio_low < choice.cost_ratio_high:
            row.contradict(f"ends at the cost ratio {choice.cost_ratio_high!r}, where it begins")


def _check_order(entry: Entry, one: Choice, other: Choice, of_cases: bool) -> None:
    """Costlier false alarms mean a higher threshold, and at the switch both cost the same.

    Over stays a higher threshold may raise more of the alarms that count.
    """
    lowered = of_cases and not one.threshold < other.threshold
    if lowered or not one.alarms > other.alarms:
        entry.contradict(
            f"lowers the threshold from {one.threshold!r} to {other.threshold!r}, or keeps the "
            "alarms, as the cost ratio rises"
        )
    gain, harm = one.tp - other.tp, one.fp - other.fp
    if not (harm > 0 and gain > 0 and _same(gain / harm, other.cost_ratio_low, SWITCH_AGREEMENT)):
        entry.contradict(
            f"takes over at the cost ratio {other.cost_ratio_low!r}; {gain:g} more true for "
            f"{harm:g} more false positives cost the same elsewhere"
        )


def _check_default(entry: Entry, default: Choice, choices: Sequence[Choice]) -> None:
    if (default.cost_ratio_low, default.cost_ratio_high) != (0.0, math.inf):
        entry.contradict("must be for the cost ratios from 0 to infinity")
    counts = [(choice.threshold, choice.tp, choice.fp) for choice in choices]
    if (default.threshold, default.tp, default.fp) not in counts:
        entry.contradict("has another threshold, or other counts, than every choice")


def _check_best(
    entry: Entry, default: Choice, choices: Sequence[Choice], costs: CostDistribution, odds: float
) -> None:
    """The mean cost is the cost at the mean t, so the default is the choice made there."""
    # Absurd costs overflow; what comes of it agrees with no choice.
    with np.errstate(all="ignore"):
        t = entry.made(mean_t, costs, odds)
    ratio = t / (1.0 - t) / odds if t < 1 else math.inf
    best = [
        choice.threshold
        for choice in choices
        if choice.cost_ratio_low * (1 - SWITCH_AGREEMENT)
        <= ratio
        <= choice.cost_ratio_high * (1 + SWITCH_AGREEMENT)
    ]
    if default.threshold not in best:
        entry.contradict(f"is not the threshold of least expected cost, at the ratio {ratio:g}")
