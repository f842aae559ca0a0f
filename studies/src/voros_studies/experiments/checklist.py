"""The TRIPOD+AI checklist of a run: where it answers an item, or that the author has to.

After Collins et al., "TRIPOD+AI statement", BMJ 2024;385:e078378, in our own short words.
A row names only files that the run writes and facts that are true of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from voros.exceptions import ArgumentError
from voros.text.table import Column, Table
from voros_studies.experiments.cases import Split
from voros_studies.experiments.context import StudyContext


@dataclass(frozen=True)
class ChecklistItem:
    """One item: its number, the section of a report, and what is asked for."""

    number: str
    section: str
    asks: str


TRIPOD_AI = tuple(
    ChecklistItem(*line.split("|"))
    for line in files(__package__).joinpath("tripod_ai.txt").read_text("utf-8").splitlines()
)
"""A line of the file for each item."""

LEFT_TO_AUTHOR = "left to the author"
WHAT_WAS_RUN = "What was run"
"""A section of the page."""

FILLED = "filled with the training mean"
NOT_UPDATED = "no model was updated"


def answered_items(
    written: Collection[str],
    split: Split,
    context: StudyContext,
    records: Mapping[str, Mapping[str, Any]],
) -> dict[str, str]:
    """Return the items that a run answers, and where.

    Parameters
    ----------
    written : collection of str
        Names of the tables that the run writes.
    split, context
        How the cases were split, and what is known of them.
    records : mapping
        How each fit went, with its parameters.
    """
    table_1 = _files(written, "table_1")
    subgroups = _files(written, *(name for name in written if name.endswith("_groups")))
    counts = _files(written, *(name for name in written if name.endswith("_counts")))
    own = {
        "5a": WHAT_WAS_RUN if context.notes else "",
        "6b": "flow.csv" if context.flow else "",
        "9b": "names of the features in features.npz",
        "11": _joined(FILLED, table_1),
        "12a": _joined(split.how, "flow.csv"),
        "12b": "scaled to the training range",
        "12c": "candidates.csv; fits/",
        "12e": "performance.csv; main.csv; figures/",
        "12f": NOT_UPDATED,
        "12g": "predictions/",
        "13": _class_weights(records),
        "15": "risks in predictions/; thresholds in policies/",
        "16": _joined(split.how, table_1),
        "18f": f"voros, whose version is under {WHAT_WAS_RUN}",
        "20a": "flow.csv",
        "20b": table_1,
        "20c": table_1,
        "21": "flow.csv",
        "23a": _joined("performance.csv; main.csv", counts, subgroups),
        "24": NOT_UPDATED,
    }
    items = {*own, *context.answers}
    joined = {item: _joined(own.get(item, ""), context.answers.get(item, "")) for item in items}
    return {item: text for item, text in joined.items() if text}


def _files(written: Collection[str], *names: str) -> str:
    return _joined(*(f"{name}.csv" for name in names if name in written))


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def _class_weights(records: Mapping[str, Mapping[str, Any]]) -> str:
    weights = {record["parameters"].get("rare_class_weight", 1) for record in records.values()}
    used = "no class weights" if weights <= {1} else "class weights of the grid, in candidates.csv"
    return f"{used}; no recalibration"


def checklist_table(answers: Mapping[str, str], title: str = "TRIPOD+AI checklist") -> Table:
    """Return the checklist, each item with where it is answered or that it is left to the author.

    Examples
    --------
    >>> table = checklist_table({"20a": "flow diagram"})
    >>> [row[3] for row in table.rows if row[0] in ("20a", "17")]
    ['left to the author', 'flow diagram']
    """
    unknown = sorted(set(answers) - {item.number for item in TRIPOD_AI})
    if unknown:
        raise ArgumentError(
            "answers", f" name the items {', '.join(unknown)}; accepted are those of the checklist"
        )
    columns = (Column("item"), Column("section"), Column("asks for", "asks"), Column("where"))
    rows = tuple(
        (item.number, item.section, item.asks, answers.get(item.number, LEFT_TO_AUTHOR))
        for item in TRIPOD_AI
    )
    return Table(columns, rows, title, "tripod_ai")
