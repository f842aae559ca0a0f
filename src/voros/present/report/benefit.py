"""Net benefit of the deployed thresholds of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from voros.core.calibration import Estimate
from voros.core.decision import at_deployment
from voros.core.exact_intervals import PER_CASES
from voros.inference.benefit_bands import fixed_threshold_interval

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.present.report.content import Report
    from voros.typing import FloatArray


@dataclass(frozen=True, kw_only=True)
class NetBenefit:
    """Net benefit per 1,000 cases, of a deployed threshold and of an alarm for everybody.

    Attributes
    ----------
    which : str
        The cases: validation or test.
    threshold_probability, threshold, of_everybody : float
    of_threshold : Estimate
    """

    which: str
    threshold_probability: float
    threshold: float
    of_threshold: Estimate
    of_everybody: float


def net_benefits(report: Report) -> Iterator[NetBenefit]:
    """Return the net benefit of the thresholds for both ends of the costs, on all cases."""
    parts = {"validation": report.points[report.winner]}
    if report.test_points is not None:
        parts["test"] = report.test_points
    odds = at_deployment(parts["validation"], report.scenario).negatives_per_positive
    for ratio in dict.fromkeys(report.scenario.costs.ratio_range(odds)):
        if np.isfinite(ratio):
            yield from (_net_benefit(report, which, parts[which], ratio) for which in parts)


def _net_benefit(report: Report, which: str, observed: OperatingPoints, ratio: float) -> NetBenefit:
    threshold, probability = float(report.policy.threshold(ratio)), ratio / (1 + ratio)
    (value,) = deployed_benefit(report, observed, np.array([probability]))
    limits = fixed_threshold_interval(
        observed, threshold, probability, report.scenario, report.confidence_level
    )
    share = at_deployment(observed, report.scenario).prevalence
    return NetBenefit(
        which=which,
        threshold_probability=probability,
        threshold=threshold,
        of_threshold=Estimate(*(PER_CASES * float(end) for end in (value, *limits))),
        of_everybody=PER_CASES * (share - ratio * (1 - share)),
    )


def deployed_benefit(
    report: Report, observed: OperatingPoints, probabilities: FloatArray
) -> FloatArray:
    """Return the net benefit of the policy's thresholds at each threshold probability."""
    ratios = probabilities / (1 - probabilities)
    thresholds = np.array([float(report.policy.threshold(ratio)) for ratio in ratios])
    rows = np.searchsorted(-observed.thresholds, -thresholds, side="right") - 1
    share = at_deployment(observed, report.scenario).prevalence
    return share * observed.tpr[rows] - ratios * (1 - share) * observed.fpr[rows]
