"""Dask data frames, on whichever scheduler or cluster is in force."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from voros.engines.adapter import Adapter, as_lazy
from voros.engines.keys import cell_of


class DaskAdapter(Adapter):
    """Reads the bits of a float with numpy, partition by partition."""

    name = package = "dask"

    def open_parquet(self, path: str) -> Any:
        """Read the files by partitions."""
        import dask.dataframe as dd

        return dd.read_parquet(path)

    def with_cell(
        self, frame: nw.LazyFrame[Any], score: str, cell: str, level: int
    ) -> nw.LazyFrame[Any]:
        """Add the cell where the partition lies; the workers need voros installed."""
        native = frame.to_native()
        return as_lazy(native.map_partitions(_add_cell, score, cell, level))


def _add_cell(part: Any, score: str, cell: str, level: int) -> Any:
    return part.assign(**{cell: cell_of(part[score].to_numpy(dtype="float64"), level)})


ADAPTER = DaskAdapter()
