"""Every row of a run's TRIPOD+AI checklist points to what the run holds and says what is true."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from voros.exceptions import ArgumentError
from voros.present.flow import FlowStep
from voros_studies.experiments.cases import LabelledCases, Split, split_around_test, split_patients
from voros_studies.experiments.checklist import (
    LEFT_TO_AUTHOR,
    WHAT_WAS_RUN,
    answered_items,
    checklist_table,
)
from voros_studies.experiments.context import NO_CONTEXT, StudyContext
from voros_studies.experiments.grid import quick_grid

CASES = LabelledCases(np.zeros((40, 1)), np.arange(40) % 2 == 0, np.arange(40), ("age",))
RECORDS = {one.name: {"parameters": one.parameters} for one in quick_grid()}
TABLES = ("main", "flow", "performance", "candidates", "scenario_1_counts")
FILE = re.compile(r"\b[\w.]+\.(?:csv|npz|json|md)\b|\b\w+/")


def test_each_item_says_where_or_that_it_is_left():
    table = checklist_table({"20a": "flow.csv"})
    where = {row[0]: row[3] for row in table.rows}
    assert where.pop("20a") == "flow.csv"
    assert set(where.values()) == {LEFT_TO_AUTHOR}
    with pytest.raises(ArgumentError, match="28"):
        checklist_table({"28": "nowhere"})


def test_files_that_are_not_written_are_not_named():
    without = answered_items(TABLES, split_patients(CASES), NO_CONTEXT, RECORDS)
    assert not {"5a", "6b", "20b", "20c"} & set(without)
    assert not any("table_1" in text or "_groups" in text for text in without.values())
    known = StudyContext(("a ward",), (FlowStep("cases", 40),))
    tables = (*TABLES, "table_1", "scenario_1_groups")
    answers = answered_items(tables, split_patients(CASES), known, RECORDS)
    assert (answers["5a"], answers["6b"], answers["20b"]) == (
        WHAT_WAS_RUN,
        "flow.csv",
        "table_1.csv",
    )
    assert answers["23a"].endswith("scenario_1_counts.csv; scenario_1_groups.csv")


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (split_patients(CASES), "random split of the same source"),
        (split_around_test(CASES, np.arange(40) >= 30), "test cases of their own"),
        (Split(np.arange(20), np.arange(20, 30), np.arange(30, 40)), "handed over by the author"),
    ],
)
def test_how_training_and_test_differ_is_that_of_the_run(split, words):
    answers = answered_items(TABLES, split, NO_CONTEXT, RECORDS)
    assert words in answers["16"]
    assert words in answers["12a"]


def test_class_weights_are_named_only_where_there_are_some():
    split = split_patients(CASES)
    assert "weights of the grid" in answered_items(TABLES, split, NO_CONTEXT, RECORDS)["13"]
    plain = {"LR": {"parameters": {"C": 1.0}}}
    assert "no class weights" in answered_items(TABLES, split, NO_CONTEXT, plain)["13"]


def missing_files(out: Path, where: list[str]) -> list[str]:
    """Files that rows name and that the run's folder lacks."""
    named = {name for text in where for name in FILE.findall(text)}
    assert named
    return [
        name for name in named if not ((out / name).exists() or (out / "tables" / name).exists())
    ]
