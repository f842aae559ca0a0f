"""A document for the record, and the words and values it shares with the command line."""

from voros.present.report.content import DataSummary, ModelInterval, Report
from voros.present.report.layout import report_paths, write_report

__all__ = ["DataSummary", "ModelInterval", "Report", "report_paths", "write_report"]
