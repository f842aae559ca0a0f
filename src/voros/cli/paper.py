"""``voros paper``: the tables of the paper, from a folder of the authors' files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voros.cli.bundles import bundled
from voros.cli.failures import say
from voros.cli.options import Force, ShowOptions
from voros.cli.output import STANDARD_OUTPUT
from voros.cli.patience import patience
from voros.cli.show import Sheet, show
from voros.io import check_folder
from voros.present.report.values import evaluation_values

if TYPE_CHECKING:
    from voros.policy.deployment import PolicyEvaluation
    from voros.studies.paper.cells import Absent, Cell

SUMMARY = ("expected_cost", "mean_precision", "mean_alarms", "max_alarms", "satisfied")
"""What a row of CSV says of a strategy on one set of cases."""


@bundled
def paper(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Holds the authors' *_valid.csv and *_test.csv files."
        ),
    ],
    show_options: ShowOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Save the tables as text, CSV and LaTeX."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Print the paper's tables, computed from the predictions in FOLDER."""
    from voros.studies.paper import reproduce_tables

    if output is not None:
        if output == STANDARD_OUTPUT:
            raise ValueError("-o - is no folder; without -o the tables go to the standard output")
        check_folder(output)
    with patience("computing the paper's tables"):
        tables = reproduce_tables(folder)
    if output is not None:
        written = tables.write(output, force=force)
        say(f"wrote {len(written)} files to {output}")
    if show_options.for_programs:
        show(_sheet(tables.cells), show_options)
    else:
        sys.stdout.write(tables.text())


def _sheet(cells: Sequence[Cell]) -> Sheet:
    return Sheet(
        title="The tables of the paper",
        columns={},
        rows=[_row(cell, name) for cell in cells for name in ("valid", "test")],
        document={"cells": [_place(cell) | _accounts(cell) for cell in cells]},
    )


def _place(cell: Cell) -> dict[str, Any]:
    return {"dataset": cell.dataset, "scenario": cell.scenario, "strategy": cell.strategy}


def _accounts(cell: Cell) -> dict[str, Any]:
    return {name: _account(getattr(cell, name)) for name in ("valid", "test")}


def _account(found: PolicyEvaluation | Absent) -> dict[str, Any]:
    from voros.studies.paper.cells import Absent

    return {"absent": found.reason} if isinstance(found, Absent) else evaluation_values(found)


def _row(cell: Cell, name: str) -> dict[str, Any]:
    account = _accounts(cell)[name]
    values = {column: account.get(column) for column in (*SUMMARY, "absent")}
    return _place(cell) | {"cases": name} | values
