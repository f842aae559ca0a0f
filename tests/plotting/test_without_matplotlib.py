"""Scoring must not need matplotlib, and drawing must say how to get it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("matplotlib", "mpl_toolkits"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def run(body: str) -> str:
    code = BLOCKED + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_imports_and_scores() -> None:
    printed = run(
        """
        import voros
        score = voros.voros_score([0, 1], [0.5, 0.5], cost_ratio=voros.costs.uniform_t(0, 1))
        print(round(score, 10), "matplotlib" in sys.modules)
        """
    )
    assert printed.split() == ["0.8068528194", "False"]


def test_winner_map_needs_no_drawing() -> None:
    printed = run(
        """
        import voros
        points = voros.OperatingPoints.from_points
        models = {"a": points([0.1], [0.9], 10, 90), "b": points([0.2], [0.3], 10, 90)}
        limits = {'min_precisions': [0.1], 'capacities': [0.5]}
        found = voros.winner_map(models, **limits, cost_ratio=0.05)
        print(found.models[found.winner[0, 0]])
        """
    )
    assert printed.strip() == "a"


def test_displays_import_and_drawing_names_the_extra() -> None:
    printed = run(
        """
        import voros
        from voros.plotting import RocDisplay
        display = RocDisplay(voros.OperatingPoints.from_points([0.1], [0.9], 10, 90))
        try:
            display.plot()
        except ImportError as error:
            print(error)
        """
    )
    assert 'pip install "matplotlib>=3.8"' in printed


def test_importing_the_package_leaves_matplotlib_alone() -> None:
    code = "import sys, voros, voros.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "False"
