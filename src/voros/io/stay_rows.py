"""Scored rows of stays, and events, read from the columns of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voros.io.columns import ColumnNames, assign_roles, check_names
from voros.io.predictions import without_missing
from voros.io.source import Source, open_source
from voros.io.tables import is_numeric, peek, read_columns
from voros.typing import BoolArray


@dataclass(frozen=True, eq=False, kw_only=True)
class StayTable:
    """Rows of stays with the scores of each model.

    Attributes
    ----------
    source : str
        The file's name.
    table : pyarrow.Table
        Of the columns that are needed. Stays and patients are text where the file is.
    models : tuple of str
        Columns of scores.
    notes : tuple of str
        What was guessed or left out, in words.
    kept : ndarray of bool, shape (n_rows,), or None
        Which rows of the file are in the table; None where all are.
    """

    source: str
    table: Any
    models: tuple[str, ...]
    notes: tuple[str, ...]
    kept: BoolArray | None


def read_stay_rows(
    source: Source,
    *,
    stay: str,
    time: str,
    scores: Sequence[str] = (),
    group: str | None = None,
    by: Sequence[str] = (),
    aside: Sequence[str] = (),
    drop_missing: bool = False,
) -> StayTable:
    r"""Read stay, time and scores of rows; a score may be missing, a stay or a time may not.

    Parameters are those of `read_predictions`, and `stay` is the column that says whose row it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "rows.csv")
    >>> _ = file.write_text("stay,hour,risk\n007,0,0.2\n007,1,\n")
    >>> read_stay_rows(open_source(file), stay="stay", time="hour").table.to_pydict()
    {'stay': ['007', '007'], 'hour': [0.0, 1.0], 'risk': [0.2, None]}
    """
    names = ColumnNames(stay=stay, time=time, scores=scores, group=group, by=by, aside=aside)
    first_rows = peek(source)
    roles = assign_roles(first_rows, names, source.name, labelled=False)
    hours = (time,) if is_numeric(first_rows.column(time).type) else ()
    table = _read(source, roles.columns, (*hours, *roles.scores))
    needed = [name for name in roles.columns if drop_missing or name not in roles.scores]
    table, kept, _ = without_missing(table, needed, source, drop_missing)
    notes = source.notes + roles.notes
    if kept is not None:
        dropped = int((~kept).sum())
        notes += (f"leaving out {dropped} of {len(kept)} rows with a missing value",)
    return StayTable(
        source=source.name, table=table, models=tuple(roles.scores), notes=notes, kept=kept
    )


def read_events(path: str | Path, rows: StayTable, *, stay: str, time: str) -> Any:
    r"""Read stay and time of each event, from columns named as those of the rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.csv").write_text("stay,hour,risk\n007,0,0.2\n")
    >>> _ = (folder / "events.csv").write_text("stay,hour\n007,9\n008,\n")
    >>> columns = {"stay": "stay", "time": "hour"}
    >>> rows = read_stay_rows(open_source(folder / "rows.csv"), **columns)
    >>> read_events(folder / "events.csv", rows, **columns).to_pydict()
    {'stay': ['007', '008'], 'hour': [9.0, None]}
    """
    source = open_source(path)
    check_names(peek(source), ColumnNames(stay=stay, time=time), source.name)
    hours = (time,) if is_numeric(rows.table.column(time).type) else ()
    return _read(source, (stay, time), hours)


def _read(source: Source, columns: Sequence[str], numeric: Sequence[str]) -> Any:
    """Read columns; identifiers and datetimes of a text file stay text."""
    texts = [name for name in columns if name not in numeric]
    return read_columns(source, columns, numeric, texts)
