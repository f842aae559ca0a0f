"""Changes wait in fragments, from which towncrier writes the changelog of a release."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FRAGMENTS = sorted(set((ROOT / "changelog.d").glob("*.md")) - {ROOT / "changelog.d" / "README.md"})
NAMED = re.compile(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md")


def words(text: str) -> str:
    return " ".join(text.split())


def test_fragments_are_named_by_what_they_are() -> None:
    assert FRAGMENTS
    assert [path.name for path in FRAGMENTS if not NAMED.fullmatch(path.name)] == []
    assert [path.name for path in FRAGMENTS if not path.read_text(encoding="utf-8").strip()] == []


def test_a_draft_of_the_next_release_holds_every_fragment() -> None:
    pytest.importorskip("towncrier")
    command = ["towncrier", "build", "--draft", "--version", "9.9.9", "--date", "2030-01-01"]
    ran = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    draft = words(ran.stdout)
    for path in FRAGMENTS:
        assert words(path.read_text(encoding="utf-8")) in draft, path.name
    assert ran.stdout.startswith("## [9.9.9] - 2030-01-01\n\n### ")


def test_the_site_shows_what_is_not_yet_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import unreleased_page

    shown = words(unreleased_page.page())
    for path in FRAGMENTS:
        text = words(path.read_text(encoding="utf-8")).replace("](docs/", "](../")
        assert text in shown, path.name
