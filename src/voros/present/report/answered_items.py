"""Which items of the checklists a report answers, and in which of its sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voros.present.checklist import STARD, TRIPOD_AI, ChecklistItem, ItemAnswer, checklist_rows

if TYPE_CHECKING:
    from voros.present.report.content import Report

SECTIONS = {
    "data": "Data and flow of cases",
    "limits": "Limits and costs",
    "ranking": "Ranking",
    "decision-curve": "Decision curve",
    "policy": "Chosen policy",
    "counts": "Counts at the deployed threshold",
    "calibration": "Discrimination and calibration",
    "test": "Test",
    "groups": "Subgroups of the test cases",
    "other-limits": "At other limits",
    "checklists": "Checklists",
    "made": "How this was made",
}
"""Headings by the name that links use."""

BEFORE = "what was missing before these rows"


def answered(section: str, rest: str = "") -> ItemAnswer:
    """Answer an item in a section; in part, where something is left to the author."""
    return ItemAnswer(section, SECTIONS[section], not rest, rest)


def tripod_answers(report: Report) -> dict[str, ItemAnswer]:
    """Return the items of TRIPOD+AI that a report answers."""
    groups = has_groups(report)
    accuracy = "" if groups else "subgroups, which need --by and test cases"
    answers = {
        "11": answered("data", BEFORE),
        "12a": answered("data", "training data"),
        **({} if report.over_stays else {"12e": answered("calibration")}),
        "15": answered("policy", "what the score predicts"),
        "18f": answered("made", "code of the models"),
        "20a": answered("data", "participants before the rows given here"),
        "21": answered("data", "training data"),
        "23a": answered("counts", accuracy),
    }
    return answers | ({"23b": answered("groups", "clusters other than these")} if groups else {})


def stard_answers(report: Report) -> dict[str, ItemAnswer]:
    """Return the items of STARD that a report answers."""
    answers = {
        "12a": answered("policy"),
        "14": answered("counts"),
        "16": answered("data", BEFORE),
        "19": answered("data", "participants before the rows given here"),
        "23": answered("counts", "no count of true negatives" if report.over_stays else ""),
        "24": answered("counts"),
    }
    variability = {"17": answered("groups", "whether fixed beforehand")}
    return answers | (variability if has_groups(report) else {})


def has_groups(report: Report) -> bool:
    """Whether the report has a section on subgroups of cases."""
    tested = report.tested or report.tested_stays
    return tested is not None and tested.by_subgroup is not None


def checklists(report: Report) -> dict[str, list[tuple[ChecklistItem, ItemAnswer | None]]]:
    """Return both checklists, each item with its answer or None."""
    return {
        "TRIPOD+AI": checklist_rows(TRIPOD_AI, tripod_answers(report)),
        "STARD 2015": checklist_rows(STARD, stard_answers(report)),
    }
