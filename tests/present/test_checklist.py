"""The checklist names every item of TRIPOD+AI once."""

from __future__ import annotations

import re

import pytest

from voros.exceptions import ArgumentError
from voros.present.checklist import TRIPOD_AI, ItemAnswer, checklist_rows


def test_the_27_items_in_order():
    numbers = [item.number for item in TRIPOD_AI]
    assert len(numbers) == len(set(numbers)) == 52
    assert sorted({int(re.sub(r"\D", "", number)) for number in numbers}) == list(range(1, 28))
    assert all(item.section and item.asks for item in TRIPOD_AI)


def test_an_unknown_item_is_refused():
    with pytest.raises(ArgumentError, match="28"):
        checklist_rows(TRIPOD_AI, {"28": ItemAnswer("nowhere", "Nowhere")})
