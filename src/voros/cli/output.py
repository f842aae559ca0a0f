"""Where a command writes: a file, or the standard output where its name is ``-``."""

from __future__ import annotations

import sys
from pathlib import Path

from voros.cli.failures import say
from voros.cli.options import ShowOptions
from voros.io import check_writable, write_whole
from voros.text.table import printable

STANDARD_OUTPUT = Path("-")


def check_output(output: Path | None, shown: ShowOptions, *, force: bool) -> None:
    """Raise unless the output can be written, before the work that it is to hold."""
    if output == STANDARD_OUTPUT:
        if shown.for_programs:
            raise ValueError(
                "-o - and --json or --csv both want the standard output; give one of them, or "
                "write to a file"
            )
    elif output is not None:
        check_writable([output], force=force)


def deliver(data: str | bytes, output: Path, *, force: bool, announce: bool = True) -> None:
    """Write to a file, whole or not at all, or to the standard output."""
    if output != STANDARD_OUTPUT:
        write_whole(output, data, force=force)
        if announce:
            say(f"wrote {output}")
    elif isinstance(data, str):
        write_text(data)
    else:
        _write_bytes(data)


def write_text(text: str) -> None:
    """Write text to the standard output; a terminal is shown control characters, not sent them."""
    if sys.stdout.isatty():
        text = "".join(mark if mark in "\n\r\t" else printable(mark) for mark in text)
    sys.stdout.write(text)


def _write_bytes(data: bytes) -> None:
    if sys.stdout.isatty():
        raise ValueError("-o - would send a picture to the terminal; redirect it, as in > file.png")
    sys.stdout.buffer.write(data)
