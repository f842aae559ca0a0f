"""Operating points from DuckDB, Polars, Dask and Spark, and summaries that add up."""

from voros.engines.bins import ChangedDataError
from voros.engines.certified import CertifiedPoints, Cost, count_frame
from voros.engines.summaries import BinnedCounts

__all__ = ["BinnedCounts", "CertifiedPoints", "ChangedDataError", "Cost", "count_frame"]
