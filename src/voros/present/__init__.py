"""Documents for people: the report and the interactive page."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Import a part when it is used."""
    if name not in ("explorer", "report"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
