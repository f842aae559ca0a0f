"""Thresholds at which periods exceed a capacity, for a page."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, Periods
from voros.core.scenario import Scenario
from voros.present.explorer.replicates import Units
from voros.typing import AnyArray, BoolArray

PARTS_OF_A_GAP = 256
"""Parts into which the thresholds between two counted ones are divided."""

EXCEEDED_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Shares of the periods with more alarms than the capacity that a page offers."""


def period_counts(
    points_by_model: Mapping[str, OperatingPoints],
    held: Mapping[str, OperatingPoints],
    scenario: Scenario,
) -> dict[str, Any] | None:
    """Return the periods for a page; None where the capacity is not one per period.

    For every capacity and model: the places in the held thresholds, in rising order, at which one
    period more exceeds the capacity. They show neither cases nor which period it is.
    """
    if scenario.per is None:
        return None
    cases = {name: _cases(name, points) for name, points in points_by_model.items()}
    periods = next(iter(cases.values())).periods
    most = int(periods.sizes.max())
    return {
        "n": periods.n_periods,
        "most": most,
        "note": periods.note,
        "breaks": [_breaks(cases[name], held[name], most) for name in points_by_model],
    }


def _cases(name: str, points: OperatingPoints) -> PeriodCases:
    if points.by_period is None:
        raise ValueError(f"model {name!r} was counted without the periods of its cases")
    return points.by_period


def _breaks(cases: PeriodCases, held: OperatingPoints, most: int) -> list[list[int]]:
    breaks = []
    for capacity in range(1, most + 1):
        scores = cases.breaking_scores(capacity)
        # Thresholds fall: the first that is no higher than the score at which a period breaks.
        places = np.searchsorted(-held.thresholds, -scores[~np.isnan(scores)], side="left")
        breaks.append(np.sort(places).tolist())
    return breaks


def with_last_rows(
    replicates: Mapping[str, Any],
    points_by_model: Mapping[str, OperatingPoints],
    held: Mapping[str, OperatingPoints],
    units: Units,
    scenario: Scenario,
) -> dict[str, Any]:
    """Add, to resamples of periods, how many thresholds each rule on periods leaves.

    Of each model, as bytes: for every resample, capacity and share of the periods that may exceed
    it, how many of the counted thresholds come before one period too many exceeds it, in parts of
    the gaps between them.
    """
    shares = sorted({*EXCEEDED_SHARES, *(() if scenario.exceed is None else (scenario.exceed,))})
    times = np.stack([units.times_drawn(b) for b in range(replicates["resamples"])])
    may = [math.floor(Fraction(s).limit_denominator(10**9) * units.n_units) for s in shares]
    most = max(_cases(name, points).periods.sizes.max() for name, points in points_by_model.items())
    models = []
    for model, (name, points) in zip(replicates["models"], points_by_model.items(), strict=True):
        cases, thresholds = _cases(name, points), held[name].thresholds[1:]
        kept = np.asarray(model["kept"])
        rows = np.stack(
            [
                _last_rows(cases.breaking_scores(capacity), thresholds, kept, times, may)
                for capacity in range(1, int(most) + 1)
            ],
            axis=1,
        )
        models.append({**model, "lastRows": base64.b64encode(rows.tobytes()).decode()})
    periods = {"n": units.n_units, "most": int(most), "shares": shares}
    return {**replicates, "models": models, "periods": periods}


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
    from_ = ends[np.maximum(places, 1) - 1]
    further = np.where(places > 0, (before - from_) / (ends[places] - from_), 0.0)
    return np.asarray(np.floor(PARTS_OF_A_GAP * (places + further)), dtype=np.int64)


def with_periods(
    points_by_model: Mapping[str, OperatingPoints],
    periods: Periods,
    positive: BoolArray,
    scores: Mapping[str, Any],
) -> dict[str, OperatingPoints]:
    """Return points with the periods of their cases."""
    return {
        name: replace(
            points, by_period=PeriodCases.from_cases(periods, positive, np.asarray(scores[name]))
        )
        for name, points in points_by_model.items()
    }
