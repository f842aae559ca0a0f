"""Named columns of equal length, with or without a data-frame library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from voros.core.arrays import AnyArray
from voros.io.frames import make_frame


@dataclass(frozen=True, eq=False, repr=False)
class DataTable(Mapping[str, AnyArray]):
    """Columns by name: a read-only mapping from names to NumPy arrays.

    Missing numbers are NaN and missing words are empty strings; in a data
    frame the numbers stay NaN and the words become nulls.

    Parameters
    ----------
    columns : mapping of str to ndarray
        One-dimensional arrays of the same length. They become read-only: a table
        may be shared, so copy a column before changing it.

    Examples
    --------
    >>> import numpy as np
    >>> table = DataTable({"age": np.array([63.0, 40.0]), "sex": np.array(["male", ""])})
    >>> table["age"]
    array([63., 40.])
    >>> list(table)
    ['age', 'sex']
    >>> table.take(table["age"] > 50).n_rows
    1
    """

    columns: Mapping[str, AnyArray]

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must all have the same length, got {lengths}")
        for column in self.columns.values():
            column.flags.writeable = False

    def __getitem__(self, name: str) -> AnyArray:
        """Return the column called ``name``."""
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self.columns)

    def __len__(self) -> int:
        """Count the columns, as a mapping does; ``n_rows`` counts the rows."""
        return len(self.columns)

    def __repr__(self) -> str:
        return f"DataTable({self.n_rows} rows: {', '.join(self)})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def take(self, rows: AnyArray) -> DataTable:
        """Return the rows that a mask marks, or those at the given positions."""
        return DataTable({name: column[rows] for name, column in self.items()})

    def frame(self, backend: str | None = None) -> Any:
        """Return the columns as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library to use; by default the first one that is installed.
        """
        return make_frame(
            {name: _with_nulls(column) for name, column in self.items()}, backend=backend
        )


def _with_nulls(column: AnyArray) -> AnyArray | list[str | None]:
    if column.dtype.kind == "U":
        return [word or None for word in column.tolist()]
    return column
