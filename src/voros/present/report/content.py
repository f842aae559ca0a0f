"""What a report says: everything computed, nothing laid out yet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms.stay_rows import StayRows, rows_in_memory
from voros.exceptions import ArgumentError
from voros.present.report.accuracy import accuracy_in_words, accuracy_tables
from voros.present.report.risks import ScoreQuality
from voros.present.report.stays import stay_tables
from voros.present.report.values import case_counts
from voros.present.report.wording import policy_in_words
from voros.text.table import ReprMixin, Table

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.core.periods import Periods
    from voros.core.scenario import Scenario
    from voros.inference import PairedDifference
    from voros.io import Predictions
    from voros.policy import (
        PolicyEvaluation,
        StayEvaluation,
        ThresholdPolicy,
    )
    from voros.selection import Selection
    from voros.typing import AnyArray

ADVICE = re.compile(r" \((another one|others): [^)]*\)$")
"""What a note says to whoever reads the file, and not to readers of a report."""


@dataclass(frozen=True, kw_only=True)
class DataSummary:
    r"""The cases that a result rests on.

    Attributes
    ----------
    file : str
        Its name; empty for cases that came in memory.
    sha256 : str or None
        Of the file.
    cases, positives : int
    label : str or None
        The label's column.
    models : tuple of str
    notes : tuple of str
        What was guessed or left out, in words.
    rows : int or None
        Rows of the file.
    left_out : int
        Rows that are left out because a value is missing.
    missing : mapping of str to int
        Rows without a value, by column.
    periods : str
        How the cases are spread over periods, where the capacity is one per period.
    patients : int or None
        How many they belong to, where that was said.
    stays : mapping of str to object
        Of alarms over stays: stays, events, patient-days and the rule. The cases are then stays,
        and the positives those that have an event.

    Examples
    --------
    >>> import pathlib, tempfile, voros
    >>> file = pathlib.Path(tempfile.mkdtemp(), "cases.csv")
    >>> _ = file.write_text("died,risk\n1,0.9\n0,0.2\n0,0.4\n")
    >>> data = DataSummary.from_predictions(voros.io.read_predictions(file, label="died"))
    >>> data.cases, data.positives, data.models, len(data.sha256)
    (3, 1, ('risk',), 64)
    """

    file: str
    sha256: str | None
    cases: int
    positives: int
    label: str | None
    models: tuple[str, ...]
    notes: tuple[str, ...]
    rows: int | None = None
    left_out: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
    periods: str = ""
    patients: int | None = None
    stays: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_stays(
        cls,
        points: Mapping[str, OperatingPoints],
        source: str = "",
        notes: tuple[str, ...] = (),
    ) -> DataSummary:
        """Summarise alarms over stays, the same for all models, and the file of their rows.

        Returns
        -------
        DataSummary
        """
        first = next(iter(points.values()))
        stays, name = rows_of(first), Path(source).name
        return cls(
            file=name,
            sha256=file_digest(source),
            cases=stays.n_stays,
            positives=int(stays.rows.has_event.sum()),
            label=None,
            models=tuple(points),
            notes=tuple(ADVICE.sub("", note).replace(source, name) for note in notes),
            rows=len(stays.rows.stays.order),
            patients=stays.n_units if stays.n_units < stays.n_stays else None,
            stays=case_counts(first),
        )

    @classmethod
    def from_predictions(
        cls, predictions: Predictions, periods: Periods | None = None
    ) -> DataSummary:
        """Summarise predictions; their file by its name alone.

        Returns
        -------
        DataSummary
        """
        source, kept = predictions.source, predictions.kept
        name = Path(source).name
        return cls(
            file=name,
            sha256=file_digest(source),
            cases=predictions.n_cases,
            positives=int(predictions.labels.sum()),
            label=predictions.label,
            models=tuple(predictions.models),
            notes=tuple(ADVICE.sub("", note).replace(source, name) for note in predictions.notes),
            rows=predictions.n_rows,
            left_out=0 if kept is None else int((~kept).sum()),
            missing=dict(predictions.missing),
            periods="" if periods is None else _spread(periods),
            patients=None if predictions.groups is None else len(np.unique(predictions.groups)),
        )


def _spread(periods: Periods) -> str:
    sizes = periods.sizes
    fewest, middle, most = int(sizes.min()), float(np.median(sizes)), int(sizes.max())
    return f"{periods.note}; {fewest:,} to {most:,} cases in each, half of them at most {middle:g}"


@dataclass(frozen=True)
class InBoth:
    """Patients of the test cases who have validation cases too.

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
        """Count the patients who are in both; one is an int in one file and text in the other."""
        seen, later = validation.astype(str), test.astype(str)
        names, both = np.unique(later), np.isin(later, seen)
        return cls(int(np.isin(names, seen).sum()), len(names), int(both.sum()), len(later))

    def __str__(self) -> str:
        """Say it in a sentence."""
        return (
            f"{self.patients:,} of {self.test_patients:,} patients of the test cases are among the "
            f"validation cases, with {self.cases:,} of {self.test_cases:,} test cases"
        )


