"""Operating points from DuckDB, Polars and Spark, and counts that can be added."""

from voros.engines.backends import check_engine, first_rows
from voros.engines.binned_points import BinnedScores
from voros.engines.bins import ChangedDataError
from voros.engines.opening import open_files
from voros.engines.queries import Usage
from voros.engines.search import count_frame
from voros.engines.summaries import BinnedCounts

__all__ = [
    "BinnedCounts",
    "BinnedScores",
    "ChangedDataError",
    "Usage",
    "check_engine",
    "count_frame",
    "first_rows",
    "open_files",
]
