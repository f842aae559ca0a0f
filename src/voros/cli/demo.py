"""``voros demo``: who should raise the alarm? SUPPORT2, four prognoses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where figures and the page are written.")
    ] = Path("voros-demo"),
) -> None:
    """Show who should raise the alarm: four prognoses of SUPPORT2, by AUROC and within limits."""
    from voros.studies.demo import main

    main(folder)
