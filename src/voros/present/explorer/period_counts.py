"""Which thresholds take how many periods past their capacity: what a page holds of periods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.periods import PeriodCases, Periods
from voros.core.scenario import Scenario
from voros.typing import BoolArray


def period_counts(
    points_by_model: Mapping[str, OperatingPoints],
    held: Mapping[str, OperatingPoints],
    scenario: Scenario,
) -> dict[str, Any] | None:
    """Return the periods for a page; None where the capacity is not one per period.

    For every capacity and model: the places in the held thresholds, in rising order, at which one
    period more passes the capacity. Neither cases nor which period it is are in it.
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


def with_periods(
    points_by_model: Mapping[str, OperatingPoints],
    periods: Periods,
    positive: BoolArray,
    scores: Mapping[str, Any],
) -> dict[str, OperatingPoints]:
    """Return points that know the periods of their cases."""
    return {
        name: replace(
            points,
            by_period=PeriodCases(
                periods=periods, positive=positive, scores=np.asarray(scores[name], float)
            ),
        )
        for name, points in points_by_model.items()
    }
