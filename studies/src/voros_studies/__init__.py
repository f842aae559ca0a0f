"""The paper's tables, the hospital studies and the demo: the library as a user would use it."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Import a part when it is used."""
    if name not in ("evidence", "experiments", "hospital", "paper", "training"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
