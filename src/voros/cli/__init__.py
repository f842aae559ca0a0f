"""The command line: ``voros score``, ``voros select`` and so on, one file per command."""

from __future__ import annotations

import os
import re
import signal
import sys
from importlib.resources import files
from typing import Any

NEEDED = frozenset({"typer", "rich", "click"})
"""Packages of the ``cli`` extra without which no command runs."""

LIMITS_NOT_MET, USAGE_ERROR, INTERRUPTED = 1, 2, 130
"""Exit codes: ``--check`` found a broken limit; an error; Ctrl-C, as shells have it."""

COMMANDS = {
    "score": "score.score",
    "compare": "compare.compare_models",
    "select": "select.select",
    "apply": "apply.apply",
    "review": "review.review",
    "worklist": "worklist.list_cases",
    "monitor": "monitor_file.monitor",
    "allocate": "sharing.share",
    "map": "map.map_",
    "count": "site_counts.count_site",
    "merge": "site_counts.merge",
    "explore": "explore.explore",
    "report": "report.report",
}
"""Module and function of every command, in the order of the help."""

STUDY_COMMANDS = {
    "paper": "Print the paper's tables, computed from the predictions in FOLDER.",
    "demo": "Show who should raise the alarm: four prognoses of SUPPORT2, by AUROC and within "
    "limits.",
    "experiment": "Run the paper's studies: 140 models, selected on validation, tested, with "
    "intervals.",
}
"""Commands of the package voros-studies, as the help lists them."""


def main() -> None:
    """Run the command line; without its packages, answer ``--help`` and ``--version`` alone."""
    signal.signal(signal.SIGINT, leave_at_once)  # until a command is imported
    try:
        import rich  # noqa: F401 - reported as missing now, not in the middle of a table

        from voros.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDED:
            raise
        sys.exit(_answer_without_extra(sys.argv[1:], str(error.name)))
    try:
        app(prog_name="voros")
    except KeyboardInterrupt:
        leave_at_once()


def leave_at_once(*_: Any) -> None:
    """Leave on Ctrl-C without an exception, which an import could swallow."""
    os.write(2, b"voros: interrupted\n")
    os._exit(INTERRUPTED)


def summary_of(name: str) -> str:
    """Return the first line of a command's docstring, read without importing the command.

    Examples
    --------
    >>> summary_of("map")
    'Map which model in FILE wins, over a grid of precision floors and capacities.'
    """
    module, _, function = COMMANDS[name].partition(".")
    source = files("voros.cli").joinpath(f"{module}.py").read_text(encoding="utf-8")
    docstring = re.search(rf'^def {function}\(.*?"""(.*?)(?:\n|""")', source, re.DOTALL | re.M)
    return "" if docstring is None else docstring.group(1)


def _answer_without_extra(words: list[str], missing: str) -> int:
    """Print the version or the commands, or report the missing package; return the exit code."""
    from voros import __version__
    from voros.installing import COMMAND_LINE, pip_install

    needs = f"needs {missing}, which is not installed: {pip_install(*COMMAND_LINE)}"
    if words[:1] == ["--version"]:
        print(f"voros {__version__}")
    elif words[:1] in (["--help"], ["-h"]):
        listed = "\n".join(f"  {name:10} {summary_of(name)}" for name in COMMANDS)
        print(f"Usage: voros COMMAND ...\n\nCommands:\n{listed}\n\nEvery command {needs}")
    else:
        print(f"voros: error: the command line {needs}", file=sys.stderr)
        return USAGE_ERROR
    return 0
