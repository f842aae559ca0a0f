"""What a report of a prediction model or of a test should say, and where one does.

After Collins et al., "TRIPOD+AI statement", BMJ 2024;385:e078378, and Bossuyt et al., "STARD 2015",
BMJ 2015;351:h5527, where the predictions are the index test and the labels the reference standard.
The wording is our own, and short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from voros.exceptions import ArgumentError


@dataclass(frozen=True)
class ChecklistItem:
    """One item: its number, the section of a report, and what is asked for."""

    number: str
    section: str
    asks: str


def _read_items(name: str) -> tuple[ChecklistItem, ...]:
    """Read a checklist: number, section and what is asked for, an item in each line."""
    text = files("voros.present").joinpath("checklists", f"{name}.txt").read_text(encoding="utf-8")
    return tuple(ChecklistItem(*line.split("|")) for line in text.splitlines())


TRIPOD_AI, STARD = _read_items("tripod_ai"), _read_items("stard")


@dataclass(frozen=True)
class ItemAnswer:
    """Where a document answers an item: a section of it, and whether that is the whole answer."""

    section: str
    title: str
    whole: bool = True
    rest: str = ""


def checklist_rows(
    items: Sequence[ChecklistItem], answers: Mapping[str, ItemAnswer]
) -> list[tuple[ChecklistItem, ItemAnswer | None]]:
    """Pair every item with its answer; None where it is open.

    Examples
    --------
    >>> rows = checklist_rows(STARD, {"23": ItemAnswer("counts", "Counts")})
    >>> sum(answer is None for _, answer in rows), len(rows)
    (33, 34)
    """
    check_known(answers, items)
    return [(item, answers.get(item.number)) for item in items]


def check_known(answers: Mapping[str, object], items: Sequence[ChecklistItem]) -> None:
    """Refuse answers to items that are not of the checklist."""
    unknown = sorted(set(answers) - {item.number for item in items})
    if unknown:
        raise ArgumentError(
            "answers", f" name the items {', '.join(unknown)}; accepted are those of the checklist"
        )
