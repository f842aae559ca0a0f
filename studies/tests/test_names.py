"""The list of the public names of the studies is complete."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_lists_what_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import api_page

    kept = (ROOT / "docs" / "studies" / "names.md").read_text(encoding="utf-8")
    assert kept == api_page.studies_page(), "run: python scripts/api_page.py"
