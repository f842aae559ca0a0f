"""The typer application: every command, and errors and warnings in one line each."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import voros
from voros.cli import (
    COMMANDS,
    INTERRUPTED,
    STUDY_COMMANDS,
    USAGE_ERROR,
    leave_at_once,
    summary_of,
)
from voros.cli.terminal import ARGUMENTS, say
from voros.exceptions import Message, VorosWarning
from voros.installing import missing_studies

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

UNEXPECTED = "this is a bug in voros, please report it:"
"""Begins the message of an unforeseen error."""

ENTRY_POINTS = "voros.commands"
"""Entry point group of the commands that other packages add: functions or typer applications."""

ClickException: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""What typer raises for a wrong command line; it comes from click or from a copy within typer."""


@contextmanager
def one_line_failures(*, traceback: bool = False) -> Iterator[None]:
    """Turn errors into one line and an exit code, and warnings into one line each."""
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
            say(_described(error), "error")
            _give_up_output(error)
            raise typer.Exit(getattr(error, "exit_code", USAGE_ERROR)) from None


def _described(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = error.filename or "the output"
        remedy = "; free some space" if error.errno == errno.ENOSPC else ""
        return f"{where}: {error.strerror}{remedy}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if not isinstance(error, (ValueError, OSError, ImportError)):
        return f"{UNEXPECTED} {type(error).__name__}: {error}; voros --traceback shows where"
    return _message(error)


def _message(error: Exception) -> str:
    """Return what an error or a warning says, with the names of arguments kept apart."""
    first = error.args[0] if error.args else None
    return first if isinstance(first, Message) else str(error)


def _give_up_output(error: Exception) -> None:
    """Discard the buffered output on a full disk, which Python would write again on leaving."""
    output = sys.__stdout__
    if getattr(error, "errno", None) == errno.ENOSPC and output is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


def _warning_printer() -> Any:
    said: set[str] = set()

    def show(message: Warning, category: type[Warning], *_: Any, **__: Any) -> None:
        text = _message(message)
        # Warnings of other packages are for developers.
        if issubclass(category, VorosWarning) and text not in said:
            said.add(text)
            say(text, "warning")

    return show


@cache
def load_command(name: str) -> Any:
    """Import a command and return it as typer builds it; other commands do not wait for it."""
    command = _own_command(name) if name in COMMANDS else added_commands()[name].load()
    if signal.getsignal(signal.SIGINT) is leave_at_once:
        # From here on Ctrl-C raises an exception, so that what was begun is cleaned up.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    alone = typer.Typer()
    if isinstance(command, typer.Typer):
        alone.add_typer(command, name=name)
    else:
        alone.command(name)(command)
    return typer.main.get_group(alone).commands[name]


def _own_command(name: str) -> Any:
    module, _, function = COMMANDS[name].partition(".")
    return getattr(import_module(f"voros.cli.{module}"), function)


@cache
def added_commands() -> dict[str, EntryPoint]:
    """Return the commands that other packages add; names of voros's own commands are ignored."""
    from importlib.metadata import entry_points

    entries = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    return {name: entry for name, entry in entries.items() if name not in COMMANDS}


class FriendlyGroup(TyperGroup):
    """Runs any command with errors and warnings as single lines."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Names alone, from which typer suggests corrections.
        self.commands: dict[str, Any] = dict.fromkeys(COMMANDS)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of all commands."""
        return [*COMMANDS, *added_commands()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command; the first call imports it."""
        if cmd_name not in self.commands:
            # Slow: it looks through all installed packages.
            self.commands |= dict.fromkeys(added_commands())
        if cmd_name not in self.commands:
            if cmd_name in STUDY_COMMANDS:
                raise missing_studies(f"voros {cmd_name}")
            return None
        if self.commands[cmd_name] is None:
            self.commands[cmd_name] = load_command(cmd_name)
        return self.commands[cmd_name]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands by their first lines, without importing them."""
        summaries = {name: summary_of(name) for name in COMMANDS}
        for name, entry in added_commands().items():
            summaries[name] = STUDY_COMMANDS.get(name, f"Added by {entry.value}.")
        self.commands |= {name: TyperCommand(name, help=text) for name, text in summaries.items()}
        super().format_help(ctx, formatter)

    def main(self, *words: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the program; a wrong command line is answered in one line, like any error."""
        extra["standalone_mode"] = False  # errors are exceptions then
        if not standalone_mode:
            return super().main(*words, **extra)
        try:
            code = super().main(*words, **extra)
        except ClickException as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                path = getattr(getattr(error, "ctx", None), "command_path", "voros")
                text = error.format_message().rstrip(". ")
                say(f"{text}{'' if text.endswith('?') else '.'} See {path} --help", "error")
            code = error.exit_code
        except (typer.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        if code == INTERRUPTED:
            say("interrupted")
        sys.exit(code if isinstance(code, int) else 0)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Keep the words as they were typed: a report quotes them."""
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with one_line_failures(traceback=bool(ctx.params.get("traceback"))):
            return super().invoke(ctx)


app = typer.Typer(
    name="voros",
    cls=FriendlyGroup,
    no_args_is_help=True,
    add_completion=False,
    epilog="Exit codes: 0 done; 1 a limit is not met (with --check); 2 an error; for a monitor's "
    "file: 65 damaged, 74 cannot be written, 75 locked, 77 no permission; 130 interrupted.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"voros {voros.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where an error arose, for a bug report.")
    ] = False,
) -> None:
    """Choose and deploy binary classifiers that must keep limits."""
