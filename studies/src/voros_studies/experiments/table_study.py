"""The study on the user's table: from features and outcome to saved policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from voros.io import open_source
from voros_studies.experiments.cases import StudyContext, split_around_test
from voros_studies.experiments.errors import ExperimentError
from voros_studies.experiments.experiment import (
    AS_PUBLISHED,
    RunOptions,
    asked_metadata,
    run_experiment,
)
from voros_studies.experiments.folder import sha256_of
from voros_studies.experiments.results import StudyResult
from voros_studies.experiments.splits import SplitsResult, run_splits
from voros_studies.experiments.splits_summary import write_splits
from voros_studies.experiments.table import TableCases, TableColumns, read_frame, table_cases

FROM_TEST_DATA = "voros: from test data"
"""Name of the added column that marks rows of the test table."""


def run_table(
    data: str | Path,
    out: str | Path,
    columns: TableColumns,
    options: RunOptions = AS_PUBLISHED,
    *,
    n_splits: int | None = None,
    test_data: str | Path | None = None,
) -> StudyResult | SplitsResult:
    """Run the study on a table, and write everything into one folder.

    Parameters
    ----------
    data : path-like
        CSV or Parquet: one row for each case, with features and outcome.
    out : path-like
        The run's folder. An interrupted run in it is resumed.
    columns : TableColumns
        The outcome, and columns that are not features.
    options : RunOptions, optional
        Scenarios, models, seed, number of processes.
    n_splits : int, optional
        Several random splits, each in a folder of its own. By default one.
    test_data : path-like, optional
        A table of the same columns for testing only; the cases of ``data`` are then split into
        training and validation.

    Returns
    -------
    StudyResult or SplitsResult
        The latter with several splits.

    Examples
    --------
    >>> run_table("ward.csv", "study", TableColumns(label="died"))  # doctest: +SKIP
    """
    files = [Path(path) for path in (data, test_data) if path is not None]
    table, from_test = _read(files, columns)
    _check_split(columns, n_splits, test_data)
    table.cases.check_both_outcomes(str(data), "Name another outcome")
    notes = (*(f"{path.name}: SHA-256 {sha256_of(path)}" for path in files), *table.notes)
    options.brief([*notes, repr(table.cases)])
    title, root = f"{files[0].stem}, {columns.label}", Path(out)
    description: dict[str, Any] = {
        "experiment": "table",
        "outcome": columns.label,
        "group": columns.group or "",
        "split": columns.split or "",
        "test_data": test_data is not None,
    }
    study: dict[str, Any] = {
        "description": description,
        "context": StudyContext(notes, table.flow),
        "encoder": table.encoder,
    }
    test = from_test if test_data is not None else None
    if n_splits is None:
        split = table.split
        if test is not None:
            split = split_around_test(table.cases, test, options.random_state)
        return run_experiment(title, table.cases, root, options, split=split, **study)
    result = run_splits(title, table.cases, root, options, n_splits=n_splits, test=test, **study)
    metadata = asked_metadata(options, {**description, **options.identity})
    write_splits(root, result, [*metadata, *(("data", note) for note in notes)])
    return result


def _read(files: list[Path], columns: TableColumns) -> tuple[TableCases, Any]:
    """Read the table, append that of the test cases, and return which rows those are."""
    frames = [read_frame(open_source(path)) for path in files]
    if len(frames) == 1:
        return table_cases(frames[0], columns), None
    lacking = [c for c in frames[0] if c not in frames[1]]
    if lacking:
        raise ExperimentError(f"test_data={files[1]}: there is no column {lacking[0]!r}")
    marked = [frame.assign(**{FROM_TEST_DATA: i}) for i, frame in enumerate(frames)]
    whole = pd.concat(marked, ignore_index=True)[[*frames[0].columns, FROM_TEST_DATA]]
    from_test = whole[FROM_TEST_DATA][whole[columns.label].notna()].to_numpy() == 1
    return table_cases(whole.drop(columns=FROM_TEST_DATA), columns), np.asarray(from_test)


def _check_split(columns: TableColumns, n_splits: int | None, test_data: str | Path | None) -> None:
    if columns.split is not None and (n_splits is not None or test_data is not None):
        other = "splits" if n_splits is not None else "test_data"
        raise ExperimentError(
            f"split={columns.split!r} names the parts already, and {other} would make others; "
            "name one of them"
        )
