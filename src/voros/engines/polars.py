"""Polars lazy frames, run by its streaming engine so that they need not fit into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from voros.engines.adapter import Adapter, as_lazy
from voros.engines.keys import MAGNITUDE

if TYPE_CHECKING:
    pass


class PolarsAdapter(Adapter):
    """Reads the bits of a float with ``reinterpret``."""

    name = package = "polars"

    def open_parquet(self, path: str) -> Any:
        """Scan the files."""
        import polars as pl

        return pl.scan_parquet(path)

    def with_cell(
        self, frame: nw.LazyFrame[Any], score: str, cell: str, level: int
    ) -> nw.LazyFrame[Any]:
        """Add the cell; floor division by a power of two is a shift."""
        import polars as pl

        bits = pl.col(score).reinterpret(dtype=pl.Int64)
        key = pl.when(bits >= 0).then(bits).otherwise(-(bits & int(MAGNITUDE)))
        return as_lazy(frame.to_native().with_columns((key // 2**level).alias(cell)))

    def how_many(self, condition: nw.Expr) -> nw.Expr:
        """Count bits, which is faster than to add floats."""
        return condition.sum()

    def collect(self, answer: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        """Run the query out of core."""
        return answer.collect(backend="polars", engine="streaming")


ADAPTER = PolarsAdapter()
