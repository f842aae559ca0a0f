"""The layout of tables: required columns, and how many rows may deviate."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from voros_studies.experiments.errors import ExperimentError

MOST_LEFT_OUT = 0.05
"""Largest share of a table's rows that may be left out because they cannot be read."""


def check_columns(path: Path, columns: Collection[str], needed: Iterable[str], remedy: str) -> None:
    """Raise where a table lacks a column."""
    missing = [column for column in needed if column not in columns]
    if missing:
        raise ExperimentError(
            f"{path}: the table has no column {', '.join(missing)}; it has "
            f"{', '.join(columns) or 'none'}. {remedy}"
        )


def check_few_left_out(
    path: Path | str, n_left_out: int, n_rows: int, what: str, remedy: str
) -> None:
    """Raise if more than `MOST_LEFT_OUT` of the rows are left out.

    Examples
    --------
    >>> check_few_left_out("stays.csv", 5, 100, "rows cannot be read", "Download it again")
    >>> check_few_left_out("stays.csv", 6, 100, "rows cannot be read", "Download it again")
    Traceback (most recent call last):
    voros_studies.experiments.errors.ExperimentError: stays.csv: 6 of 100 rows cannot be read, and
    at most 5 % may be left out. Download it again
    """
    if n_left_out > MOST_LEFT_OUT * n_rows:
        raise ExperimentError(
            f"{path}: {n_left_out:,} of {n_rows:,} {what}, and at most {100 * MOST_LEFT_OUT:g} % "
            f"may be left out. {remedy}"
        )
