"""The data of a page: counts at each threshold, the class sizes, and the first setting."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from voros.core.arguments import check_count
from voros.core.calibration import holds_risks
from voros.core.costs import CostDistribution, Samples, Uniform
from voros.core.exact_limits import is_whole
from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario, check_scenario
from voros.exceptions import ArgumentError
from voros.guarantee import Guarantee
from voros.io.writing import plain
from voros.models import check_same_cases
from voros.policy.allowed import check_guarantee, limits_under
from voros.present.explorer.patient_days import in_patient_days, with_rates
from voros.present.explorer.period_counts import period_counts
from voros.present.explorer.promised_thresholds import promised_thresholds
from voros.present.explorer.thinning import (
    CERTIFIED_RECALL,
    largest_change,
    thin_points,
)

RISKS = np.arange(1, 100) / 100
"""Risks at which models that predict risks are counted, for decision curves."""

MOST_HELD = 2000
"""Thresholds of each model that a page holds by default: no picture shows more, and eight models of
any size make a file of at most 2 MB."""


def page_payload(
    points_by_model: Mapping[str, OperatingPoints],
    scenario: Scenario,
    thin: int | None = None,
    guarantee: Guarantee | None = None,
) -> dict[str, Any]:
    """Return what the page's script reads, ready for JSON; parameters are those of `write_page`.

    The models are of the same cases; costs are known or uniform, as a ratio or in misses. Alarms
    over stays are counted in patient-days.

    Examples
    --------
    >>> points = OperatingPoints.from_scores([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> payload = page_payload({"model": points}, Scenario(0.5, 0.5, (0.1, 0.2)))
    >>> payload["models"]
    [{'name': 'model', 'thresholds': [0.9, 0.7], 'tp': [1, 2], 'fp': [0, 1]}]
    >>> payload["setting"]["miss"], payload["setting"]["spread"]
    ([5.0, 10.0], 'ratio')
    """
    guarantee = None if guarantee is None else check_guarantee(guarantee)
    scenario = limits_under(guarantee, check_scenario(scenario))
    over_stays = any(points.stays is not None for points in points_by_model.values())
    shown, opening = points_by_model, scenario
    if over_stays:
        shown, opening = in_patient_days(points_by_model, scenario)
    _check_complete(shown)
    cases, held = _shared_cases(shown), held_points(shown, thin)
    payload = {
        "models": [_model(name, points) for name, points in held.items()],
        "asScored": [None if thin else _as_scored(points) for points in shown.values()],
        "cases": cases,
        "setting": _setting(opening),
        "thinning": _thinning(shown, held, thin),
    }
    if over_stays:
        payload = with_rates(payload, points_by_model, scenario)
    if opening.per is not None:
        payload["periods"] = period_counts(shown, held)
    if over_stays or any(points.grouped and points.grouped.repeated for points in shown.values()):
        payload["repeated"] = True
    if guarantee is not None:
        payload["promise"] = promised_thresholds(points_by_model, held, scenario, guarantee)
    return payload


def held_points(
    points_by_model: Mapping[str, OperatingPoints], thin: int | None
) -> dict[str, OperatingPoints]:
    """Return the points that a page holds of each model."""
    most = MOST_HELD
    if thin is not None:
        most = check_count(thin, "thin", "a whole number of thresholds above 0")
    return {
        name: thin_points(points, most, CERTIFIED_RECALL)
        for name, points in points_by_model.items()
    }


def empty_payload(scenario: Scenario) -> dict[str, Any]:
    """Return what a page without data opens with; its script puts models and cases in."""
    if check_scenario(scenario).per is not None:
        raise ArgumentError(
            "per",
            f"={scenario.per!r}; a page without data counts no periods, and accepts a capacity of "
            "all cases",
        )
    return {
        "models": [],
        "asScored": [],
        "cases": None,
        "setting": _setting(scenario),
        "thinning": None,
    }


def _check_complete(points_by_model: Mapping[str, OperatingPoints]) -> None:
    for name, points in points_by_model.items():
        if not points.covers.whole_curve:
            raise ValueError(
                f"model {name!r} was counted for some scenarios only, and a page moves through "
                "all of them; count it without a scenario"
            )


def _model(name: str, points: OperatingPoints) -> dict[str, Any]:
    counts = {"tp": points.tp, "fp": points.fp}
    if points.capacity_alarms is not None:
        counts["capacityAlarms"] = points.capacity_alarms
    columns = {column: values[1:].tolist() for column, values in counts.items()}
    return {"name": name, "thresholds": plain(points.thresholds[1:]), **columns}


def _as_scored(points: OperatingPoints) -> dict[str, Any] | None:
    """Alarms where a score is at least each risk; None where scores are no probabilities."""
    if not holds_risks(points):
        return None
    rows = np.searchsorted(-points.thresholds, -RISKS, side="right") - 1
    return {"tp": points.tp[rows].tolist(), "fp": points.fp[rows].tolist()}


def _shared_cases(points_by_model: Mapping[str, OperatingPoints]) -> dict[str, Any]:
    if not points_by_model:
        raise ValueError("points_by_model is empty; a page needs at least one model")
    check_same_cases(points_by_model, "a page compares models on the same")
    expected = next(iter(points_by_model.values()))
    if any(is_whole(points.tp) != is_whole(expected.tp) for points in points_by_model.values()):
        raise ValueError("some models have whole counts and others weights; a page takes one kind")
    return {
        "nPositive": plain(expected.n_positive),
        "nNegative": plain(expected.n_negative),
        "oneCase": plain(expected.one_case),
        "wholeCounts": is_whole(expected.tp),
        "wholeCases": isinstance(expected.n_cases, Integral),
    }


def _setting(scenario: Scenario) -> dict[str, Any]:
    low, high, spread = _miss_range(scenario.costs)
    capacity = "count" if scenario.capacity_is_count else "share"
    return {
        "minPrecision": float(scenario.min_precision),
        "minRecall": scenario.min_recall or 0.0,
        "capacity": {capacity: plain(scenario.capacity)},
        "miss": [low, high],
        "spread": spread,
        "prevalence": None if scenario.prevalence is None else float(scenario.prevalence),
    } | ({} if scenario.per is None else {"per": scenario.per, "exceed": scenario.exceed})


def _miss_range(costs: CostDistribution) -> tuple[float, float, str]:
    """Return the range of what a miss is worth, and the unit in which it is uniform."""
    known = isinstance(costs, Samples) and len(costs.values) == 1
    if costs.over == "t" or not (known or isinstance(costs, Uniform)):
        raise ValueError(
            f"cost_ratio={costs!r} cannot be moved with two sliders; a page accepts a number, a "
            "pair (low, high), voros.costs.uniform(...) or voros.costs.miss_costs(...)"
        )
    low, high = costs.support
    return (low, high, "miss") if costs.over == "miss" else (1.0 / high, 1.0 / low, "ratio")


def _thinning(
    full: Mapping[str, OperatingPoints], kept: Mapping[str, OperatingPoints], thin: int | None
) -> dict[str, Any] | None:
    """State what leaving out thresholds can change; None where none that matters was left out."""
    change = max(largest_change(full[name], kept[name], CERTIFIED_RECALL) for name in full)
    if thin is None and change == 0:
        return None
    most = MOST_HELD if thin is None else int(thin)
    return {"atMost": most, "largestChange": change, "recallFloor": CERTIFIED_RECALL}
