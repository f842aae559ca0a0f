"""The tutorials run, and print what the site shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "docs" / "tutorials", ROOT / "docs" / "studies")
NOTEBOOKS = sorted(path for folder in FOLDERS for path in folder.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_the_site_shows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    if path.parent.name == "studies":
        pytest.importorskip("voros_studies")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
    import run_notebooks

    kept = run_notebooks.printed(nbformat.read(path, as_version=4))
    assert run_notebooks.printed(run_notebooks.executed(path)) == kept
    assert kept


def test_there_are_tutorials() -> None:
    assert len(NOTEBOOKS) == 4
