"""Named columns of equal length, with or without a data-frame library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voros.io.frames import make_frame

Column: TypeAlias = NDArray[Any]
"""One variable, one entry per row."""


@dataclass(frozen=True, eq=False, repr=False)
class Table(Mapping[str, Column]):
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
    >>> table = Table({"age": np.array([63.0, 40.0]), "sex": np.array(["male", ""])})
    >>> table["age"]
    array([63., 40.])
    >>> list(table)
    ['age', 'sex']
    >>> table.take(table["age"] > 50).n_rows
    1
    """

    columns: Mapping[str, Column]

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must all have the same length, got {lengths}")
        for column in self.columns.values():
            column.flags.writeable = False

    def __getitem__(self, name: str) -> Column:
        """Return the column called ``name``."""
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self.columns)

    def __len__(self) -> int:
        """Count the columns, as a mapping does; ``n_rows`` counts the rows."""
        return len(self.columns)

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows: {', '.join(self)})"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Table:
        """Return the rows that a mask marks, or those at the given positions."""
        return Table({name: column[rows] for name, column in self.items()})

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


def _with_nulls(column: Column) -> Column | list[str | None]:
    if column.dtype.kind == "U":
        return [word or None for word in column.tolist()]
    return column
