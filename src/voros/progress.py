"""A progress bar for long computations: one line, wherever it is watched."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np

T = TypeVar("T")

Progress: TypeAlias = bool | Callable[[int, int], None]
"""Whether to draw a bar, or what to call with how much is done of how much instead."""

BAR_WIDTH = 30
"""Characters of a full bar."""

SECONDS_BETWEEN = 0.1
"""A bar that is watched is drawn again after no less than this."""


def progress_bar(
    items: Iterable[T], label: str, progress: Progress = True, total: int | None = None
) -> Iterator[T]:
    """Go through ``items``, redrawing a bar, or calling a function, after each of them.

    ``total`` says how many there are, where they are made as they are asked for. A terminal and a
    notebook show one line that moves; anything else, such as a log file, gets the finished bar.

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
    report = progress if callable(progress) else _bar(label)
    for done, item in enumerate(items, start=1):
        yield item
        if progress:
            report(done, total)


def _bar(label: str) -> Callable[[int, int], None]:
    if _in_notebook():
        return _NotebookBar(label)
    return _sparing(_on_terminal(label)) if sys.stderr.isatty() else _when_done(label)


def _on_terminal(label: str) -> Callable[[int, int], None]:
    def draw(done: int, total: int) -> None:
        sys.stderr.write(f"\r{_drawn(done, total, label)}" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return draw


def _when_done(label: str) -> Callable[[int, int], None]:
    def draw(done: int, total: int) -> None:
        if done == total:
            sys.stderr.write(f"{_drawn(done, total, label)}\n")
            sys.stderr.flush()

    return draw


def _sparing(draw: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Leave out drawings that nobody could see; the last one is always made."""
    last = -SECONDS_BETWEEN

    def draw_sometimes(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done == total or now - last >= SECONDS_BETWEEN:
            last = now
            draw(done, total)

    return draw_sometimes


class _NotebookBar:
    """One output of a notebook cell that is replaced; a saved notebook holds the last state."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.handle: Any = None
        self.draw = _sparing(self._draw)

    def __call__(self, done: int, total: int) -> None:
        self.draw(done, total)

    def _draw(self, done: int, total: int) -> None:
        display = sys.modules["IPython"].display.display

        text = {"text/plain": _drawn(done, total, self.label)}
        if self.handle is None:
            self.handle = display(text, raw=True, display_id=True)
        else:
            self.handle.update(text, raw=True)


def _in_notebook() -> bool:
    # Where IPython runs the code it has been imported; elsewhere it need not be installed.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _drawn(done: int, total: int, label: str) -> str:
    filled = BAR_WIDTH * done // total
    bar = "#" * filled + "." * (BAR_WIDTH - filled)
    return f"{label} [{bar}] {done}/{total}"
