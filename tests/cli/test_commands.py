"""Every command is imported when it is asked for, and none before."""

import subprocess
import sys

import pytest

pytest.importorskip("typer", reason="the command line needs the cli extra")


def test_every_command_is_found_by_its_name():
    from voros.cli.app import COMMANDS, load_command

    for name in COMMANDS:
        command = load_command(name)
        assert command.name == name
        assert command.help


def test_the_program_alone_imports_no_command(voros_command):
    code = "import sys, voros.cli.app; print({n for n in sys.modules if n.startswith('voros.')})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("voros.engines", "voros.policy", "voros.cli.score", "voros.cli.options"):
        assert f"'{heavy}'" not in ran.stdout
    assert "No such command 'scor'" in voros_command("scor").err
