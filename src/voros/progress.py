"""A progress bar for long computations: plain text on the standard error stream."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Progress: TypeAlias = bool | Callable[[int, int], None]
"""Whether to draw a bar, or what to tell how much is done of how much instead."""

BAR_WIDTH = 30
"""Characters of a full bar."""


def progress_bar(
    items: Iterable[T], label: str, progress: Progress = True, total: int | None = None
) -> Iterator[T]:
    """Go through ``items``, redrawing a bar, or telling a callable, after each of them.

    ``total`` says how many there are, where they are made as they are asked for.

    Examples
    --------
    >>> told = []
    >>> squares = [x * x for x in progress_bar([1, 2], "squares", lambda *done: told.append(done))]
    >>> squares, told
    ([1, 4], [(1, 2), (2, 2)])
    """
    if total is None:
        items = list(items)
        total = len(items)
    report = progress if callable(progress) else _draw_on_stderr(label)
    for done, item in enumerate(items, start=1):
        yield item
        if progress:
            report(done, total)


def _draw_on_stderr(label: str) -> Callable[[int, int], None]:
    def draw(done: int, total: int) -> None:
        sys.stderr.write(_drawn(done, total, label))
        sys.stderr.flush()

    return draw


def _drawn(done: int, total: int, label: str) -> str:
    filled = BAR_WIDTH * done // total
    bar = "#" * filled + "." * (BAR_WIDTH - filled)
    ending = "\n" if done == total else ""
    return f"\r{label} [{bar}] {done}/{total}{ending}"
