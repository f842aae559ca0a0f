"""Measure the walks: which modules of voros a command enters, and how often it switches.

A walk is the sequence of Python calls into src/voros while a command runs. A switch is a call into
another module than the call before it. Imports do not count: every command runs once, on other
cases and limits, before it is measured. To resume a generator is no call.

    python scripts/walks.py [score|select|explore] [--trace]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from inspect import CO_GENERATOR, CO_OPTIMIZED
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import voros
from voros.cli import main

ROOT = f"{Path(voros.__file__).parent}{os.sep}"

COLUMNS = ("--label", "died")
LIMITS = (*COLUMNS, "--min-precision", "40%", "--capacity", "20%", "--miss-costs", "9:40")
OTHER_LIMITS = (*COLUMNS, "--min-precision", "30%", "--capacity", "25%", "--miss-costs", "8:50")

OUTPUTS = {
    "score": (),
    "select": ("--confidence", "0.95", "-o", "policy.json", "--force"),
    "explore": ("-o", "page.html", "--force"),
}
"""What each command writes."""

Call = tuple[str, str]
"""Module and function."""


def write_cases(path: Path, n: int) -> None:
    """Write labels and one model's scores, always the same."""
    rng = np.random.default_rng(0)
    died = rng.random(n) < 0.2
    scores = 1.5 * died + rng.normal(size=n)
    rows = (f"{label:d},{score:.6f}" for label, score in zip(died, scores, strict=True))
    path.write_text("\n".join(["died,model", *rows]))


def run(command: str, file: str, limits: tuple[str, ...]) -> None:
    """Run a command, quietly."""
    options = COLUMNS if command == "explore" else limits
    sys.argv = ["voros", command, file, *options, *OUTPUTS[command]]
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        try:
            main()
        except SystemExit as done:
            if done.code:
                raise RuntimeError(quiet.getvalue()) from None


def calls_of(action: Callable[[], None]) -> list[Call]:
    """Return the calls into voros, in order; bodies of classes and modules are none."""
    calls: list[Call] = []
    begun: set[FrameType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_flags & CO_GENERATOR:
            if frame in begun:
                return
            begun.add(frame)
        if event == "call" and code.co_filename.startswith(ROOT) and code.co_flags & CO_OPTIMIZED:
            calls.append((code.co_filename.removeprefix(ROOT), code.co_name))

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def switches(calls: list[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield the calls that enter another module than the one before."""
    return ((before, call) for before, call in pairwise(calls) if before[0] != call[0])


def report(name: str, calls: list[Call], *, trace: bool) -> None:
    """Print modules and switches of a walk; with ``trace`` every call, and what is entered most."""
    changed = list(switches(calls))
    print(f"{name}: {len({module for module, _ in calls})} modules, {len(changed)} switches")
    if not trace:
        return
    for module, function in calls:
        print(f"  {module}:{function}")
    for (module, function), count in Counter(call for _, call in changed).most_common(40):
        print(f"{count:5} {module}:{function}")


def measure() -> None:
    """Measure the commands that were asked for, in a folder of their own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(OUTPUTS))
    parser.add_argument("--trace", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_cases(Path("one.csv"), 2000)
        write_cases(Path("other.csv"), 1900)
        for name in asked.commands or OUTPUTS:
            run(name, "other.csv", OTHER_LIMITS)
            walk = calls_of(partial(run, name, "one.csv", LIMITS))
            report(name, walk, trace=asked.trace)


if __name__ == "__main__":
    measure()
