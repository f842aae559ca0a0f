"""The cases or stays of a report, read from a file or given in memory."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voros.alarms.stay_rows import StayRows, rows_in_memory
from voros.core.cases import check_cases
from voros.core.operating_points import OperatingPoints
from voros.exceptions import ArgumentError
from voros.present.report.values import case_counts

if TYPE_CHECKING:
    from voros.core.periods import Periods
    from voros.core.subgroups import Subgroups
    from voros.io import Predictions
    from voros.policy import PolicyEvaluation, StayEvaluation, ThresholdPolicy
    from voros.typing import AnyArray

ADVICE = re.compile(r" \((another one|others): [^)]*\)$")
"""The part of a note that is for whoever reads the file, not for readers of a report."""


@dataclass(frozen=True, kw_only=True)
class DataSummary:
    r"""Metadata of the cases that a result rests on.

    Attributes
    ----------
    file : str
        Its name; empty for cases given in memory.
    sha256 : str or None
        Of the file.
    cases, positives : int
    models : tuple of str
    label : str or None
        The label's column.
    notes : tuple of str
        Guesses and omissions of the reader, in words.
    rows : int or None
        Rows of the file.
    left_out : int
        Rows that are left out because a value is missing.
    missing : mapping of str to int
        Rows without a value, by column.
    periods : str
        How the cases are spread over periods, where the capacity is one per period.
    patients : int or None
        Their number, where the patient of each case is known.
    stays : mapping of str to object
        Of alarms over stays: stays, events, patient-days and the rule. The cases are then stays,
        and the positives those that have an event.
    """

    file: str
    sha256: str | None
    cases: int
    positives: int
    models: tuple[str, ...]
    label: str | None = None
    notes: tuple[str, ...] = ()
    rows: int | None = None
    left_out: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)
    periods: str = ""
    patients: int | None = None
    stays: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ReportCases:
    """Predictions with their periods and subgroups.

    Examples
    --------
    >>> from voros.io import Predictions
    >>> y, risk = np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1])
    >>> cases = ReportCases(Predictions(source="valid.csv", scores={"risk": risk}, positive=y))
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
        """Summarise the cases; their file by its name alone."""
        cases = self.predictions
        return DataSummary(
            **_file(cases.source, cases.notes),
            cases=cases.n_cases,
            positives=int(cases.labels.sum()),
            label=cases.label,
            models=self.models,
            rows=cases.n_rows,
            left_out=0 if cases.kept is None else int((~cases.kept).sum()),
            missing=dict(cases.missing),
            periods="" if self.periods is None else _spread(self.periods),
            patients=None if self.groups is None else len(np.unique(self.groups)),
        )

    def resampled(self) -> dict[str, Any]:
        """Return the arguments of `voros.bootstrap` that name the cases."""
        cases = self.predictions
        of_units = {"groups": self.groups, "periods": self.periods}
        return {"y_true": cases.labels, "scores": dict(cases.scores), **of_units}

    def points(self, model: str) -> OperatingPoints:
        """Count the alarms of a model at every threshold."""
        cases = check_cases(self.predictions.labels, self.predictions.scores_of(model))
        return OperatingPoints.from_cases(*cases, groups=self.groups, periods=self.periods)

    def evaluate(
        self, policy: ThresholdPolicy, confidence_level: float, *, by_cost: bool = False
    ) -> PolicyEvaluation:
        """Evaluate a policy on the cases."""
        cases = self.predictions
        return policy.evaluate(
            cases.labels,
            cases.scores_of(policy.model or ""),
            by_cost=by_cost,
            confidence_level=confidence_level,
            periods=self.periods,
            groups=self.groups,
            by=self.by,
        )


@dataclass(frozen=True, eq=False)
class ReportStays:
    """Points of alarms over stays, and the file of their rows, if any.

    ``by`` are subgroups, one value for each row.
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
        """Summarise the stays, which are the same for all models."""
        first = next(iter(self.points_by_model.values()))
        stays = rows_of(first)
        return DataSummary(
            **_file(self.source, self.notes),
            cases=stays.n_stays,
            positives=int(stays.rows.has_event.sum()),
            models=self.models,
            rows=len(stays.rows.stays.order),
            patients=stays.n_units if stays.n_units < stays.n_stays else None,
            stays=case_counts(first),
        )

    def resampled(self) -> dict[str, Any]:
        """Return the arguments of `voros.bootstrap` that name the stays."""
        return {"y_true": self.points_by_model}

    def points(self, model: str) -> OperatingPoints:
        """Return the points of a model."""
        if model not in self.points_by_model:
            listed = ", ".join(self.points_by_model)
            raise ArgumentError("y_test", f" has no model {model!r}; it has {listed}")
        return self.points_by_model[model]

    def evaluate(self, policy: ThresholdPolicy, confidence_level: float) -> StayEvaluation:
        """Evaluate a policy over the stays."""
        how = {"by": self.by, "confidence_level": confidence_level}
        return policy.evaluate_stays(self.points(policy.model or ""), **how)


def rows_of(points: OperatingPoints) -> StayRows:
    """Return the stays behind operating points, with their rows."""
    if points.stays is None:
        raise ArgumentError(
            "y_true",
            " holds points of cases; accepted are labels and scores, or the points of "
            "voros.alarm_points",
        )
    return rows_in_memory(points.stays)


def _file(source: str, notes: tuple[str, ...]) -> dict[str, Any]:
    """Return a file's name and digest, and notes that name it without its folder."""
    path, digest = Path(source), None
    if path.is_file():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    told = tuple(ADVICE.sub("", note).replace(source, path.name) for note in notes)
    return {"file": path.name, "sha256": digest, "notes": told}


def _spread(periods: Periods) -> str:
    sizes = periods.sizes
    fewest, middle, most = int(sizes.min()), float(np.median(sizes)), int(sizes.max())
    return f"{periods.note}; {fewest:,} to {most:,} cases in each, half of them at most {middle:g}"
