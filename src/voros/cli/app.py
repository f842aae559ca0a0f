"""The typer application: every command is registered here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import voros
from voros.cli import INTERRUPTED
from voros.cli.apply import apply
from voros.cli.compare import compare
from voros.cli.demo import demo
from voros.cli.experiment import app as experiment
from voros.cli.explore import explore
from voros.cli.failures import ClickException, one_line_failures, say, usage_in_words
from voros.cli.map import map_
from voros.cli.paper import paper
from voros.cli.plot import plot
from voros.cli.report import ARGUMENTS, report
from voros.cli.score import score
from voros.cli.select import select


class FriendlyGroup(TyperGroup):
    """Runs any command with errors and warnings as single lines."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the program; wrong words are told in one line, like all that goes wrong."""
        words = (args, prog_name, complete_var, False, windows_expand_args)
        if not standalone_mode:
            return super().main(*words, **extra)
        try:
            code = super().main(*words, **extra)
        except ClickException as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                error.show()
            else:
                say(usage_in_words(error), "error")
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
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
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
    """Choose and deploy binary classifiers that must live within limits.

    Exit codes: 0 done; 1 limits not met where --check asked; 2 an error, said in one line;
    130 interrupted.
    """


app.command()(score)
app.command()(compare)
app.command()(select)
app.command()(apply)
app.command(name="map")(map_)
app.command()(plot)
app.command()(explore)
app.command()(report)
app.command()(paper)
app.command()(demo)
app.add_typer(experiment, name="experiment")
