"""Every command is imported when it is asked for, and none before."""

import subprocess
import sys

import pytest

pytest.importorskip("typer", reason="the command line needs the cli extra")


def test_every_command_is_found_by_its_name():
    from voros.cli import COMMANDS
    from voros.cli.app import load_command

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


def test_help_lists_every_command_by_its_first_line_without_importing_it():
    from voros.cli import COMMANDS
    from voros.cli.app import load_command

    code = (
        "import sys; sys.argv = ['voros', '--help']\n"
        "from voros.cli.app import app\n"
        "try: app()\n"
        "finally: assert not {'voros.cli.select', 'numpy'} & set(sys.modules)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    printed = " ".join(run.stdout.replace("│", " ").split())
    for name in COMMANDS:
        summary = load_command(name).get_short_help_str(200).rstrip(".")
        assert f"{name} {summary}"[:60] in printed


def test_help_describes_the_commands_of_the_studies_as_they_do():
    from voros.cli import STUDY_COMMANDS
    from voros.cli.app import added_commands, load_command

    if not added_commands():
        pytest.skip("voros-studies is not installed")
    for name, summary in STUDY_COMMANDS.items():
        assert load_command(name).get_short_help_str(200).rstrip(".") == summary.rstrip(".")
