"""The needed columns of a file's rows, which are cases or belong to stays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from voros.exceptions import Argument, Message, PredictionFileError
from voros.io.columns import ColumnNames, Roles, assign_roles, check_names
from voros.io.source import Source
from voros.io.tables import is_numeric, peek, read_columns
from voros.typing import BoolArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Rows of a file, each with the values it needs.

    Attributes
    ----------
    table : pyarrow.Table
        The columns that are needed.
    scores : sequence of str
        The columns of scores.
    notes : tuple of str
        What was guessed or left out, in words.
    n_rows : int
        Number of rows read.
    kept : ndarray of bool, shape (n_rows,), or None
        Which rows are in the table; None for all.
    missing : mapping of str to int
        Rows that were left out because a value is missing, by column; a row may count in several.
    """

    table: Any
    scores: Sequence[str]
    notes: tuple[str, ...]
    n_rows: int
    kept: BoolArray | None = None
    missing: Mapping[str, int] = field(default_factory=dict)


def read_rows(
    source: Source,
    roles: Roles,
    *,
    numeric: Collection[str] = (),
    texts: Collection[str] = (),
    may_lack: Collection[str] = (),
    drop_missing: bool = False,
) -> Rows:
    """Read the columns of some roles; rows with a missing value are left out or cause an error.

    Scores, weights, values and the columns in ``numeric`` must be numbers. Columns in ``texts`` of
    a text file stay text. Columns in ``may_lack`` may have missing values.
    """
    columns = roles.columns
    table = read_columns(source, columns, [*roles.numeric, *numeric], texts)
    absent = {
        name: np.asarray(marks.to_numpy(), dtype=np.bool_)
        for name in columns
        if name not in may_lack and _any(marks := table.column(name).is_null(nan_is_null=True))
    }
    notes = source.notes + roles.notes
    rows = Rows(table=table, scores=roles.scores, notes=notes, n_rows=table.num_rows)
    return _without(rows, absent, source.name, drop_missing) if absent else rows


def _any(marks: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(marks).as_py())


def _without(rows: Rows, absent: Mapping[str, BoolArray], file: str, drop: bool) -> Rows:
    """Leave out rows with a missing value, or raise an error that names the first one."""
    import pyarrow as pa

    missing = {name: int(marks.sum()) for name, marks in absent.items()}
    if not drop:
        name, marks = next(iter(absent.items()))
        raise PredictionFileError(
            Message(
                f"{file}: column {name!r} has no value in {missing[name]:,} of {rows.n_rows:,} "
                f"rows, first in row {int(marks.argmax()) + 1}; fix them, or leave those rows "
                "out with ",
                Argument("drop_missing"),
            )
        )
    kept = ~np.any(list(absent.values()), axis=0)
    if not kept.any():
        raise PredictionFileError(f"{file}: every row has a missing value")
    note = f"leaving out {(~kept).sum():,} of {rows.n_rows:,} rows with a missing value"
    table, notes = rows.table.filter(pa.array(kept)), (*rows.notes, note)
    return replace(rows, table=table, notes=notes, kept=kept, missing=missing)


def read_stay_rows(source: Source, names: ColumnNames, *, drop_missing: bool = False) -> Rows:
    r"""Read stay, time and scores of rows; only scores may be missing.

    Stays and patients of a text file stay text.

    Examples
    --------
    >>> import pathlib, tempfile, voros
    >>> file = pathlib.Path(tempfile.mkdtemp(), "rows.csv")
    >>> _ = file.write_text("stay,hour,risk\n007,0,0.2\n007,1,\n")
    >>> names = ColumnNames(stay="stay", time="hour")
    >>> read_stay_rows(voros.io.open_source(file), names).table.to_pydict()
    {'stay': ['007', '007'], 'hour': [0.0, 1.0], 'risk': [0.2, None]}
    """
    roles = assign_roles(peek(source), names, source.name, labelled=False)
    hours = _hours(peek(source), names)
    return read_rows(
        source,
        roles,
        numeric=hours,
        texts=[name for name in roles.columns if name not in (*hours, *roles.scores)],
        may_lack=() if drop_missing else roles.scores,
        drop_missing=drop_missing,
    )


def read_events(source: Source, rows: Rows, names: ColumnNames) -> Any:
    r"""Read stay and time of each event, from columns named as those of the rows.

    Examples
    --------
    >>> import pathlib, tempfile, voros
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.csv").write_text("stay,hour,risk\n007,0,0.2\n")
    >>> _ = (folder / "events.csv").write_text("stay,hour\n007,9\n008,\n")
    >>> names = ColumnNames(stay="stay", time="hour")
    >>> rows = read_stay_rows(voros.io.open_source(folder / "rows.csv"), names)
    >>> events = voros.io.open_source(folder / "events.csv")
    >>> read_events(events, rows, names).to_pydict()
    {'stay': ['007', '008'], 'hour': [9.0, None]}
    """
    check_names(peek(source), names, source.name)
    hours = _hours(rows.table, names)
    texts = [name for name in names.columns if name not in hours]
    return read_columns(source, names.columns, hours, texts)


def _hours(table: Any, names: ColumnNames) -> list[str]:
    """Return the column of times if it holds numbers, which are hours."""
    time = str(names.time)
    return [time] if is_numeric(table.column(time).type) else []
