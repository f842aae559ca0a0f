"""A command line that runs in the test's own process, and files for it."""

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """The lines that say what went wrong."""
        return [line for line in self.err.splitlines() if line.startswith("voros: error:")]


@pytest.fixture
def voros_command(tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    pytest.importorskip("typer", reason="the command line needs the cli extra")
    from typer.testing import CliRunner

    from voros.cli.app import app

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: bytes | None = None) -> Ran:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def cases(tmp_path):
    """A file of validation cases."""
    from cli.cases import write_cases

    return write_cases(tmp_path / "cases.csv")


@pytest.fixture
def later_cases(tmp_path):
    """A file of test cases."""
    from cli.cases import write_cases

    return write_cases(tmp_path / "later.csv", seed=1)
