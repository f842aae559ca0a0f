"""Small files of cases, and limits to judge them by; skips what imports it without the extra."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs the cli extra")
pytest.importorskip("pyarrow", reason="the command line needs the cli extra")

LIMITS = ("--min-precision", "0.3", "--capacity", "0.2", "--miss-costs", "5:20")


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


def run_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in a folder, ``voros`` being this Python's."""
    line = f'voros() {{ "{sys.executable}" -m voros "$@"; }}; {command}'
    return subprocess.run(
        line, shell=True, capture_output=True, text=True, check=False, cwd=folder, timeout=60
    )
