"""A table with one more column, in the format that was asked for."""

import json
from datetime import date

import pytest

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow")

from voros.io import table_bytes  # noqa: E402


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def test_json_lines_are_strict_json():
    table = pa.table(
        {"lab": [1.5, float("nan"), float("-inf"), None], "seen": [date(2026, 1, 2)] * 4}
    )
    lines = table_bytes(table, "jsonl").decode().splitlines()
    rows = [json.loads(line, parse_constant=refuse) for line in lines]
    assert [row["lab"] for row in rows] == [1.5, "NaN", "-Infinity", None]
    assert {row["seen"] for row in rows} == {"2026-01-02"}
