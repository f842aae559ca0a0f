"""A document for the record, and the words and values it shares with the command line."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voros.present.report.content import DataSummary, ModelInterval, Report

if TYPE_CHECKING:
    from voros.present.report.layout import report_paths, write_report
    from voros.present.report.making import (
        ReportCases,
        ReportStays,
        compose_report,
        make_report,
        report_file,
    )

_MAKING = ("ReportCases", "ReportStays", "compose_report", "make_report", "report_file")
_LAYOUT = ("report_paths", "write_report")
_HOME_OF = dict.fromkeys(_LAYOUT, "layout") | dict.fromkeys(_MAKING, "making")
__all__ = [
    "DataSummary",
    "ModelInterval",
    "Report",
    "ReportCases",
    "ReportStays",
    "compose_report",
    "make_report",
    "report_file",
    "report_paths",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import the rest when it is used: it loads pictures, and much of the library."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
