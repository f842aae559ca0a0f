"""What a reader of predictions asks first: flow, counts at the threshold, net benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.calibration import Estimate
from voros.core.decision import at_deployment
from voros.core.exact_intervals import PER_CASES, Counts, fpr_of, recall_of
from voros.inference.benefit_bands import fixed_threshold_interval
from voros.present.flow import FlowStep
from voros.present.report.wording import between
from voros.text.numbers import percent, short
from voros.text.table import Table

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.policy import PolicyEvaluation, SubgroupEvaluation
    from voros.present.report.content import DataSummary, Report
    from voros.typing import FloatArray

MEASURES = (
    *("precision (positive predictive value)", "recall (sensitivity)", "specificity"),
    *("negative predictive value", "alarms per 1,000 cases"),
)


def data_parts(report: Report) -> dict[str, PolicyEvaluation]:
    """Return what the default threshold does on the cases that chose it, and on test cases."""
    parts = {"validation": report.validated}
    return parts if report.tested_default is None else parts | {"test": report.tested_default}


def accuracy_values(evaluation: PolicyEvaluation) -> dict[str, Any]:
    """Count the four outcomes at one threshold; measures with exact intervals."""
    counts = evaluation.counts
    tp, fp = int(counts.tp[0]), int(counts.fp[0])
    fn, tn = int(counts.n_positive - tp), int(counts.n_negative - fp)
    return {
        "threshold": evaluation.choices[0].threshold,
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "measures": dict(zip(MEASURES, _measures(evaluation, tp, fp, fn, tn), strict=True)),
    }


def _measures(
    evaluation: PolicyEvaluation, tp: int, fp: int, fn: int, tn: int
) -> tuple[Estimate | None, ...]:
    confidence_level, intervals = evaluation.confidence_level, evaluation.intervals
    assert intervals is not None, "a report is of whole cases"
    per_case = PER_CASES / (evaluation.n_positive + evaluation.n_negative)
    low, high = intervals.alarms
    shares = [
        Estimate(*share.first) if of else None
        for share, of in (
            (evaluation.counts.share(recall_of, confidence_level), tp + fn),
            (evaluation.counts.share(fpr_of, confidence_level).rest, tn + fp),
            (evaluation.counts.share(_negative_predictive_value, confidence_level), tn + fn),
        )
    ]
    if evaluation.scenario.prevalence is not None:
        shares[-1] = None
    return (
        Estimate(evaluation.mean_precision, *intervals.precision) if tp + fp else None,
        *shares,
        Estimate(evaluation.mean_alarms * per_case, low * per_case, high * per_case),
    )


def _negative_predictive_value(counts: Counts) -> tuple[Any, Any]:
    """Negatives among the cases without an alarm."""
    tn = counts.n_negative - counts.fp
    return tn, tn + counts.n_positive - counts.tp


def accuracy_tables(report: Report) -> tuple[Table, Table]:
    """Return the four counts, and the measures, on validation and test cases."""
    parts = {part: accuracy_values(evaluation) for part, evaluation in data_parts(report).items()}
    head = ("cases", "TP", "FP", "FN", "TN")
    rows = [
        (part, *(f"{v[name]:,}" for name in ("tp", "fp", "fn", "tn"))) for part, v in parts.items()
    ]
    measures = [
        (
            name,
            *(between(values["measures"][name]) for values in parts.values()),
        )
        for name in MEASURES
        if any(values["measures"][name] for values in parts.values())
    ]
    interval = f"{percent(report.confidence_level)} interval"
    return (
        Table.from_rows([head, *rows], "At the deployed threshold"),
        Table.from_rows([("", *parts), *measures], f"With the exact {interval}"),
    )


def accuracy_in_words(report: Report) -> list[str]:
    """Say on which cases the threshold was chosen, and how far the numbers can be believed."""
    said = [
        "The validation cases chose the model and the threshold, so their numbers are optimistic."
    ]
    if report.test is None:
        said.append("No held-out cases were given: test the choice on some before deploying it.")
    elif not report.held_out:
        said.append(
            "The test file is the validation file, byte for byte: nothing was held out, and its "
            "numbers are as optimistic."
        )
    elif report.in_both is None:
        said.append(
            "The test cases were held out: they had no part in the choice, provided that no "
            "patient is in both files."
        )
    elif report.in_both.patients:
        said.append(
            f"{report.in_both}: these had a part in the choice, and the numbers are optimistic."
        )
    else:
        said.append(
            "The test cases were held out: none of their patients is among the validation cases."
        )
    if report.scenario.prevalence is not None:
        said.append(
            "Counts are as observed; precision and alarms are at a prevalence of "
            f"{percent(report.scenario.prevalence)}."
        )
    if report.over_stays:
        return [*said, "Intervals take patients as independent."]
    said.append("TP are true alarms, FP false alarms, FN misses, and TN neither.")
    if report.validated.counts.grouped is not None:
        return [*said, "Intervals take patients as independent, and not their cases."]
    return [
        *said,
        "Intervals take cases as independent; several of one patient make them too narrow.",
    ]


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
    threshold, scenario = float(report.policy.threshold(ratio)), report.scenario
    row = int(np.searchsorted(-observed.thresholds, -threshold, side="right")) - 1
    share = at_deployment(observed, scenario).prevalence
    value = share * observed.tpr[row] - ratio * (1 - share) * observed.fpr[row]
    probability = ratio / (1 + ratio)
    low, high = fixed_threshold_interval(
        observed, threshold, probability, scenario, report.confidence_level
    )
    ends = Estimate(*(PER_CASES * float(end) for end in (value, low, high)))
    everybody = PER_CASES * (share - ratio * (1 - share))
    return short(threshold), between(ends), short(everybody)


def deployed_benefit(
    report: Report, observed: OperatingPoints, probabilities: FloatArray
) -> FloatArray:
    """Return the net benefit of the policy's thresholds at each threshold probability."""
    ratios = probabilities / (1 - probabilities)
    thresholds = np.array([float(report.policy.threshold(ratio)) for ratio in ratios])
    rows = np.searchsorted(-observed.thresholds, -thresholds, side="right") - 1
    share = at_deployment(observed, report.scenario).prevalence
    return share * observed.tpr[rows] - ratios * (1 - share) * observed.fpr[rows]


def flow_steps(data: DataSummary) -> list[FlowStep]:
    """Return the way from the rows of a file to the cases, with and without the outcome."""
    steps, cases, models = [], int(data.cases), len(data.models)
    what, outcome = ("stays", "an event") if data.stays else ("cases", "the outcome")
    if data.rows is not None:
        steps.append(FlowStep(f"rows of {data.file}", data.rows))
        if data.left_out:
            columns = ", ".join(f"{name} ({n:,})" for name, n in data.missing.items())
            kept = data.rows - data.left_out
            steps.append(
                FlowStep("rows with all values", kept, data.left_out, f"no value in {columns}")
            )
    return [
        *steps,
        FlowStep(f"{what}, scored by {models} model{'s' if models > 1 else ''}", cases),
        FlowStep(f"with {outcome}", int(data.positives), is_part=True),
        FlowStep("without", cases - int(data.positives), is_part=True),
    ]


def flow_by_subgroup(by_subgroup: SubgroupEvaluation) -> Table:
    """Return the test cases of each subgroup, with and without the outcome."""
    rows = [
        (
            result.name,
            f"{result.cases:,}",
            f"{result.positives:,}",
            f"{result.cases - result.positives:,}",
        )
        for result in by_subgroup
    ]
    head = ("subgroup", "cases", "with the outcome", "without")
    return Table.from_rows([head, *rows], "Test cases by subgroup")