@dataclass(frozen=True)
class ModelInterval:
    """How sure a model's score is, from resampling the validation cases.

    All are of partial VOROS with every threshold that meets the limits; where a guarantee rules
    some out, the ranking has the lower score that is left. `wins` is the share of the resamples in
    which the model scores best.

    Examples
    --------
    >>> ModelInterval(estimate=0.57, low=0.48, high=0.64, wins=0.97)
    ModelInterval(estimate=0.57, low=0.48, high=0.64, wins=0.97)
    """

    estimate: float
    low: float
    high: float
    wins: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report(ReprMixin):
    """A choice of model and thresholds, with all that it rests on.

    Attributes
    ----------
    title : str
    command : str
        The exact command that makes it; empty where Python code did.
    validation, test : DataSummary
    points : mapping of str to OperatingPoints
        Of the validation cases.
    selection : Selection
    policy : ThresholdPolicy
    intervals : mapping of str to ModelInterval
        Of partial VOROS, by model.
    confidence_level : float
        Of the intervals.
    resamples : int
        How many resamples they come from.
    verdict : str or None
        Which differences between models are more than chance.
    differences : tuple of PairedDifference
        Of partial VOROS, on the same resamples, for every pair of models.
    tested : PolicyEvaluation or None
        A threshold for each cost.
    tested_default : PolicyEvaluation or None
        The default threshold.
    tested_stays : StayEvaluation or None
        The default threshold, where alarms are counted over stays.
    test_points : OperatingPoints or None
        Of the chosen model on the test cases.
    false_alarm_cost : float or None
        In money; costs of the test cases are then stated in it.
    in_both : InBoth or None
        Patients in validation and test cases, where both say whose each case is.

    Examples
    --------
    >>> import voros
    >>> y, scores = [0, 1, 0, 1], {"risk": [0.1, 0.9, 0.8, 0.7], "sofa": [2, 5, 1, 6]}
    >>> points = {name: voros.OperatingPoints.from_scores(y, s) for name, s in scores.items()}
    >>> result = voros.select_model(
    ...     points, scenario=voros.Scenario(0.5, 0.5, cost_ratio=(0.1, 0.2))
    ... )
    >>> file, counts = {"file": "valid.csv", "sha256": None}, {"cases": 4, "positives": 2}
    >>> data = DataSummary(**file, **counts, label="died", models=tuple(scores), notes=())
    >>> one = {name: ModelInterval(0.5, 0.4, 0.6, 0.5) for name in scores}
    >>> report = Report(
    ...     title="Ward A",
    ...     command="voros report",
    ...     validation=data,
    ...     points=points,
    ...     selection=result,
    ...     policy=result.policy(),
    ...     intervals=one,
    ...     confidence_level=0.95,
    ...     resamples=2000,
    ... )
    >>> report.winner, report.scenario.min_precision
    ('sofa', 0.5)
    """

    title: str
    command: str
    validation: DataSummary
    points: Mapping[str, OperatingPoints]
    selection: Selection
    policy: ThresholdPolicy
    intervals: Mapping[str, ModelInterval]
    confidence_level: float
    resamples: int
    verdict: str | None = None
    differences: tuple[PairedDifference, ...] = ()
    test: DataSummary | None = None
    tested: PolicyEvaluation | None = None
    tested_default: PolicyEvaluation | None = None
    tested_stays: StayEvaluation | None = None
    test_points: OperatingPoints | None = None
    false_alarm_cost: float | None = None
    in_both: InBoth | None = None

    @property
    def scenario(self) -> Scenario:
        """The limits and costs."""
        return self.policy.scenario

    @property
    def winner(self) -> str:
        """Name of the chosen model."""
        return self.selection.winner

    def _parts(self) -> Iterator[str | Table]:
        yield self.title
        yield f"chosen: {self.winner}, {policy_in_words(self.policy)}"
        if self.over_stays:
            yield from stay_tables(self)
        else:
            yield from accuracy_tables(self)
        yield from accuracy_in_words(self)
        yield "voros.present.report.save_report writes the rest, with pictures"

    @property
    def over_stays(self) -> bool:
        """Whether alarms are counted over stays."""
        return bool(self.validation.stays)

    @property
    def held_out(self) -> bool:
        """Whether there are test cases, in a file other than that of the validation cases."""
        if self.test is None:
            return False
        return self.test.sha256 is None or self.test.sha256 != self.validation.sha256

    @cached_property
    def validated(self) -> PolicyEvaluation:
        """What the default threshold does on the cases that chose it."""
        return self.policy.evaluate(
            self.points[self.winner], confidence_level=self.confidence_level
        )

    @cached_property
    def validated_stays(self) -> StayEvaluation:
        """What the default threshold does on the stays that chose it."""
        return self.policy.evaluate_stays(
            self.points[self.winner], confidence_level=self.confidence_level
        )

    @cached_property
    def quality(self) -> dict[str, ScoreQuality]:
        """Discrimination and calibration of each model on the validation cases."""
        by_model = self.points.items()
        return {
            model: ScoreQuality.from_points(points, self.confidence_level)
            for model, points in by_model
        }

    @cached_property
    def test_quality(self) -> ScoreQuality | None:
        """The same of the chosen model on the test cases."""
        points = self.test_points
        return None if points is None else ScoreQuality.from_points(points, self.confidence_level)


def file_digest(path: str) -> str | None:
    """Return the SHA-256 of a file, so that a report names its data beyond doubt."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def rows_of(points: OperatingPoints) -> StayRows:
    """Return the stays that operating points are of, with their rows."""
    if points.stays is None:
        raise ArgumentError(
            "y_true",
            " holds points of cases; accepted are labels and scores, or the points of "
            "voros.alarm_points",
        )
    return rows_in_memory(points.stays)
