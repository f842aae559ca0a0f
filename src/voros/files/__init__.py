"""Prediction files in, whole files out.

`read_predictions` takes CSV, TSV, Parquet, Arrow or JSON lines, and `write_whole` writes a file
completely or not at all. Reading needs pyarrow, which comes with ``pip install "voros[cli]"``.
"""

from voros.files.predictions import Predictions, read_predictions
from voros.files.writing import check_writable, write_together, write_whole

__all__ = [
    "Predictions",
    "check_writable",
    "read_predictions",
    "write_together",
    "write_whole",
]
