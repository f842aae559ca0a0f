"""Every example of the gallery runs, as a script of its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    # Without a screen, showing a figure warns that it does nothing.
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(str(path))
    assert plt.get_fignums()
    plt.close("all")


def test_the_gallery_answers_twenty_questions() -> None:
    titles = [path.read_text(encoding="utf-8").splitlines()[1] for path in EXAMPLES]
    assert len(titles) >= 20
    assert all(title.endswith("?") for title in titles)
