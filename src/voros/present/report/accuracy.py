"""What a reader of predictions asks first: counts at the threshold, discrimination, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.calibration import Calibration, Estimate, holds_risks
from voros.core.exact_intervals import PER_CASES, binomial_limits
from voros.core.risk_quality import auroc_interval
from voros.present.flow import FlowStep
from voros.text.table import Table

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.policy import PolicyEvaluation
    from voros.present.report.content import DataSummary, Report

MEASURES = (
    *("precision (positive predictive value)", "recall (sensitivity)", "specificity"),
    *("negative predictive value", "alarms per 1,000 cases"),
)
NO_RISKS = (
    "Calibration compares risks with what happened, and needs scores that are probabilities from "
    "0 to 1: those of {} are none."
)


def data_parts(report: Report) -> dict[str, PolicyEvaluation]:
    """Return what the default threshold does on the cases that chose it, and on test cases."""
    parts = {"validation": report.validated}
    return parts if report.tested_default is None else parts | {"test": report.tested_default}


def accuracy_values(found: PolicyEvaluation) -> dict[str, Any]:
    """Count the four outcomes at one threshold; measures with exact intervals."""
    counts = found.counts
    tp, fp = int(counts.tp[0]), int(counts.fp[0])
    fn, tn = int(counts.n_positive - tp), int(counts.n_negative - fp)
    return {
        "threshold": found.choices[0].threshold,
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "measures": dict(zip(MEASURES, _measures(found, tp, fp, fn, tn), strict=True)),
    }


def _measures(
    found: PolicyEvaluation, tp: int, fp: int, fn: int, tn: int
) -> tuple[Estimate | None, ...]:
    confidence, intervals = found.confidence, found.intervals
    assert intervals is not None, "a report is of whole cases"
    per_case = PER_CASES / (found.n_positive + found.n_negative)
    low, high = intervals.alarms
    share = None if found.scenario.prevalence is not None else _share(tn, tn + fn, confidence)
    return (
        Estimate(found.mean_precision, *intervals.precision) if tp + fp else None,
        _share(tp, tp + fn, confidence),
        _share(tn, tn + fp, confidence),
        share,
        Estimate(found.mean_alarms * per_case, low * per_case, high * per_case),
    )


def _share(hits: int, of: int, confidence: float) -> Estimate | None:
    if not of:
        return None
    low, high = binomial_limits(np.array([hits]), of, confidence)
    return Estimate(hits / of, float(low[0]), float(high[0]))


def accuracy_tables(report: Report) -> tuple[Table, Table]:
    """Return the four counts, and the measures, on validation and test cases."""
    parts = {part: accuracy_values(found) for part, found in data_parts(report).items()}
    head = (
        "cases",
        *("TP (true alarm)", "FP (false alarm)", "FN (miss)", "TN (no alarm, no outcome)"),
    )
    rows = [
        (part, *(f"{v[name]:,}" for name in ("tp", "fp", "fn", "tn"))) for part, v in parts.items()
    ]
    measures = [
        (
            name,
            *(
                _between(each["measures"][name], 1 if "1,000" in name else 3)
                for each in parts.values()
            ),
        )
        for name in MEASURES
        if any(each["measures"][name] for each in parts.values())
    ]
    interval = f"{report.confidence:.0%} interval"
    return (
        Table.from_rows([head, *rows], "Alarms and outcomes at the deployed threshold"),
        Table.from_rows([("", *parts), *measures], f"With the exact {interval}"),
    )


def accuracy_in_words(report: Report) -> list[str]:
    """Say on which cases the threshold was chosen, and how far the numbers can be believed."""
    said = [
        "The validation cases chose the model and the threshold, so their numbers are optimistic."
    ]
    if report.test is None:
        said.append("No held-out cases were given: test the choice on some before deploying it.")
    elif report.test.sha256 is not None and report.test.sha256 == report.validation.sha256:
        said.append(
            "The test file is the validation file, byte for byte: nothing was held out, and its "
            "numbers are as optimistic."
        )
    else:
        said.append(
            "The test cases were held out: they had no part in the choice, provided that no "
            "patient is in both files."
        )
    if report.scenario.prevalence is not None:
        said.append(
            "Counts are as observed; precision and alarms are at a prevalence of "
            f"{report.scenario.prevalence:.3%}."
        )
    return [
        *said,
        "Intervals take cases as independent; several of one patient make them too narrow.",
    ]


def quality_table(report: Report) -> Table:
    """Return discrimination and calibration of every model, and of the chosen one on test cases."""
    head = (
        *("model", "cases", "AUROC", "mean risk", "observed"),
        *("calibration in the large", "slope", "Brier score"),
    )
    found = [("validation", model, points) for model, points in report.points.items()]
    if report.test_points is not None:
        found.append(("test", report.winner, report.test_points))
    rows = [(model, part, *_quality(points, report.confidence)) for part, model, points in found]
    return Table.from_rows([head, *rows], f"With the {report.confidence:.0%} interval")


def quality_values(points: OperatingPoints, confidence: float) -> dict[str, Any]:
    """Measure discrimination, and calibration where scores are probabilities."""
    found = Calibration.of(points, confidence=confidence) if holds_risks(points) else None
    return {"auroc": auroc_interval(points, confidence), "calibration": found}


def _quality(points: OperatingPoints, confidence: float) -> tuple[str, ...]:
    values = quality_values(points, confidence)
    found, auroc = values["calibration"], _between(values["auroc"])
    if found is None:
        return (auroc, *["-"] * 5)
    return (
        *(auroc, f"{found.mean_risk:.3f}", _between(found.observed)),
        *map(_between, (found.in_the_large, found.slope, found.brier)),
    )


def calibrated(report: Report) -> OperatingPoints | None:
    """Return the chosen model's points on the best cases there are; None if it gives no risks."""
    points = report.points[report.winner] if report.test_points is None else report.test_points
    return points if holds_risks(points) else None


