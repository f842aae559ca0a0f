"""Run the examples of the README and the guide to pictures, and keep what they save.

``python scripts/draw_doc_images.py`` rewrites every docs/images/*.png that an example saves, so
that each picture shown is drawn by the code beside it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "pictures.md",
    ROOT / "docs" / "intervals.md",
    ROOT / "docs" / "allocation.md",
    ROOT / "docs" / "net-benefit.md",
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> None:
    """Run a page's examples in the current folder, one after another."""
    names: dict[str, object] = {}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page), "exec"), names)


def main() -> None:
    """Draw everything in a folder of its own, then keep the pictures."""
    mpl.use("Agg")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in PAGES:
            run_page(page)
        for picture in sorted(Path(folder).glob("*.png")):
            kept = shutil.copy(picture, IMAGES / picture.name)
            print(kept, Path(kept).stat().st_size)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
