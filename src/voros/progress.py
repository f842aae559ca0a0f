"""A progress bar for long computations, on a terminal, in a notebook or in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np

Step = TypeVar("Step")

Progress: TypeAlias = bool | Callable[[int, int], None]
"""Whether to draw a bar, or a function to call instead, with the steps done and their total."""

BAR_WIDTH = 30
"""Characters of a full bar."""

SECONDS_BETWEEN = 0.1
"""Shortest time between updates on a terminal or in a notebook."""

SECONDS_BETWEEN_LINES = 30.0
"""Shortest time between lines in a log."""


def progress_bar(
    items: Iterable[Step], label: str, progress: Progress = True, total: int | None = None
) -> Iterator[Step]:
    """Yield ``items``, and redraw a bar, or call a function, after each of them.

    ``total`` is their number, for iterators. A terminal and a notebook show one line that moves;
    anything else, such as a log file, gets a line every half minute and the finished bar.

    Examples
    --------
    >>> seen = []
    >>> squares = [x * x for x in progress_bar([1, 2], "squares", lambda *done: seen.append(done))]
    >>> squares, seen
    ([1, 4], [(1, 2), (2, 2)])
    """
    if not callable(progress) and not isinstance(progress, (bool, np.bool_)):
        raise ValueError(
            f"progress={progress!r}; accepted are True, False and a function of (done, total)"
        )
    if total is None:
        items = list(items)
        total = len(items)
    report = progress if callable(progress) else Bar(label)
    for done, item in enumerate(items, start=1):
        yield item
        if progress:
            report(done, total)


def bar_text(label: str, share: float, count: str) -> str:
    """Return a bar as text.

    Examples
    --------
    >>> bar_text("fits", 0.5, "3/6")
    'fits [###############...............] 3/6'
    """
    filled = min(int(BAR_WIDTH * share), BAR_WIDTH)
    return f"{label} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {count}"


class Bar:
    """A line that is redrawn on a terminal or replaced in a notebook; a log gets new lines.

    With ``passing``, the finished line stays open, to be erased by the caller.
    """

    def __init__(self, label: str, *, passing: bool = False) -> None:
        self.label, self.passing = label, passing
        self.in_notebook = _in_notebook()
        self.on_terminal = not self.in_notebook and sys.stderr.isatty()
        self.watched = self.in_notebook or self.on_terminal
        self.drawn_at = -SECONDS_BETWEEN if self.watched else time.monotonic()
        self.handle: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar, unless it was drawn a moment ago; the finished bar is always drawn."""
        now = time.monotonic()
        pause = SECONDS_BETWEEN if self.watched else SECONDS_BETWEEN_LINES
        if done < total and now - self.drawn_at < pause:
            return
        self.drawn_at = now
        text = bar_text(self.label, done / total, f"{done}/{total}") if total else self.label
        if self.in_notebook:
            self._replace({"text/plain": text})
        else:
            closed = not self.watched or (done == total and not self.passing)
            opening, end = "\r" * self.on_terminal, "\n" * closed
            sys.stderr.write(f"{opening}{text}{end}")
            sys.stderr.flush()

    def _replace(self, content: dict[str, str]) -> None:
        # A saved notebook holds the last state.
        if self.handle is None:
            display = sys.modules["IPython"].display.display
            self.handle = display(content, raw=True, display_id=True)
        else:
            self.handle.update(content, raw=True)


def _in_notebook() -> bool:
    # Where IPython runs the code it has been imported; elsewhere it need not be installed.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