def calibration_table(report: Report) -> Table | None:
    """Return observed and expected shares in groups of risk, of the chosen model."""
    points = calibrated(report)
    if points is None:
        return None
    curve = Calibration.of(points, confidence=report.confidence).curve
    rows = [
        (str(i + 1), f"{cases:,}", f"{mean:.3f}", _between(Estimate(observed, low, high)))
        for i, (mean, observed, low, high, cases) in enumerate(
            zip(*vars(curve).values(), strict=True)
        )
    ]
    head = ("group of risk", "cases", "mean risk", f"observed ({report.confidence:.0%} interval)")
    part = "validation" if report.test_points is None else "test"
    return Table.from_rows([head, *rows], f"{report.winner} on the {part} cases")


def calibration_in_words(report: Report) -> list[str]:
    """Say what the measures mean, and what is missing and why."""
    none = [model for model, points in report.points.items() if not holds_risks(points)]
    said = [NO_RISKS.format(", ".join(none))] if none else []
    if len(none) < len(report.points):
        said.append(
            "Calibration in the large is 0 where risks are right on average, and above 0 where "
            "they are too low. A slope below 1 means risks that are too extreme."
        )
    points = calibrated(report)
    missing = "" if points is None else Calibration.of(points).missing
    if missing:
        said.append(f"{report.winner} has neither here: {missing}.")
    return said


def _between(found: Estimate | None, decimals: int = 3) -> str:
    if found is None:
        return "-"
    value = f"{found.value:,.{decimals}f}"
    if np.isnan(found.low):
        return value
    return f"{value} ({found.low:,.{decimals}f} to {found.high:,.{decimals}f})"


def flow_steps(data: DataSummary) -> list[FlowStep]:
    """Return the way from the rows of a file to the cases, with and without the outcome."""
    steps, cases, models = [], int(data.cases), len(data.models)
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
        FlowStep(f"cases, scored by {models} model{'s' if models > 1 else ''}", cases),
        FlowStep("with the outcome", int(data.positives), is_part=True),
        FlowStep("without", cases - int(data.positives), is_part=True),
    ]
