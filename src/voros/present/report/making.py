"""From cases to a report: choose, test, resample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.alignment import check_aligned
from voros.core.cases import check_cases, check_labels
from voros.core.money import check_price
from voros.core.operating_points import OperatingPoints
from voros.core.periods import Periods, read_periods
from voros.core.scenario import Scenario, check_scenario
from voros.core.subgroups import Subgroups, read_subgroups
from voros.exceptions import ArgumentError
from voros.io import Predictions
from voros.models import columns_by_model, points_by_name
from voros.present.report.content import DataSummary, InBoth, ModelInterval, Report, rows_of
from voros.present.report.layout import save_report
from voros.selection import Selection, select_model
from voros.selection.ranking import PAPER_TOLERANCE, rank_deployable
from voros.text.signatures import takes
from voros.typing import AnyArray

if TYPE_CHECKING:
    from voros.inference import Comparison
    from voros.policy import ThresholdPolicy

TITLE = "A classifier chosen"


@dataclass(frozen=True, eq=False)
class ReportCases:
    """Predictions with their periods, and the subgroups to report on, as they were read.

    Examples
    --------
    >>> y, risk = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])
    >>> predictions = Predictions(source="valid.csv", scores={"risk": risk}, positive=y)
    >>> cases = ReportCases(predictions)
    >>> cases.points("risk").alarms.tolist()
    [0, 1, 2, 3, 4]
    """

    predictions: Predictions
    periods: Periods | None = None
    by: Subgroups | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.predictions.models)

    @property
    def groups(self) -> AnyArray | None:
        """The patient of each case, where that is known."""
        return self.predictions.groups

    def summary(self) -> DataSummary:
        """Summarise the cases.

        Returns
        -------
        DataSummary
        """
        return DataSummary.from_predictions(self.predictions, self.periods)

    def resampled(self) -> dict[str, Any]:
        """Return the arguments of `voros.bootstrap` that name the cases."""
        cases = self.predictions
        whose = {} if self.periods is None else {"periods": self.periods}
        scores = dict(cases.scores)
        return {"y_true": cases.labels, "scores": scores, "groups": cases.groups, **whose}

    def evaluate(self, policy: ThresholdPolicy, confidence_level: float) -> dict[str, Any]:
        """Return what a policy does on them, as arguments of `Report`."""
        cases = self.predictions
        data = cases.labels, cases.scores_of(policy.model or "")
        how = dict[str, Any](periods=self.periods, groups=cases.groups, by=self.by)
        return {
            name: policy.evaluate(*data, by_cost=way, confidence_level=confidence_level, **how)
            for name, way in (("tested", True), ("tested_default", False))
        }

    def points(self, model: str) -> OperatingPoints:
        """Count the alarms of a model at every threshold.

        Returns
        -------
        OperatingPoints
        """
        cases = check_cases(self.predictions.labels, self.predictions.scores_of(model))
        groups = self.predictions.groups
        return OperatingPoints.from_cases(*cases, groups=groups, periods=self.periods)


@dataclass(frozen=True, eq=False)
class ReportStays:
    """Points of alarms over stays, and the file of their rows, if any.

    ``by`` are subgroups, one value for each row.

    Examples
    --------
    >>> import voros
    >>> points = voros.alarm_points(
    ...     stay=[1, 1, 2],
    ...     time=[0, 5, 0],
    ...     score=[0.2, 0.9, 0.4],
    ...     events=([1], [8]),
    ...     rule=voros.AlarmRule(snooze=2, horizon=6),
    ... )
    >>> ReportStays({"risk": points}).summary().stays["events"]
    1
    """

    points_by_model: Mapping[str, OperatingPoints]
    source: str = ""
    notes: tuple[str, ...] = ()
    by: Any = None
    groups: None = None

    def __post_init__(self) -> None:
        """Refuse points of cases."""
        for points in self.points_by_model.values():
            rows_of(points)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.points_by_model)

    def summary(self) -> DataSummary:
        """Summarise the stays.

        Returns
        -------
        DataSummary
        """
        return DataSummary.from_stays(self.points_by_model, self.source, self.notes)

    def resampled(self) -> dict[str, Any]:
        """Return the arguments of `voros.bootstrap` that name the stays."""
        return {"y_true": self.points_by_model}

    def evaluate(self, policy: ThresholdPolicy, confidence_level: float) -> dict[str, Any]:
        """Return what a policy does over them, as arguments of `Report`."""
        points = self.points(policy.model or "")
        how = {"by": self.by, "confidence_level": confidence_level}
        return {"tested_stays": policy.evaluate_stays(points, **how)}

    def points(self, model: str) -> OperatingPoints:
        """Return the points of a model."""
        if model not in self.points_by_model:
            listed = ", ".join(self.points_by_model)
            raise ArgumentError("y_test", f" has no model {model!r}; it has {listed}")
        return self.points_by_model[model]


def compose_report(
    validation: ReportCases | ReportStays,
    points: Mapping[str, OperatingPoints],
    selection: Selection,
    test: ReportCases | ReportStays | None = None,
    *,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    random_state: int = 0,
    title: str = TITLE,
    command: str = "",
    false_alarm_cost: float | None = None,
    progress: Any = False,
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
    >>> report.title, report.winner, report.resamples
    ('Ward A', 'risk', 100)
    """
    price = None if false_alarm_cost is None else check_price(false_alarm_cost)
    if price is not None and test is None:
        raise ArgumentError("false_alarm_cost", " prices test cases, of which there are none")
    policy = selection.policy()
    resampled = {
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
        "progress": progress,
    }
    intervals, comparison = resample(validation, selection.scenario, random_state, **resampled)
    return Report(
        title=title,
        command=command,
        validation=validation.summary(),
        points=points,
        selection=selection,
        policy=policy,
        intervals=intervals,
        confidence_level=confidence_level,
        resamples=n_resamples,
        verdict=None if comparison is None else comparison.verdict,
        differences=() if comparison is None else comparison.pairs,
        test=None if test is None else test.summary(),
        **({} if test is None else test.evaluate(policy, confidence_level)),
        test_points=None if test is None else test.points(selection.winner),
        false_alarm_cost=price,
        in_both=_in_both(validation, test),
    )


