"""Discrimination and calibration of the models, in tables and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voros.core.calibration import Calibration, Estimate, auroc_interval, holds_risks
from voros.present.report.wording import between
from voros.text.numbers import percent, short
from voros.text.table import Table

if TYPE_CHECKING:
    from voros.core.operating_points import OperatingPoints
    from voros.present.report.content import Report

NO_RISKS = (
    "Calibration compares risks with outcomes, and needs scores that are probabilities. The scores "
    "of {} are not."
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

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table, without its heading."""
        calibration, auroc = self.calibration, between(self.auroc)
        if calibration is None:
            return (auroc, *["-"] * 5)
        return (
            *(auroc, short(calibration.mean_risk), short(calibration.observed.value)),
            *(between(estimate) for estimate in (calibration.in_the_large, calibration.slope)),
            between(calibration.brier),
        )


def quality_table(report: Report) -> Table:
    """Return discrimination and calibration of every model, and of the chosen one on test cases."""
    head = ("model", "AUROC", "mean risk", "observed", "intercept", "slope", "Brier score")
    rows = [(model, *quality.cells()) for model, quality in report.quality.items()]
    if report.test_quality is not None:
        rows.append((f"{report.winner}, test cases", *report.test_quality.cells()))
    level = percent(report.confidence_level)
    title = f"On the validation cases unless stated, with the {level} interval"
    return Table.from_rows([head, *rows], title)


def calibration_in_words(report: Report) -> list[str]:
    """Explain the measures, and say which are missing and why."""
    none = [model for model, quality in report.quality.items() if quality.calibration is None]
    said = [NO_RISKS.format(", ".join(none))] if none else []
    if len(none) < len(report.quality):
        said.append(
            "The intercept (calibration in the large) is 0 where risks are right on average, and "
            "above 0 where they are too low. A slope below 1 means risks that are too extreme."
        )
    chosen = report.best_quality.calibration
    if chosen is not None and chosen.missing:
        said.append(f"{report.winner} has neither: {chosen.missing}.")
    elif chosen is not None and chosen.certain:
        said.append(
            f"For {report.winner} both leave out the {chosen.certain:,} cases whose risk is "
            "exactly 0 or 1, which has no logit."
        )
    return said
