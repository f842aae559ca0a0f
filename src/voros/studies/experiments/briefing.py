"""What an experiment says before it starts: what it found, what it lacks, how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from voros.studies.experiments.estimate import in_words


@dataclass(frozen=True)
class Briefing:
    """What is known before the work begins.

    Examples
    --------
    >>> print(Briefing(("9,105 patients",), (), 20.0))
    found: 9,105 patients
    lacks: nothing
    will take: less than a minute
    """

    found: tuple[str, ...]
    lacking: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        """Say it, a line for each."""
        lines = [f"found: {text}" for text in self.found]
        lines += [f"lacks: {text}" for text in self.lacking or ("nothing",)]
        return "\n".join([*lines, f"will take: {in_words(self.seconds)}"])


Announce = Callable[[str], None]
"""Takes a few lines for whoever waits."""


def tell_nobody(_text: str) -> None:
    """Say nothing."""


def file_found(name: str, path: Path) -> str:
    """Say which file serves as a table, and its size."""
    return f"{name}: {path} ({path.stat().st_size / 1e6:,.1f} MB)"
