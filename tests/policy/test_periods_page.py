"""What docs/periods.md shows is what its examples print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "periods.md"
SHOWN = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def test_examples_print_what_the_page_shows(tmp_path, monkeypatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    shown = SHOWN.findall(PAGE.read_text(encoding="utf-8"))
    assert len(shown) > 2
    for code, expected in shown:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        assert printed.getvalue() == expected
