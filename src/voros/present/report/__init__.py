"""The report, and the words and values that it shares with the command line."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voros.present.report.content import Report
    from voros.present.report.layout import save_report
    from voros.present.report.making import make_report, write_report

__all__ = ["Report", "make_report", "save_report", "write_report"]


def __getattr__(name: str) -> Any:
    """Import a name when it is used: pictures and much of the library come with it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.making"), name)
