"""Errors and warnings of the library, said in one line each."""

from __future__ import annotations

import errno
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from voros.exceptions import VorosWarning

USAGE_ERROR = 2
"""Exit code for anything the user can mend: a file, a column, an option."""

LIMITS_NOT_MET = 1
"""Exit code where ``--check`` was asked and some limit is not kept."""

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
    print(opening + " ".join(text.split()), file=sys.stderr)


@contextmanager
def one_line_failures(*, traceback: bool = False) -> Iterator[None]:
    """Turn errors into one line and exit code 2, and warnings into one line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", VorosWarning)
        warnings.showwarning = _warning_printer()
        try:
            yield
        except (ValueError, OSError, ImportError) as error:
            if traceback or getattr(error, "errno", None) == errno.EPIPE:
                raise
            say(in_options(_described(error)), "error")
            raise typer.Exit(USAGE_ERROR) from None


def _described(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _warning_printer() -> Any:
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = in_options(str(message))
        # Only what voros has to say concerns the user; the rest is for its developers.
        if issubclass(category, VorosWarning) and text not in said:
            said.add(text)
            say(text, "warning")

    return show
