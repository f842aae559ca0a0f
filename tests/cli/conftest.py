"""A command line that runs in the test's own process, and small files of cases."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs the cli extra")
pytest.importorskip("pyarrow", reason="the command line needs the cli extra")

from typer.testing import CliRunner

from voros.cli.app import app

LIMITS = ("--min-precision", "0.3", "--capacity", "0.2", "--miss-costs", "5:20")


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
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: bytes | None = None) -> Ran:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


def write_cases(path: Path, n_cases: int = 400, seed: int = 0) -> Path:
    """Write labels with the scores of a good, a fair and a useless model."""
    rng = np.random.default_rng(seed)
    died = rng.random(n_cases) < 0.2
    good = rng.normal(size=n_cases) + 2.0 * died
    fair = rng.normal(size=n_cases) + 1.0 * died
    useless = rng.normal(size=n_cases)
    # Its highest score is a false alarm, so that no threshold has a precision of 1.
    useless[np.argmin(died)] = useless.max() + 1
    lines = ["died,good,fair,useless"]
    lines += [
        f"{int(y)},{a!r},{b!r},{c!r}"
        for y, a, b, c in zip(
            died.tolist(), good.tolist(), fair.tolist(), useless.tolist(), strict=True
        )
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def cases(tmp_path):
    """A file of validation cases."""
    return write_cases(tmp_path / "cases.csv")


@pytest.fixture
def later_cases(tmp_path):
    """A file of test cases."""
    return write_cases(tmp_path / "later.csv", seed=1)
