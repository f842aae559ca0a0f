"""Read files of predictions, and write files completely or not at all.

`read_predictions` reads CSV, TSV, Parquet and Arrow with pyarrow, which the ``cli`` extra brings.
"""

from voros.io.appending import append_columns, format_of, table_bytes
from voros.io.predictions import Predictions, read_predictions
from voros.io.scenario_file import read_scenarios
from voros.io.source import open_source
from voros.io.writing import check_writable, write_together, write_whole

__all__ = [
    "Predictions",
    "append_columns",
    "check_writable",
    "format_of",
    "open_source",
    "read_predictions",
    "read_scenarios",
    "table_bytes",
    "write_together",
    "write_whole",
]
