"""The command line: ``voros score``, ``voros select`` and so on, one file per command."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

NEEDED = frozenset({"typer", "rich", "click"})
"""Packages of the ``cli`` extra without which there is no command line at all."""

LIMITS_NOT_MET, USAGE_ERROR, INTERRUPTED = 1, 2, 130
"""Exit codes: ``--check`` found a broken limit; an error; Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    ordinary = signal.signal(signal.SIGINT, leave_at_once)
    try:
        import rich  # noqa: F401 - said to be missing now, not in the middle of a table

        from voros.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        from voros.installing import COMMAND_LINE, pip_install

        print(
            f"voros: error: the command line needs {error.name}, which is not installed: "
            f"{pip_install(*COMMAND_LINE)}",
            file=sys.stderr,
        )
        sys.exit(USAGE_ERROR)
    try:
        signal.signal(signal.SIGINT, ordinary)
        app()
    except KeyboardInterrupt:
        leave_at_once()


def leave_at_once(*_: Any) -> None:
    """Leave on Ctrl-C without an exception, which could be swallowed in the middle of an import."""
    os.write(2, b"voros: interrupted\n")
    os._exit(INTERRUPTED)
