"""Counts at the threshold, measures with exact intervals, and net benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.calibration import Estimate
from voros.core.decision import at_deployment
from voros.core.exact_intervals import PER_CASES, Counts, fpr_of, recall_of
from voros.inference.benefit_bands import fixed_threshold_interval
from voros.present.report.wording import between
from voros.text.numbers import percent, short, threshold_text
from voros.text.table import Table

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.policy import PolicyEvaluation
    from voros.present.report.content import Report
    from voros.typing import FloatArray

OUTCOMES = ("tp", "fp", "fn", "tn")


def accuracy_values(evaluation: PolicyEvaluation) -> dict[str, Any]:
    """Return the four counts at one threshold, and measures with exact intervals."""
    counts, level, intervals = evaluation.counts, evaluation.confidence_level, evaluation.intervals
    assert intervals is not None, "a report is of whole cases"
    tp, fp = int(counts.tp[0]), int(counts.fp[0])
    fn, tn = int(counts.n_positive - tp), int(counts.n_negative - fp)
    reweighted = evaluation.scenario.prevalence is not None
    recall, specificity = counts.share(recall_of, level), counts.share(fpr_of, level).rest
    predictive = counts.share(_negative_predictive_value, level)
    alarms = np.array([evaluation.mean_alarms, *intervals.alarms]) * PER_CASES / counts.n_cases
    precision = Estimate(evaluation.mean_precision, *intervals.precision)
    return {
        "threshold": evaluation.choices[0].threshold,
        **dict(zip(OUTCOMES, (tp, fp, fn, tn), strict=True)),
        "measures": {
            "precision (positive predictive value)": precision if tp + fp else None,
            "recall (sensitivity)": Estimate(*recall.first) if tp + fn else None,
            "specificity": Estimate(*specificity.first) if tn + fp else None,
            "negative predictive value": (
                Estimate(*predictive.first) if tn + fn and not reweighted else None
            ),
            "alarms per 1,000 cases": Estimate(*alarms.tolist()),
        },
    }


def _negative_predictive_value(counts: Counts) -> tuple[Any, Any]:
    """Negatives among the cases without an alarm."""
    tn = counts.n_negative - counts.fp
    return tn, tn + counts.n_positive - counts.tp


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


def accuracy_in_words(report: Report) -> list[str]:
    """Say on which cases the threshold was chosen, and what the numbers assume."""
    said = ["The validation cases chose model and threshold, so their numbers are optimistic."]
    said.append(_held_out_in_words(report))
    if report.scenario.prevalence is not None:
        said.append(
            "Counts are as observed; precision and alarms are at a prevalence of "
            f"{percent(report.scenario.prevalence)}."
        )
    if report.over_stays:
        return [*said, "Intervals take patients as independent."]
    said.append("TP are correct alarms, FP false alarms, FN misses, and TN neither.")
    if report.validated.counts.grouped is not None:
        return [*said, "Intervals take patients as independent, and not their cases."]
    repeated = "patients with several cases make them too narrow"
    return [*said, f"Intervals take cases as independent; {repeated}."]


def _held_out_in_words(report: Report) -> str:
    if report.test is None:
        return "No held-out cases were given: test the choice on some before deploying it."
    if not report.held_out:
        return (
            "The test file is the validation file, byte for byte: nothing was held out, and its "
            "numbers are as optimistic."
        )
    if report.in_both is None:
        return (
            "The test cases were held out: they had no part in the choice, provided that no "
            "patient is in both files."
        )
    if report.in_both.patients:
        return f"{report.in_both}: these had a part in the choice, and the numbers are optimistic."
    return "The test cases were held out: none of their patients is among the validation cases."


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
