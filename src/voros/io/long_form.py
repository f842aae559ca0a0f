"""Turn a table with one row per case and model into one column per model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from voros.exceptions import Argument, Message, PredictionFileError
from voros.typing import AnyArray

if TYPE_CHECKING:
    from voros.io.columns import Roles

ALIGNED = "score of {}"
"""Name of the column with the scores of one model."""


def align_models(table: Any, roles: Roles, file: str) -> tuple[Any, dict[str, str]]:
    """Align the models by case, so that all scores of a row are of the same case.

    Returns
    -------
    table : pyarrow.Table
        One row per case.
    columns : dict of str to str
        The column that holds each model's scores.
    """
    parts = _by_model(table, roles, file)
    first_name, first = next(iter(parts.items()))
    columns = {}
    aligned = first
    for name, part in parts.items():
        _check_alike(first, part, roles, f"{file}: models {first_name!r} and {name!r}")
        columns[name] = ALIGNED.format(name)
        aligned = aligned.append_column(columns[name], part.column(roles.scores[0]))
    return aligned, columns


def _by_model(table: Any, roles: Roles, file: str) -> dict[str, Any]:
    """Split the rows by model, each part sorted by case if a column identifies cases."""
    import pyarrow.compute as pc

    names, parts = table.column(roles.model), {}
    for value in names.unique():
        part, name = table.filter(pc.equal(names, value)), str(value.as_py())
        if roles.case is not None:
            part = part.sort_by(roles.case)
            _check_distinct(part, roles.case, f"{file}: model {name!r}")
        parts[name] = part
    return parts


def _check_distinct(part: Any, case: str, who: str) -> None:
    values = column_values(part, case)
    repeated = np.flatnonzero(values[1:] == values[:-1])
    if len(repeated):
        raise PredictionFileError(f"{who} scores case {values[repeated[0]]!r} more than once")


def _check_alike(first: Any, part: Any, roles: Roles, who: str) -> None:
    if first.num_rows != part.num_rows:
        raise PredictionFileError(
            f"{who} score {first.num_rows:,} and {part.num_rows:,} cases; all models must "
            "score the same cases"
        )
    units = (roles.case, roles.label, roles.weight, roles.group, roles.time, roles.period)
    shared = (*units, roles.miss_value, roles.false_alarm_cost)
    for name in (*shared, *roles.by):
        if name is not None and not np.array_equal(
            column_values(first, name), column_values(part, name)
        ):
            differ = f"{who} differ in column {name!r}, case by case"
            hint = ("; name the column that identifies a case with ", Argument("case"))
            raise PredictionFileError(Message(differ, *(() if roles.case else hint)))


def column_values(table: Any, name: str) -> AnyArray:
    """Return a column as an array."""
    return np.asarray(table.column(name).to_numpy())
