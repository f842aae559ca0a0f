"""The command line in the test's own process, as the tests of voros run it."""

from cli.conftest import cases, voros_command

__all__ = ["cases", "voros_command"]
