"""What came closest to a certificate, and how many more positives it would take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voros.inference.capacity import most_alarms
from voros.inference.prediction import last_risk, scale
from voros.inference.sequential import precision_risk
from voros.inputs import AnyArray, FloatArray
from voros.roc import OperatingPoints
from voros.scenario import Scenario

MOST_TIMES_THE_DATA = 1024.0
"""Beyond so many times the validation cases, more of them is not an answer."""

SEARCH_STEPS = 40
"""Halvings in the search for how many times the data it takes."""


@dataclass(frozen=True)
class Shortfall:
    """The threshold that came closest, and the validation positives it would take.

    `more_positives` is None where more cases alone would not do.
    """

    threshold: float
    tp: int
    alarms: int
    risk: float
    level: float
    more_positives: int | None

    def sentence(self) -> str:
        """Put it into words."""
        if self.alarms == 0:
            return (
                "Not one alarm leaves the capacity safe: it takes a larger capacity or more "
                "validation cases."
            )
        closest = (
            f"Closest came the threshold {self.threshold:.6g}, with {self.tp:,} right of "
            f"{self.alarms:,} alarms (precision {self.tp / self.alarms:.4g}): the chance of that "
            f"many at a precision just at the floor is {self.risk:.3g}, and {self.level:.3g} is "
            "needed. "
        )
        if self.more_positives is None:
            return closest + "More cases of this kind would not do; the model or the limit must."
        return closest + (
            f"If the precision stays the same, about {self.more_positives:,} more validation "
            "positives (and negatives in proportion) would do."
        )


def shortfall(
    points: OperatingPoints, scenario: Scenario, n_cases: int, level: float, horizon: int | None
) -> Shortfall:
    """Find the threshold within a safe capacity whose precision is nearest to a certificate."""
    most = most_alarms(n_cases, scenario, horizon, level / 2)
    index = np.flatnonzero((points.alarms > 0) & (points.alarms <= most))
    if len(index) == 0:
        return Shortfall(float("inf"), 0, 0, 1.0, level, None)
    tp, alarms = points.tp[index], points.alarms[index]
    risk = precision_risk(tp, alarms, scenario.min_precision)
    best = int(np.argmin(risk))
    times = _times_the_data(
        int(tp[best]), int(alarms[best]), n_cases, scenario.min_precision, level, horizon
    )
    more = None if times is None else max(int(np.ceil((times - 1) * points.n_positive)), 1)
    return Shortfall(
        float(points.thresholds[index[best]]),
        int(tp[best]),
        int(alarms[best]),
        float(risk[best]),
        level,
        more,
    )


def _times_the_data(
    tp: int, alarms: int, n_cases: int, floor: float, level: float, horizon: int | None
) -> float | None:
    def risk(times: float) -> float:
        return _risk_with_more(times, tp, alarms, n_cases, floor, horizon)

    if tp <= floor * alarms or floor == 1 or risk(MOST_TIMES_THE_DATA) > level:
        return None
    low, high = 0.0, float(np.log2(MOST_TIMES_THE_DATA))
    for _ in range(SEARCH_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if risk(2.0**middle) <= level else (middle, high)
    return float(2.0**high)


def _risk_with_more(
    times: float, tp: int, alarms: int, n_cases: int, floor: float, horizon: int | None
) -> float:
    more = max(round(alarms * times), 1)
    right: AnyArray = np.array([int(more * tp / alarms)])
    if horizon is None:
        return float(precision_risk(right, np.array([more]), floor)[0])
    cases = round(n_cases * times)
    spread: FloatArray = scale(np.array([more]), cases, horizon, floor)
    return last_risk(float((right[0] - floor * more) / spread[0]), (more, cases, horizon, floor))
