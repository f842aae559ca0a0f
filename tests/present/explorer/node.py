"""Runs a script of the page under node, on cases that Python made."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")
PAGE_TESTS = Path(__file__).parents[3] / "page" / "tests"

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run_node(arguments: list[str], cases: Any, folder: Path) -> str:
    """Run node in the folder of the page's tests; return what it prints."""
    held = folder / "cases.json"
    held.write_text(json.dumps(cases))
    run = subprocess.run(
        [str(NODE), *arguments],
        cwd=PAGE_TESTS,
        env=os.environ | {"VOROS_CASES": str(held)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def answers_of_page(script: str, cases: Any, folder: Path) -> Any:
    """Return what a script of the page answers to cases."""
    return json.loads(run_node([f"against_python/{script}"], cases, folder))
