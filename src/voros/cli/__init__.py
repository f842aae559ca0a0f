"""The command line: ``voros score``, ``voros select`` and so on, one file per command."""

from __future__ import annotations

import sys

NEEDED = frozenset({"typer", "rich", "click"})
"""Packages of the ``cli`` extra without which there is no command line at all."""


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        import rich  # noqa: F401 - said to be missing now, not in the middle of a table

        from voros.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        print(
            f"voros: error: the command line needs {error.name}, which is not installed: "
            'pip install "voros[cli]"',
            file=sys.stderr,
        )
        sys.exit(2)
    app()
