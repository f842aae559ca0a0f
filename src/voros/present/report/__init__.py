"""A document for the record, and the words and values it shares with the command line."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voros.present.report.content import DataSummary, ModelInterval, Report

if TYPE_CHECKING:
    from voros.present.report.layout import report_paths, write_report

__all__ = ["DataSummary", "ModelInterval", "Report", "report_paths", "write_report"]


def __getattr__(name: str) -> Any:
    """Import the layout when it is used: it loads the pictures."""
    if name not in ("report_paths", "write_report"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("voros.present.report.layout"), name)
