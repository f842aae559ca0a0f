"""Check that arguments with one value per case list the cases in the same order.

Values are matched by position. Arguments are refused if their pandas indexes contradict that;
objects without an index are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def check_aligned(**arguments: Any) -> None:
    """Raise where the pandas indexes of two arguments contradict each other.

    Equal indexes agree, and indexes without common labels are not compared. Indexes of which only
    some labels are common, or all in different orders, are usually a mistake.

    Parameters
    ----------
    **arguments
        Arguments of a function by name: anything with one value per case, a mapping or data frame
        of such columns, or None. `Subgroups` and `Periods` keep the index of their columns.

    Examples
    --------
    >>> import pandas as pd
    >>> y_true, site = pd.Series([1, 0, 1]), pd.Series(["a", "b", "b"])
    >>> check_aligned(y_true=y_true, by=site)
    >>> check_aligned(y_true=y_true, by=site[::-1])
    Traceback (most recent call last):
    ValueError: y_true and by have the same index in different orders, and values are matched by ...
    """
    labelled = [(name, index) for name, index in _indexes(arguments) if index is not None]
    for name, index in labelled[1:]:
        _check_pair(*labelled[0], name, index)


def index_of(values: Any) -> Any:
    """Return the index of a pandas object, or of the column of subgroups or periods."""
    if isinstance(values, Mapping):
        return next((index for _, index in _indexes(values) if index is not None), None)
    if hasattr(type(values), "index_of_cases"):
        return values.index_of_cases
    is_pandas = type(values).__module__.partition(".")[0] == "pandas"
    return getattr(values, "index", None) if is_pandas else None


def _indexes(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, values in arguments.items():
        if isinstance(values, Mapping):
            for key, column in values.items():
                yield f"{name}[{key!r}]", index_of(column)
        else:
            yield name, index_of(values)


def _check_pair(first: str, expected: Any, name: str, index: Any) -> None:
    # Different lengths are refused elsewhere.
    if index.equals(expected) or len(index) != len(expected) or index.nlevels != expected.nlevels:
        return
    common = int(index.isin(expected).sum())
    if not common:
        return
    if common == len(index) and expected.isin(index).all():
        how = "the same index in different orders"
    else:
        how = f"different indexes with {common:,} of {len(index):,} labels in common"
    raise ValueError(
        f"{first} and {name} have {how}, and values are matched by position; align them first, as "
        "in y_score.loc[y_true.index], or pass arrays (.to_numpy()) if their positions belong "
        "together"
    )
