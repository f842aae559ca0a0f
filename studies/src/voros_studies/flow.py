"""The counts of a flow diagram: cases kept and cases left out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FlowStep:
    """A step: the cases kept, the cases left out and why; or a part of the split.

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
        """Return the step as a sentence."""
        gone = f"{self.left_out:,} {self.reason}; " if self.reason else ""
        return f"{gone}{self.kept:,} {self.what}"
