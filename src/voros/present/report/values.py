"""Plain values for JSON: of a scenario, an evaluation and a whole report."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms.stay_rows import rows_in_memory
from voros.core.calibration import Estimate
from voros.core.exact_intervals import PER_CASES, Counts, fpr_of, recall_of
from voros.core.scenario import PATIENT_DAY
from voros.installing import package_versions

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.core.scenario import Scenario
    from voros.policy import PolicyEvaluation, SubgroupEvaluation
    from voros.present.report.content import Report

REPORTED_PACKAGES = ("voros", "numpy", "scipy", "pyarrow", "matplotlib")
"""Packages whose versions decide the numbers and the pictures."""

REPORT_SCHEMA = 1

OUTCOMES = ("tp", "fp", "fn", "tn")

EVALUATION_NUMBERS = (
    *("deployed", "expected_cost", "cost_per_1000", "mean_precision", "mean_recall"),
    *("mean_alarms", "max_alarms"),
)
"""Numbers of a policy on test cases, besides intervals, violations and choices."""


def report_document(report: Report, written: datetime) -> dict[str, Any]:
    """Return everything in a report as plain values, for the JSON beside it."""
    return {
        "format": "voros report",
        "schema": REPORT_SCHEMA,
        "title": report.title,
        "written": written.isoformat(timespec="seconds"),
        "command": report.command,
        "versions": package_versions(*REPORTED_PACKAGES),
        "validation": asdict(report.data["validation"]) | _validation_values(report),
        "scenario": scenario_values(report.scenario),
        "strategy": report.selection.strategy,
        "winner": report.winner,
        "intervals": {"confidence_level": report.confidence_level, "resamples": report.n_resamples},
        "verdict": None if report.comparison is None else report.comparison.verdict,
        "differences": _differences(report),
        "ranking": ranking_rows(report),
        "policy": report.policy.fields(),
        "test": None if report.test is None else _test_values(report),
    }


def _validation_values(report: Report) -> dict[str, Any]:
    if report.over_stays:
        return {"at_default": report.validated.values()}
    return {"at_default": accuracy_values(report.validated), "quality": report.quality}


def _test_values(report: Report) -> dict[str, Any]:
    """Return the evaluation on test cases, by a threshold for each cost and by the default."""
    by_cost = report.tested_by_cost
    values: dict[str, Any] = {"data": asdict(report.data["test"]), "verdict": report.verdict}
    if by_cost is None:
        return values | {"at_default": report.tested.values()}
    return values | {
        "at_default": accuracy_values(report.tested),
        "quality": {report.winner: report.test_quality},
        "evaluation": evaluation_values(by_cost, report.false_alarm_cost),
        "in_both": report.in_both and asdict(report.in_both),
    }


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


def _differences(report: Report) -> list[dict[str, Any]]:
    pairs = () if report.comparison is None else report.comparison.pairs
    return [{name: of for name, of in vars(p).items() if name != "distribution"} for p in pairs]


def ranking_rows(report: Report) -> list[dict[str, Any]]:
    """Return the ranking, each model with its interval and the share of resamples it wins."""
    wins = {report.winner: 1.0} if report.comparison is None else report.comparison.shares_won
    rows = []
    for row in report.selection.ranking:
        one = report.intervals[row.model]
        interval = {"estimate": one.estimate, "low": one.low, "high": one.high}
        behind, won = report.selection.behind(row), wins[row.model]
        rows.append(row.record() | {"behind": behind} | interval | {"wins": won})
    return rows


def scenario_values(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as plain values."""
    unit, (low, high) = _capacity_unit(scenario), scenario.costs.support
    return {
        "min_precision": scenario.min_precision,
        "min_recall": scenario.min_recall,
        "capacity": scenario.capacity,
        "capacity_unit": unit,
        "costs": repr(scenario.costs),
        "cost_unit": scenario.costs.over,
        "cost_low": low,
        "cost_high": high,
        "prevalence": scenario.prevalence,
        "per": scenario.per,
        "exceed": scenario.exceed,
    }


def _capacity_unit(scenario: Scenario) -> str:
    if scenario.per == PATIENT_DAY:
        return "rate"
    return "cases" if scenario.capacity_is_count else "share"


def case_counts(points: OperatingPoints) -> dict[str, Any]:
    """Return the number of cases of operating points, or of stays and events."""
    stays = points.stays
    if stays is None:
        return {"cases": points.n_cases, "positives": points.n_positive}
    return {
        "stays": stays.n_stays,
        "events": stays.n_events,
        "patient_days": stays.patient_days,
        "events_without_row": rows_in_memory(stays).n_events_without_row,
        "events_elsewhere": stays.n_events_elsewhere,
        "rule": stays.rule.fields(),
    }


def evaluation_values(tested: PolicyEvaluation, price: float | None = None) -> dict[str, Any]:
    """Return an evaluation on test cases as plain values, priced where a price is known."""
    intervals = tested.intervals
    priced = price is not None or tested.values is not None
    return {
        **{name: getattr(tested, name) for name in EVALUATION_NUMBERS},
        "intervals": None if intervals is None else asdict(intervals),
        "money": asdict(tested.in_money(price)) if priced else None,
        "by_period": None if tested.by_period is None else tested.by_period.values(),
        "satisfied": tested.satisfied,
        "violations": [asdict(violation) for violation in tested.violations],
        "choices": [choice.fields() for choice in tested.choices],
        "by_subgroup": None if tested.by_subgroup is None else subgroup_values(tested.by_subgroup),
    }


def subgroup_values(by_subgroup: SubgroupEvaluation) -> dict[str, Any]:
    """Return an evaluation by subgroup as plain values."""
    return {
        "confidence_level": by_subgroup.confidence_level,
        "confidence_each": by_subgroup.confidence_each,
        "multiplicity": "Bonferroni",
        "subgroups": by_subgroup.values(),
        "notes": list(by_subgroup.notes),
    }
