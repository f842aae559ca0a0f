"""A progress bar for whatever takes more than two seconds; silent where nobody watches."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET_SECONDS = 2.0
"""How long work may take before a bar is shown."""

Report = Callable[[int, int], None]
"""Takes how much is done, and of how much."""


@contextmanager
def patience(doing: str) -> Iterator[Report]:
    """Show what is being done, once it has taken two seconds and only on a terminal.

    Yields
    ------
    callable
        To be told how much is done of how much; without it the bar only shows that work goes on.

    Examples
    --------
    >>> with patience("counting") as report:
    ...     report(1, 10)
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(doing, total=None)
    timer = threading.Timer(QUIET_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
