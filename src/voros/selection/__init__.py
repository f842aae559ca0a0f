"""Rank models by how well they serve a scenario, and pick one."""

from voros.selection.result import ModelScores, Selection
from voros.selection.select import select_model

__all__ = ["ModelScores", "Selection", "select_model"]
