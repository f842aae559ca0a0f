"""Errors and warnings of the library, said in one line each."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from voros.cli import INTERRUPTED
from voros.exceptions import VorosWarning
from voros.text.table import printable

USAGE_ERROR = 2
"""Exit code for anything the user can mend: a file, a column, an option."""

LIMITS_NOT_MET = 1
"""Exit code where ``--check`` was asked and some limit is not kept."""

UNEXPECTED = "this is a fault of voros, please report it:"
"""Begins the message of an error that nobody has foreseen."""

ClickException: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""What typer raises where the words of a command line are wrong; newer ones bring click along."""

_NAMES = (
    "min_precision|capacity|cost_ratio|miss_costs|prevalence|pos_label|strategy|tolerance|"
    "n_resamples|thin"
)
_MISS_COSTS = re.compile(r"\bcost_ratio=voros\.costs\.miss_costs\(([^,)]+)(?:, ([^)]+))?\)")
_ARGUMENTS = re.compile(rf"\b({_NAMES})(?==| \()|\bpass (\w+)")


def in_options(message: str) -> str:
    """Name options of the command line where the library names arguments.

    Examples
    --------
    >>> in_options("min_precision=1.5; accepted is a number within [0, 1]")
    '--min-precision=1.5; accepted is a number within [0, 1]'
    >>> in_options("which label is positive is not clear; pass pos_label")
    'which label is positive is not clear; give --pos-label'
    >>> in_options("write cost_ratio=voros.costs.miss_costs(5, 20)")
    'write --miss-costs 5:20'
    """

    def option(found: re.Match[str]) -> str:
        name = "--" + (found[1] or found[2]).removeprefix("n_").replace("_", "-")
        return name if found[1] else f"give {name}"

    message = _MISS_COSTS.sub(
        lambda found: f"--miss-costs {':'.join(filter(None, found.groups()))}", message
    )
    return _ARGUMENTS.sub(option, message)


def say(text: str, kind: str = "") -> None:
    """Write one line on the standard error stream."""
    opening = f"voros: {kind}: " if kind else "voros: "
    if sys.stderr is not None:  # where it is closed, print would take the standard output
        print(opening + printable(" ".join(text.split())), file=sys.stderr)


@contextmanager
def one_line_failures(*, traceback: bool = False) -> Iterator[None]:
    """Turn errors into one line and exit code 2, and warnings into one line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", VorosWarning)
        warnings.showwarning = _warning_printer()
        try:
            if sys.stdout is None:
                raise ValueError("the standard output is closed; redirect it, as in > /dev/null")
            yield
            sys.stdout.flush()
        except (typer.Exit, typer.Abort, ClickException):
            raise
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            if traceback or getattr(error, "errno", None) == errno.EPIPE:
                raise
            say(in_options(_described(error)), "error")
            _give_up_output(error)
            raise typer.Exit(USAGE_ERROR) from None


def _described(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = error.filename or "the output"
        remedy = "; free some space" if error.errno == errno.ENOSPC else ""
        return f"{where}: {error.strerror}{remedy}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if not isinstance(error, (ValueError, OSError, ImportError)):
        return f"{UNEXPECTED} {type(error).__name__}: {error}; voros --traceback shows where"
    return str(error)


def _give_up_output(error: Exception) -> None:
    """Keep Python from writing what a full disk has refused already once more at the end."""
    output = sys.__stdout__
    if getattr(error, "errno", None) == errno.ENOSPC and output is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


def usage_in_words(error: ClickException) -> str:
    """Say what is wrong with the words of a command line."""
    path = getattr(getattr(error, "ctx", None), "command_path", "voros")
    return f"{error.format_message().rstrip('. ')}; see {path} --help"


def _warning_printer() -> Any:
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = in_options(str(message))
        # Only what voros has to say concerns the user; the rest is for its developers.
        if issubclass(category, VorosWarning) and text not in said:
            said.add(text)
            say(text, "warning")

    return show
