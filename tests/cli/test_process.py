"""The command line as a program of its own."""

import subprocess
import sys

import pytest
from cli.cases import LIMITS, run_shell, write_cases

LOADED = """
import sys
from importlib.metadata import version
sys.argv[0] = "voros"
from voros.cli import main
try:
    main()
except SystemExit:
    pass
heavy = {"sklearn", "matplotlib", "polars", "scipy.stats", "duckdb"}
# Before 26, pyarrow itself loads pandas to hand over an array.
if int(version("pyarrow").split(".")[0]) >= 26:
    heavy.add("pandas")
sys.stderr.write(" ".join(sorted(heavy & set(sys.modules))))
"""


def python(*arguments, **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )


@pytest.mark.slow
def test_help_loads_nothing_heavy():
    ran = python("-c", LOADED, "--help")
    assert ran.stderr == ""
    for command in ("score", "compare", "select", "apply", "map", "explore", "report"):
        assert command in ran.stdout


@pytest.mark.slow
def test_scoring_loads_nothing_heavy(tmp_path):
    path = write_cases(tmp_path / "cases.csv")
    ran = python("-c", LOADED, "score", path, "--label", "died", "--score", "good", *LIMITS)
    assert ran.stderr == ""
    assert "good" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("score", "cases.csv", *LIMITS), 0),
        (("score", "cases.csv", "--check", "--score", "useless", *LIMITS), 0),
        (
            (
                *("score", "cases.csv", "--check", "--score", "useless"),
                *("--min-precision", "0.99", "--capacity", "0.5", "--cost-ratio", "0.1"),
            ),
            1,
        ),
        (("score", "nowhere.csv", *LIMITS), 2),
        (("score", "cases.csv", "--no-such-option"), 2),
        (("--version",), 0),
    ],
)
@pytest.mark.slow
def test_exit_codes(tmp_path, arguments, code):
    write_cases(tmp_path / "cases.csv")
    ran = python("-m", "voros", *arguments, cwd=tmp_path)
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(tmp_path):
    write_cases(tmp_path / "cases.csv", n_cases=50_000)
    ran = run_shell(
        f"voros select cases.csv -o policy.json {' '.join(LIMITS)} >/dev/null && "
        "voros apply policy.json cases.csv | head -n 1",
        tmp_path,
    )
    assert ran.stdout == "died,good,fair,useless,alarm\n"
    assert "Traceback" not in ran.stderr
    assert "error" not in ran.stderr


@pytest.mark.slow
def test_a_traceback_only_where_asked(tmp_path):
    ran = python("-m", "voros", "--traceback", "score", "nowhere.csv", *LIMITS, cwd=tmp_path)
    assert ran.returncode != 0
    assert "PredictionFileError" in ran.stderr
