"""Make a report from cases: choose, test, resample."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.cases import check_labels
from voros.core.operating_points import OperatingPoints
from voros.core.periods import read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.core.subgroups import read_subgroups
from voros.exceptions import ArgumentError
from voros.io import Predictions
from voros.models import columns_by_model, points_by_name
from voros.present.report.content import Report
from voros.present.report.data import ReportCases, ReportStays
from voros.present.report.layout import save_report
from voros.selection import Selection
from voros.selection.ranking import PAPER_TOLERANCE, rank_deployable
from voros.text.signatures import takes

if TYPE_CHECKING:
    from voros.core.decision import Strategy
    from voros.guarantee import Guarantee

CHOICE = ("validation", "points", "selection", "test")
"""What a report is about; the other arguments say how it is made."""


@takes(Report, leave_out=CHOICE)
def compose_report(
    validation: ReportCases | ReportStays,
    points: Mapping[str, OperatingPoints],
    selection: Selection,
    test: ReportCases | ReportStays | None = None,
    **settings: Any,
) -> Report:
    """Report on a choice that was made: test it, and resample the cases it was made on.

    Returns
    -------
    Report

    Examples
    --------
    >>> import voros
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.3
    >>> scores = {"risk": y + rng.normal(size=400)}
    >>> predictions = Predictions(source="valid.csv", scores=scores, positive=y, label="died")
    >>> cases = ReportCases(predictions)
    >>> points = {"risk": cases.points("risk")}
    >>> chosen = voros.select_model(
    ...     points, scenario=voros.Scenario(0.4, 0.3, cost_ratio=(0.1, 0.2))
    ... )
    >>> report = compose_report(cases, points, chosen, n_resamples=100, title="Ward A")
    >>> report.title, report.winner, report.n_resamples
    ('Ward A', 'risk', 100)
    """
    report = Report(
        validation=validation, points=points, selection=selection, test=test, **settings
    )
    # Resample, and raise errors about test cases, before pictures are drawn.
    _ = report.intervals, report.tested, report.test_points
    return report


@takes(Report, leave_out=(*CHOICE, "command", "progress"))
def make_report(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    *,
    y_test: Any = None,
    scores_test: Any = None,
    by: Any = None,
    groups: Any = None,
    groups_test: Any = None,
    periods: Any = None,
    times: Any = None,
    periods_test: Any = None,
    times_test: Any = None,
    pos_label: Any = None,
    strategy: Strategy = "partial_voros",
    tolerance: float = PAPER_TOLERANCE,
    guarantee: Guarantee | None = None,
    **settings: Any,
) -> Report:
    """Choose a model and its thresholds on labels and scores, test them, and report on it.

    Parameters
    ----------
    y_true, scores, scenario
        The validation cases, as in `voros.select_model`; or points of `voros.alarm_points`, by
        model, in place of labels and scores.
    y_test, scores_test : array-like, optional
        Test cases; scores of the same models by name, or at least of the one that is chosen. Over
        stays `y_test` are their points.
    by : array-like, mapping of str to such, data frame or Subgroups, optional
        Subgroups of the test cases to report on, as in `voros.ThresholdPolicy.evaluate`.
    groups, groups_test : array-like of shape (n_cases,), optional
        The patient of each validation and test case: whole patients are then resampled, and those
        with cases in both are counted.
    periods, times, periods_test, times_test : array-like, optional
        Of the validation and the test cases, where the capacity is one per period.
    pos_label : label, optional
        The positive class, where it is not clear from the labels.
    strategy, tolerance, guarantee
        As in `voros.select_model`.
    n_resamples, confidence_level, random_state
        Of the intervals; 2000, 0.95 and 0 unless given.
    title : str
    false_alarm_cost : float, optional
        In money; the costs of the test cases are then stated in it.

    Returns
    -------
    Report
        `save_report` writes it as HTML, with JSON beside it.

    Examples
    --------
    >>> import voros
    >>> from voros.present.report import make_report
    >>> y, risk = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.9, 0.8, 0.7, 0.3, 0.2] * 20
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.1)
    >>> report = make_report(y, {"risk": risk}, scenario, n_resamples=100)
    >>> report.winner, report.validated.mean_recall
    ('risk', 0.6666666666666666)
    """
    scenario = check_scenario(scenario)
    of_cases = {"groups": groups, "periods": periods, "times": times}
    of_test = {"groups_test": groups_test, "periods_test": periods_test, "times_test": times_test}
    check_aligned(y_true=y_true, scores=scores, **of_cases)
    stays = points_by_name(y_true, scores=scores, pos_label=pos_label, **of_cases)
    validation: ReportCases | ReportStays
    test: ReportCases | ReportStays | None
    if stays is not None:
        validation = ReportStays(stays)
        test = _test_stays(y_test, by, scores_test=scores_test, **of_test)
    else:
        check_aligned(y_test=y_test, scores_test=scores_test, by=by, **of_test)
        in_memory = partial(_in_memory, scenario=scenario, pos_label=pos_label)
        validation = in_memory(y_true, scores, **of_cases)
        test = None
        if y_test is not None and scores_test is not None:
            unnamed = {name.removesuffix("_test"): value for name, value in of_test.items()}
            test = in_memory(y_test, scores_test, **unnamed, by=by, name="y_test")
        else:
            of_test = {"y_test": y_test, "scores_test": scores_test, "by": by, **of_test}
            _refuse(of_test, " is about test cases, which need both y_test and scores_test")
    points = {model: validation.points(model) for model in validation.models}
    selection = rank_deployable(
        points, scenario, strategy=strategy, tolerance=tolerance, guarantee=guarantee
    )
    return compose_report(validation, points, selection, test, **settings)


@takes(make_report)
def write_report(
    y_true: Any,
    scores: Any = None,
    scenario: Scenario | None = None,
    path: str | Path | None = None,
    *,
    force: bool = False,
    **options: Any,
) -> tuple[Path, Path]:
    """Choose a model and its thresholds, test them, and write a report: HTML with JSON beside it.

    Parameters
    ----------
    y_true, scores, scenario, **options
        As in `voros.present.report.make_report`.
    path : path
        Of the HTML; its name ends in .html.
    force : bool, default False
        Overwrite files that exist.

    Returns
    -------
    tuple of Path
        The document and its JSON.

    Examples
    --------
    >>> import tempfile, voros
    >>> y, risk = [0, 1, 0, 1] * 30, [0.1, 0.9, 0.8, 0.7] * 30
    >>> ward = voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/choice.html"
    ...     written = voros.write_report(y, {"risk": risk}, ward, path, n_resamples=100)
    >>> [file.name for file in written]
    ['choice.html', 'choice.json']
    """
    report = make_report(y_true, scores, scenario, **options)
    if path is None:
        raise ArgumentError("path", " is required: where to write the report")
    return save_report(report, path, force=force)


def _test_stays(y_test: Any, by: Any, **cases: Any) -> ReportStays | None:
    points = points_by_name(y_test, **cases)
    if points is not None:
        return ReportStays(points, by=by)
    _refuse({"y_test": y_test, "by": by, **cases}, "; over stays accepted are points as y_test")
    return None


def _refuse(arguments: Mapping[str, Any], why: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ArgumentError(name, why)


def _in_memory(
    y_true: Any,
    scores: Any,
    *,
    scenario: Scenario,
    pos_label: Any,
    groups: Any,
    periods: Any,
    times: Any,
    by: Any = None,
    name: str = "y_true",
) -> ReportCases:
    cases = Predictions(
        source="",
        scores={name: np.asarray(s) for name, s in columns_by_model(y_true, scores).items()},
        positive=check_labels(y_true, pos_label, name=name),
        groups=None if groups is None else np.asarray(groups),
    )
    subgroups = None if by is None else read_subgroups(by, cases.n_cases)
    return ReportCases(cases, read_periods(scenario, y_true, periods, times), subgroups)
