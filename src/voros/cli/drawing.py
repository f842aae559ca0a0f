"""Pictures drawn without a screen, as bytes in the format that a file's name asks for."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

FIGURE_FORMATS = ("png", "svg", "pdf")
RESOLUTION = 160
"""Dots per inch of a PNG."""


def headless_pyplot() -> Any:
    """Import matplotlib so that it never opens a window."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "voros[cli]"') from error
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def figure_format(path: Path) -> str:
    """Return the format of a picture by the end of its name."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FIGURE_FORMATS:
        listed = ", ".join(f".{name}" for name in FIGURE_FORMATS)
        raise ValueError(f"{path}: a picture's name must end in one of {listed}")
    return ending


def figure_bytes(figure: Any, file_format: str) -> bytes:
    """Write a figure into memory, and close it."""
    sink = io.BytesIO()
    # Without a date the same data give the same bytes.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(file_format)
    figure.savefig(sink, format=file_format, dpi=RESOLUTION, metadata=metadata)
    headless_pyplot().close(figure)
    return sink.getvalue()
