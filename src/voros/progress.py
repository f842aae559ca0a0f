"""A progress bar for long computations: plain text on the standard error stream."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

BAR_WIDTH = 30
"""Characters of a full bar."""


def progress_bar(items: Sequence[T], label: str, *, shown: bool = True) -> Iterator[T]:
    """Go through ``items``, redrawing a bar after each of them.

    Examples
    --------
    >>> [x * x for x in progress_bar([1, 2, 3], "squares", shown=False)]
    [1, 4, 9]
    """
    for done, item in enumerate(items, start=1):
        yield item
        if shown:
            sys.stderr.write(_drawn(done, len(items), label))
            sys.stderr.flush()


def _drawn(done: int, total: int, label: str) -> str:
    filled = BAR_WIDTH * done // total
    bar = "#" * filled + "." * (BAR_WIDTH - filled)
    ending = "\n" if done == total else ""
    return f"\r{label} [{bar}] {done}/{total}{ending}"
