"""The figures that the demo saves."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib.image import imread

from voros_studies.gallery import DPI, PICTURES, save_support2_figures


@pytest.mark.slow
def test_every_picture_is_saved_and_holds_something(tmp_path: Path) -> None:
    saved = save_support2_figures(tmp_path / "new" / "folder")
    assert [path.stem for path in saved] == list(PICTURES)
    for path in saved:
        pixels = imread(path)[..., :3]
        assert pixels.shape[1] >= 6 * DPI
        # Neither blank nor a solid block: ink of more than one colour on white.
        white = (pixels == 1.0).all(axis=-1).mean()
        assert 0.1 < white < 0.98
        assert pixels.reshape(-1, 3).std(axis=0).min() > 0.01


@pytest.mark.slow
def test_saving_again_replaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"regions": PICTURES["regions"]}
    monkeypatch.setattr("voros_studies.gallery.PICTURES", one)
    first = save_support2_figures(tmp_path)
    size = first[0].stat().st_size
    first[0].write_bytes(b"")
    assert save_support2_figures(tmp_path) == first
    assert first[0].stat().st_size == size
