"""Where cases come from and where others went: the counts of a flow diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voros.text.table import Column, Table


@dataclass(frozen=True)
class FlowStep:
    """What is left after leaving some out, and why they were; or a part of the split.

    Examples
    --------
    >>> str(FlowStep("ICU stays", 140))
    '140 ICU stays'
    >>> str(FlowStep("lasted 48 h", 74, 66, "ended before"))
    '66 ended before; 74 lasted 48 h'
    """

    what: str
    kept: int
    left_out: int = 0
    reason: str = ""
    is_part: bool = False

    def __str__(self) -> str:
        """Say it in a sentence."""
        gone = f"{self.left_out:,} {self.reason}; " if self.reason else ""
        return f"{gone}{self.kept:,} {self.what}"


def flow_table(steps: Sequence[FlowStep], title: str) -> Table:
    """Return the flow as a table, a row for each step."""
    columns = (
        Column("step"),
        Column("n", "kept", decimals=0),
        Column("left out", "left_out", decimals=0),
        Column("why", "reason"),
    )
    rows = tuple((s.what, float(s.kept), float(s.left_out), s.reason) for s in steps)
    return Table(columns, rows, f"{title}: flow of cases", "flow")
