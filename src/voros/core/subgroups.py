"""Subgroups of cases to report on, such as sexes or sites; small ones are pooled.

For groups of cases of one patient (``groups=``) see `voros.core.grouped_cases`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voros.core.alignment import check_aligned, index_of
from voros.core.arguments import check_count
from voros.core.arrays import as_vector, check_same_length, named_columns
from voros.core.grouped_cases import group_codes, group_names
from voros.exceptions import ArgumentError
from voros.typing import AnyArray

FEWEST_CASES = 10
"""By default, subgroups with fewer cases are pooled."""

UNNAMED = "subgroup"
"""Name of a column without a name."""

POOLED = "other"
"""Name of the pooled small subgroups."""

BLANK = "(blank)"
"""Name of the subgroup of cases with empty text in the column."""

SHOWN_GROUPS = 6
"""Number of pooled subgroups that a note names."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A column that assigns every case to a subgroup.

    Attributes
    ----------
    column : str
    names : tuple of str
    codes : ndarray of int, shape (n_cases,)
        Position of each case's subgroup in `names`.
    """

    column: str
    names: tuple[str, ...]
    codes: AnyArray

    @property
    def sizes(self) -> AnyArray:
        """Number of cases in each subgroup."""
        return np.bincount(self.codes, minlength=len(self.names))


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Subgroups of cases to report on, by one column or several.

    Attributes
    ----------
    partitions : tuple of Partition
        One for each column.
    notes : tuple of str
        Names of pooled subgroups.
    index_of_cases : pandas.Index or None
        The index of the columns.

    Examples
    --------
    >>> columns = {"sex": ["f", "f", "m", "f"], "site": ["A", "A", "B", "C"]}
    >>> result = Subgroups.from_columns(columns, min_cases=2)
    >>> [(part.column, part.names, part.sizes.tolist()) for part in result.partitions]
    [('sex', ('f', 'other'), [3, 1]), ('site', ('A', 'other'), [2, 2])]
    >>> result.notes
    ('sex: subgroups with fewer than 2 cases are pooled as other: m', 'site: subgroups ...: B, C')
    """

    partitions: tuple[Partition, ...]
    notes: tuple[str, ...] = ()
    index_of_cases: Any = field(default=None, repr=False)

    @classmethod
    def from_columns(cls, by: Any, *, min_cases: int = FEWEST_CASES) -> Subgroups:
        """Read the subgroups of each case.

        Parameters
        ----------
        by : array-like of shape (n_cases,), mapping of str to such, or data frame
            One column or several. Every case needs a value in each.
        min_cases : int, default 10
            Subgroups with fewer cases are pooled as "other".

        Returns
        -------
        Subgroups
        """
        check_aligned(by=by)
        columns = _columns(by)
        fewest = check_count(min_cases, "min_cases", "a whole number above 0")
        pooled = [_partition(name, values, fewest) for name, values in columns.items()]
        notes = tuple(note for _, note in pooled if note)
        return cls(tuple(part for part, _ in pooled), notes, index_of(by))

    @property
    def n_subgroups(self) -> int:
        """Number of subgroups over all columns."""
        return sum(len(part.names) for part in self.partitions)

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Column and name of each subgroup."""
        return tuple((part.column, name) for part in self.partitions for name in part.names)

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.partitions[0].codes)


def read_subgroups(by: Any, n_cases: int) -> Subgroups:
    """Return subgroups of ``n_cases`` cases, from columns or `Subgroups`."""
    subgroups = by if isinstance(by, Subgroups) else Subgroups.from_columns(by)
    if subgroups.n_cases != n_cases:
        raise ArgumentError(
            "by",
            f" has {subgroups.n_cases} cases and y_true {n_cases}; accepted is the same number",
        )
    return subgroups


def _columns(by: Any) -> dict[str, AnyArray]:
    name = getattr(by, "name", None)
    alone = [(UNNAMED if name is None or name == "" else name, by)]
    named = named_columns(by, "by")
    items = alone if named is None else named
    if not items:
        raise ArgumentError("by", " holds no column; accepted is at least one")
    columns = {str(name): as_vector(values, f"by[{name!r}]") for name, values in items}
    check_same_length(**{f"by[{name!r}]": values for name, values in columns.items()})
    return columns


def _partition(column: str, values: AnyArray, fewest: int) -> tuple[Partition, str]:
    """Return the subgroups of a column, small ones pooled, and a note that names these."""
    codes = group_codes(values, values, f"by[{column!r}]")
    names, few = group_names(values, codes), np.bincount(codes) < fewest
    if BLANK not in names:
        names = np.where(names == "", BLANK, names)
    if not few.any():
        return Partition(column, tuple(names.tolist()), codes), ""
    small, kept = names[few].tolist(), names[~few].tolist()
    pooled = POOLED if POOLED not in kept else f"{POOLED} subgroups"
    renumbered = np.where(few, len(kept), np.cumsum(~few) - 1)
    more = f" and {len(small) - SHOWN_GROUPS:,} more" if len(small) > SHOWN_GROUPS else ""
    note = (
        f"{column}: subgroups with fewer than {fewest} cases are pooled as {pooled}: "
        f"{', '.join(small[:SHOWN_GROUPS])}{more}"
    )
    return Partition(column, (*kept, pooled), renumbered[codes]), note
