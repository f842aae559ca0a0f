"""What a report says of alarms over stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from voros.alarms.totals import words_elsewhere
from voros.core.scenario import PATIENT_DAY
from voros.present.report.wording import may_be, verdict_in_words
from voros.text.numbers import count, short
from voros.text.table import Table

if TYPE_CHECKING:
    from voros.policy import StayEvaluation
    from voros.present.report.content import DataSummary, Report

COST_WORDS = (
    "Costs are in missed events: the events missed, and the false alarms at C_FP / C_FN each",
)
"""The cost of a report over stays."""


def stay_evaluations(report: Report) -> dict[str, StayEvaluation]:
    """Return what the default threshold does on the stays that chose it, and on test stays."""
    tested = report.tested_stays
    return {"validation": report.validated_stays} | ({} if tested is None else {"test": tested})


def stay_tables(report: Report) -> list[Table]:
    """Return what a ward asks: alarms per patient-day, events caught, warning time."""
    return [
        replace(evaluation.table(), title=f"On the {which} stays")
        for which, evaluation in stay_evaluations(report).items()
    ]


def stays_verdict(tested: StayEvaluation) -> str:
    """Say whether the limits are kept on test stays, and whether these are enough to tell."""
    scenario, reaching = tested.scenario, None
    if scenario.per in (None, PATIENT_DAY):
        low, most = tested.intervals["precision"][0], tested.intervals["alarms_per_patient_day"][1]
        reaching = []
        if low < scenario.min_precision:
            reaching.append(may_be("precision", low, "below", scenario.min_precision))
        if scenario.per == PATIENT_DAY and most > scenario.capacity:
            reaching.append(may_be("alarms per patient-day", most, "above", scenario.capacity))
    return verdict_in_words(tested.satisfied, reaching, tested.confidence_level)


def stays_opening(report: Report) -> list[str]:
    """Say what the choice means for a ward, and whether limits held."""
    *_, (which, evaluation) = stay_evaluations(report).items()
    caught = f"{evaluation.tp:,} of {evaluation.n_events:,} events are caught"
    said = [
        f"On the {which} stays {caught}, with {short(evaluation.alarms_per_patient_day)} alarms "
        "per patient-day."
    ]
    if evaluation.tp:
        said.append(
            f"For each event caught {short(evaluation.number_needed_to_evaluate)} alarms are to be "
            f"looked into; half of these events have at least "
            f"{short(evaluation.lead_time_quartiles[1])} hours of warning."
        )
    if report.tested_stays is None:
        return [*said, "These stays chose the threshold: on others expect less. It is not tested."]
    said.append(f"On the test stays: {stays_verdict(evaluation)}.")
    return [*said, *map(str, evaluation.violations)]


def stays_metadata(data: DataSummary) -> list[tuple[str, str]]:
    """Return events, patient-days and the rule of a file of stays."""
    size = data.stays
    events = f"{size['events']:,}"
    if size["events_without_row"]:
        events += f", {size['events_without_row']:,} of them without a scored row in time"
    if size["events_elsewhere"]:
        events += f"; {words_elsewhere(size['events_elsewhere'])}"
    return [
        ("events", events),
        ("patient-days", count(size["patient_days"])),
        ("rule", ", ".join(f"{name} {value}" for name, value in size["rule"].items())),
    ]


def stay_sections(report: Report) -> dict[str, Any]:
    """Return the parts of the document that differ from those of cases."""
    tested = report.tested_stays
    violations = () if tested is None else map(str, tested.violations)
    return {
        "opening": stays_opening(report),
        "cost_words": COST_WORDS,
        "counts": stay_tables(report),
        "broken": tested is not None and not tested.satisfied,
        "test_words": [] if tested is None else [stays_verdict(tested), *violations],
        "by_subgroup": None if tested is None else tested.by_subgroup,
    }
