"""DuckDB relations, which spill to disk within the connection's own memory limit."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from voros.engines.adapter import Adapter, as_lazy
from voros.engines.keys import MAGNITUDE


class DuckDBAdapter(Adapter):
    """Reads the bits of a float through the type BIT."""

    name = package = "duckdb"

    def open_parquet(self, path: str) -> Any:
        """Read on a connection of its own, which spills where temporary files belong."""
        import duckdb

        connection = duckdb.connect(config={"temp_directory": tempfile.gettempdir()})
        pattern = f"{path}/**/*.parquet" if Path(path).is_dir() else path
        return connection.read_parquet(pattern)

    def with_cell(
        self, frame: nw.LazyFrame[Any], score: str, cell: str, level: int
    ) -> nw.LazyFrame[Any]:
        """Add the cell in SQL."""
        bits = f'CAST(CAST("{score}" AS BIT) AS BIGINT)'
        key = f"CASE WHEN {bits} >= 0 THEN {bits} ELSE -({bits} & {MAGNITUDE}) END"
        return as_lazy(frame.to_native().project(f'*, ({key}) >> {level} AS "{cell}"'))

    def with_membership(
        self, frame: nw.LazyFrame[Any], column: str, values: Sequence[int]
    ) -> nw.LazyFrame[Any]:
        """Look values up by IN, which DuckDB turns into a hash join; a list it would search."""
        listed = ", ".join(map(str, values))
        return as_lazy(
            frame.to_native().project(f'* REPLACE ("{column}" IN ({listed}) AS "{column}")')
        )

    def how_many_missing(self, score: nw.Expr) -> nw.Expr:
        """Count nulls, and what is not finite less the infinities.

        DuckDB answers ``isnan`` from the statistics of a Parquet file, and writers leave NaN out
        of those.
        """
        infinite = (score == float("inf")) | (score == float("-inf"))
        nan = self.how_many(~score.is_finite()) - self.how_many(infinite)
        return self.how_many(score.is_null()) + nan


ADAPTER = DuckDBAdapter()
