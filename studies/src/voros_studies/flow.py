"""Where cases come from and where others went: the counts of a flow diagram."""

from __future__ import annotations

from dataclasses import dataclass


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
