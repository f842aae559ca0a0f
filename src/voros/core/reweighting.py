"""Operating points at another prevalence: class sizes change, and rates stay the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voros.core.coverage import SOME_THRESHOLDS

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints


def reweighted(points: OperatingPoints, prevalence: float) -> OperatingPoints:
    """Reweight the classes as `OperatingPoints.at_prevalence` does, with points in their order."""
    n_positive = prevalence * points.n_cases
    n_negative = points.n_cases - n_positive
    per_positive, per_negative = n_positive / points.n_positive, n_negative / points.n_negative
    worth = points.worth
    if worth is not None:
        worth = replace(
            worth,
            tp=worth.tp * per_positive,
            fp=worth.fp * per_negative,
            n_positive=worth.n_positive * per_positive,
            n_negative=worth.n_negative * per_negative,
        )
    return replace(
        points.take(np.arange(len(points))),
        # Computed from the rates, so that rates of 1 stay exactly 1.
        tp=points.tpr * n_positive,
        fp=points.fpr * n_negative,
        n_positive=n_positive,
        n_negative=n_negative,
        one_case=points.one_case * min(per_positive, per_negative),
        # Points for one scenario were counted at the prevalence of the cases.
        covers=points.covers if points.covers.whole_curve else SOME_THRESHOLDS,
        capacity_alarms=None,
        worth=worth,
    )
