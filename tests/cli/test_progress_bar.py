"""Progress is shown on a terminal after two seconds, and never elsewhere."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("typer", reason="commands need the cli extra")

from voros.cli.terminal import QUIET_SECONDS

WAIT = """
import sys, time
from voros.cli.terminal import show_progress
with show_progress("counting alarms") as report:
    report(1, 4)
    time.sleep(float(sys.argv[1]))
"""


def on_a_terminal(seconds):
    """Run with a pseudo-terminal as the standard error stream, and return what it showed."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX's")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", WAIT, str(seconds)]
    process = subprocess.Popen(command, stderr=theirs, env=os.environ | {"TERM": "xterm"})
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return shown.decode()


def test_a_bar_after_two_seconds_says_how_much_is_done():
    shown = on_a_terminal(QUIET_SECONDS + 0.7)
    assert "counting alarms" in shown
    assert "1/4" in shown
    assert shown.endswith("\r\x1b[K"), "the line is erased"


def test_nothing_for_short_work():
    assert "counting alarms" not in on_a_terminal(0.1)


@pytest.mark.slow
def test_nothing_where_nobody_watches():
    command = [sys.executable, "-c", WAIT, str(QUIET_SECONDS + 0.3)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout + ran.stderr == ""
