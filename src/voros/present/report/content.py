"""The content of a report, computed but not laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.core.calibration import Calibration, Estimate, auroc_interval, holds_risks
from voros.core.money import check_price
from voros.exceptions import ArgumentError
from voros.present.report.data import DataSummary, ReportCases, ReportStays
from voros.present.report.wording import limits_verdict

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.core.scenario import Scenario
    from voros.inference import Bootstrap, Comparison
    from voros.inference.comparison import PairedDifference
    from voros.policy import PolicyEvaluation, ThresholdPolicy
    from voros.selection import Selection
    from voros.typing import AnyArray


@dataclass(frozen=True)
class InBoth:
    """Patients who have both validation and test cases.

    Examples
    --------
    >>> print(InBoth.from_patients(np.array(["ann", "bob"]), np.array(["bob", "bob", "eve"])))
    1 of 2 patients of the test cases are among the validation cases, with 2 of 3 test cases
    """

    patients: int
    test_patients: int
    cases: int
    test_cases: int

    @classmethod
    def from_patients(cls, validation: AnyArray, test: AnyArray) -> InBoth:
        """Count the patients who are in both, as text: one file may hold numbers."""
        seen, later = validation.astype(str), test.astype(str)
        names, both = np.unique(later), np.isin(later, seen)
        return cls(int(np.isin(names, seen).sum()), len(names), int(both.sum()), len(later))

    def __str__(self) -> str:
        """Return the counts in a sentence."""
        return (
            f"{self.patients:,} of {self.test_patients:,} patients of the test cases are among the "
            f"validation cases, with {self.cases:,} of {self.test_cases:,} test cases"
        )


@dataclass(frozen=True)
class ScoreQuality:
    """Discrimination of scores, and calibration where they are risks."""

    auroc: Estimate
    calibration: Calibration | None

    @classmethod
    def from_points(cls, points: OperatingPoints, confidence_level: float) -> ScoreQuality:
        """Measure the scores of one model on one set of cases."""
        calibration = (
            Calibration.from_points(points, confidence_level=confidence_level)
            if holds_risks(points)
            else None
        )
        return cls(auroc_interval(points, confidence_level), calibration)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report:
    """A choice of model and thresholds, with all that it rests on.

    Attributes
    ----------
    validation, test : ReportCases or ReportStays
        Without test cases ``test`` is None.
    points : mapping of str to OperatingPoints
        Of the validation cases.
    selection : Selection
    title : str
    command : str
        The exact command that makes it; empty where Python code did.
    n_resamples, confidence_level, random_state, progress
        Of the intervals, as in `voros.bootstrap`.
    false_alarm_cost : float or None
        In money; costs of the test cases are then stated in it.

    See Also
    --------
    voros.write_report : Make and write a report.

    Examples
    --------
    >>> import voros
    >>> from voros.present.report import make_report
    >>> y, risk = [0, 1, 0, 1, 1, 0] * 20, [0.1, 0.9, 0.8, 0.7, 0.3, 0.2] * 20
    >>> scenario = voros.Scenario(min_precision=0.5, capacity=0.5, cost_ratio=0.1)
    >>> report = make_report(y, {"risk": risk}, scenario, n_resamples=100)
    >>> report.data["validation"].cases, report.test is None
    (120, True)
    """

    validation: ReportCases | ReportStays
    points: Mapping[str, OperatingPoints]
    selection: Selection
    test: ReportCases | ReportStays | None = None
    title: str = "Choice of a model and its thresholds"
    command: str = ""
    n_resamples: int = 2000
    confidence_level: float = 0.95
    random_state: int = 0
    progress: Any = False
    false_alarm_cost: float | None = None

    def __post_init__(self) -> None:
        """Check what false alarms cost."""
        if self.false_alarm_cost is not None:
            check_price(self.false_alarm_cost)
            if self.test is None:
                raise ArgumentError(
                    "false_alarm_cost", " prices test cases, of which there are none"
                )

    @cached_property
    def policy(self) -> ThresholdPolicy:
        """The thresholds to deploy."""
        return self.selection.policy()

    @property
    def _resampling(self) -> dict[str, Any]:
        """Arguments of the bootstrap, which draws whole patients or periods where it can."""
        names = ("n_resamples", "confidence_level", "random_state", "progress")
        how = {name: getattr(self, name) for name in names}
        return {"scenario": self.selection.scenario, **self.validation.resampled(), **how}

    @cached_property
    def comparison(self) -> Comparison | None:
        """Comparison of the models on the same resamples; None of one model alone."""
        from voros.inference import compare

        return compare(**self._resampling) if len(self.points) > 1 else None

    @cached_property
    def intervals(self) -> Mapping[str, Bootstrap]:
        """Intervals of partial VOROS, by model, with every threshold that meets the limits.

        With a guarantee the ranking has the score of those that it allows.
        """
        from voros.inference import bootstrap

        if self.comparison is not None:
            return self.comparison.models
        intervals: dict[str, Bootstrap] = bootstrap(**self._resampling)
        return intervals

    @property
    def scenario(self) -> Scenario:
        """The limits and costs."""
        return self.policy.scenario

    @property
    def winner(self) -> str:
        """Name of the chosen model."""
        return self.selection.winner

    @property
    def leads(self) -> list[PairedDifference]:
        """Differences between the chosen model and each other one."""
        pairs = () if self.comparison is None else self.comparison.pairs
        return [pair for pair in pairs if self.winner in (pair.first, pair.second)]

    @property
    def over_stays(self) -> bool:
        """Whether alarms are counted over stays."""
        return isinstance(self.validation, ReportStays)

    @cached_property
    def data(self) -> dict[str, DataSummary]:
        """Summaries of the validation cases and, where there are any, the test cases."""
        parts = {"validation": self.validation, "test": self.test}
        return {name: part.summary() for name, part in parts.items() if part is not None}

    @property
    def held_out(self) -> bool:
        """Whether there are test cases, in a file other than that of the validation cases."""
        if self.test is None:
            return False
        digest = self.data["test"].sha256
        return digest is None or digest != self.data["validation"].sha256

    @cached_property
    def in_both(self) -> InBoth | None:
        """Patients in validation and test cases; None unless both say whose each case is."""
        groups, later = self.validation.groups, None if self.test is None else self.test.groups
        return None if groups is None or later is None else InBoth.from_patients(groups, later)

    @cached_property
    def validated(self) -> Any:
        """Evaluation of the default threshold on the cases, or stays, that chose it."""
        evaluate = self.policy.evaluate_stays if self.over_stays else self.policy.evaluate
        return evaluate(self.points[self.winner], confidence_level=self.confidence_level)

    @cached_property
    def tested(self) -> Any:
        """Evaluation of the default threshold on the test cases or stays; None without any."""
        if self.test is None:
            return None
        return self.test.evaluate(self.policy, self.confidence_level)

    @property
    def verdict(self) -> str:
        """Whether the limits were kept, by the thresholds of all costs where there are several."""
        return limits_verdict(self.tested_by_cost or self.tested)

    @property
    def evaluations(self) -> dict[str, Any]:
        """Evaluations of the default threshold, on validation and on test cases."""
        of_validation = {"validation": self.validated}
        return of_validation if self.tested is None else of_validation | {"test": self.tested}

    @cached_property
    def tested_by_cost(self) -> PolicyEvaluation | None:
        """Evaluation of a threshold for each cost on the test cases; None over stays."""
        if not isinstance(self.test, ReportCases):
            return None
        return self.test.evaluate(self.policy, self.confidence_level, by_cost=True)

    @cached_property
    def test_points(self) -> OperatingPoints | None:
        """The chosen model on the test cases."""
        return None if self.test is None else self.test.points(self.winner)

    @cached_property
    def quality(self) -> dict[str, ScoreQuality]:
        """Discrimination and calibration of each model on the validation cases."""
        return {
            model: ScoreQuality.from_points(points, self.confidence_level)
            for model, points in self.points.items()
        }

    @cached_property
    def test_quality(self) -> ScoreQuality | None:
        """The same of the chosen model on the test cases."""
        points = self.test_points
        return None if points is None else ScoreQuality.from_points(points, self.confidence_level)

    @property
    def best_quality(self) -> ScoreQuality:
        """Of the chosen model, on the test cases where there are any."""
        return self.test_quality or self.quality[self.winner]
