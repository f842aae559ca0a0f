"""Tables of a report on cases: counts, measures with exact intervals, and net benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voros.core.calibration import Estimate
from voros.core.decision import at_deployment
from voros.core.exact_intervals import PER_CASES
from voros.inference.benefit_bands import fixed_threshold_interval
from voros.present.report.values import OUTCOMES, accuracy_values
from voros.text.numbers import percent, short, threshold_text, with_interval
from voros.text.table import Table

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.present.report.content import Report, ScoreQuality
    from voros.typing import FloatArray


def case_tables(report: Report) -> dict[str, Table]:
    """Return the tables of a report by name; one over stays has none of them."""
    if report.over_stays:
        return {}
    counts, measures = accuracy_tables(report)
    quality, net_benefit = quality_table(report), net_benefit_table(report)
    return {"counts": counts, "measures": measures, "quality": quality, "net_benefit": net_benefit}


def between(estimate: Estimate | None) -> str:
    """Write a number with its interval.

    Examples
    --------
    >>> between(Estimate(0.5, 0.25, 0.75)), between(None)
    ('0.500 (0.250 to 0.750)', '-')
    """
    return "-" if estimate is None else with_interval(estimate.value, estimate.low, estimate.high)


def accuracy_tables(report: Report) -> list[Table]:
    """Return the four counts, and the measures, on validation and test cases."""
    values = {part: accuracy_values(tested) for part, tested in report.evaluations.items()}
    counts = [(part, *(f"{of[name]:,}" for name in OUTCOMES)) for part, of in values.items()]
    measures = [
        (name, *(between(of["measures"][name]) for of in values.values()))
        for name in values["validation"]["measures"]
        if any(of["measures"][name] for of in values.values())
    ]
    interval = f"{percent(report.confidence_level)} interval"
    return [
        Table.from_rows([("cases", "TP", "FP", "FN", "TN"), *counts], "At the deployed threshold"),
        Table.from_rows([("", *values), *measures], f"With the exact {interval}"),
    ]


def quality_table(report: Report) -> Table:
    """Return discrimination and calibration of every model, and of the chosen one on test cases."""
    head = ("model", "AUROC", "mean risk", "observed", "intercept", "slope", "Brier score")
    rows = [(model, *_quality_cells(quality)) for model, quality in report.quality.items()]
    if report.test_quality is not None:
        rows.append((f"{report.winner}, test cases", *_quality_cells(report.test_quality)))
    level = percent(report.confidence_level)
    title = f"On the validation cases unless stated, with the {level} interval"
    return Table.from_rows([head, *rows], title)


def _quality_cells(quality: ScoreQuality) -> tuple[str, ...]:
    calibration, auroc = quality.calibration, between(quality.auroc)
    if calibration is None:
        return (auroc, *["-"] * 5)
    return (
        *(auroc, short(calibration.mean_risk), short(calibration.observed.value)),
        *(between(estimate) for estimate in (calibration.in_the_large, calibration.slope)),
        between(calibration.brier),
    )


def net_benefit_table(report: Report) -> Table:
    """Return the net benefit of the deployed thresholds at both ends of the costs."""
    parts = {"validation": report.points[report.winner]}
    if report.test_points is not None:
        parts["test"] = report.test_points
    odds = at_deployment(parts["validation"], report.scenario).negatives_per_positive
    ends = [c for c in report.scenario.costs.ratio_range(odds) if np.isfinite(c)]
    head = ("threshold probability", "cases", "alarm at a score of", "net benefit", "alarm for all")
    rows = [
        (short(ratio / (1 + ratio)), part, *_benefit(report, points, ratio))
        for ratio in dict.fromkeys(ends)
        for part, points in parts.items()
    ]
    title = f"Net benefit per 1,000 cases, with the {percent(report.confidence_level)} interval"
    return Table.from_rows([head, *rows], title)


def _benefit(report: Report, observed: OperatingPoints, ratio: float) -> tuple[str, str, str]:
    """Return threshold, net benefit with its interval, and that of an alarm for everybody."""
    threshold, probability = float(report.policy.threshold(ratio)), ratio / (1 + ratio)
    limits = fixed_threshold_interval(
        observed, threshold, probability, report.scenario, report.confidence_level
    )
    (value,) = deployed_benefit(report, observed, np.array([probability]))
    share = at_deployment(observed, report.scenario).prevalence
    everybody = PER_CASES * (share - ratio * (1 - share))
    ends = Estimate(*(PER_CASES * float(end) for end in (value, *limits)))
    return threshold_text(threshold), between(ends), short(everybody)


def deployed_benefit(
    report: Report, observed: OperatingPoints, probabilities: FloatArray
) -> FloatArray:
    """Return the net benefit of the policy's thresholds at each threshold probability."""
    ratios = probabilities / (1 - probabilities)
    thresholds = np.array([float(report.policy.threshold(ratio)) for ratio in ratios])
    rows = np.searchsorted(-observed.thresholds, -thresholds, side="right") - 1
    share = at_deployment(observed, report.scenario).prevalence
    return share * observed.tpr[rows] - ratios * (1 - share) * observed.fpr[rows]
