"""Data frames for the user, in an installed library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np

from voros.installing import missing_package

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
"""Libraries a table can be made in, in order of preference."""


def join_frames(parts: Sequence[Mapping[str, Any]], backend: str | None = None) -> Any:
    """Concatenate parts with the same columns into a data frame; see `make_frame`.

    Examples
    --------
    >>> join_frames([{"score": [0.1]}, {"score": [0.2]}], backend="pandas")["score"].tolist()
    [0.1, 0.2]
    """
    return make_frame(
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, backend
    )


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Return ``columns`` as a data frame of pandas, polars or pyarrow.

    Parameters
    ----------
    columns : mapping of str to array-like
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library to use; by default the first one that is installed.

    Examples
    --------
    >>> make_frame({"model": ["a", "b"], "score": [0.1, 0.2]}, backend="pandas")
      model  score
    0     a    0.1
    1     b    0.2
    """
    if backend is None:
        backend = next((name for name in BACKENDS if find_spec(name)), None)
    if backend is None:
        raise missing_package("a table", "pandas", "polars", "pyarrow")
    if backend not in BACKENDS:
        raise ValueError(f"backend={backend!r} is not one of {', '.join(BACKENDS)}")
    import narwhals.stable.v1 as nw

    return nw.from_dict(dict(columns), backend=backend).to_native()
