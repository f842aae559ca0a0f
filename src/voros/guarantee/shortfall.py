"""What came closest to a certificate, and how many more positives it would take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from voros.core.operating_points import OperatingPoints
from voros.core.scenario import Scenario
from voros.guarantee.binomial_tests import most_counted, precision_risk
from voros.guarantee.tuning import TUNING
from voros.typing import BoolArray


@dataclass(frozen=True)
class Shortfall:
    """The threshold that came closest, and the validation positives it would take.

    `more_positives` is None where more cases alone would not do.
    """

    threshold: float
    tp: int
    alarms: int
    risk: float
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
            f"{self.alarms:,} alarms (precision {self.tp / self.alarms:.4g}; by luck alone as many "
            f"have a chance of {self.risk:.3g}, and stricter thresholds must pass as well). "
        )
        if self.more_positives is None:
            return closest + "More cases of this kind would not do: the model or the limit must."
        return closest + (
            f"If more cases went like these, about {self.more_positives:,} more validation "
            "positives (and negatives in proportion) would do."
        )


def shortfall(
    points: OperatingPoints,
    scenario: Scenario,
    alpha: float,
    horizon: int | None,
    allowed: Callable[[OperatingPoints], BoolArray],
) -> Shortfall:
    """Find the threshold, within a safe capacity, whose precision is least likely to be luck.

    Parameters
    ----------
    points, scenario, alpha, horizon
        Of the certificate that was not given.
    allowed : callable
        Which thresholds it would be given to, with other points.
    """
    n_cases = int(points.n_cases)
    capacity = scenario.max_alarms(n_cases if horizon is None else horizon)
    most = most_counted(n_cases, capacity, horizon, alpha)
    index = np.flatnonzero((points.alarms > 0) & (points.alarms <= most))
    if len(index) == 0:
        return Shortfall(float("inf"), 0, 0, 1.0, None)
    risk = precision_risk(points.tp[index], points.alarms[index], scenario.min_precision)
    best = index[int(np.argmin(risk))]
    times = _times_the_data(points, allowed)
    more = None if times is None else int(np.ceil((times - 1) * points.n_positive))
    return Shortfall(
        float(points.thresholds[best]),
        int(points.tp[best]),
        int(points.alarms[best]),
        float(risk.min()),
        more,
    )


def _times_the_data(
    points: OperatingPoints, allowed: Callable[[OperatingPoints], BoolArray]
) -> float | None:
    def enough(times: float) -> bool:
        return bool(allowed(repeated(points, times))[1:].any())

    high = 2.0
    while not enough(high):
        high *= 2
        if high > TUNING.most_times_the_data:
            return None
    low = high / 2
    for _ in range(TUNING.times_halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def repeated(points: OperatingPoints, times: float) -> OperatingPoints:
    """Count as if every case had come `times` times, rounded down to whole counts.

    Examples
    --------
    >>> points = OperatingPoints.from_counts([3, 4], [1, 5], 5, 10)
    >>> repeated(points, 2.5).tp.tolist()
    [0, 7, 10]
    """
    return replace(
        points,
        tp=np.floor(points.tp * times).astype(np.int64),
        fp=np.floor(points.fp * times).astype(np.int64),
        n_positive=int(points.n_positive * times),
        n_negative=int(points.n_negative * times),
    )
