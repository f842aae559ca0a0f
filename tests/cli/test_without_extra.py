"""Without its extra the command line says how to get it, in one line."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys
sys.modules["{name}"] = None
from voros.cli import main
main()
"""


@pytest.mark.parametrize("name", ["typer", "rich"])
def test_it_says_how_to_get_it(name):
    ran = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(name=name)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 2
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert line.startswith("voros: error: the command line needs ")
    wanted = '"typer>=0.15" "rich>=13.7" "pyarrow>=16" "jinja2>=3.1" "matplotlib>=3.8"'
    assert line.endswith(f"pip install {wanted}")


def test_reading_a_file_says_so_too():
    code = "import sys; sys.modules['pyarrow'] = None; import voros.io as f; "
    ran = subprocess.run(
        [sys.executable, "-c", code + "f.read_predictions(sys.executable)"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert 'pip install "pyarrow>=16"' in ran.stderr.splitlines()[-1]
