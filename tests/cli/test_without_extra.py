"""Without its extra, or the studies, the command line says how to get them, in one line."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import voros
from voros.cli import COMMANDS, summary_of

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


@pytest.mark.parametrize("word", ["--version", "--help", "-h"])
def test_version_and_help_need_no_extra(word):
    command = [sys.executable, "-c", BLOCKED.format(name="typer"), word]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    if word == "--version":
        assert ran.stdout == f"voros {voros.__version__}\n"
    else:
        for name in COMMANDS:
            assert f"  {name:10} {summary_of(name)}\n" in ran.stdout
        assert 'pip install "typer>=0.15"' in ran.stdout


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


@pytest.fixture
def without_studies(tmp_path):
    """Run the command line where everything is installed but voros-studies."""
    pytest.importorskip("typer", reason="the command line needs the cli extra")
    packages = tmp_path / "packages"
    packages.mkdir()
    installed = Path(sysconfig.get_path("purelib"))
    for path in [Path(voros.__file__).parent, *installed.iterdir()]:
        if not path.name.startswith("voros_studies") and not (packages / path.name).exists():
            (packages / path.name).symlink_to(path)

    def run(*words):
        code = f"import sys; sys.path.append({str(packages)!r})"
        code += "; from voros.cli import main; main()"
        command = [sys.executable, "-I", "-S", "-c", code, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    return run


@pytest.mark.parametrize("name", ["paper", "demo", "experiment"])
def test_a_command_of_the_studies_says_how_to_get_them(without_studies, name):
    ran = without_studies(name, "somewhere")
    assert ran.returncode == 2
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    said = f"voros: error: voros {name} needs voros-studies, which is not installed: pip install "
    assert line.startswith(said)
    wanted = line.removeprefix(said).strip('"')
    assert (
        Path(wanted, "pyproject.toml").exists() or wanted == f"voros-studies=={voros.__version__}"
    )


def test_the_other_commands_do_without_the_studies(without_studies):
    assert without_studies("nosuch").stderr.startswith("voros: error: No such command 'nosuch'")
    listed = without_studies("--help").stdout
    assert "score" in listed
    assert "experiment" not in listed
