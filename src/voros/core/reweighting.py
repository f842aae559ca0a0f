"""Operating points at another prevalence: the classes weigh more or less, the rates stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voros.core.coverage import SOME_THRESHOLDS

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints


def at_prevalence(points: OperatingPoints, prevalence: float) -> OperatingPoints:
    """Reweight the classes; see `OperatingPoints.at_prevalence`."""
    weighted = reweighted(points, prevalence)
    # Points of a traced curve need not be nested: their order by alarms may change.
    rows = np.lexsort((weighted.tp, weighted.alarms))
    return weighted.take(rows, covers=weighted.covers)


def reweighted(points: OperatingPoints, prevalence: float) -> OperatingPoints:
    """Reweight the classes as `at_prevalence` does, and keep the order of the points."""
    n_positive = prevalence * points.n_cases
    n_negative = points.n_cases - n_positive
    factors = n_positive / points.n_positive, n_negative / points.n_negative
    return replace(
        points.take(np.arange(len(points))),
        # By the rates: those of 1 stay 1, whatever is rounded.
        tp=points.tpr * n_positive,
        fp=points.fpr * n_negative,
        n_positive=n_positive,
        n_negative=n_negative,
        one_case=points.one_case * min(factors),
        # What was counted for a scenario was counted at the prevalence of the cases.
        covers=points.covers if points.covers.whole_curve else SOME_THRESHOLDS,
        capacity_alarms=None,
        worth=None if points.worth is None else _scaled(points.worth, *factors),
    )


def _scaled(worth: OperatingPoints, per_positive: float, per_negative: float) -> OperatingPoints:
    """Multiply what is counted of each class."""
    return replace(
        worth,
        tp=worth.tp * per_positive,
        fp=worth.fp * per_negative,
        n_positive=worth.n_positive * per_positive,
        n_negative=worth.n_negative * per_negative,
    )
