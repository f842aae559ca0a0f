"""The paper's results tables and diagnostic figures, from folders of predictions.

`reproduce_tables` reads the files the authors publish and returns two main tables and four
detailed ones; `PaperTables` shows them as text and saves them as text, CSV and LaTeX.
"""

from voros_studies.paper.cells import SCENARIOS, Cell, evaluate_cell, read_cells
from voros_studies.paper.figures import reproduce_figures
from voros_studies.paper.paper_tables import PaperTables, reproduce_tables

__all__ = [
    "SCENARIOS",
    "Cell",
    "PaperTables",
    "evaluate_cell",
    "read_cells",
    "reproduce_figures",
    "reproduce_tables",
]
