"""Output of commands: lines, progress and tables for people; JSON, CSV and files."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from voros.exceptions import Argument, Message
from voros.text.table import Table, csv_text, printable

if TYPE_CHECKING:
    from voros.cli.options import ShowOptions
    from voros.io.appending import Written

Item = TypeVar("Item")

STANDARD_OUTPUT = Path("-")

OPTION_NAMES = {
    "case": "id",
    "groups": "group",
    "sample_weight": "weight",
    "as_json": "json",
    "as_csv": "csv",
    "n_resamples": "resamples",
    "scores": "score",
    "min_precisions": "min-precision",
    "capacities": "capacity",
    "times": "time",
    "periods": "period",
    "per": "capacity",
    "min_cases": "min-subgroup",
}
"""Options whose name differs from that of their argument."""

ARGUMENTS = "voros.arguments"
"""Key of the words of the command line in typer's context; a report quotes them."""

FIGURE_FORMATS = ("png", "svg", "pdf")

QUIET_SECONDS = 2.0
"""Seconds of work before a bar is shown."""


def say(text: str, kind: str = "") -> None:
    """Write one line on the standard error stream; a message names options, not arguments.

    Examples
    --------
    >>> _with_options(Message("fix it, or pass ", Argument("drop_missing")))
    'fix it, or pass --drop-missing'
    """
    text = _with_options(text)
    opening = f"voros: {kind}: " if kind else "voros: "
    if sys.stderr is not None:  # print(file=None) would write to the standard output
        print(opening + printable(" ".join(text.split())), file=sys.stderr)


def say_lines(text: str) -> None:
    """Write a table on the standard error stream, line by line."""
    if sys.stderr is not None:
        print(printable_lines(text), file=sys.stderr)


def printable_lines(text: str) -> str:
    """Return text of several lines with control characters escaped."""
    return "\n".join(map(printable, text.split("\n")))


def _with_options(text: str) -> str:
    if not isinstance(text, Message):
        return text
    return "".join(_option(part) if isinstance(part, Argument) else part for part in text.parts)


def _option(argument: Argument) -> str:
    return f"{option_name(argument.name)} {argument.value}".rstrip()


def option_name(argument: str) -> str:
    """Return the option of an argument.

    Examples
    --------
    >>> option_name("time_zone"), option_name("case")
    ('--time-zone', '--id')
    """
    return f"--{OPTION_NAMES.get(argument, argument.replace('_', '-'))}"


@contextmanager
def show_progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on the terminal once the work has taken two seconds.

    Yields
    ------
    callable
        Takes the number of steps done and their total. Before its first call the line shows only
        the name of the work.

    Examples
    --------
    >>> with show_progress("counting") as progress:
    ...     progress(1, 10)
    """
    # Imported lazily, like everything here that loads numpy: --help does not need it.
    from voros.progress import Bar

    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    bar, begin, steps = Bar(doing, passing=True), time.monotonic() + QUIET_SECONDS, [0, 0]

    def report(done: int, total: int) -> None:
        steps[:] = done, total
        if time.monotonic() >= begin:
            bar(done, total)

    timer = threading.Timer(QUIET_SECONDS, lambda: bar(*steps))
    timer.daemon = True
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        timer.join()
        if time.monotonic() >= begin:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def tracked(items: Collection[Item], doing: str) -> Iterator[Item]:
    """Iterate over items and show progress."""
    with show_progress(doing) as progress:
        for done, item in enumerate(items):
            progress(done, len(items))
            yield item


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A result in its three forms.

    Attributes
    ----------
    rows : sequence of mapping
        What ``--csv`` prints: plain values for each line.
    document : mapping
        What ``--json`` prints.
    text : str
        What people read.
    """

    rows: Sequence[Mapping[str, Any]]
    document: Mapping[str, Any]
    text: str = ""


def show(
    sheet: Sheet, options: ShowOptions, output: Path | None = None, data: str | bytes = ""
) -> None:
    """Write ``data`` to the command's ``output``, and print a result as the options say.

    Text goes to the standard error stream if the data goes to the standard output.
    """
    from voros.io.writing import json_text

    if output is not None:
        deliver(data, output, options)
    if options.as_json:
        sys.stdout.write(json_text(sheet.document))
    elif options.as_csv:
        rows = (row.values() for row in sheet.rows)
        sys.stdout.write(csv_text(sheet.rows[0], rows))
    else:
        stream = sys.stderr if output == STANDARD_OUTPUT else sys.stdout
        print(printable_lines(sheet.text), file=stream)


def columns_text(columns: Mapping[str, Sequence[str]]) -> str:
    """Write columns of text as a table."""
    return Table.from_rows([tuple(columns), *zip(*columns.values(), strict=True)]).text()


def check_output(output: Path | None, options: ShowOptions, *others: Path | None) -> None:
    """Raise unless the output can be written; called before the work begins.

    The command writes the ``others`` too, so that the output must be another file.
    """
    from voros.io import check_writable

    if output is not None and output.resolve() in (other.resolve() for other in others if other):
        raise ValueError(f"{output} is named for two files; give each a name of its own")
    if output == STANDARD_OUTPUT:
        if options.for_programs:
            raise ValueError(
                "-o - and --json or --csv are mutually exclusive: both write to standard output"
            )
    elif output is not None:
        check_writable([output], force=options.force)


def check_page_name(output: Path) -> None:
    """Raise unless the name of a page ends as one."""
    if output.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output}: the name of a page must end in .html")


def deliver(data: str | bytes, output: Path | None, options: ShowOptions) -> None:
    """Write to a file, whole or not at all, or to the standard output."""
    from voros.io import write_together

    if output not in (None, STANDARD_OUTPUT):
        write_together({output: data}, force=options.force)
        say(f"wrote {output}")
    elif isinstance(data, str):
        # A terminal shows control characters and does not obey them.
        marks = (mark if mark in "\n\r\t" else printable(mark) for mark in data)
        sys.stdout.write("".join(marks) if sys.stdout.isatty() else data)
    elif sys.stdout.isatty():
        raise ValueError("-o - would send a picture to the terminal; redirect it, as in > file.png")
    else:
        sys.stdout.buffer.write(data)


def cases_format(output: Path | None) -> Written:
    """Return the format of a file of cases by its name; CSV on the standard output."""
    from voros.io import format_of

    return "csv" if output is None or output == STANDARD_OUTPUT else format_of(output)


def deliver_cases(table: Any, output: Path | None, options: ShowOptions) -> None:
    """Write a table of cases in the format of the output's name."""
    from voros.io import table_bytes

    data = table_bytes(table, cases_format(output))
    text = output in (None, STANDARD_OUTPUT)
    deliver(data.decode() if text else data, output, options)


def figure_format(path: Path) -> str:
    """Return the format of a picture by the end of its name; PNG on standard output."""
    if path == STANDARD_OUTPUT:
        return FIGURE_FORMATS[0]
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FIGURE_FORMATS:
        listed = ", ".join(f".{name}" for name in FIGURE_FORMATS)
        raise ValueError(f"{path}: a picture's name must end in one of {listed}")
    return ending
