"""``voros paper``: the tables of the paper, from a folder of the authors' files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from voros.cli.failures import say
from voros.cli.options import Force
from voros.cli.patience import patience


def paper(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Holds the authors' *_valid.csv and *_test.csv files."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Save the tables as text, CSV and LaTeX."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Print the paper's tables, computed from the predictions in FOLDER."""
    from voros.paper import reproduce_tables

    with patience("computing the paper's tables"):
        tables = reproduce_tables(folder)
    if output is not None:
        written = tables.write(output, force=force)
        say(f"wrote {len(written)} files to {output}")
    sys.stdout.write(tables.text())
