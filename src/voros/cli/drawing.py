"""Which picture formats the command line writes."""

from __future__ import annotations

from pathlib import Path

FIGURE_FORMATS = ("png", "svg", "pdf")


def figure_format(path: Path) -> str:
    """Return the format of a picture by the end of its name; the first on standard output."""
    if path == Path("-"):
        return FIGURE_FORMATS[0]
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FIGURE_FORMATS:
        listed = ", ".join(f".{name}" for name in FIGURE_FORMATS)
        raise ValueError(f"{path}: a picture's name must end in one of {listed}")
    return ending
