"""Thresholds at which periods exceed a capacity, for a page."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, Periods
from voros.core.scenario import Scenario
from voros.present.explorer.replicates import Units
from voros.typing import AnyArray

PARTS_OF_A_GAP = 256
"""Parts into which the thresholds between two counted ones are divided."""

EXCEEDED_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of the periods with more alarms than the capacity that a page offers."""


def period_counts(
    points_by_model: Mapping[str, OperatingPoints], held: Mapping[str, OperatingPoints]
) -> dict[str, Any]:
    """Return the periods for a page.

    For every capacity and model: the places in the held thresholds, in rising order, at which one
    period more exceeds the capacity. They show neither cases nor which period it is.
    """
    cases = _period_cases(points_by_model)
    periods = next(iter(cases.values())).periods
    return {
        "n": periods.n_periods,
        "most": len(_capacities(periods)),
        "note": periods.note,
        "breaks": [_breaks(cases[name], held[name]) for name in points_by_model],
    }


def _period_cases(points_by_model: Mapping[str, OperatingPoints]) -> dict[str, PeriodCases]:
    cases = {}
    for name, points in points_by_model.items():
        if points.by_period is None:
            raise ValueError(f"model {name!r} was counted without the periods of its cases")
        cases[name] = points.by_period
    return cases


def _capacities(periods: Periods) -> range:
    """Return the capacities that bind: up to the number of cases in the largest period."""
    return range(1, int(periods.sizes.max()) + 1)


def _breaks(cases: PeriodCases, held: OperatingPoints) -> list[list[int]]:
    breaks = []
    for capacity in _capacities(cases.periods):
        scores = cases.breaking_scores(capacity)
        # Thresholds fall: the first that is no higher than the score at which a period breaks.
        places = np.searchsorted(-held.thresholds, -scores[~np.isnan(scores)], side="left")
        breaks.append(np.sort(places).tolist())
    return breaks


def add_last_rows(
    replicates: dict[str, Any],
    points_by_model: Mapping[str, OperatingPoints],
    held: Mapping[str, OperatingPoints],
    scenario: Scenario,
) -> None:
    """Add, to resamples of periods, how many thresholds each rule on periods leaves.

    Of each model, as bytes: for every resample, capacity and share of the periods that may exceed
    it, how many of the counted thresholds come before one period too many exceeds it, in parts of
    the gaps between them.
    """
    cases = _period_cases(points_by_model)
    periods = next(iter(cases.values())).periods
    units, capacities = Units(periods.codes, periods.n_periods), _capacities(periods)
    shares = sorted({*EXCEEDED_SHARES, *(() if scenario.exceed is None else (scenario.exceed,))})
    may = [math.floor(Fraction(s).limit_denominator(10**9) * periods.n_periods) for s in shares]
    times = np.stack([units.times_drawn(b) for b in range(replicates["resamples"])])
    for model, (name, of_model) in zip(replicates["models"], cases.items(), strict=True):
        thresholds, kept = held[name].thresholds[1:], np.asarray(model["kept"])
        rows = [
            _last_rows(of_model.breaking_scores(capacity), thresholds, kept, times, may)
            for capacity in capacities
        ]
        model["lastRows"] = base64.b64encode(np.stack(rows, axis=1).tobytes()).decode()
    replicates["periods"] = {"n": periods.n_periods, "most": len(capacities), "shares": shares}


def _last_rows(
    scores: AnyArray, thresholds: AnyArray, kept: AnyArray, times: AnyArray, may: Sequence[int]
) -> AnyArray:
    """Return, by resample and allowed number of periods, how many thresholds are left."""
    passing = np.flatnonzero(~np.isnan(scores))
    places = _parts_before(scores[passing], thresholds, kept)
    order = np.argsort(places, kind="stable")
    passed = np.cumsum(times[:, passing[order]], axis=1)
    ends = np.append(places[order], PARTS_OF_A_GAP * len(kept))
    first_too_many = np.stack([np.sum(passed <= n, axis=1) for n in may], axis=1)
    return np.asarray(ends[first_too_many], dtype="<u2")


def _parts_before(scores: AnyArray, thresholds: AnyArray, kept: AnyArray) -> AnyArray:
    """Count the kept thresholds stricter than each score, and its distance to the next."""
    before = np.searchsorted(-thresholds, -scores, side="left") - 1
    places = np.searchsorted(kept, before, side="right")
    ends = np.append(kept, kept[-1] + 1)
    last = ends[np.maximum(places, 1) - 1]
    gap, first = ends[places] - last, np.zeros(len(places))
    further = np.divide(before - last, gap, out=first, where=places > 0)
    return np.asarray(np.floor(PARTS_OF_A_GAP * (places + further)), dtype=np.int64)
