"""Operating points from DuckDB, Polars, Dask and Spark, and summaries that add up."""

from voros.engines.bins import ChangedDataError
from voros.engines.certified import CertifiedPoints, Cost, count_frame
from voros.engines.opening import check_engine, open_parquet
from voros.engines.summaries import BinnedCounts

__all__ = [
    "BinnedCounts",
    "CertifiedPoints",
    "ChangedDataError",
    "Cost",
    "check_engine",
    "count_frame",
    "open_parquet",
]
