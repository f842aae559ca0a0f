"""Run the tutorials and keep their outputs, which the site shows and a test compares."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

# Both are untyped.
nbclient: Any = import_module("nbclient")
nbformat: Any = import_module("nbformat")

DOCS = Path(__file__).parents[1] / "docs"


def executed(path: Path) -> Any:
    """Run a notebook from its first cell to the last; an error in any cell is one here."""
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=600).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def printed(notebook: Any) -> list[str]:
    """Return what each cell printed; pictures and tables are left out."""
    cells = [cell.get("outputs", []) for cell in notebook.cells]
    texts = ([output.get("text", "") for output in outputs] for outputs in cells)
    return [text for text in map("".join, texts) if text]


if __name__ == "__main__":
    kept = [*DOCS.glob("tutorials/*.ipynb"), *DOCS.glob("studies/*.ipynb")]
    for path in [Path(name) for name in sys.argv[1:]] or sorted(kept):
        nbformat.write(executed(path), path)
