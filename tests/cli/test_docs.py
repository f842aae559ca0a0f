"""Every command in the documentation runs, and prints what the page says it prints."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas", reason="the walk-through makes its files with pandas")
pytest.importorskip("matplotlib", reason="the walk-through draws")

import pyarrow as pa
from cli.cases import write_cases
from pyarrow import parquet

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\$ voros (.*)$")


def commands(block):
    """Split a console block into commands, each with the lines it is said to print."""
    found = []
    for line in block.splitlines():
        command = COMMAND.match(line)
        if command:
            found.append((shlex.split(command[1]), []))
        elif found and line.strip():
            found[-1][1].append(line.strip())
    return found


def run_page(name, voros_command, folder):
    for kind, block in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(block, name, "exec"), {})
        if kind == "toml":
            file = re.match(r"# (\S+\.toml)\n", block)
            (folder / (file[1] if file else "limits.toml")).write_text(block)
        if kind == "console":
            for arguments, printed in commands(block):
                ran = voros_command(*arguments)
                assert ran.code == 0, ran.err
                lines = {line.strip() for line in (ran.out + ran.err).splitlines()}
                assert [line for line in printed if line not in lines] == []


def test_the_walk_through(voros_command, tmp_path):
    run_page("walk-through.md", voros_command, tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    assert written >= {"page.html", "policy.json", "safe.json", "alarms.csv", "report.html"}


def test_the_reference(voros_command, tmp_path):
    write_cases(tmp_path / "cases.csv")
    write_cases(tmp_path / "wide.csv")
    text = (tmp_path / "wide.csv").read_text().replace("good,fair", "sofa,news2")
    (tmp_path / "wide.csv").write_text(text)
    rng = np.random.default_rng(0)
    long = {
        "stay": [*range(50), *range(50)],
        "died": [i % 2 for i in range(50)] * 2,
        "who": ["a"] * 50 + ["b"] * 50,
        "risk": rng.random(100),
    }
    parquet.write_table(pa.table(long), tmp_path / "long.parquet")
    run_page("command-line.md", voros_command, tmp_path)


def test_several_hospitals(voros_command, tmp_path):
    run_page("sites.md", voros_command, tmp_path)
    assert (tmp_path / "policy.json").exists()
