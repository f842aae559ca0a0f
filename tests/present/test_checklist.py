"""The checklist names every item of TRIPOD+AI once, and where it is answered."""

from __future__ import annotations

import re

import pytest

from voros.exceptions import ArgumentError
from voros.present.checklist import LEFT_TO_AUTHOR, TRIPOD_AI, checklist_table


def test_the_27_items_in_order():
    numbers = [item.number for item in TRIPOD_AI]
    assert len(numbers) == len(set(numbers)) == 52
    assert sorted({int(re.sub(r"\D", "", number)) for number in numbers}) == list(range(1, 28))
    assert all(item.section and item.asks for item in TRIPOD_AI)


def test_each_item_says_where_or_that_it_is_left():
    table = checklist_table({"20a": "flow.csv"})
    where = {row[0]: row[3] for row in table.rows}
    assert where.pop("20a") == "flow.csv"
    assert set(where.values()) == {LEFT_TO_AUTHOR}


def test_an_unknown_item_is_refused():
    with pytest.raises(ArgumentError, match="28"):
        checklist_table({"28": "nowhere"})
