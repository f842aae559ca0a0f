"""The paper's results tables, computed from folders of predictions.

`reproduce_tables` reads the files the authors publish and returns two main tables and four
detailed ones; `PaperTables` shows them as text and saves them as text, CSV and LaTeX.
"""

from voros.studies.paper.cells import SCENARIOS, Absent, Cell, evaluate_cell, read_cells
from voros.studies.paper.layout import Column, Table, detailed_table, main_table
from voros.studies.paper.report import PaperTables, reproduce_tables
from voros.studies.paper.writers import as_csv, as_latex, as_text

__all__ = [
    "SCENARIOS",
    "Absent",
    "Cell",
    "Column",
    "PaperTables",
    "Table",
    "as_csv",
    "as_latex",
    "as_text",
    "detailed_table",
    "evaluate_cell",
    "main_table",
    "read_cells",
    "reproduce_tables",
]
