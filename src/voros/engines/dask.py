"""Dask data frames, on whichever scheduler or cluster is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from voros.engines.adapter import Adapter, Levels, as_lazy
from voros.engines.keys import IntArray, cell_of


class DaskAdapter(Adapter):
    """Reads the bits of a float with numpy, partition by partition."""

    name = package = "dask"

    def open_parquet(self, path: str) -> Any:
        """Read the files by partitions."""
        import dask.dataframe as dd

        return dd.read_parquet(path)

    def with_cell(
        self, frame: nw.LazyFrame[Any], score: str, cell: str, level: int | Levels
    ) -> nw.LazyFrame[Any]:
        """Add the cell where the partition lies; the workers need voros installed."""
        native = frame.to_native()
        return as_lazy(native.map_partitions(_add_cell, score, cell, level))


def _add_cell(part: Any, score: str, cell: str, level: int | Levels) -> Any:
    bits = _bits(part[level.column], level.of) if isinstance(level, Levels) else level
    return part.assign(**{cell: cell_of(part[score].to_numpy(dtype="float64"), bits)})


def _bits(models: Any, levels: Mapping[str, int]) -> IntArray:
    # Dask tries a function on made-up rows first, whose model is none of these.
    bits = np.zeros(len(models), dtype=np.int64)
    for name, level in levels.items():
        bits[(models == name).to_numpy(dtype=bool)] = level
    return bits


ADAPTER = DaskAdapter()