@takes(
    select_model,
    compose_report,
    leave_out=(
        *("sample_weight", "development", "validation", "points", "selection", "test"),
        *("command", "progress", "miss_value", "threshold_on"),
    ),
)
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
        Whose each validation and test case is: whole patients are then resampled, and those with
        cases in both are counted.
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
    whose = {"groups": groups, "periods": periods, "times": times}
    check_aligned(y_true=y_true, scores=scores, **whose)
    stays = points_by_name(y_true, scores=scores, pos_label=pos_label, **whose)
    later = {"periods_test": periods_test, "times_test": times_test, "groups_test": groups_test}
    if stays is not None:
        test_stays = _test_stays(y_test, by, scores_test=scores_test, **later)
        return _report_on(ReportStays(stays), scenario, test_stays, settings)
    check_aligned(y_test=y_test, scores_test=scores_test, by=by, **later)
    validation = _in_memory(y_true, scores, scenario, pos_label, groups, periods, times)
    if (y_test is None) != (scores_test is None):
        raise ArgumentError("y_test", " and scores_test belong together; give both or neither")
    test = None
    if y_test is not None:
        test = _in_memory(
            y_test,
            scores_test,
            scenario,
            pos_label,
            groups_test,
            periods_test,
            times_test,
            name="y_test",
        )
        test = replace(
            test, by=None if by is None else read_subgroups(by, test.predictions.n_cases)
        )
    elif by is not None or groups_test is not None:
        name = "groups_test" if by is None else "by"
        raise ArgumentError(name, " is about test cases; give y_test and scores_test as well")
    return _report_on(validation, scenario, test, settings)


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
    for name, value in {"y_test": y_test, "by": by, **cases}.items():
        if value is not None:
            raise ArgumentError(name, "; over stays accepted are test points as y_test")
    return None


def _in_memory(
    y_true: Any,
    scores: Any,
    scenario: Scenario,
    pos_label: Any,
    groups: Any,
    periods: Any,
    times: Any,
    name: str = "y_true",
) -> ReportCases:
    models = {name: np.asarray(column) for name, column in columns_by_model(y_true, scores).items()}
    whose = None if groups is None else np.asarray(groups)
    positive = check_labels(y_true, pos_label, name=name)
    cases = Predictions(source="", scores=models, positive=positive, groups=whose)
    return ReportCases(cases, read_periods(scenario, y_true, periods, times))


def _report_on(
    validation: ReportCases | ReportStays,
    scenario: Scenario,
    test: ReportCases | ReportStays | None,
    settings: Mapping[str, Any],
) -> Report:
    rest = dict[str, Any](settings)
    how = {
        "strategy": rest.pop("strategy", "partial_voros"),
        "tolerance": rest.pop("tolerance", PAPER_TOLERANCE),
        "guarantee": rest.pop("guarantee", None),
    }
    points = {model: validation.points(model) for model in validation.models}
    selection = rank_deployable(points, scenario, **how)
    return compose_report(validation, points, selection, test, **rest)


def _in_both(
    validation: ReportCases | ReportStays, test: ReportCases | ReportStays | None
) -> InBoth | None:
    """Count the patients with validation and test cases, where both say whose each case is."""
    groups, later = validation.groups, None if test is None else test.groups
    return None if groups is None or later is None else InBoth.from_patients(groups, later)


def resample(
    validation: ReportCases | ReportStays, scenario: Scenario, random_state: int, **options: Any
) -> tuple[dict[str, ModelInterval], Comparison | None]:
    """Resample the cases, or whole patients or periods, the same for all models.

    Returns
    -------
    intervals : dict of str to ModelInterval
    comparison : Comparison or None
        Which differences are more than chance; None for one model alone.
    """
    from voros.inference import bootstrap, compare

    cases = validation.resampled()
    arguments = {"scenario": scenario, "random_state": random_state, **cases, **options}
    comparison = None
    if len(validation.models) == 1:
        estimates = bootstrap(**arguments)
        shares = dict.fromkeys(estimates, 1.0)
    else:
        comparison = compare(**arguments)
        estimates, shares = comparison.models, comparison.shares_won
    intervals = {
        model: ModelInterval(result.estimate, result.low, result.high, shares[model])
        for model, result in estimates.items()
    }
    return intervals, comparison
